/* ECDSA_do_verify is deprecated since OpenSSL 3.0 and a quarter faster than EVP there. */
#define OPENSSL_API_COMPAT 0x10100000L
#include "crypto/p256.h"

#include <errno.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/obj_mac.h>

enum { SCALAR_BYTES = 32 };

/* The curve, written by p256_init alone; OpenSSL does not write to a group that it reads. */
static EC_GROUP *curve;

/* RFC 6979, A.2.5: the key, and the message "sample" with SHA-256. */
static const uint8_t known_key[P256_KEY_BYTES] = {
    0x03, 0x60, 0xfe, 0xd4, 0xba, 0x25, 0x5a, 0x9d, 0x31, 0xc9, 0x61,
    0xeb, 0x74, 0xc6, 0x35, 0x6d, 0x68, 0xc0, 0x49, 0xb8, 0x92, 0x3b,
    0x61, 0xfa, 0x6c, 0xe6, 0x69, 0x62, 0x2e, 0x60, 0xf2, 0x9f, 0xb6,
};
static const uint8_t known_digest[P256_DIGEST_BYTES] = {
    0xaf, 0x2b, 0xdb, 0xe1, 0xaa, 0x9b, 0x6e, 0xc1, 0xe2, 0xad, 0xe1, 0xd6, 0x94, 0xf4, 0x1f, 0xc7,
    0x1a, 0x83, 0x1d, 0x02, 0x68, 0xe9, 0x89, 0x15, 0x62, 0x11, 0x3d, 0x8a, 0x62, 0xad, 0xd1, 0xbf,
};
static const uint8_t known_signature[P256_SIGNATURE_BYTES] = {
    0xef, 0xd4, 0x8b, 0x2a, 0xac, 0xb6, 0xa8, 0xfd, 0x11, 0x40, 0xdd, 0x9c, 0xd4, 0x5e, 0x81, 0xd6,
    0x9d, 0x2c, 0x87, 0x7b, 0x56, 0xaa, 0xf9, 0x91, 0xc3, 0x4d, 0x0e, 0xa8, 0x4e, 0xaf, 0x37, 0x16,
    0xf7, 0xcb, 0x1c, 0x94, 0x2d, 0x65, 0x7c, 0x41, 0xd4, 0x36, 0xc7, 0xa1, 0xb6, 0xe2, 0x9f, 0x65,
    0xf3, 0xe9, 0x00, 0xdb, 0xb9, 0xaf, 0xf4, 0x06, 0x4d, 0xc4, 0xab, 0x2f, 0x84, 0x3a, 0xcd, 0xa8,
};

/* Whether this machine gives the known verdicts; a digest and a key that differ are refused. */
static bool verdicts_are_known(void)
{
    uint8_t digest[P256_DIGEST_BYTES], key[P256_KEY_BYTES];
    memcpy(digest, known_digest, sizeof digest);
    memcpy(key, known_key, sizeof key);
    digest[0] ^= 1;
    key[0] ^= 1;
    return p256_verify(NULL, known_key, known_digest, known_signature) &&
           !p256_verify(NULL, known_key, digest, known_signature) &&
           !p256_verify(NULL, key, known_digest, known_signature);
}

int p256_init(void)
{
    if (curve == NULL)
        curve = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1);
    if (curve == NULL) {
        ERR_clear_error();
        return -ENOMEM;
    }
    return verdicts_are_known() ? 0 : -EBADMSG;
}

bool p256_is_point(const uint8_t point[P256_POINT_BYTES])
{
    EC_POINT *parsed = point[0] == POINT_CONVERSION_UNCOMPRESSED ? EC_POINT_new(curve) : NULL;
    bool is_point =
        parsed != NULL && EC_POINT_oct2point(curve, parsed, point, P256_POINT_BYTES, NULL) == 1;
    EC_POINT_free(parsed);
    ERR_clear_error();
    return is_point;
}

/* The point of a compressed key with both coordinates; false if there is none. */
static bool decompress(const uint8_t key[P256_KEY_BYTES], struct p256_key *out)
{
    memcpy(out->compressed, key, P256_KEY_BYTES);
    EC_POINT *point = EC_POINT_new(curve);
    bool is_point = point != NULL &&
                    EC_POINT_oct2point(curve, point, key, P256_KEY_BYTES, NULL) == 1 &&
                    EC_POINT_point2oct(curve, point, POINT_CONVERSION_UNCOMPRESSED, out->point,
                                       sizeof out->point, NULL) == sizeof out->point;
    EC_POINT_free(point);
    return is_point;
}

/* r and s as OpenSSL holds them; NULL without memory. */
static ECDSA_SIG *signature_of(const uint8_t bytes[P256_SIGNATURE_BYTES])
{
    ECDSA_SIG *signature = ECDSA_SIG_new();
    BIGNUM *r = BN_bin2bn(bytes, SCALAR_BYTES, NULL);
    BIGNUM *s = BN_bin2bn(bytes + SCALAR_BYTES, SCALAR_BYTES, NULL);
    if (signature != NULL && r != NULL && s != NULL && ECDSA_SIG_set0(signature, r, s) == 1)
        return signature;
    BN_free(r);
    BN_free(s);
    ECDSA_SIG_free(signature);
    return NULL;
}

/* Setting the key checks that its point is on the curve; verifying checks 0 < r, s < n. */
static bool verify(const struct p256_key *key, const uint8_t digest[P256_DIGEST_BYTES],
                   const uint8_t signature[P256_SIGNATURE_BYTES])
{
    EC_KEY *ec_key = EC_KEY_new();
    EC_POINT *point = EC_POINT_new(curve);
    ECDSA_SIG *parts = signature_of(signature);
    bool is_good = ec_key != NULL && point != NULL && parts != NULL &&
                   EC_KEY_set_group(ec_key, curve) == 1 &&
                   EC_POINT_oct2point(curve, point, key->point, sizeof key->point, NULL) == 1 &&
                   EC_KEY_set_public_key(ec_key, point) == 1 &&
                   ECDSA_do_verify(digest, P256_DIGEST_BYTES, parts, ec_key) == 1;
    ECDSA_SIG_free(parts);
    EC_POINT_free(point);
    EC_KEY_free(ec_key);
    return is_good;
}

bool p256_key_is_valid(const uint8_t key[P256_KEY_BYTES])
{
    EC_GROUP *own = curve != NULL ? NULL : EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1);
    const EC_GROUP *group = own != NULL ? own : curve;
    EC_POINT *point = group == NULL ? NULL : EC_POINT_new(group);
    INVARIANT(point != NULL); /* every replica needs the same answer */
    bool is_point = EC_POINT_oct2point(group, point, key, P256_KEY_BYTES, NULL) == 1;
    EC_POINT_free(point);
    EC_GROUP_free(own);
    if (!is_point)
        ERR_clear_error(); /* the thread's queue is shared with TLS */
    return is_point;
}

bool p256_verify(struct p256_cache *cache, const uint8_t key[P256_KEY_BYTES],
                 const uint8_t digest[P256_DIGEST_BYTES],
                 const uint8_t signature[P256_SIGNATURE_BYTES])
{
    struct p256_key fresh;
    /* The low bytes of x: a client that chooses them delays its own keys. */
    struct p256_key *cached =
        cache == NULL ? NULL : &cache->keys[cc_load16(key + P256_KEY_BYTES - 2) % P256_CACHE_KEYS];
    bool is_cached = cached != NULL && memcmp(cached->compressed, key, P256_KEY_BYTES) == 0;
    bool is_good = (is_cached || decompress(key, &fresh)) &&
                   verify(is_cached ? cached : &fresh, digest, signature);
    if (is_good && cached != NULL && !is_cached)
        *cached = fresh;
    if (!is_good)
        ERR_clear_error(); /* the thread's queue is shared with TLS */
    return is_good;
}
