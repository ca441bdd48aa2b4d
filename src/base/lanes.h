/* lanes.h - compares one small integer with many at once, for tables with tags. Pure.
 *
 * It needs AVX2, which every machine served has (CMakeLists.txt; perpd exits 4 without it). */
#ifndef BASE_LANES_H
#define BASE_LANES_H

#include "base/compiler.h"

enum { LANES_BYTES = 32 };

/* Vectors of the compiler's own: <immintrin.h> is 7,000 lines, read in each file of the engine. */
typedef int16_t lanes_words __attribute__((vector_size(32)));
typedef char lanes_signs __attribute__((vector_size(32)));

/* Returns a mask: bits 2i and 2i + 1 are set when the i-th of the sixteen 16-bit integers at
 * `bytes` equals `value`. Any alignment. */
static inline uint32_t lanes_equal16(const uint8_t *bytes, uint16_t value)
{
    lanes_words lanes;

    memcpy(&lanes, bytes, sizeof lanes);
    return (uint32_t)__builtin_ia32_pmovmskb256((lanes_signs)(lanes == (int16_t)value));
}

#endif
