/* ed25519_field.h - the field of p = 2^255 - 19, one element at a time. Pure.
 *
 * An element is five limbs of radix 2^51: value = sum of limb[i] * 2^(51 i). Limbs are unsigned and
 * not unique. A class bounds the limbs (README.md has all classes side by side); each function says
 * which class it needs on input and gives on output:
 *
 *   reduced   below 2^51 + 2^13; the output of a product. The sum of two needs no further care
 *   loose     below 2^54; the input of a product. Sums and differences are not carried
 *   canonical the value below p, limbs below 2^51
 *
 * Why a product of loose elements does not overflow. 2^255 = 19 mod p, so limb products of weight
 * 2^(51 (i+5)) fold into weight i times 19: c_i = sum of x_j y_(i-j) + 19 * sum of x_j y_(i+5-j). A
 * limb times 19 is below 2^54 * 19 < 2^58.3 and fits 64 bits. c_0 has 1 + 4 * 19 = 77 units of
 * 2^108, below 2^114.3, and the other columns have fewer. Carries c_i >> 51 are below 2^63.3 and
 * fit 64 bits. c_4 has five units of 2^108 and a carry, so its carry is below 2^59.4, times 19
 * below 2^63.7. With the low 51 bits of c_0 this still fits 64 bits, and leaves a carry below
 * 2^12.7 to limb 1: hence `reduced`. */
#ifndef CRYPTO_ED25519_FIELD_H
#define CRYPTO_ED25519_FIELD_H

#include "base/compiler.h"

#define ED25519_FIELD_MASK     ((UINT64_C(1) << 51) - 1)
#define ED25519_FIELD_LIMB_MAX (UINT64_C(1) << 54) /* loose limbs are below it */

struct ed25519_field {
    uint64_t limb[5];
};

/* Carries five column sums of a product of loose elements into limbs (see above). Output:
 * reduced. */
static inline void ed25519_field_carry(struct ed25519_field *out, uint128 c0, uint128 c1,
                                       uint128 c2, uint128 c3, uint128 c4)
{
    c1 += (uint64_t)(c0 >> 51);
    c2 += (uint64_t)(c1 >> 51);
    c3 += (uint64_t)(c2 >> 51);
    c4 += (uint64_t)(c3 >> 51);
    uint64_t low = ((uint64_t)c0 & ED25519_FIELD_MASK) + (uint64_t)(c4 >> 51) * 19;
    out->limb[0] = low & ED25519_FIELD_MASK;
    out->limb[1] = ((uint64_t)c1 & ED25519_FIELD_MASK) + (low >> 51);
    out->limb[2] = (uint64_t)c2 & ED25519_FIELD_MASK;
    out->limb[3] = (uint64_t)c3 & ED25519_FIELD_MASK;
    out->limb[4] = (uint64_t)c4 & ED25519_FIELD_MASK;
}

/* out = a * b; out may be a or b. Input: loose. Output: reduced. */
static inline void ed25519_field_multiply(struct ed25519_field *out, const struct ed25519_field *a,
                                          const struct ed25519_field *b)
{
    const uint64_t *x = a->limb;
    const uint64_t *y = b->limb;
    uint64_t y1 = 19 * y[1], y2 = 19 * y[2], y3 = 19 * y[3], y4 = 19 * y[4];
    uint128 c0 = (uint128)x[0] * y[0] + (uint128)x[1] * y4 + (uint128)x[2] * y3 +
                 (uint128)x[3] * y2 + (uint128)x[4] * y1;
    uint128 c1 = (uint128)x[0] * y[1] + (uint128)x[1] * y[0] + (uint128)x[2] * y4 +
                 (uint128)x[3] * y3 + (uint128)x[4] * y2;
    uint128 c2 = (uint128)x[0] * y[2] + (uint128)x[1] * y[1] + (uint128)x[2] * y[0] +
                 (uint128)x[3] * y4 + (uint128)x[4] * y3;
    uint128 c3 = (uint128)x[0] * y[3] + (uint128)x[1] * y[2] + (uint128)x[2] * y[1] +
                 (uint128)x[3] * y[0] + (uint128)x[4] * y4;
    uint128 c4 = (uint128)x[0] * y[4] + (uint128)x[1] * y[3] + (uint128)x[2] * y[2] +
                 (uint128)x[3] * y[1] + (uint128)x[4] * y[0];
    ed25519_field_carry(out, c0, c1, c2, c3, c4);
}

/* out = a * a; out may be a. Equal limb products are computed once and doubled (below 2^55). Input:
 * loose. Output: reduced. */
static inline void ed25519_field_square(struct ed25519_field *out, const struct ed25519_field *a)
{
    const uint64_t *x = a->limb;
    uint64_t twice0 = 2 * x[0], twice1 = 2 * x[1], twice2 = 2 * x[2], twice3 = 2 * x[3];
    uint64_t x3 = 19 * x[3], x4 = 19 * x[4];
    uint128 c0 = (uint128)x[0] * x[0] + (uint128)twice1 * x4 + (uint128)twice2 * x3;
    uint128 c1 = (uint128)twice0 * x[1] + (uint128)twice2 * x4 + (uint128)x[3] * x3;
    uint128 c2 = (uint128)twice0 * x[2] + (uint128)x[1] * x[1] + (uint128)twice3 * x4;
    uint128 c3 = (uint128)twice0 * x[3] + (uint128)twice1 * x[2] + (uint128)x[4] * x4;
    uint128 c4 = (uint128)twice0 * x[4] + (uint128)twice1 * x[3] + (uint128)x[2] * x[2];
    ed25519_field_carry(out, c0, c1, c2, c3, c4);
}

/* out = a + add - less, limb by limb (add0 to limb 0, add1 to the others), not carried. Input: no
 * limb of `less` exceeds that of a + add. It stays scalar: vector loads of the limbs would stall on
 * the scalar stores of the product before. */
static inline void ed25519_field_combine(struct ed25519_field *out, const struct ed25519_field *a,
                                         uint64_t add0, uint64_t add1,
                                         const struct ed25519_field *less)
{
    for (unsigned i = 0; i < 5; i++) {
        uint64_t limb = a->limb[i] + (i == 0 ? add0 : add1) - less->limb[i];
        CC_OPAQUE(limb);
        out->limb[i] = limb;
    }
}

/* out = a + b, not carried. Output: the bounds of the limbs add up. */
static inline void ed25519_field_add(struct ed25519_field *out, const struct ed25519_field *a,
                                     const struct ed25519_field *b)
{
    for (unsigned i = 0; i < 5; i++) {
        uint64_t limb = a->limb[i] + b->limb[i];
        CC_OPAQUE(limb);
        out->limb[i] = limb;
    }
}

/* out = a - b + 2p, not carried. Input: limbs of b up to 2^52 - 38 (twice those of p), such as a
 * product's. Output: limbs below those of a plus 2^52. */
static inline void ed25519_field_subtract(struct ed25519_field *out, const struct ed25519_field *a,
                                          const struct ed25519_field *b)
{
    ed25519_field_combine(out, a, 2 * (ED25519_FIELD_MASK - 18), 2 * ED25519_FIELD_MASK, b);
}

/* out = a - b + 4p, not carried. Input: limbs of b up to 2^53 - 76, such as those of a sum or
 * difference of two products. Output: limbs below those of a plus 2^53. */
static inline void ed25519_field_subtract_wide(struct ed25519_field *out,
                                               const struct ed25519_field *a,
                                               const struct ed25519_field *b)
{
    ed25519_field_combine(out, a, 4 * (ED25519_FIELD_MASK - 18), 4 * ED25519_FIELD_MASK, b);
}

/* Unpacks four little-endian words without bit 255. Output: limbs below 2^51; the value may be p or
 * more. */
static inline void ed25519_field_from_words(struct ed25519_field *out, const uint64_t words[4])
{
    out->limb[0] = words[0] & ED25519_FIELD_MASK;
    out->limb[1] = (words[0] >> 51 | words[1] << 13) & ED25519_FIELD_MASK;
    out->limb[2] = (words[1] >> 38 | words[2] << 26) & ED25519_FIELD_MASK;
    out->limb[3] = (words[2] >> 25 | words[3] << 39) & ED25519_FIELD_MASK;
    out->limb[4] = words[3] >> 12 & ED25519_FIELD_MASK;
}

/* Packs an element. Input: loose. Output: the canonical value in four little-endian words. */
void ed25519_field_to_words(uint64_t words[4], const struct ed25519_field *a);

/* True if two elements have the same value. Input: loose. */
CC_MUST_USE bool ed25519_field_equal(const struct ed25519_field *a, const struct ed25519_field *b);

/* out = a^(2^252 - 3) = a^((p-5)/8), a step of a square root. Input: loose. Output: reduced. */
void ed25519_field_power_root(struct ed25519_field *out, const struct ed25519_field *a);

#endif
