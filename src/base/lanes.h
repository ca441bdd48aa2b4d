/* lanes.h - one comparison of many small integers, as tables keyed by tags need it. Pure.
 *
 * AVX2, the floor of the machines served (CMakeLists.txt; perpd exits 4 below it). */
#ifndef BASE_LANES_H
#define BASE_LANES_H

#include <immintrin.h>

#include "base/cc.h"

enum { LANES_BYTES = 32 };

/* Bit 2i (and 2i + 1) is set when the i-th 16-bit integer of the 32 bytes is `value`. The bytes may
 * be at any address. */
static inline uint32_t lanes_equal16(const uint8_t *bytes, uint16_t value)
{
    __m256i lanes = _mm256_loadu_si256((const __m256i *)(const void *)bytes);
    __m256i equal = _mm256_cmpeq_epi16(lanes, _mm256_set1_epi16((short)value));

    return (uint32_t)_mm256_movemask_epi8(equal);
}

#endif
