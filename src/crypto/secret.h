/* secret.h - random bytes, hashes and comparisons of secrets: API keys, directory keys.
 *
 * A secret is shown once and never stored; what is stored is its keyed BLAKE2b-256 under the data
 * directory's secret key (wire.md W7). Any thread. */
#ifndef CRYPTO_SECRET_H
#define CRYPTO_SECRET_H

#include "base/cc.h"
#include "base/hash.h"

enum {
    SECRET_BYTES = 32,     /* an API or device key */
    SECRET_KEY_BYTES = 32, /* secret_key of the data directory */
};

/* Fills from getrandom(2), the whole count. 0 or -errno. */
CC_MUST_USE int secret_random(void *bytes, size_t count);

/* What the keyring and the engine know a secret by. */
void secret_hash(uint8_t out[HASH_BYTES], const uint8_t key[SECRET_KEY_BYTES],
                 const uint8_t secret[SECRET_BYTES]);

/* Equality in constant time. */
CC_MUST_USE bool secret_equal(const void *a, const void *b, size_t count);

/* Zeroes that the compiler may not leave out. */
void secret_wipe(void *bytes, size_t count);

#endif
