/* envelope.h - the three forms of a signed request's body: JSON, passkey JSON, binary frame
 * (interface.md, Authentication; wire.md W1, W3 Auth part, W4). Net thread only, no state.
 *
 * Payload, key, signature and a passkey's WebAuthn fields are written one after the other into the
 * caller's space, as a command holds them (base/message.h). A passkey that sent no key has a key of
 * zeros: it is known by its credential id.
 *
 * Bound. REQUEST_ENVELOPE_MAX bytes of JSON (passkey: REQUEST_PASSKEY_ENVELOPE_MAX),
 *        REQUEST_FRAME_MAX of a frame; the decoded limits of W1. */
#ifndef NET_REQUEST_ENVELOPE_H
#define NET_REQUEST_ENVELOPE_H

#include "base/assertion.h"
#include "base/request.h"
#include "net/http/problem_detail.h"

enum {
    ENVELOPE_SPACE = REQUEST_FRAME_MAX, /* space enough for every form */
    ENVELOPE_PASSKEY_PAYLOAD_MAX = 400,
};

static_assert(ENVELOPE_PASSKEY_PAYLOAD_MAX + 33 + 64 + ASSERTION_BYTES_MAX <= ENVELOPE_SPACE,
              "a passkey's parts fit");

struct envelope {
    const uint8_t *payload;
    const uint8_t *key;       /* after the payload */
    const uint8_t *signature; /* after the key, 64 bytes */
    uint32_t payload_bytes;   /* 24..4,144, a multiple of 8 */
    uint32_t key_bytes;       /* 32 or 33 */
    uint32_t extra_bytes;     /* of the assertion after the signature (base/assertion.h); 0: none */
    bool passkey;             /* credential_id was sent */
    bool key_sent;            /* public_key was; always true but for a passkey */
};

/* Reads a JSON body into `space` (ENVELOPE_SPACE bytes). False with 400 or 413 in *problem. */
CC_MUST_USE bool envelope_json(struct envelope *envelope, const char *body, size_t count,
                               uint8_t *space, struct problem_detail *problem);

/* The same by the strict reader only. envelope_json uses it if the one-pass reader does not accept
 * the body; public for tests of that pass. */
CC_MUST_USE bool envelope_json_strict(struct envelope *envelope, const char *body, size_t count,
                                      uint8_t *space, struct problem_detail *problem);

/* Splits a frame [payload || key || signature] by its header. As envelope_json; also 400
 * unsupported_version: after an unknown header nothing can be found. */
CC_MUST_USE bool envelope_frame(struct envelope *envelope, const uint8_t *body, size_t count,
                                uint8_t *space, struct problem_detail *problem);

#endif
