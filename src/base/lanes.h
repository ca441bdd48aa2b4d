/* lanes.h - compares one small integer with many at once, for tables with tags. Pure.
 *
 * It needs AVX2, which every machine served has (CMakeLists.txt; perpd exits 4 without it). */
#ifndef BASE_LANES_H
#define BASE_LANES_H

#include <immintrin.h>

#include "base/compiler.h"

enum { LANES_BYTES = 32 };

/* Returns a mask: bits 2i and 2i + 1 are set when the i-th of the sixteen 16-bit integers at
 * `bytes` equals `value`. Any alignment. */
static inline uint32_t lanes_equal16(const uint8_t *bytes, uint16_t value)
{
    __m256i lanes = _mm256_loadu_si256((const __m256i *)(const void *)bytes);
    __m256i equal = _mm256_cmpeq_epi16(lanes, _mm256_set1_epi16((short)value));

    return (uint32_t)_mm256_movemask_epi8(equal);
}

#endif
