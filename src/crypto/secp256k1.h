/* secp256k1.h - verification of master-key signatures (wire.md W4): 33-byte compressed keys,
 * 64-byte r||s, low-s only, over a 32-byte digest.
 *
 * Wait.  Pure computation, about 45 us a signature.
 * Owner. Any thread after secp256k1_init. All inputs are public. */
#ifndef CRYPTO_SECP256K1_H
#define CRYPTO_SECP256K1_H

#include "base/compiler.h"

enum {
    SECP256K1_KEY_BYTES = 33,
    SECP256K1_POINT_BYTES = 65,
    SECP256K1_SIGNATURE_BYTES = 64,
    SECP256K1_DIGEST_BYTES = 32,
};

/* Runs the library's self-test, which aborts on a fault. Call it once at start, before threads.
 * Returns 0. */
CC_MUST_USE int secp256k1_init(void);

/* True if the signature of the digest under the key is good. False also for a bad key, for r or s
 * of 0 or from n up, and for s above n/2. */
CC_MUST_USE bool secp256k1_verify(const uint8_t key[SECP256K1_KEY_BYTES],
                                  const uint8_t digest[SECP256K1_DIGEST_BYTES],
                                  const uint8_t signature[SECP256K1_SIGNATURE_BYTES]);

/* Whether the bytes are a compressed point of the curve. */
CC_MUST_USE bool secp256k1_key_is_valid(const uint8_t key[SECP256K1_KEY_BYTES]);

/* The three below explain a signature that does not verify (signing_mistake.h). */

/* Writes r||s of a signature in DER form. False if it is none. */
CC_MUST_USE bool secp256k1_from_der(const uint8_t *bytes, size_t count,
                                    uint8_t signature[SECP256K1_SIGNATURE_BYTES]);

/* Lowers a high s. True if it was high; false if it was low or is no number of the group, and
 * nothing has changed. */
bool secp256k1_lower_s(uint8_t signature[SECP256K1_SIGNATURE_BYTES]);

/* Compresses the point 4, x, y. False if it is not on the curve. */
CC_MUST_USE bool secp256k1_compress(const uint8_t point[SECP256K1_POINT_BYTES],
                                    uint8_t key[SECP256K1_KEY_BYTES]);

#endif
