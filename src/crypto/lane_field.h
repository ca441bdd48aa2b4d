/* lane_field.h - eight elements of the field of 2^255 - 19: sums, choices and canonical form.
 *
 * lane_product.h defines the classes tight, loose and wide. Each function says `input -> output`;
 * tests/crypto/test_lane_bounds.c computes that both hold. */
#ifndef CRYPTO_LANE_FIELD_H
#define CRYPTO_LANE_FIELD_H

#include "crypto/lane_product.h"

#ifdef LANE_WORD_AVAILABLE

/* wide + wide -> wide: a + b, not carried. The caller keeps the sum below 2^62. */
LANE_INLINE struct lane_field lane_field_sum(struct lane_field a, struct lane_field b)
{
    struct lane_field r;
    for (unsigned i = 0; i < 5; i++)
        r.limb[i] = lane_add(a.limb[i], b.limb[i]);
    return r;
}

/* wide + wide -> loose: a + b. */
LANE_INLINE struct lane_field lane_field_add(struct lane_field a, struct lane_field b)
{
    return lane_field_carry(lane_field_sum(a, b));
}

/* wide - product -> loose: a - b + 2^10 p. b is a product or the sum of two: no limb exceeds that
 * of 2^10 p. */
LANE_INLINE struct lane_field lane_field_subtract(struct lane_field a, struct lane_field b)
{
    struct lane_field r;
    for (unsigned i = 0; i < 5; i++)
        r.limb[i] = lane_sub(lane_add(a.limb[i], lane_set(LANE_FIELD_PRIME(i, 10))), b.limb[i]);
    return lane_field_carry(r);
}

/* tight -> below 2^52: 2p - a where the mask is set, a elsewhere. */
LANE_INLINE struct lane_field lane_field_negate_some(lane_mask mask, struct lane_field a)
{
    struct lane_field r;
    for (unsigned i = 0; i < 5; i++)
        r.limb[i] = lane_choose_difference(mask, a.limb[i], lane_set(LANE_FIELD_PRIME(i, 1)));
    return r;
}

/* any -> the same: b where the mask is set, a elsewhere. */
LANE_INLINE struct lane_field lane_field_choose(lane_mask mask, struct lane_field a,
                                                struct lane_field b)
{
    struct lane_field r;
    for (unsigned i = 0; i < 5; i++)
        r.limb[i] = lane_choose(mask, a.limb[i], b.limb[i]);
    return r;
}

/* loose -> limbs below 2^51: carries every limb into the next, the lowest first. Returns the carry
 * out of the top limb. */
LANE_INLINE lane_word lane_field_ripple(struct lane_field *a)
{
    lane_word mask = lane_set(LANE_FIELD_MASK);
    for (unsigned i = 0; i < 4; i++) {
        a->limb[i + 1] = lane_add(a->limb[i + 1], lane_shift_right(a->limb[i], 51));
        a->limb[i] = lane_and(a->limb[i], mask);
    }
    lane_word top = lane_shift_right(a->limb[4], 51);
    a->limb[4] = lane_and(a->limb[4], mask);
    return top;
}

/* loose -> tight, the value below p.
 *
 * A loose value is below 2^256, so the first ripple leaves x < 2^255 + 19 < 2p. Then x >= p exactly
 * when x + 19 >= 2^255: adding 19 to such an x and dropping bit 255 subtracts p. */
LANE_INLINE struct lane_field lane_field_canonical(struct lane_field a)
{
    lane_word nineteen = lane_set(19);
    lane_word top = lane_field_ripple(&a);
    a.limb[0] = lane_low(a.limb[0], top, nineteen);
    lane_word above = lane_shift_right(lane_add(a.limb[0], nineteen), 51);
    for (unsigned i = 1; i < 5; i++)
        above = lane_shift_right(lane_add(a.limb[i], above), 51);
    a.limb[0] = lane_low(a.limb[0], above, nineteen);
    (void)lane_field_ripple(&a);
    return a;
}

/* words -> tight: unpacks four little-endian words that are together below 2^255. */
LANE_INLINE struct lane_field lane_field_unpack(const lane_word words[4])
{
    lane_word mask = lane_set(LANE_FIELD_MASK);
    struct lane_field r;
    r.limb[0] = lane_and(words[0], mask);
    r.limb[1] = lane_and(lane_funnel(words[0], words[1], 51), mask);
    r.limb[2] = lane_and(lane_funnel(words[1], words[2], 38), mask);
    r.limb[3] = lane_and(lane_funnel(words[2], words[3], 25), mask);
    r.limb[4] = lane_shift_right(words[3], 12);
    return r;
}

#endif
#endif
