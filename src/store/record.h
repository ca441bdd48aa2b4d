/* record.h - one journalled command as bytes: a header of 24, then its parts (journal.md, Record).
 *
 *   0        24        24+payload   +key         +signature  +extra      length
 *   | header | payload | public key | signature  | extra     | zeros to 8 |
 *
 * Any thread; no state. A record's sequence is not in it: it is the frame's first_sequence plus its
 * position in the frame.
 * Units. Bytes, except t_ns. */
#ifndef STORE_RECORD_H
#define STORE_RECORD_H

#include "base/compiler.h"

enum record_kind {
    RECORD_UNSIGNED = 0, /* body only: authored by the node */
    RECORD_SIGNED = 1,   /* payload, key, signature */
    RECORD_PASSKEY = 2   /* the same, and the WebAuthn fields in extra */
};

enum {
    RECORD_HEADER_BYTES = 24,
    RECORD_SIGNATURE_BYTES = 64,
    RECORD_PAYLOAD_MAX = 4144, /* wire.md W1 */
    RECORD_REQUEST_MIN = 24,   /* W1: header and request id, before the body of a signed payload */
    RECORD_KEY_MAX = 33,
    RECORD_EXTRA_MAX = 8 + 256 + 1024 + 2048 + 32, /* wire.md W1: passkey fields, secret's hash */
    RECORD_BYTES_MAX = 7640                        /* all parts at their largest, padded */
};

/* A decoded record. The pointers reach into the bytes that it was decoded from and live as long. */
struct record_view {
    uint64_t t_ns;          /* engine time */
    uint32_t length;        /* header and padding included; encode sets it */
    uint16_t code;          /* request type */
    uint8_t kind;           /* enum record_kind */
    uint16_t payload_bytes; /* RECORD_REQUEST_MIN at least, unless kind 0 */
    uint16_t key_bytes;     /* 0, 32 or 33 */
    uint16_t extra_bytes;
    const uint8_t *payload;   /* decoded, as verified; kind 0: the body */
    const uint8_t *key;       /* NULL for kind 0 */
    const uint8_t *signature; /* RECORD_SIGNATURE_BYTES; NULL for kind 0 */
    const uint8_t *extra;     /* NULL when empty */
};

/* Returns the length of a record with these parts, padding included. */
CC_MUST_USE uint32_t record_length(uint8_t kind, uint32_t payload_bytes, uint32_t key_bytes,
                                   uint32_t extra_bytes);

/* Writes `record` to `out` (record_length bytes, 8-aligned) with zeros as padding. Returns its
 * length. The sizes of the parts must be lawful for the kind (INVARIANT). */
uint32_t record_encode(uint8_t *out, const struct record_view *record);

/* Decodes the record at the start of `bytes`; `available` bytes may be read. Returns 0, or -EBADMSG
 * if it is cut short, its lengths disagree or are unlawful, or a byte that must be zero is not. */
CC_MUST_USE int record_decode(struct record_view *out, const uint8_t *bytes, size_t available);

#endif
