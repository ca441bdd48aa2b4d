/* lane_comb.h - sums of multiples by tables, eight at a time or one over several lanes. Pure.
 *
 * The sum is s B + h (-A) for a signature (R, s) under the key A with the challenge h. A scalar is
 * read as signed digits: 64 of base 16 for h, 32 of base 256 for s (ed25519_scalar.h). Each digit
 * selects a multiple from a table - that of 16^i (-A) or of 256^i B - and costs one addition. Sums
 * need no order, so `spread` lanes may share the digits of one equation: lane n of a group adds the
 * positions n, n + spread, n + 2 spread, ... and the partial sums of the group are added at the
 * end.
 *
 *   spread 1   eight equations, 96 additions        spread 4   two equations, 24 + 2 additions
 *   spread 2   four equations, 48 + 1 additions     spread 8   one equation, 12 + 3 additions
 *
 * A table of 32 positions contains that of 8: every fourth position. `stride` lets lanes with
 * tables of both sizes run together, as tables of 8.
 *
 * Exact. Multiples are of the very point that the key encodes and the additions are complete: the
 *        sum is correct for every order of A. */
#ifndef CRYPTO_LANE_COMB_H
#define CRYPTO_LANE_COMB_H

#include "crypto/lane_point.h"

#ifdef LANE_WORD_AVAILABLE

struct lane_comb {
    alignas(64) uint64_t h[4][LANES]; /* word, lane; biased by ED25519_SCALAR_BIAS_4BIT */
    uint64_t s[4][LANES];             /* biased by ED25519_SCALAR_BIAS_8BIT */
    uint64_t multiples[LANES];        /* address of the key's multiples; not read where h is 0 */
    uint64_t stride[LANES];           /* bytes from a position to the next */
    unsigned positions;               /* 32, or 8 with spread 1 */
    unsigned spread;                  /* lanes of an equation: 1, 2, 4 or 8 */
};

/* sum = s B + h (-A), the same in every lane of a group. Output: as in lane_point.h. After
 * ed25519_base_init. */
void lane_comb_sum(struct lane_point *sum, const struct lane_comb *comb);

/* sum += s B; spread is 1. Input and output: as in lane_point.h. After ed25519_base_init. */
void lane_comb_add_base(struct lane_point *sum, const struct lane_comb *comb);

#endif
#endif
