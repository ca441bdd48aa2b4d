/* secp256k1.h - verification of master-key signatures (wire.md W4): 33-byte compressed keys,
 * 64-byte r||s, low-s only, over a 32-byte digest.
 *
 * Wait.  Pure computation, about 45 us a signature.
 * Owner. Any thread after secp256k1_init. Everything verified is public. */
#ifndef CRYPTO_SECP256K1_H
#define CRYPTO_SECP256K1_H

#include "base/cc.h"

enum {
    SECP256K1_KEY_BYTES = 33,
    SECP256K1_SIGNATURE_BYTES = 64,
    SECP256K1_DIGEST_BYTES = 32,
};

/* Once at start, before threads: the library checks itself and aborts when broken. Gives 0. */
CC_MUST_USE int secp256k1_init(void);

/* Is it a compressed encoding of a point of the curve. */
CC_MUST_USE bool secp256k1_key_valid(const uint8_t key[SECP256K1_KEY_BYTES]);

/* False also for a bad key, r or s of 0 or from n up, and s above n/2. */
CC_MUST_USE bool secp256k1_verify(const uint8_t key[SECP256K1_KEY_BYTES],
                                  const uint8_t digest[SECP256K1_DIGEST_BYTES],
                                  const uint8_t signature[SECP256K1_SIGNATURE_BYTES]);

#endif
