/* The AVX2 variant: two comparisons of 32 bytes a step. */
#include <immintrin.h>

#define HTTP_MAP_VARIANT
#include "net/http/http_map_body.h"

/* A byte is a token character when the bit of its high nibble is set in the low nibble's entry
 * (RFC 9110: ! # $ % & ' * + - . ^ _ ` | ~ digits letters). */
static const uint8_t token_low[16] = { 0xE8, 0xFC, 0xF8, 0xFC, 0xFC, 0xFC, 0xFC, 0xFC,
                                       0xF8, 0xF8, 0xF4, 0x54, 0xD0, 0x54, 0xF4, 0x70 };
static const uint8_t nibble_bit[16] = { 1, 2, 4, 8, 16, 32, 64, 128, 0, 0, 0, 0, 0, 0, 0, 0 };

static inline struct marks mark_block(const char *text)
{
    const __m256i low_table = _mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)token_low));
    const __m256i bit_table =
        _mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)nibble_bit));
    const __m256i nibble = _mm256_set1_epi8(15);
    struct marks marks = { 0 };
    for (unsigned half = 0; half < 2; half++) {
        __m256i bytes = _mm256_loadu_si256((const void *)(text + 32 * half));
        __m256i low = _mm256_shuffle_epi8(low_table, _mm256_and_si256(bytes, nibble));
        __m256i high = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), nibble);
        __m256i token = _mm256_and_si256(low, _mm256_shuffle_epi8(bit_table, high));
        __m256i stop = _mm256_cmpeq_epi8(token, _mm256_setzero_si256());
        __m256i cr = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('\r'));
        __m256i lf = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('\n'));
        __m256i tab = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('\t'));
        __m256i below = _mm256_cmpeq_epi8(_mm256_min_epu8(bytes, _mm256_set1_epi8(31)), bytes);
        __m256i allowed = _mm256_or_si256(_mm256_or_si256(cr, lf), tab);
        __m256i control = _mm256_or_si256(_mm256_andnot_si256(allowed, below),
                                          _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(127)));
        marks.stop |= (uint64_t)(uint32_t)_mm256_movemask_epi8(stop) << (32 * half);
        marks.cr |= (uint64_t)(uint32_t)_mm256_movemask_epi8(cr) << (32 * half);
        marks.lf |= (uint64_t)(uint32_t)_mm256_movemask_epi8(lf) << (32 * half);
        marks.control |= (uint64_t)(uint32_t)_mm256_movemask_epi8(control) << (32 * half);
    }
    return marks;
}

HTTP_MAP_DEFINE(http_map_avx2);
