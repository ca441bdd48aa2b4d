#include "base/crc32c.h"

#ifdef __SSE4_2__
#include <nmmintrin.h>
#endif

enum {
    CRC32C_STREAM_BYTES = 1024 /* of each of the three streams; joining costs 8 look-ups */
};

/* Reflected polynomial of CRC-32C. */
static const uint32_t crc32c_polynomial = 0x82F63B78U;

/* words[k][b]: the state after byte b and k zero bytes. shift[k][b]: the state b << 8k after
 * CRC32C_STREAM_BYTES zero bytes. Written once before main, read-only afterwards. */
static uint32_t words[8][256];
static uint32_t shift[4][256];

static uint32_t zeros_appended(uint32_t state, size_t count)
{
    for (size_t i = 0; i < count; i++)
        state = (state >> 8) ^ words[0][state & 0xFF];
    return state;
}

/* The operator is linear: a table's value is the sum of the images of its bits. */
static void shift_fill(void)
{
    for (unsigned k = 0; k < 4; k++) {
        for (unsigned bit = 0; bit < 8; bit++) {
            uint32_t image = zeros_appended(1U << (8 * k + bit), CRC32C_STREAM_BYTES);

            for (unsigned b = 0; b < 256; b++)
                shift[k][b] ^= b >> bit & 1U ? image : 0U;
        }
    }
}

__attribute__((constructor)) static void tables_fill(void)
{
    for (unsigned b = 0; b < 256; b++) {
        uint32_t state = b;

        for (int bit = 0; bit < 8; bit++)
            state = (state >> 1) ^ (state & 1U ? crc32c_polynomial : 0U);
        words[0][b] = state;
    }
    for (unsigned k = 1; k < 8; k++) {
        for (unsigned b = 0; b < 256; b++)
            words[k][b] = zeros_appended(words[k - 1][b], 1);
    }
    shift_fill();
}

uint32_t crc32c_extend_portable(uint32_t crc, const void *bytes, size_t count)
{
    const uint8_t *at = bytes;
    uint32_t state = ~crc;

    for (; count >= 8; count -= 8, at += 8) {
        uint64_t word = cc_load64(at) ^ state;

        state = 0;
        for (unsigned k = 0; k < 8; k++)
            state ^= words[7 - k][word >> 8 * k & 0xFF];
    }
    for (; count > 0; count--, at++)
        state = (state >> 8) ^ words[0][(state ^ *at) & 0xFF];
    return ~state;
}

#ifdef __SSE4_2__
static uint64_t stream_shifted(uint64_t state)
{
    return shift[0][state & 0xFF] ^ shift[1][state >> 8 & 0xFF] ^ shift[2][state >> 16 & 0xFF] ^
           shift[3][state >> 24 & 0xFF];
}

uint32_t crc32c_extend(uint32_t crc, const void *bytes, size_t count)
{
    const uint8_t *at = bytes;
    const size_t stream = CRC32C_STREAM_BYTES;
    uint64_t state = (uint32_t)~crc;

    for (; count >= 3 * stream; count -= 3 * stream, at += 3 * stream) {
        uint64_t second = 0;
        uint64_t third = 0;

        for (size_t i = 0; i < stream; i += 8) {
            state = _mm_crc32_u64(state, cc_load64(at + i));
            second = _mm_crc32_u64(second, cc_load64(at + stream + i));
            third = _mm_crc32_u64(third, cc_load64(at + 2 * stream + i));
        }
        state = stream_shifted(stream_shifted(state) ^ second) ^ third;
    }
    for (; count >= 8; count -= 8, at += 8)
        state = _mm_crc32_u64(state, cc_load64(at));
    for (; count > 0; count--, at++)
        state = _mm_crc32_u8((uint32_t)state, *at);
    return ~(uint32_t)state;
}
#else
uint32_t crc32c_extend(uint32_t crc, const void *bytes, size_t count)
{
    return crc32c_extend_portable(crc, bytes, count);
}
#endif

uint32_t crc32c(const void *bytes, size_t count)
{
    return crc32c_extend(0, bytes, count);
}
