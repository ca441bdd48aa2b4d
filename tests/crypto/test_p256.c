/* p256: wire.md W4 (33-byte keys, 64-byte r||s, high s accepted) against Wycheproof's file, with
 * and without a cache of keys. */
#include <openssl/err.h>
#include <openssl/sha.h>

#include "check.h"
#include "crypto/second_path.h"
#include "support/tree.h"

enum { VECTORS = 262, BYTES_MAX = 8192 };

/* n, and n / 2 rounded down (SEC 2, secp256r1): the greatest low s. */
static const uint8_t order[32] = { 0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff,
                                   0xff, 0xff, 0xff, 0xff, 0xff, 0xbc, 0xe6, 0xfa, 0xad, 0xa7, 0x17,
                                   0x9e, 0x84, 0xf3, 0xb9, 0xca, 0xc2, 0xfc, 0x63, 0x25, 0x51 };
static const uint8_t half_order[32] = { 0x7f, 0xff, 0xff, 0xff, 0x80, 0x00, 0x00, 0x00,
                                        0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                        0xde, 0x73, 0x7d, 0x56, 0xd3, 0x8b, 0xcf, 0x42,
                                        0x79, 0xdc, 0xe5, 0x61, 0x7e, 0x31, 0x92, 0xa8 };

static struct p256_cache cache;

/* A signature that is good, for the tests below. */
static uint8_t good_key[33], good_digest[32], good_signature[64];

/* The 33-byte form of a vector's 65-byte key. */
static void read_key(const struct tree *group, uint8_t key[33])
{
    uint8_t bytes[65];
    CHECK(tree_hex(tree_get(group, "publicKey"), "uncompressed", bytes, sizeof bytes) == 65);
    CHECK(bytes[0] == 4);
    key[0] = 2 | (bytes[64] & 1);
    memcpy(key + 1, bytes + 1, 32);
}

static void test_published(void)
{
    struct tree *file = tree_load("tests/vectors/published/ecdsa_secp256r1_sha256_p1363_test.json");
    static uint8_t message[BYTES_MAX], signature[BYTES_MAX];
    unsigned count = 0, high = 0, low = 0;
    for (struct tree *group = tree_get(file, "testGroups")->first; group; group = group->next) {
        uint8_t key[33], digest[32];
        read_key(group, key);
        for (struct tree *v = tree_get(group, "tests")->first; v != NULL; v = v->next, count++) {
            SHA256(message, tree_hex(v, "msg", message, sizeof message), digest);
            size_t bytes = tree_hex(v, "sig", signature, sizeof signature);
            bool valid = strcmp(tree_text(v, "result"), "valid") == 0;
            if (bytes != 64) { /* has no form of ours */
                CHECK(!valid);
                continue;
            }
            CHECK(p256_verify(NULL, key, digest, signature) == valid);
            CHECK(second_path_p256(key, digest, signature) == valid);
            CHECK(p256_verify(&cache, key, digest, signature) == valid); /* may enter it */
            CHECK(p256_verify(&cache, key, digest, signature) == valid); /* may be in it */
            CHECK(ERR_peek_error() == 0);                                /* TLS shares the queue */
            if (!valid)
                continue;
            bool is_high = memcmp(signature + 32, half_order, 32) > 0;
            high += is_high;
            low += !is_high;
            memcpy(good_key, key, 33);
            memcpy(good_digest, digest, 32);
            memcpy(good_signature, signature, 64);
        }
    }
    CHECK(count == VECTORS && tree_int(file, "numberOfTests") == count);
    CHECK(high > 50 && low > 50); /* both kinds of s are there */
    tree_free(file);
}

/* W4: r and s are in 1..n-1. */
static void test_bounds(void)
{
    uint8_t signature[64];
    for (unsigned half = 0; half < 2; half++) {
        memcpy(signature, good_signature, 64);
        memset(signature + half * 32, 0, 32);
        CHECK(!p256_verify(&cache, good_key, good_digest, signature));
        memcpy(signature + half * 32, order, 32);
        CHECK(!p256_verify(&cache, good_key, good_digest, signature));
        memset(signature + half * 32, 0xff, 32);
        CHECK(!p256_verify(&cache, good_key, good_digest, signature));
        CHECK(!second_path_p256(good_key, good_digest, signature));
    }
    CHECK(p256_verify(&cache, good_key, good_digest, good_signature));
}

/* Every bit of key, digest and signature counts, also for a key in the cache. */
static void test_bits(void)
{
    struct {
        uint8_t *bytes;
        unsigned count;
    } parts[] = { { good_key, 33 }, { good_digest, 32 }, { good_signature, 64 } };
    for (unsigned part = 0; part < CC_COUNT(parts); part++)
        for (unsigned i = 0; i < parts[part].count; i++) {
            parts[part].bytes[i] ^= (uint8_t)(1u << i % 8);
            CHECK(!p256_verify(&cache, good_key, good_digest, good_signature));
            CHECK(!second_path_p256(good_key, good_digest, good_signature));
            parts[part].bytes[i] ^= (uint8_t)(1u << i % 8);
        }
    CHECK(p256_verify(&cache, good_key, good_digest, good_signature));
}

/* Keys that share a place of the cache take it from each other; verdicts do not change. */
static void test_cache(void)
{
    uint8_t other[33];
    memcpy(other, good_key, 33);
    other[0] ^= 1; /* -Q: the same place */
    for (unsigned i = 0; i < 3; i++) {
        CHECK(!p256_verify(&cache, other, good_digest, good_signature));
        CHECK(p256_verify(&cache, good_key, good_digest, good_signature));
    }
}

/* W4: keys are compressed points. On P-256 x = 1 has no y; x from p up is not canonical. Nothing
 * is signed under another encoding, and nothing enters the cache. */
static void test_keys(void)
{
    static const uint8_t tags[] = { 0, 1, 4, 5, 6, 7, 0xff };
    static const struct p256_cache empty;
    static struct p256_cache own;
    uint8_t key[33];
    for (unsigned i = 0; i < CC_COUNT(tags); i++) {
        memcpy(key, good_key, sizeof key);
        key[0] = tags[i];
        CHECK(!p256_verify(&own, key, good_digest, good_signature));
        CHECK(!second_path_p256(key, good_digest, good_signature));
    }
    memset(key, 0, sizeof key);
    key[0] = 2;
    CHECK(!p256_verify(&own, key, good_digest, good_signature));
    key[32] = 1;
    CHECK(!p256_verify(&own, key, good_digest, good_signature));
    memset(key + 1, 0xff, 32);
    CHECK(!p256_verify(&own, key, good_digest, good_signature));
    CHECK(ERR_peek_error() == 0);
    CHECK(memcmp(&own, &empty, sizeof own) == 0);
    CHECK(p256_verify(&own, good_key, good_digest, good_signature));
    CHECK(memcmp(&own, &empty, sizeof own) != 0);
}

int main(void)
{
    CHECK(p256_init() == 0 && p256_init() == 0);
    CHECK(second_path_init() == 0 && second_path_init() == 0);
    test_published();
    test_bounds();
    test_bits();
    test_cache();
    test_keys();
    return 0;
}
