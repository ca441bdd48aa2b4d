/* ECDSA_do_verify is deprecated since OpenSSL 3.0; EVP takes no curve without a name. */
#define OPENSSL_API_COMPAT 0x10100000L
#include "crypto/second_path.h"

#include <errno.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/obj_mac.h>

enum { KEY_BYTES = 33, DIGEST_BYTES = 32, SIGNATURE_BYTES = 64, SCALAR_BYTES = 32 };

static_assert((unsigned)KEY_BYTES == SECP256K1_KEY_BYTES && (unsigned)KEY_BYTES == P256_KEY_BYTES,
              "both have one form");

/* second_path_init alone writes them; OpenSSL does not write to a group that it reads. */
static EC_GROUP *wallets, *passkeys;

/* Half of the order of secp256k1, rounded down: the highest s. */
static const uint8_t half_order[SCALAR_BYTES] = {
    0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    0x5d, 0x57, 0x6e, 0x73, 0x57, 0xa4, 0x50, 0x1d, 0xdf, 0xe9, 0x2f, 0x46, 0x68, 0x1b, 0x20, 0xa0,
};

/* SHA-256 of "sample", signed on both curves: on P-256 by RFC 6979, A.2.5. */
static const uint8_t known_digest[DIGEST_BYTES] = {
    0xaf, 0x2b, 0xdb, 0xe1, 0xaa, 0x9b, 0x6e, 0xc1, 0xe2, 0xad, 0xe1, 0xd6, 0x94, 0xf4, 0x1f, 0xc7,
    0x1a, 0x83, 0x1d, 0x02, 0x68, 0xe9, 0x89, 0x15, 0x62, 0x11, 0x3d, 0x8a, 0x62, 0xad, 0xd1, 0xbf,
};
static const struct known {
    uint8_t key[KEY_BYTES];
    uint8_t signature[SIGNATURE_BYTES];
} of_wallets = { { 0x03, 0x9c, 0x98, 0xbd, 0x17, 0x3e, 0x88, 0x77, 0xbe, 0x6b, 0xb5,
                   0x1e, 0x87, 0xcd, 0x22, 0xe6, 0x9c, 0x94, 0xe1, 0x4c, 0x3b, 0xdc,
                   0x5d, 0x5b, 0x4d, 0x53, 0x97, 0x84, 0x53, 0x62, 0xc6, 0x76, 0xfe },
                 { 0x83, 0x95, 0xc1, 0xfd, 0x1c, 0xa4, 0xdd, 0x75, 0xa2, 0xcc, 0x8e, 0xd3, 0xfe,
                   0x3a, 0x04, 0x39, 0x9a, 0xd5, 0x93, 0xe4, 0xeb, 0xca, 0x18, 0xa9, 0x0b, 0x92,
                   0x3c, 0x06, 0xe2, 0xd5, 0xb9, 0x8c, 0x7e, 0x04, 0x31, 0xc5, 0xfd, 0x25, 0xd7,
                   0x4e, 0x7c, 0x8d, 0x64, 0x91, 0xb8, 0xde, 0x1a, 0x76, 0xce, 0x11, 0x97, 0xec,
                   0x82, 0xf0, 0xde, 0xba, 0x44, 0x9b, 0xbe, 0xd0, 0x4a, 0x78, 0xb1, 0x67 } },
  of_passkeys = { { 0x03, 0x60, 0xfe, 0xd4, 0xba, 0x25, 0x5a, 0x9d, 0x31, 0xc9, 0x61,
                    0xeb, 0x74, 0xc6, 0x35, 0x6d, 0x68, 0xc0, 0x49, 0xb8, 0x92, 0x3b,
                    0x61, 0xfa, 0x6c, 0xe6, 0x69, 0x62, 0x2e, 0x60, 0xf2, 0x9f, 0xb6 },
                  { 0xef, 0xd4, 0x8b, 0x2a, 0xac, 0xb6, 0xa8, 0xfd, 0x11, 0x40, 0xdd, 0x9c, 0xd4,
                    0x5e, 0x81, 0xd6, 0x9d, 0x2c, 0x87, 0x7b, 0x56, 0xaa, 0xf9, 0x91, 0xc3, 0x4d,
                    0x0e, 0xa8, 0x4e, 0xaf, 0x37, 0x16, 0xf7, 0xcb, 0x1c, 0x94, 0x2d, 0x65, 0x7c,
                    0x41, 0xd4, 0x36, 0xc7, 0xa1, 0xb6, 0xe2, 0x9f, 0x65, 0xf3, 0xe9, 0x00, 0xdb,
                    0xb9, 0xaf, 0xf4, 0x06, 0x4d, 0xc4, 0xab, 0x2f, 0x84, 0x3a, 0xcd, 0xa8 } };

/* ---- ECDSA ----------------------------------------------------------------------------------- */

/* P-256 by its numbers: under its name OpenSSL takes the code that p256.h verifies with. */
static EC_GROUP *p256_by_numbers(void)
{
    EC_GROUP *named = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1), *group = NULL;
    BIGNUM *p = BN_new(), *a = BN_new(), *b = BN_new();
    EC_POINT *generator = NULL;
    uint8_t point[P256_POINT_BYTES];

    if (named != NULL && p != NULL && a != NULL && b != NULL &&
        EC_GROUP_get_curve(named, p, a, b, NULL) == 1)
        group = EC_GROUP_new_curve_GFp(p, a, b, NULL);
    if (group != NULL)
        generator = EC_POINT_new(group);
    bool is_made =
        generator != NULL &&
        EC_POINT_point2oct(named, EC_GROUP_get0_generator(named), POINT_CONVERSION_UNCOMPRESSED,
                           point, sizeof point, NULL) == sizeof point &&
        EC_POINT_oct2point(group, generator, point, sizeof point, NULL) == 1 &&
        EC_GROUP_set_generator(group, generator, EC_GROUP_get0_order(named), BN_value_one()) == 1;
    EC_POINT_free(generator);
    BN_free(p);
    BN_free(a);
    BN_free(b);
    EC_GROUP_free(named);
    if (is_made)
        return group;
    EC_GROUP_free(group);
    return NULL;
}

/* r and s as OpenSSL holds them; NULL without memory. */
static ECDSA_SIG *parts_of(const uint8_t bytes[SIGNATURE_BYTES])
{
    ECDSA_SIG *parts = ECDSA_SIG_new();
    BIGNUM *r = BN_bin2bn(bytes, SCALAR_BYTES, NULL);
    BIGNUM *s = BN_bin2bn(bytes + SCALAR_BYTES, SCALAR_BYTES, NULL);
    if (parts != NULL && r != NULL && s != NULL && ECDSA_SIG_set0(parts, r, s) == 1)
        return parts;
    BN_free(r);
    BN_free(s);
    ECDSA_SIG_free(parts);
    return NULL;
}

/* OpenSSL checks that the key is on the curve and that r and s are from 1 to n - 1. */
static bool verify(const EC_GROUP *curve, const uint8_t key[KEY_BYTES],
                   const uint8_t digest[DIGEST_BYTES], const uint8_t signature[SIGNATURE_BYTES])
{
    INVARIANT(curve != NULL);
    EC_KEY *ec_key = EC_KEY_new();
    EC_POINT *point = EC_POINT_new(curve);
    ECDSA_SIG *parts = parts_of(signature);
    bool is_good = ec_key != NULL && point != NULL && parts != NULL &&
                   EC_KEY_set_group(ec_key, curve) == 1 &&
                   EC_POINT_oct2point(curve, point, key, KEY_BYTES, NULL) == 1 &&
                   EC_KEY_set_public_key(ec_key, point) == 1 &&
                   ECDSA_do_verify(digest, DIGEST_BYTES, parts, ec_key) == 1;
    ECDSA_SIG_free(parts);
    EC_POINT_free(point);
    EC_KEY_free(ec_key);
    if (!is_good)
        ERR_clear_error(); /* the thread's queue is shared with TLS */
    return is_good;
}

bool second_path_secp256k1(const uint8_t key[SECP256K1_KEY_BYTES],
                           const uint8_t digest[SECP256K1_DIGEST_BYTES],
                           const uint8_t signature[SECP256K1_SIGNATURE_BYTES])
{
    return memcmp(signature + SCALAR_BYTES, half_order, SCALAR_BYTES) <= 0 &&
           verify(wallets, key, digest, signature);
}

bool second_path_p256(const uint8_t key[P256_KEY_BYTES], const uint8_t digest[P256_DIGEST_BYTES],
                      const uint8_t signature[P256_SIGNATURE_BYTES])
{
    return verify(passkeys, key, digest, signature);
}

/* Whether the known verdicts come out; another digest, key and r are refused. */
static bool verdicts_are_known(const EC_GROUP *curve, const struct known *known)
{
    uint8_t digest[DIGEST_BYTES];
    struct known key = *known, r = *known;

    memcpy(digest, known_digest, sizeof digest);
    digest[DIGEST_BYTES - 1] ^= 1;
    key.key[0] ^= 1;
    r.signature[SCALAR_BYTES - 1] ^= 1;
    return verify(curve, known->key, known_digest, known->signature) &&
           !verify(curve, known->key, digest, known->signature) &&
           !verify(curve, key.key, known_digest, known->signature) &&
           !verify(curve, known->key, known_digest, r.signature);
}

int second_path_init(void)
{
    if (wallets == NULL)
        wallets = EC_GROUP_new_by_curve_name(NID_secp256k1);
    if (passkeys == NULL)
        passkeys = p256_by_numbers();
    if (wallets == NULL || passkeys == NULL) {
        ERR_clear_error();
        return -ENOMEM;
    }
    return verdicts_are_known(wallets, &of_wallets) && verdicts_are_known(passkeys, &of_passkeys)
               ? 0
               : -EBADMSG;
}

/* ---- Ed25519 --------------------------------------------------------------------------------- */

bool second_path_ed25519(enum ed25519_path first, const struct ed25519_job *job)
{
    struct ed25519_job alone = *job;
    enum ed25519_path judge = ed25519_judge_of(first);

    alone.table = NULL; /* the one in use may be wrong */
    return judge != ED25519_PATHS && ed25519_verify_by(judge, &alone, 1) == 1;
}
