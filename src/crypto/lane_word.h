/* lane_word.h - eight independent 64-bit words, and the AVX-512 operations on all of them at once.
 *
 * The field and point formulas (lane_field.h, lane_point.h) use only these dozen operations, no
 * operator and no intrinsic. The test of their bounds (tests/crypto/test_lane_bounds.c) defines the
 * same names over intervals and compiles the same formulas again.
 *
 * Bound. lane_low and lane_high read the low 52 bits of each factor and ignore the rest: factors
 *        must be below 2^52. Additions must not wrap at 2^64, subtractions not at 0. The test
 *        proves all three for every formula.
 *
 * The header is empty in a file that is compiled without the instructions (CMakeLists.txt names the
 * files that have them). */
#ifndef CRYPTO_LANE_WORD_H
#define CRYPTO_LANE_WORD_H

#include "base/compiler.h"

#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512BW__) && \
    defined(__AVX512VL__) && defined(__AVX512IFMA__) && defined(__AVX512VBMI2__)

#include <immintrin.h>

#define LANE_WORD_AVAILABLE 1
#define LANE_INLINE         static inline __attribute__((always_inline))

enum { LANES = 8 };

typedef __m512i lane_word;
typedef __mmask8 lane_mask; /* bit i: lane i */

/* The same value in every lane. */
LANE_INLINE lane_word lane_set(uint64_t value)
{
    return _mm512_set1_epi64((long long)value);
}

LANE_INLINE lane_word lane_add(lane_word a, lane_word b)
{
    return _mm512_add_epi64(a, b);
}

LANE_INLINE lane_word lane_sub(lane_word a, lane_word b)
{
    return _mm512_sub_epi64(a, b);
}

LANE_INLINE lane_word lane_and(lane_word a, lane_word b)
{
    return _mm512_and_si512(a, b);
}

LANE_INLINE lane_word lane_shift_left(lane_word a, unsigned bits)
{
    return _mm512_slli_epi64(a, bits);
}

LANE_INLINE lane_word lane_shift_right(lane_word a, unsigned bits)
{
    return _mm512_srli_epi64(a, bits);
}

/* The low 64 bits of (high : low) >> bits. A macro, because the instruction encodes `bits`. */
#define lane_funnel(low, high, bits) _mm512_shrdi_epi64(low, high, bits)

/* sum + (a * b mod 2^52) */
LANE_INLINE lane_word lane_low(lane_word sum, lane_word a, lane_word b)
{
    return _mm512_madd52lo_epu64(sum, a, b);
}

/* sum + floor(a * b / 2^52) */
LANE_INLINE lane_word lane_high(lane_word sum, lane_word a, lane_word b)
{
    return _mm512_madd52hi_epu64(sum, a, b);
}

/* b where the mask is set, a elsewhere. */
LANE_INLINE lane_word lane_choose(lane_mask mask, lane_word a, lane_word b)
{
    return _mm512_mask_blend_epi64(mask, a, b);
}

/* from - a where the mask is set, a elsewhere. */
LANE_INLINE lane_word lane_choose_difference(lane_mask mask, lane_word a, lane_word from)
{
    return _mm512_mask_sub_epi64(a, mask, from, a);
}

#endif
#endif
