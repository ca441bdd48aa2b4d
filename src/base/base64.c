#include "base/base64.h"

/* The value of a character, or BAD for one outside the alphabet. The four tables hold the values
 * shifted to the bits that each of the four characters has in the three bytes of a group, read as a
 * little-endian word. BAD is bit 24 in all of them and survives the OR. */
enum { BAD = 1 << 24 };

/* clang-format off */
#define VALUE(c) \
    ((c) >= 'A' && (c) <= 'Z' ? (c) - 'A' : \
     (c) >= 'a' && (c) <= 'z' ? (c) - 'a' + 26 : \
     (c) >= '0' && (c) <= '9' ? (c) - '0' + 52 : \
     (c) == '+' ? 62 : (c) == '/' ? 63 : BAD)
#define BITS_0(v)       ((v) << 2)
#define BITS_1(v)       ((v) >> 4 | ((v) & 15) << 12)
#define BITS_2(v)       ((v) >> 2 << 8 | ((v) & 3) << 22)
#define BITS_3(v)       ((v) << 16)
#define CELL(c, bits)   (VALUE(c) == BAD ? (uint32_t)BAD : (uint32_t)bits((VALUE(c) & 63)))
#define ROW4(c, bits)   CELL(c, bits), CELL((c) + 1, bits), CELL((c) + 2, bits), \
                        CELL((c) + 3, bits)
#define ROW16(c, bits)  ROW4(c, bits), ROW4((c) + 4, bits), ROW4((c) + 8, bits), \
                        ROW4((c) + 12, bits)
#define ROW64(c, bits)  ROW16(c, bits), ROW16((c) + 16, bits), ROW16((c) + 32, bits), \
                        ROW16((c) + 48, bits)
#define TABLE(bits)     { ROW64(0, bits), ROW64(64, bits), ROW64(128, bits), ROW64(192, bits) }
/* clang-format on */

static const uint32_t shifted[4][256] = { TABLE(BITS_0), TABLE(BITS_1), TABLE(BITS_2),
                                          TABLE(BITS_3) };

/* Returns the word of four characters, the first in the low byte. */
static uint32_t group_value(uint32_t group)
{
    return shifted[0][group & 255] | shifted[1][group >> 8 & 255] | shifted[2][group >> 16 & 255] |
           shifted[3][group >> 24];
}

/* Returns the index of the first character outside the alphabet; `count` if there is none. */
static size_t first_bad(const uint8_t *text, size_t count)
{
    size_t at = 0;
    while (at < count && shifted[3][text[at]] != BAD)
        at++;
    return at;
}

static ptrdiff_t refuse(size_t *error_at, size_t at)
{
    if (error_at != NULL)
        *error_at = at;
    return -1;
}

ptrdiff_t base64_decode(uint8_t *bytes, size_t capacity, const char *text, size_t count,
                        size_t *error_at)
{
    const uint8_t *in = (const uint8_t *)text;
    if (count == 0)
        return 0;
    size_t pad = in[count - 1] != '=' ? 0 : count >= 2 && in[count - 2] == '=' ? 2 : 1;
    if (count % 4 != 0) {
        size_t bad = first_bad(in, count);
        return refuse(error_at, bad < count - pad ? bad : count);
    }
    size_t whole = pad == 0 ? count : count - 4; /* characters of groups without padding */
    size_t total = count / 4 * 3 - pad;
    if (total > capacity)
        return first_bad(in, count - pad) < count - pad ? refuse(error_at, first_bad(in, count))
                                                        : -2;

    uint32_t seen = 0;
    uint8_t *out = bytes;
    size_t at = 0;
    /* Two groups a step. Each store writes one byte too many, so the last groups are decoded
     * alone. */
    for (; at + 12 <= whole; at += 8, out += 6) {
        uint64_t groups = cc_load64(in + at);
        uint32_t first = group_value((uint32_t)groups);
        uint32_t second = group_value((uint32_t)(groups >> 32));
        seen |= first | second;
        cc_store32(out, first);
        cc_store32(out + 3, second);
    }
    for (; at < whole; at += 4, out += 3) {
        uint32_t value = group_value(cc_load32(in + at));
        seen |= value;
        memcpy(out, &value, 3);
    }
    if (seen & BAD)
        return refuse(error_at, first_bad(in, count));
    if (pad == 0)
        return (ptrdiff_t)total;

    const uint8_t *last = in + whole;
    size_t bad = first_bad(last, 4 - pad);
    if (bad < 4 - pad)
        return refuse(error_at, whole + bad);
    uint32_t value = shifted[0][last[0]] | shifted[1][last[1]];
    if (pad == 1)
        value |= shifted[2][last[2]];
    if (value >> (8 * (3 - pad)) != 0) /* unused bits */
        return refuse(error_at, whole + 3 - pad);
    memcpy(out, &value, 3 - pad);
    return (ptrdiff_t)total;
}

size_t base64_encode(char *text, const uint8_t *bytes, size_t count)
{
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *out = text;
    for (size_t at = 0; at < count; at += 3) {
        size_t left = count - at;
        uint32_t value = (uint32_t)bytes[at] << 16;
        if (left > 1)
            value |= (uint32_t)bytes[at + 1] << 8;
        if (left > 2)
            value |= bytes[at + 2];
        *out++ = alphabet[value >> 18];
        *out++ = alphabet[value >> 12 & 63];
        *out++ = left > 1 ? alphabet[value >> 6 & 63] : '=';
        *out++ = left > 2 ? alphabet[value & 63] : '=';
    }
    *out = '\0';
    return (size_t)(out - text);
}
