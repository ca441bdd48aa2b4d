#include "base/base64.h"

/* Value of a character, or BAD for one outside the alphabet. Four tables hold the same values
 * shifted to the four places of a group; BAD stays visible in every one of them as bit 24. */
enum { BAD = 1 << 24 };

/* clang-format off */
#define VALUE(c) \
    ((c) >= 'A' && (c) <= 'Z' ? (c) - 'A' : \
     (c) >= 'a' && (c) <= 'z' ? (c) - 'a' + 26 : \
     (c) >= '0' && (c) <= '9' ? (c) - '0' + 52 : \
     (c) == '+' ? 62 : (c) == '/' ? 63 : BAD)
#define ENTRY(c, shift) (VALUE(c) == BAD ? (uint32_t)BAD : (uint32_t)VALUE(c) << (shift))
#define ROW4(c, shift)  ENTRY(c, shift), ENTRY((c) + 1, shift), ENTRY((c) + 2, shift), \
                        ENTRY((c) + 3, shift)
#define ROW16(c, shift) ROW4(c, shift), ROW4((c) + 4, shift), ROW4((c) + 8, shift), \
                        ROW4((c) + 12, shift)
#define ROW64(c, shift) ROW16(c, shift), ROW16((c) + 16, shift), ROW16((c) + 32, shift), \
                        ROW16((c) + 48, shift)
#define TABLE(shift)    { ROW64(0, shift), ROW64(64, shift), ROW64(128, shift), ROW64(192, shift) }
/* clang-format on */

static const uint32_t places[4][256] = { TABLE(18), TABLE(12), TABLE(6), TABLE(0) };

static uint32_t group_value(const uint8_t *group)
{
    return places[0][group[0]] | places[1][group[1]] | places[2][group[2]] | places[3][group[3]];
}

/* The place of the first character that is not of the alphabet; `count` when all are. */
static size_t first_bad(const uint8_t *text, size_t count)
{
    size_t at = 0;
    while (at < count && places[3][text[at]] != BAD)
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
    size_t whole = pad == 0 ? count : count - 4; /* characters in groups without padding */
    size_t total = count / 4 * 3 - pad;
    if (total > capacity)
        return first_bad(in, count - pad) < count - pad ? refuse(error_at, first_bad(in, count))
                                                        : -2;

    uint32_t seen = 0;
    uint8_t *out = bytes;
    for (size_t at = 0; at < whole; at += 4, out += 3) {
        uint32_t value = group_value(in + at);
        seen |= value;
        out[0] = (uint8_t)(value >> 16);
        out[1] = (uint8_t)(value >> 8);
        out[2] = (uint8_t)value;
    }
    if (seen & BAD)
        return refuse(error_at, first_bad(in, count));
    if (pad == 0)
        return (ptrdiff_t)total;

    const uint8_t *last = in + whole;
    size_t bad = first_bad(last, 4 - pad);
    if (bad < 4 - pad)
        return refuse(error_at, whole + bad);
    uint32_t value = places[0][last[0]] | places[1][last[1]];
    if (pad == 1)
        value |= places[2][last[2]];
    uint32_t unused = pad == 1 ? 0xff : 0xffff;
    if (value & unused)
        return refuse(error_at, whole + 3 - pad);
    out[0] = (uint8_t)(value >> 16);
    if (pad == 1)
        out[1] = (uint8_t)(value >> 8);
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
