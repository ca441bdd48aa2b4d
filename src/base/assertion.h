/* assertion.h - the WebAuthn fields of a request that a passkey signs, as they follow its signature
 * in a command and in a record: three lengths, then the parts (journal.md, Record, extra).
 *
 *   0    2               4             6   8
 *   | id | authenticator | client data | 0 | id | authenticator data | client data |
 *
 * Any thread; no state.
 * Units. Bytes, little-endian lengths. */
#ifndef BASE_ASSERTION_H
#define BASE_ASSERTION_H

#include "base/compiler.h"

enum {
    ASSERTION_HEADER_BYTES = 8,
    ASSERTION_CREDENTIAL_MAX = 256, /* bounds of wire.md W1 */
    ASSERTION_AUTHENTICATOR_MIN = 37,
    ASSERTION_AUTHENTICATOR_MAX = 1024,
    ASSERTION_CLIENT_DATA_MAX = 2048,
    ASSERTION_BYTES_MAX = ASSERTION_HEADER_BYTES + ASSERTION_CREDENTIAL_MAX +
                          ASSERTION_AUTHENTICATOR_MAX + ASSERTION_CLIENT_DATA_MAX,
};

/* The parts; the pointers live as long as the bytes that they were read from. */
struct assertion {
    const uint8_t *credential_id;      /* 1..256 */
    const uint8_t *authenticator_data; /* 37..1,024 */
    const uint8_t *client_data;        /* JSON text, 1..2,048 */
    uint16_t credential_id_bytes;
    uint16_t authenticator_data_bytes;
    uint16_t client_data_bytes;
};

/* Reads the parts. False if a length is out of its bounds, the padding is not zero, or the lengths
 * do not add up to `count`. */
CC_MUST_USE bool assertion_read(struct assertion *assertion, const uint8_t *bytes, size_t count);

/* Returns the bytes of an assertion by its own header, which may lie; 0 without a whole header. */
static inline uint32_t assertion_bytes(const uint8_t *bytes, size_t count)
{
    if (count < ASSERTION_HEADER_BYTES)
        return 0;
    return ASSERTION_HEADER_BYTES + (uint32_t)cc_load16(bytes) + cc_load16(bytes + 2) +
           cc_load16(bytes + 4);
}

/* Writes the header. The caller has put the parts after it, one after the other. */
void assertion_write_header(uint8_t bytes[ASSERTION_HEADER_BYTES],
                            const struct assertion *assertion);

/* Returns the authenticator's count of signatures; 0 from one that does not count. */
CC_MUST_USE uint32_t assertion_sign_count(const struct assertion *assertion);

#endif
