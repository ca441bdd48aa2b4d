/* secret.h - random bytes, hashes and comparisons of secrets: API keys, directory keys.
 *
 * A secret is shown once and never stored. Only its BLAKE2b-256 under the data directory's secret
 * key is stored (wire.md W7). Any thread. */
#ifndef CRYPTO_SECRET_H
#define CRYPTO_SECRET_H

#include "base/compiler.h"
#include "base/hash.h"

enum {
    SECRET_BYTES = 32,     /* an API or device key */
    SECRET_KEY_BYTES = 32, /* secret_key of the data directory */
};

/* Fills all `count` bytes from getrandom(2). Returns 0 or -errno. */
CC_MUST_USE int secret_random(void *bytes, size_t count);

/* Computes the hash by which the keyring and the engine know a secret. */
void secret_hash(uint8_t out[HASH_BYTES], const uint8_t key[SECRET_KEY_BYTES],
                 const uint8_t secret[SECRET_BYTES]);

/* True if the bytes are equal; in constant time. */
CC_MUST_USE bool secret_equal(const void *a, const void *b, size_t count);

/* Zeroes the bytes; the compiler cannot drop the stores. */
void secret_wipe(void *bytes, size_t count);

/* Keeps the pages of the bytes out of swap and out of dumps, until the process ends. Returns 0, or
 * -errno when the system does not lock them: they are kept out of dumps all the same. */
CC_MUST_USE int secret_hold(void *bytes, size_t count);

#endif
