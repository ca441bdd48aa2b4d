/* p256.h - ES256, the signatures of passkeys (wire.md W4): ECDSA on P-256 over a SHA-256 digest,
 * 33-byte compressed keys, 64-byte r||s.
 *
 * A high s is accepted: authenticators make one in every second signature, and an id that is used
 * once needs no signature that exists once.
 *
 * Wait.  Pure computation: about 50 us a signature, and 25 us more for a key that is not in the
 *        cache, whose y needs a square root.
 * Owner. Any thread after p256_init; a cache has one thread. All inputs are public.
 * Bound. A verification allocates what OpenSSL needs and frees it before it returns. */
#ifndef CRYPTO_P256_H
#define CRYPTO_P256_H

#include "base/compiler.h"

enum {
    P256_KEY_BYTES = 33,
    P256_POINT_BYTES = 65,
    P256_SIGNATURE_BYTES = 64,
    P256_DIGEST_BYTES = 32,
    P256_CACHE_KEYS = 256, /* a power of two */
};

/* A public key with both coordinates. */
struct p256_key {
    uint8_t compressed[P256_KEY_BYTES];
    uint8_t point[P256_POINT_BYTES]; /* 4, x, y */
};

/* Keys that have verified a signature; a new one takes the place of another. All zero is empty. */
struct p256_cache {
    struct p256_key keys[P256_CACHE_KEYS];
};

/* Loads the curve and verifies the signatures of RFC 6979, right and wrong. Call it once at start,
 * before threads; again it does nothing. Returns 0, -ENOMEM, or -EBADMSG if a verdict is wrong. */
CC_MUST_USE int p256_init(void);

/* Whether the bytes are a compressed point of the curve. Needs no p256_init. */
CC_MUST_USE bool p256_key_is_valid(const uint8_t key[P256_KEY_BYTES]);

/* True if the bytes are an uncompressed point of the curve: 4, x, y. */
CC_MUST_USE bool p256_is_point(const uint8_t point[P256_POINT_BYTES]);

/* True if the signature of the digest under the key is good. False also for a bad key and for r or
 * s outside 1..n-1. The cache may be NULL; a key whose signature is good enters it. */
CC_MUST_USE bool p256_verify(struct p256_cache *cache, const uint8_t key[P256_KEY_BYTES],
                             const uint8_t digest[P256_DIGEST_BYTES],
                             const uint8_t signature[P256_SIGNATURE_BYTES]);

#endif
