/* CRC-32C against RFC 3720 B.4 and against a bit-by-bit division. */
#include "base/crc32c.h"
#include "check.h"

static uint8_t bytes[40000];

/* The definition: divide by the polynomial, one bit at a time. */
static uint32_t bitwise(const uint8_t *at, size_t count)
{
    uint32_t state = 0xFFFFFFFFU;

    for (size_t i = 0; i < count; i++) {
        state ^= at[i];
        for (int bit = 0; bit < 8; bit++)
            state = state & 1U ? state >> 1 ^ 0x82F63B78U : state >> 1;
    }
    return ~state;
}

int main(void)
{
    static const size_t counts[] = { 0,    1,    7,    8,    9,    1023, 1024,  3071,
                                     3072, 3073, 3080, 6143, 6144, 9999, 24577, 39000 };
    uint32_t state = 1;

    CHECK(crc32c("123456789", 9) == 0xE3069283U);
    memset(bytes, 0, 32);
    CHECK(crc32c(bytes, 32) == 0x8A9136AAU); /* RFC 3720 B.4: 32 zeros, 32 ones */
    memset(bytes, 0xFF, 32);
    CHECK(crc32c(bytes, 32) == 0x62A8AB43U);

    for (size_t i = 0; i < sizeof bytes; i++) {
        state = state * 1664525U + 1013904223U;
        bytes[i] = (uint8_t)(state >> 24);
    }
    for (size_t i = 0; i < CC_COUNT(counts); i++) {
        for (size_t from = 0; from < 9; from++) {
            uint32_t want = bitwise(bytes + from, counts[i]);

            CHECK(crc32c(bytes + from, counts[i]) == want);
            CHECK(crc32c_extend_portable(0, bytes + from, counts[i]) == want);
            CHECK(crc32c_extend(crc32c(bytes + from, counts[i] / 3), bytes + from + counts[i] / 3,
                                counts[i] - counts[i] / 3) == want);
        }
    }
    return 0;
}
