#include "crypto/secret.h"

#include <errno.h>
#include <sodium.h>

enum { PAGE_BYTES = 4096 };

int secret_random(void *bytes, size_t count)
{
    /* libsodium's default source is getrandom(2); sodium_init opens it. */
    if (sodium_init() < 0)
        return -EIO;
    randombytes_buf(bytes, count);
    return 0;
}

void secret_hash(uint8_t out[HASH_BYTES], const uint8_t key[SECRET_KEY_BYTES],
                 const uint8_t secret[SECRET_BYTES])
{
    hash_blake2b256_keyed(out, key, secret, SECRET_BYTES);
}

bool secret_equal(const void *a, const void *b, size_t count)
{
    return sodium_memcmp(a, b, count) == 0;
}

void secret_wipe(void *bytes, size_t count)
{
    sodium_memzero(bytes, count);
}

int secret_hold(void *bytes, size_t count)
{
    uintptr_t first = (uintptr_t)bytes & ~(uintptr_t)(PAGE_BYTES - 1);
    uintptr_t end = ((uintptr_t)bytes + count + PAGE_BYTES - 1) & ~(uintptr_t)(PAGE_BYTES - 1);

    return sodium_mlock((void *)first, end - first) == 0 ? 0 : -errno;
}
