/* secp256k1: wire.md W4 (33-byte keys, 64-byte r||s, low-s only) against Wycheproof's two files:
 * the P1363 one has our form and accepts high s, the Bitcoin one is DER and does not. */
#include <openssl/sha.h>

#include "check.h"
#include "crypto/second_path.h"
#include "crypto/signer.h"
#include "support/tree.h"

enum { P1363_VECTORS = 252, BITCOIN_VECTORS = 463, BITCOIN_VALID = 162, BYTES_MAX = 8192 };

/* n / 2, rounded down (SEC 2, secp256k1): the greatest low s. */
static const uint8_t half_order[32] = { 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                        0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                        0x5d, 0x57, 0x6e, 0x73, 0x57, 0xa4, 0x50, 0x1d,
                                        0xdf, 0xe9, 0x2f, 0x46, 0x68, 0x1b, 0x20, 0xa0 };

/* Both paths have one verdict. */
static bool verify(const uint8_t key[33], const uint8_t digest[32], const uint8_t signature[64])
{
    bool good = secp256k1_verify(key, digest, signature);
    CHECK(second_path_secp256k1(key, digest, signature) == good);
    return good;
}

/* The 33-byte form of a vector's 65-byte key. */
static void read_key(const struct tree *group, uint8_t key[33])
{
    uint8_t bytes[65];
    CHECK(tree_hex(tree_get(group, "publicKey"), "uncompressed", bytes, sizeof bytes) == 65);
    CHECK(bytes[0] == 4);
    key[0] = 2 | (bytes[64] & 1);
    memcpy(key + 1, bytes + 1, 32);
}

static void test_p1363(void)
{
    struct tree *file = tree_load("tests/vectors/published/ecdsa_secp256k1_sha256_p1363_test.json");
    static uint8_t message[BYTES_MAX], signature[BYTES_MAX];
    unsigned count = 0;
    unsigned high = 0;
    unsigned good_count = 0;
    for (struct tree *group = tree_get(file, "testGroups")->first; group; group = group->next) {
        uint8_t key[33], digest[32];
        read_key(group, key);
        for (struct tree *v = tree_get(group, "tests")->first; v != NULL; v = v->next, count++) {
            SHA256(message, tree_hex(v, "msg", message, sizeof message), digest);
            size_t bytes = tree_hex(v, "sig", signature, sizeof signature);
            bool valid = strcmp(tree_text(v, "result"), "valid") == 0;
            bool is_high = bytes == 64 && memcmp(signature + 32, half_order, 32) > 0;
            high += valid && is_high;
            bool good = bytes == 64 && verify(key, digest, signature);
            CHECK(good == (valid && !is_high));
            good_count += good;
        }
    }
    CHECK(count == P1363_VECTORS && tree_int(file, "numberOfTests") == count);
    CHECK(high > 50 && good_count > 50); /* both sides of our rule are there */
    tree_free(file);
}

/* One INTEGER of DER as 32 bytes; the bytes used, 0 when it is no positive minimal INTEGER that
 * fits. */
static size_t read_integer(const uint8_t *der, size_t count, uint8_t out[32])
{
    if (count < 3 || der[0] != 0x02 || der[1] == 0 || der[1] > 33 || der[1] + 2u > count)
        return 0;
    const uint8_t *bytes = der + 2;
    size_t length = der[1];
    if (bytes[0] & 0x80)
        return 0;
    if (bytes[0] == 0 && length > 1) {
        if (!(bytes[1] & 0x80))
            return 0;
        bytes++;
        length--;
    }
    if (length > 32)
        return 0;
    memset(out, 0, 32);
    memcpy(out + 32 - length, bytes, length);
    return der[1] + 2u;
}

/* The 64-byte form of a strict DER signature; false when it has none. */
static bool from_der(const uint8_t *der, size_t count, uint8_t signature[64])
{
    if (count < 8 || der[0] != 0x30 || der[1] != count - 2)
        return false;
    size_t r = read_integer(der + 2, count - 2, signature);
    size_t s = r == 0 ? 0 : read_integer(der + 2 + r, count - 2 - r, signature + 32);
    return s != 0 && 2 + r + s == count;
}

static void test_bitcoin(void)
{
    struct tree *file =
        tree_load("tests/vectors/published/ecdsa_secp256k1_sha256_bitcoin_test.json");
    static uint8_t message[BYTES_MAX], der[BYTES_MAX];
    unsigned count = 0;
    unsigned no_form = 0;
    unsigned valid_count = 0;
    for (struct tree *group = tree_get(file, "testGroups")->first; group; group = group->next) {
        uint8_t key[33], digest[32], signature[64];
        read_key(group, key);
        for (struct tree *v = tree_get(group, "tests")->first; v != NULL; v = v->next, count++) {
            SHA256(message, tree_hex(v, "msg", message, sizeof message), digest);
            size_t bytes = tree_hex(v, "sig", der, sizeof der);
            bool valid = strcmp(tree_text(v, "result"), "valid") == 0;
            bool has_form = from_der(der, bytes, signature);
            no_form += !has_form;
            valid_count += valid;
            CHECK(valid == (has_form && verify(key, digest, signature)));
        }
    }
    CHECK(count == BITCOIN_VECTORS && tree_int(file, "numberOfTests") == count);
    CHECK(valid_count == BITCOIN_VALID && count - no_form > valid_count); /* both verdicts met */
    tree_free(file);
}

static void test_signer(void)
{
    uint8_t secret[32] = { 0 };
    uint8_t key[33], digest[32], signature[64];
    CHECK(!signer_secp256k1_key(secret, key)); /* 0 is no private key */
    for (unsigned i = 1; i < 50; i++) {
        secret[31] = (uint8_t)i;
        memset(digest, (int)i, sizeof digest);
        CHECK(signer_secp256k1_key(secret, key));
        CHECK(signer_secp256k1_sign(secret, digest, signature));
        CHECK(memcmp(signature + 32, half_order, 32) <= 0);
        CHECK(verify(key, digest, signature));
        digest[i % 32] ^= 1;
        CHECK(!verify(key, digest, signature));
    }
}

/* W4: keys are compressed points. x = 5 has no y on y^2 = x^3 + 7; x from p up is not canonical. */
static void test_keys(void)
{
    uint8_t secret[32] = { 0 };
    uint8_t key[33], bad[33], digest[32] = { 9 }, signature[64];
    secret[31] = 1;
    CHECK(signer_secp256k1_key(secret, key));
    CHECK(signer_secp256k1_sign(secret, digest, signature));
    memcpy(bad, key, sizeof bad);
    CHECK(verify(bad, digest, signature));
    for (unsigned head = 0; head < 256; head++) {
        bad[0] = (uint8_t)head; /* the generator's y is even: 2 and nothing else */
        CHECK(verify(bad, digest, signature) == (head == 2));
    }
    memset(bad, 0, sizeof bad);
    bad[0] = 2;
    bad[32] = 5;
    CHECK(!verify(bad, digest, signature));
    memset(bad + 1, 0xff, 32);
    CHECK(!verify(bad, digest, signature));
}

int main(void)
{
    CHECK(secp256k1_init() == 0 && signer_init() == 0 && second_path_init() == 0);
    test_p1363();
    test_bitcoin();
    test_keys();
    test_signer();
    return 0;
}
