#include "net/request/base64_run.h"

#include <immintrin.h>

#include "base/base64.h"

enum { STEP = 32, STEP_BYTES = 24 };

static base64_run_groups *groups = base64_run_avx2;

void base64_run_choose(enum cpu_level level)
{
    static base64_run_groups *const variants[CPU_LEVELS] = { base64_run_scalar, base64_run_avx2,
                                                             base64_run_avx512 };
    INVARIANT(level <= cpu_level());
    groups = variants[level];
}

static bool is_alphabet(uint8_t c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' ||
           c == '/';
}

size_t base64_run_scalar(uint8_t *bytes, const uint8_t *text, size_t count)
{
    size_t run = 0;
    while (run < count && is_alphabet(text[run]))
        run++;
    size_t whole = run / 4 * 4;
    ptrdiff_t decoded =
        base64_decode(bytes, BASE64_BYTES_MAX(whole), (const char *)text, whole, NULL);
    INVARIANT(decoded == (ptrdiff_t)BASE64_BYTES_MAX(whole));
    return run;
}

/* The six bits of 32 characters; *bad gets a bit for each that is not of the alphabet.
 *
 * The value of a character is the character plus a distance that depends on its high nibble:
 * letters of 4x and 5x -65, of 6x and 7x -71, digits (3x) +4, '+' (2x) +19, and '/' +16, which
 * shares its nibble with '+'. A character is of the alphabet if the sets of its two nibbles have no
 * bit in common: each bit is one high nibble (or two that exclude the same low nibbles), and a low
 * nibble has the bits of the high nibbles with which it makes no character. */
static inline __m256i values_of(__m256i text, uint32_t *bad)
{
    const __m256i low_sets =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(0x15, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11,
                                                  0x11, 0x11, 0x13, 0x1a, 0x1b, 0x1b, 0x1b, 0x1a));
    const __m256i high_sets =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(0x10, 0x10, 0x01, 0x02, 0x04, 0x08, 0x04, 0x08,
                                                  0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10));
    const __m256i distances = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0, 16, 19, 4, -65, -65, -71, -71, 0, 0, 0, 0, 0, 0, 0, 0));
    const __m256i nibble = _mm256_set1_epi8(15);
    __m256i high = _mm256_and_si256(_mm256_srli_epi16(text, 4), nibble);
    __m256i low = _mm256_and_si256(text, nibble);
    __m256i excluded =
        _mm256_and_si256(_mm256_shuffle_epi8(low_sets, low), _mm256_shuffle_epi8(high_sets, high));
    __m256i good = _mm256_cmpeq_epi8(excluded, _mm256_setzero_si256());
    __m256i is_slash = _mm256_cmpeq_epi8(text, _mm256_set1_epi8('/')); /* -1: distance 1, not 2 */

    *bad = ~(uint32_t)_mm256_movemask_epi8(good);
    return _mm256_add_epi8(text, _mm256_shuffle_epi8(distances, _mm256_add_epi8(high, is_slash)));
}

size_t base64_run_avx2(uint8_t *bytes, const uint8_t *text, size_t count)
{
    /* The three bytes of each 32-bit group, first byte first; the rest of a half is free. */
    const __m256i order = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(2, 1, 0, 6, 5, 4, 10, 9, 8, 14, 13, 12, -1, -1, -1, -1));
    const __m256i halves = _mm256_setr_epi32(0, 1, 2, 4, 5, 6, 3, 7);
    const __m256i six_words = _mm256_setr_epi32(-1, -1, -1, -1, -1, -1, 0, 0);
    size_t at = 0;

    for (; at + STEP <= count; at += STEP) {
        uint32_t bad;
        __m256i values =
            values_of(_mm256_loadu_si256((const __m256i_u *)(const void *)(text + at)), &bad);
        if (CC_UNLIKELY(bad != 0))
            break; /* the scalar code finds the exact location */
        /* 6 bits and 6 bits to 12, 12 and 12 to 24. */
        __m256i pairs = _mm256_maddubs_epi16(values, _mm256_set1_epi32(0x01400140));
        __m256i fours = _mm256_madd_epi16(pairs, _mm256_set1_epi32(0x00011000));
        __m256i packed = _mm256_permutevar8x32_epi32(_mm256_shuffle_epi8(fours, order), halves);
        _mm256_maskstore_epi32((int *)(void *)(bytes + at / 4 * 3), six_words, packed);
    }
    static_assert(STEP / 4 * 3 == STEP_BYTES && STEP_BYTES == 6 * sizeof(int), "six words a step");
    return at + base64_run_scalar(bytes + at / 4 * 3, text + at, count - at);
}

ptrdiff_t base64_run(uint8_t *bytes, size_t capacity, const char *text, size_t count, size_t *used)
{
    size_t fits = capacity / 3 * 4; /* characters in the groups that fit whole */
    size_t run = groups(bytes, (const uint8_t *)text, count < fits ? count : fits);
    size_t whole = run / 4 * 3, pad = 0;

    if (run == fits) /* a group that is cut short may follow */
        while (run < fits + 4 && run < count && is_alphabet((uint8_t)text[run]))
            run++;
    while (pad < 2 && run + pad < count && text[run + pad] == '=')
        pad++;
    *used = run + pad;
    if ((run + pad) % 4 != 0 || run == fits + 4)
        return -1;
    if (pad == 0)
        return (ptrdiff_t)whole;
    ptrdiff_t tail = base64_decode(bytes + whole, capacity - whole, text + run / 4 * 4, 4, NULL);
    return tail < 0 ? -1 : (ptrdiff_t)whole + tail;
}
