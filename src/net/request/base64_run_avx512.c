/* The AVX-512 VBMI variant: 64 characters a step. The last step is masked, so that nothing outside
 * the caller's buffers is read or written. Compiled with these instructions; runs only where
 * cpu_level() found them. */
#include <immintrin.h>

#include "net/request/base64_run.h"

enum { STEP = 64, NOT_BASE64 = 0x80 };

/* Values of the 128 ASCII characters; NOT_BASE64 for those outside the alphabet. */
static const uint8_t values[2][STEP] = {
#define _ NOT_BASE64
    { _, _, _, _,  _,  _,  _,  _,  _,  _,  _,  _,  _,  _,  _, _, _, _, _, _, _, _,
      _, _, _, _,  _,  _,  _,  _,  _,  _,  _,  _,  _,  _,  _, _, _, _, _, _, _, 62,
      _, _, _, 63, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, _, _, _, _, _, _ },
    { _,  0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
      21, 22, 23, 24, 25, _,  _,  _,  _,  _,  _,  26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36,
      37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, _,  _,  _,  _,  _ },
#undef _
};

/* Where the three bytes of each 32-bit group go: the highest first. */
static const uint8_t order[STEP] = {
#define GROUP(i) 4 * (i) + 2, 4 * (i) + 1, 4 * (i)
    GROUP(0), GROUP(1), GROUP(2),  GROUP(3),  GROUP(4),  GROUP(5),  GROUP(6),  GROUP(7),
    GROUP(8), GROUP(9), GROUP(10), GROUP(11), GROUP(12), GROUP(13), GROUP(14), GROUP(15),
#undef GROUP
};

static uint64_t low_bits(size_t count)
{
    return count >= 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1;
}

size_t base64_run_avx512(uint8_t *bytes, const uint8_t *text, size_t count)
{
    const __m512i low_values = _mm512_loadu_si512(values[0]);
    const __m512i high_values = _mm512_loadu_si512(values[1]);
    const __m512i byte_order = _mm512_loadu_si512(order);

    for (size_t at = 0; at < count; at += STEP) {
        size_t left = count - at < STEP ? count - at : STEP;
        __m512i in = _mm512_maskz_loadu_epi8(low_bits(left), text + at);
        /* The lookup uses seven bits; the eighth bit of a byte marks it as bad by itself. */
        __m512i looked = _mm512_permutex2var_epi8(low_values, in, high_values);
        uint64_t bad = _mm512_movepi8_mask(_mm512_or_si512(looked, in)) | ~low_bits(left);
        size_t run = bad == 0 ? STEP : (size_t)__builtin_ctzll(bad);
        __m512i pairs = _mm512_maddubs_epi16(looked, _mm512_set1_epi32(0x01400140));
        __m512i fours = _mm512_madd_epi16(pairs, _mm512_set1_epi32(0x00011000));
        __m512i packed = _mm512_permutexvar_epi8(byte_order, fours);
        _mm512_mask_storeu_epi8(bytes + at / 4 * 3, low_bits(run / 4 * 3), packed);
        if (run < STEP)
            return at + run;
    }
    return count;
}
