/* The AVX-512 variant: one comparison of 64 bytes a step, directly into mask registers. Compiled
 * with these instructions; runs only where cpu_level() found them. */
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
    const __m512i low_table = _mm512_broadcast_i32x4(_mm_loadu_si128((const void *)token_low));
    const __m512i bit_table = _mm512_broadcast_i32x4(_mm_loadu_si128((const void *)nibble_bit));
    const __m512i nibble = _mm512_set1_epi8(15);
    __m512i bytes = _mm512_loadu_si512(text);
    __m512i low = _mm512_shuffle_epi8(low_table, _mm512_and_si512(bytes, nibble));
    __m512i high = _mm512_and_si512(_mm512_srli_epi16(bytes, 4), nibble);
    uint64_t cr = _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('\r'));
    uint64_t lf = _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('\n'));
    uint64_t tab = _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('\t'));
    uint64_t below = _mm512_cmplt_epu8_mask(bytes, _mm512_set1_epi8(' '));
    uint64_t delete = _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(127));

    return (struct marks){
        .stop = _mm512_testn_epi8_mask(low, _mm512_shuffle_epi8(bit_table, high)),
        .cr = cr,
        .lf = lf,
        .control = (below & ~(cr | lf | tab)) | delete,
    };
}

HTTP_MAP_DEFINE(http_map_avx512);
