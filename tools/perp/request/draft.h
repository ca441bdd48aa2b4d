/* draft.h - a signed request in the making: Header, RequestId and Body filled field by field from
 * the table of base/field.h, then signed, then written as JSON envelope or binary frame (wire.md
 * W3-W5).
 *
 * Owner. One thread; no allocation. */
#ifndef PERP_REQUEST_DRAFT_H
#define PERP_REQUEST_DRAFT_H

#include "base/base64.h"
#include "base/request.h"
#include "base/uuid.h"
#include "crypto/eip712.h"
#include "perp/request/key_file.h"

struct draft {
    const struct request *request;
    const char *path; /* the request's; code 14 has a second one */
    uint8_t payload[REQUEST_PAYLOAD_MAX];
    size_t count;     /* bytes of payload */
    size_t key_bytes; /* 0: not signed */
    uint8_t public_key[SIGNER_SECP256K1_KEY_BYTES];
    uint8_t signature[SIGNER_SIGNATURE_BYTES];
    struct eip712_hashes hashes; /* curve Secp256k1 only */
};

/* A portfolio_id of the wire. */
struct draft_portfolio {
    uint64_t account_id;
    uint32_t subaccount_index;
    uint32_t portfolio_index;
};

/* An id of this moment. 0 or -errno. */
CC_MUST_USE int draft_fresh_id(struct uuid *id);

/* Begins a request of a fixed-size body, all zero. `code` is in the table and has a path. */
void draft_begin(struct draft *draft, uint32_t code, uint32_t signature_type,
                 const struct uuid *id);

/* Begins a request whose body is text (code 1001), zero-padded to 8. False: longer than the wire
 * allows. */
CC_MUST_USE bool draft_begin_text(struct draft *draft, uint32_t code, const struct uuid *id,
                                  const char *text, size_t count);

/* Begins a batch (code 8) of 1 to 64 items, all zero but their count. */
void draft_begin_batch(struct draft *draft, const struct uuid *id, uint32_t count);

/* The 64 bytes of an item (W3, code 8). */
uint8_t *draft_item(struct draft *draft, uint32_t item);

/* Fills a field by its name in the table. The field must exist, be no wider than the value and not
 * be padding (INVARIANT): names are the program's, never a user's. */
void draft_set(struct draft *draft, const char *name, uint64_t value);
void draft_set_bytes(struct draft *draft, const char *name, const void *bytes, size_t count);
void draft_set_portfolio(struct draft *draft, const char *name,
                         const struct draft_portfolio *portfolio);

/* Signs with a key whose curve is the header's. `eip712` is the exchange's; it may be NULL for
 * Ed25519 below code 1000. False: the wallet type does not cover this request. */
CC_MUST_USE bool draft_sign(struct draft *draft, const struct key_file *key,
                            const struct eip712 *eip712);

/* The id in the payload. */
struct uuid draft_id(const struct draft *draft);

/* Writes {"payload":..,"signature":..,"public_key":..} and a closing zero; gives its length. */
size_t draft_envelope(const struct draft *draft, char text[REQUEST_ENVELOPE_MAX]);

/* Writes payload || public_key || signature; gives its length. */
size_t draft_frame(const struct draft *draft, uint8_t bytes[REQUEST_FRAME_MAX]);

#endif
