/* secret: what is stored of an API key is its keyed BLAKE2b-256 (wire.md W7). */
#include <errno.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include "check.h"
#include "crypto/secret.h"

static void test_random(void)
{
    uint8_t a[SECRET_BYTES] = { 0 };
    uint8_t b[SECRET_BYTES] = { 0 };
    CHECK(secret_random(a, sizeof a) == 0 && secret_random(b, sizeof b) == 0);
    CHECK(memcmp(a, b, sizeof a) != 0);
}

/* OpenSSL's BLAKE2BMAC is BLAKE2b's own keyed mode. */
static void test_hash(void)
{
    uint8_t key[SECRET_KEY_BYTES], secret[SECRET_BYTES], got[HASH_BYTES], want[HASH_BYTES];
    for (unsigned i = 0; i < sizeof key; i++) {
        key[i] = (uint8_t)i;
        secret[i] = (uint8_t)(255 - i);
    }
    secret_hash(got, key, secret);
    EVP_MAC *mac = EVP_MAC_fetch(NULL, "BLAKE2BMAC", NULL);
    EVP_MAC_CTX *context = EVP_MAC_CTX_new(mac);
    size_t size = HASH_BYTES;
    OSSL_PARAM params[] = { OSSL_PARAM_construct_size_t(OSSL_MAC_PARAM_SIZE, &size),
                            OSSL_PARAM_construct_end() };
    CHECK(EVP_MAC_init(context, key, sizeof key, params) == 1);
    CHECK(EVP_MAC_update(context, secret, sizeof secret) == 1);
    CHECK(EVP_MAC_final(context, want, &size, sizeof want) == 1 && size == HASH_BYTES);
    EVP_MAC_CTX_free(context);
    EVP_MAC_free(mac);
    CHECK(memcmp(got, want, sizeof got) == 0);
}

static void test_wipe(void)
{
    uint8_t bytes[5] = { 1, 2, 3, 4, 5 };
    secret_wipe(bytes, 4);
    CHECK((bytes[0] | bytes[1] | bytes[2] | bytes[3]) == 0 && bytes[4] == 5);
}

static void test_hold(void)
{
    static uint8_t bytes[5000];
    int held = secret_hold(bytes + 1, sizeof bytes - 1);
    CHECK(held == 0 || held == -EPERM || held == -ENOMEM);
}

int main(void)
{
    test_random();
    test_hash();
    test_wipe();
    test_hold();
    return 0;
}
