/* lane_equation.h - whether signatures satisfy their equations: up to eight at once. Pure.
 *
 * The equation of a signature (R, s) under the key A with the challenge h: encode(s B + h (-A))
 * equals the 32 bytes R.
 *
 * A verification is this, a hash, and the checks before it (ed25519_lanes.h). Tests call it with
 * scalars of their choice.
 *
 * Exact. The sum is exact in the whole group, h and s are used as integers, and the encoding is
 *        compared as 32 bytes: the verdict is the strict and cofactorless one.
 * Bound. h and s are below L. No point is an exception and no Z is 0 (lane_point.h), so one
 *        inversion of the product of all Z serves every lane.
 * Owner. Any thread, after ed25519_base_init. */
#ifndef CRYPTO_LANE_EQUATION_H
#define CRYPTO_LANE_EQUATION_H

#include "crypto/ed25519_table.h"

struct lane_equation {
    const struct ed25519_table *table; /* of A; not read by lane_equation_uncached */
    const uint8_t *key;                /* encoding of A, y below p, not of small order */
    const uint8_t *r;                  /* 32 bytes */
    uint64_t h[4];
    uint64_t s[4];
};

/* Bit i of each result is set when equation i holds. */

/* Solves 1 .. 8 equations, one a lane. Tables of 32 and of 8 positions may be mixed, at the speed
 * of 8. */
CC_MUST_USE uint64_t lane_equation_cached(const struct lane_equation *equations, unsigned count);

/* Solves 1 .. 4 equations, each over 8, 4, 2 or 2 lanes, with tables of 32 positions. */
CC_MUST_USE uint64_t lane_equation_split(const struct lane_equation *equations, unsigned count);

/* Solves 1 .. 8 equations, one a lane, by the keys alone. The bit of a key that is no point is
 * 0. */
CC_MUST_USE uint64_t lane_equation_uncached(const struct lane_equation *equations, unsigned count);

#endif
