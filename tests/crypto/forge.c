#include "crypto/forge.h"

#include <sodium.h>

#include "check.h"

/* The encodings of the points of order 1, 2, 4, 4, 8, 8, 8, 8. */
static const uint8_t small_points[8][32] = {
    { 1 },
    { 0xec, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
      0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
      0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f },
    { 0 },
    { [31] = 0x80 },
    { 0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4,
      0x89, 0xf2, 0xef, 0x98, 0xf0, 0xd5, 0xdf, 0xac, 0x05, 0xd3, 0xc6,
      0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53, 0xfc, 0x05 },
    { 0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4,
      0x89, 0xf2, 0xef, 0x98, 0xf0, 0xd5, 0xdf, 0xac, 0x05, 0xd3, 0xc6,
      0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53, 0xfc, 0x85 },
    { 0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b,
      0x76, 0x0d, 0x10, 0x67, 0x0f, 0x2a, 0x20, 0x53, 0xfa, 0x2c, 0x39,
      0xcc, 0xc6, 0x4e, 0xc7, 0xfd, 0x77, 0x92, 0xac, 0x03, 0x7a },
    { 0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b,
      0x76, 0x0d, 0x10, 0x67, 0x0f, 0x2a, 0x20, 0x53, 0xfa, 0x2c, 0x39,
      0xcc, 0xc6, 0x4e, 0xc7, 0xfd, 0x77, 0x92, 0xac, 0x03, 0xfa },
};

static const uint8_t order[32] = { 0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58,       0xd6,
                                   0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14, [31] = 0x10 };

uint64_t forge_random(struct forge *forge, uint64_t bound)
{
    forge->state ^= forge->state << 13;
    forge->state ^= forge->state >> 7;
    forge->state ^= forge->state << 17;
    return bound == 0 ? forge->state : (forge->state >> 16) % bound;
}

static void random_bytes(struct forge *forge, uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        bytes[i] = (uint8_t)forge_random(forge, 256);
}

static void random_scalar(struct forge *forge, uint8_t scalar[32])
{
    uint8_t wide[64];
    random_bytes(forge, wide, sizeof wide);
    crypto_core_ed25519_scalar_reduce(scalar, wide);
}

static void flip(struct forge *forge, uint8_t *bytes, size_t count)
{
    uint64_t bit = forge_random(forge, 8 * count);
    bytes[bit / 8] ^= (uint8_t)(1u << (bit % 8));
}

void forge_init(struct forge *forge, uint64_t seed)
{
    CHECK(sodium_init() >= 0);
    forge->state = UINT64_C(88172645463325252) ^ (seed * UINT64_C(0x9e3779b97f4a7c15));
    for (unsigned i = 0; i < FORGE_SIGNERS; i++) {
        uint8_t secret[32];
        uint8_t expanded[64];
        random_bytes(forge, secret, sizeof secret);
        signer_ed25519(&forge->signers[i], secret);
        memcpy(forge->keys[i], forge->signers[i].key, 32);
        crypto_hash_sha512(expanded, secret, sizeof secret);
        expanded[0] &= 248;
        expanded[31] = (uint8_t)((expanded[31] & 127) | 64);
        memset(expanded + 32, 0, 32);
        crypto_core_ed25519_scalar_reduce(forge->scalars[i], expanded);
    }
    for (unsigned i = FORGE_SIGNERS; i < FORGE_KEYS; i++) {
        uint8_t point[32];
        random_scalar(forge, forge->scalars[i]);
        CHECK(crypto_scalarmult_ed25519_base_noclamp(point, forge->scalars[i]) == 0);
        CHECK(crypto_core_ed25519_add(forge->keys[i], point,
                                      small_points[1 + forge_random(forge, 7)]) == 0);
    }
}

/* S = r + h a for the R and key that stand: the equation holds up to the small parts of both. */
static void sign_by_scalar(struct forged *forged, const uint8_t scalar[32], const uint8_t r[32])
{
    crypto_hash_sha512_state state;
    uint8_t hash[64], reduced[32], product[32];
    crypto_hash_sha512_init(&state);
    crypto_hash_sha512_update(&state, forged->signature, 32);
    crypto_hash_sha512_update(&state, forged->key, 32);
    crypto_hash_sha512_update(&state, forged->message, forged->message_bytes);
    crypto_hash_sha512_final(&state, hash);
    crypto_core_ed25519_scalar_reduce(reduced, hash);
    crypto_core_ed25519_scalar_mul(product, reduced, scalar);
    crypto_core_ed25519_scalar_add(forged->signature + 32, r, product);
}

static void forge_mixed(struct forge *forge, struct forged *forged)
{
    uint8_t r[32], point[32];
    if (forge_random(forge, 2) == 0)
        forged->key_index = FORGE_SIGNERS + (unsigned)forge_random(forge, FORGE_MIXED);
    memcpy(forged->key, forge->keys[forged->key_index], 32);
    random_scalar(forge, r);
    CHECK(crypto_scalarmult_ed25519_base_noclamp(point, r) == 0);
    memcpy(forged->signature, point, 32);
    if (forge_random(forge, 3) != 0)
        CHECK(crypto_core_ed25519_add(forged->signature, point,
                                      small_points[forge_random(forge, 8)]) == 0);
    sign_by_scalar(forged, forge->scalars[forged->key_index], r);
}

/* S + n L below 2^256. */
static void add_order(uint8_t scalar[32], uint64_t times)
{
    while (times-- > 0) {
        unsigned sum = 0;
        for (unsigned i = 0; i < 32; i++) {
            sum += (unsigned)scalar[i] + order[i];
            scalar[i] = (uint8_t)sum;
            sum >>= 8;
        }
    }
}

/* y = p + n, n below 19. */
static void not_canonical(struct forge *forge, uint8_t point[32])
{
    memset(point, 0xff, 32);
    point[0] = (uint8_t)(0xed + forge_random(forge, 19));
    point[31] = forge_random(forge, 2) == 0 ? 0x7f : 0xff;
}

static void forge_edge(struct forge *forge, struct forged *forged)
{
    uint8_t *scalar = forged->signature + 32;
    switch (forge_random(forge, 6)) {
    case 0:
        memset(scalar, 0, 32);
        break;
    case 1:
        memcpy(scalar, order, 32);
        break;
    case 2:
        memcpy(scalar, order, 32);
        scalar[0]--;
        break;
    case 3:
        forged->signature[31] ^= 0x80;
        break;
    case 4:
        random_bytes(forge, forged->key, 32);
        break;
    default:
        forged->key[31] ^= 0x80;
        break;
    }
}

static void spoil(struct forge *forge, struct forged *forged)
{
    uint8_t *r = forged->signature, *scalar = forged->signature + 32;
    switch (forged->kind) {
    case 2:
        flip(forge, r, 32);
        break;
    case 3:
        flip(forge, scalar, 32);
        break;
    case 4:
        if (forged->message_bytes > 0)
            flip(forge, forged->message, forged->message_bytes);
        break;
    case 5:
        flip(forge, forged->key, 32);
        break;
    case 6:
        add_order(scalar, 1 + forge_random(forge, 15));
        break;
    case 7:
        memcpy(r, small_points[forge_random(forge, 8)], 32);
        r[31] ^= (uint8_t)(forge_random(forge, 2) << 7);
        break;
    case 8:
        memcpy(forged->key, small_points[forge_random(forge, 8)], 32);
        if (forge_random(forge, 2) == 0)
            memset(scalar, 0, 32);
        if (forge_random(forge, 2) == 0)
            memcpy(r, small_points[forge_random(forge, 8)], 32);
        break;
    case 9:
        not_canonical(forge, forged->key);
        break;
    case 10:
        not_canonical(forge, r);
        break;
    case 11:
        forge_mixed(forge, forged);
        break;
    case 12:
        random_bytes(forge, forged->signature, 64);
        forged->signature[63] &= 0x1f;
        break;
    case 13:
        forge_edge(forge, forged);
        break;
    default: /* 0 and 1 stay good */
        break;
    }
}

/* Half of them short, the others at a border of the hash's blocks of 128 bytes (64 are before the
 * message, 17 at least behind it), or of any length. */
static size_t message_length(struct forge *forge)
{
    switch (forge_random(forge, 8)) {
    case 0:
        return forge_random(forge, FORGE_MESSAGE_MAX + 1);
    case 1:
    case 2:
    case 3:
        return 128 * (1 + forge_random(forge, 4)) - 64 - 20 + forge_random(forge, 24);
    default:
        return forge_random(forge, 220);
    }
}

void forge_next(struct forge *forge, struct forged *forged)
{
    forged->kind = (unsigned)forge_random(forge, FORGE_KINDS);
    forged->key_index = (unsigned)forge_random(forge, FORGE_SIGNERS);
    forged->message_bytes = message_length(forge);
    random_bytes(forge, forged->message, forged->message_bytes < 64 ? forged->message_bytes : 64);
    memcpy(forged->key, forge->keys[forged->key_index], 32);
    if (forged->kind != 11 && forged->kind != 12)
        signer_ed25519_sign(&forge->signers[forged->key_index], forged->message,
                            forged->message_bytes, forged->signature);
    spoil(forge, forged);
    if (memcmp(forged->key, forge->keys[forged->key_index], 32) != 0)
        forged->key_index = FORGE_KEYS;
}
