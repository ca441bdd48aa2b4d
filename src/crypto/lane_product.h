/* lane_product.h - eight elements of the field of 2^255 - 19: their form, carries and products.
 *
 * p = 2^255 - 19. An element is five limbs of radix 2^51: x = x0 + x1 2^51 + x2 2^102 + x3 2^153 +
 * x4 2^204. Limbs are not unique. A class bounds them (README.md has all classes side by side):
 *
 *   tight   below 2^51: unpacked canonical words, and a canonical form
 *   loose   at most LANE_FIELD_LOOSE = 2^51 + 2^16: the output of a carry, the input of a product
 *   wide    below 2^62: an uncarried product (below 2^60) or a sum of some; never a factor
 *
 * Product. The high half of a 52-bit multiplication weighs 2^52 = 2 * 2^51. With the columns L_k =
 *          sum of low(x_i y_j), i + j = k, and H_k = sum of high(x_i y_j), the product is the sum
 *          of (L_k + 2 H_(k-1)) 2^(51 k), k = 0..9. Since 2^255 = 19 mod p, column k + 5 is added
 *          to column k with the factor 19.
 * Carry. One parallel carry is enough: a wide limb is below 2^62, so its carry is below 2^11, and a
 *        tight limb gains at most 19 * 2^11 < 2^16.
 * Bound. Computed, not argued case by case: tests/crypto/test_lane_bounds.c compiles these very
 *        functions over intervals. It checks that each factor is below 2^52, each sum below 2^64
 *        and each difference at least 0, and that loose input gives loose output. */
#ifndef CRYPTO_LANE_PRODUCT_H
#define CRYPTO_LANE_PRODUCT_H

#include "crypto/lane_word.h"

#ifdef LANE_WORD_AVAILABLE

#define LANE_FIELD_MASK        ((UINT64_C(1) << 51) - 1)
#define LANE_FIELD_LOOSE       ((UINT64_C(1) << 51) + (UINT64_C(1) << 16))
/* Limb i of 2^n p: limbs of p are 2^51 - 19 and four of 2^51 - 1. */
#define LANE_FIELD_PRIME(i, n) ((LANE_FIELD_MASK - ((i) == 0 ? 18 : 0)) << (n))

struct lane_field {
    lane_word limb[5];
};

/* Returns a constant in every lane; its limbs are below 2^52. */
LANE_INLINE struct lane_field lane_field_set(const uint64_t limbs[5])
{
    struct lane_field r;
    for (unsigned i = 0; i < 5; i++)
        r.limb[i] = lane_set(limbs[i]);
    return r;
}

/* Returns a small number in every lane. */
LANE_INLINE struct lane_field lane_field_small(uint64_t value)
{
    return lane_field_set((const uint64_t[5]){ value });
}

/* wide -> loose: the same element, carried. */
LANE_INLINE struct lane_field lane_field_carry(struct lane_field a)
{
    lane_word mask = lane_set(LANE_FIELD_MASK);
    struct lane_field r;
    lane_word top = lane_shift_right(a.limb[4], 51);
    r.limb[0] = lane_low(lane_and(a.limb[0], mask), top, lane_set(19));
    for (unsigned i = 1; i < 5; i++)
        r.limb[i] = lane_add(lane_and(a.limb[i], mask), lane_shift_right(a.limb[i - 1], 51));
    return r;
}

/* 2 high + 19 upper, in five steps: 2 (9 upper + high) + upper. */
LANE_INLINE lane_word lane_field_fold(lane_word high, lane_word upper)
{
    lane_word nine = lane_add(lane_shift_left(upper, 3), upper);
    lane_word sum = lane_add(nine, high);
    return lane_add(lane_add(sum, sum), upper);
}

/* sum + L_k */
LANE_INLINE lane_word lane_field_lows(lane_word sum, const struct lane_field *a,
                                      const struct lane_field *b, int k)
{
#pragma GCC unroll 5
    for (int i = 0; i < 5; i++)
        if (k - i >= 0 && k - i < 5)
            sum = lane_low(sum, a->limb[i], b->limb[k - i]);
    return sum;
}

/* sum + H_k */
LANE_INLINE lane_word lane_field_highs(lane_word sum, const struct lane_field *a,
                                       const struct lane_field *b, int k)
{
#pragma GCC unroll 5
    for (int i = 0; i < 5; i++)
        if (k - i >= 0 && k - i < 5)
            sum = lane_high(sum, a->limb[i], b->limb[k - i]);
    return sum;
}

/* Column k of the product, 5..9. */
LANE_INLINE lane_word lane_field_upper(const struct lane_field *a, const struct lane_field *b,
                                       int k)
{
    lane_word half = lane_field_highs(lane_set(0), a, b, k - 1);
    return lane_field_lows(lane_add(half, half), a, b, k);
}

/* Column k of the product, 0..4, with column k + 5 folded into it. */
LANE_INLINE lane_word lane_field_column(const struct lane_field *a, const struct lane_field *b,
                                        int k, lane_word upper)
{
    lane_word high = lane_field_highs(lane_set(0), a, b, k - 1);
    return lane_field_lows(lane_field_fold(high, upper), a, b, k);
}

/* loose * loose -> wide: a * b, not carried. */
LANE_INLINE struct lane_field lane_field_product(struct lane_field a, struct lane_field b)
{
    lane_word upper[5];
#pragma GCC unroll 5
    for (int k = 4; k >= 0; k--)
        upper[k] = lane_field_upper(&a, &b, k + 5);
    struct lane_field r;
#pragma GCC unroll 5
    for (int k = 4; k >= 0; k--)
        r.limb[k] = lane_field_column(&a, &b, k, upper[k]);
    return r;
}

/* H_(k-1) + (L_k without its squares) / 2: the part of column k that a square holds twice. */
LANE_INLINE lane_word lane_field_half_column(const struct lane_field *a, int k)
{
    lane_word sum = lane_set(0);
#pragma GCC unroll 5
    for (int i = 0; i < 5; i++)
        if (i < k - 1 - i && k - 1 - i < 5)
            sum = lane_high(sum, a->limb[i], a->limb[k - 1 - i]);
    sum = lane_add(sum, sum);
    if (k % 2 == 1)
        sum = lane_high(sum, a->limb[k / 2], a->limb[k / 2]);
#pragma GCC unroll 5
    for (int i = 0; i < 5; i++)
        if (i < k - i && k - i < 5)
            sum = lane_low(sum, a->limb[i], a->limb[k - i]);
    return sum;
}

/* loose -> wide: a^2, not carried. Each product of two different limbs is computed once and
 * doubled. */
LANE_INLINE struct lane_field lane_field_square_product(struct lane_field a)
{
    lane_word upper[5];
#pragma GCC unroll 5
    for (int k = 4; k >= 0; k--) {
        lane_word half = lane_field_half_column(&a, k + 5);
        upper[k] = lane_add(half, half);
        if (k % 2 == 1)
            upper[k] = lane_low(upper[k], a.limb[(k + 5) / 2], a.limb[(k + 5) / 2]);
    }
    struct lane_field r;
#pragma GCC unroll 5
    for (int k = 4; k >= 0; k--) {
        r.limb[k] = lane_field_fold(lane_field_half_column(&a, k), upper[k]);
        if (k % 2 == 0)
            r.limb[k] = lane_low(r.limb[k], a.limb[k / 2], a.limb[k / 2]);
    }
    return r;
}

/* loose * loose -> loose: a * b. */
LANE_INLINE struct lane_field lane_field_multiply(struct lane_field a, struct lane_field b)
{
    return lane_field_carry(lane_field_product(a, b));
}

/* loose -> loose: a^2. */
LANE_INLINE struct lane_field lane_field_square(struct lane_field a)
{
    return lane_field_carry(lane_field_square_product(a));
}

#endif
#endif
