/* pairing_cipher.h - what two devices that pair exchange through perpd, so that it cannot read it
 * (docs/perp.md).
 *
 * The new device has a key of P-256 for this pairing alone. The other device makes one too, derives
 * a key of both, SHA-256("perp pair 1" || shared x || pairing id || its point || the new device's),
 * and seals a text with AES-256-GCM: its point (65 bytes), the text, the tag (16 bytes); the nonce
 * is zero, because the key seals once.
 *
 * Owner. One thread. */
#ifndef PERP_REQUEST_PAIRING_CIPHER_H
#define PERP_REQUEST_PAIRING_CIPHER_H

#include "base/uuid.h"

enum {
    PAIRING_POINT_BYTES = 65,
    PAIRING_TEXT_MAX = 1024,
    PAIRING_SEALED_MAX = PAIRING_POINT_BYTES + PAIRING_TEXT_MAX + 16,
    PAIRING_CODE_MAX = 15, /* of pairing_code, with its closing zero */
};

struct evp_pkey_st;

struct pairing_key {
    struct evp_pkey_st *key;
    uint8_t point[PAIRING_POINT_BYTES]; /* uncompressed */
};

/* Makes a random key. False: OpenSSL could not. */
CC_MUST_USE bool pairing_key_make(struct pairing_key *key);
void pairing_key_free(struct pairing_key *key);

/* Seals `count` bytes, at most PAIRING_TEXT_MAX, for the owner of `point`. Returns the bytes
 * written, 0 if the point is none of the curve or OpenSSL could not. */
size_t pairing_seal(const uint8_t point[PAIRING_POINT_BYTES], const struct uuid *pairing_id,
                    const void *text, size_t count, uint8_t sealed[PAIRING_SEALED_MAX]);

/* Opens what was sealed for the key. Returns the bytes of the text, 0 if it was not sealed for this
 * key and pairing. */
size_t pairing_open(const struct pairing_key *key, const struct uuid *pairing_id,
                    const uint8_t *sealed, size_t count, uint8_t text[PAIRING_TEXT_MAX]);

/* The code that people compare: 12 letters and digits of the SHA-256 of pairing and both keys, in
 * groups of 4. Who replaces a key needs 2^59 tries in the 120 s of a pairing. False: OpenSSL could
 * not. */
CC_MUST_USE bool pairing_code(const struct uuid *pairing_id,
                              const uint8_t point[PAIRING_POINT_BYTES],
                              const uint8_t session_key[32], char code[PAIRING_CODE_MAX]);

#endif
