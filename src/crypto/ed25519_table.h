/* ed25519_table.h - the multiples of a public key that make its signatures cheap to verify. Pure.
 *
 * A verification needs [h](-A) for a new scalar h each time. In signed digits base 16, h is a sum
 * of 64 terms digit * 16^i with -8 <= digit <= 7. A table of multiple * 16^i * (-A) gives each term
 * by one look-up and one addition. A table of all 64 positions needs no doublings; each halving of
 * the positions halves the memory and costs 4, 12, then 28 doublings in total.
 *
 *   positions 32   24,576 bytes, 4 doublings; the only form that ed25519_lanes_split accepts
 *   positions  8    6,144 bytes, 28 doublings: as fast when thousands of keys compete for the cache
 *
 * Exact. Multiples are of the very point that the key encodes, its part of small order included:
 *        the verdict is the cofactorless one (ed25519.h).
 * Owner. The caller owns the memory, 64-byte aligned. Only ed25519_table_build writes it;
 *        afterwards any number of threads may read it.
 * Wait.  Pure computation, below 160 us for 32 positions. */
#ifndef CRYPTO_ED25519_TABLE_H
#define CRYPTO_ED25519_TABLE_H

#include "base/compiler.h"

enum {
    ED25519_TABLE_POSITIONS = 32,      /* of a table of 24,576 bytes */
    ED25519_TABLE_POSITIONS_SMALL = 8, /* of a table of 6,144 bytes */
    ED25519_TABLE_MULTIPLES = 8,       /* of a position: 1 .. 8 */
    ED25519_TABLE_ALIGN = 64,
};

/* An affine point (x, y) in the form of the addition formula: y - x, y + x, 2dxy, each below p =
 * 2^255 - 19 and in little-endian words. Its negative is the same with the first two exchanged and
 * the third negated. */
struct ed25519_multiple {
    uint64_t y_minus_x[4];
    uint64_t y_plus_x[4];
    uint64_t xy2d[4];
};

static_assert(sizeof(struct ed25519_multiple) == 96, "addressed by multiplication in the lanes");

/* multiples[position * 8 + multiple - 1] = multiple * 16^(64 / positions * position) * (-A). */
struct ed25519_table {
    const struct ed25519_multiple *multiples; /* positions * 8 of them */
    uint32_t positions;                       /* 32 or 8 */
    uint8_t key[32];                          /* the encoding of A */
};

/* Returns the bytes of the multiples of a table. */
static inline size_t ed25519_table_bytes(uint32_t positions)
{
    INVARIANT(positions == ED25519_TABLE_POSITIONS || positions == ED25519_TABLE_POSITIONS_SMALL);
    return (size_t)positions * ED25519_TABLE_MULTIPLES * sizeof(struct ed25519_multiple);
}

/* True if there is a table and it is of this key. A verdict by another key's table would be of that
 * key, so every path checks and treats such a table as absent. */
static inline bool ed25519_table_serves(const struct ed25519_table *table, const uint8_t key[32])
{
    return table != NULL && memcmp(table->key, key, sizeof table->key) == 0;
}

/* Fills `multiples` for `key`. Returns 0, or -EINVAL for a key that can never sign: y not below p,
 * a point of small order, or no point of the curve; then nothing is written. Any thread, after
 * ed25519_init. Equal keys give equal bytes. */
CC_MUST_USE int ed25519_table_build(struct ed25519_multiple *multiples, uint32_t positions,
                                    const uint8_t key[32]);

#endif
