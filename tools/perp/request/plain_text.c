#include "perp/request/plain_text.h"

#include "base/hex.h"

enum { ESCAPE_BYTES = 6 }; /* \uXXXX */

static bool is_control(uint8_t high, uint8_t low)
{
    return high == 0 && (low < 0x20 || (low >= 0x7f && low <= 0x9f));
}

/* How many bytes of a control character, or of JSON's escape of one, the text begins with. */
static size_t control_bytes(const char *text, size_t count)
{
    const uint8_t *bytes = (const uint8_t *)text;
    uint8_t point[2];

    if (bytes[0] < 0x80 && bytes[0] != '\\')
        return bytes[0] != '\n' && is_control(0, bytes[0]);
    if (bytes[0] == 0xc2) /* U+0080 to U+00BF are C2 80 to C2 BF */
        return count > 1 && is_control(0, bytes[1]) ? 2 : 0;
    if (bytes[0] != '\\' || count < 2)
        return 0;
    if (memchr("bfnrt", text[1], 5) != NULL)
        return 2;
    return count >= ESCAPE_BYTES && text[1] == 'u' && hex_decode(point, 2, text + 2, 4) &&
                   is_control(point[0], point[1])
               ? ESCAPE_BYTES
               : 0;
}

/* Bytes of the character of UTF-8 beyond ASCII that the text begins with; 0: there is none. */
static size_t wide_bytes(const char *text, size_t count)
{
    const uint8_t *bytes = (const uint8_t *)text;
    size_t more = bytes[0] >= 0xf0 ? 3 : bytes[0] >= 0xe0 ? 2 : 1;

    if (bytes[0] < 0xc2 || bytes[0] > 0xf4 || count <= more)
        return 0;
    for (size_t i = 1; i <= more; i++)
        if ((bytes[i] & 0xc0) != 0x80)
            return 0;
    return more + 1;
}

void plain_text_make(char *text, size_t count)
{
    for (size_t i = 0; i < count;) {
        size_t bytes = control_bytes(text + i, count - i), wide = 1;
        bool is_space = text[i] == '\t' || text[i] == '\r';
        if (bytes == 0 && (text[i] & 0x80) != 0 && (wide = wide_bytes(text + i, count - i)) == 0)
            bytes = 1; /* a terminal of 8 bits takes some of them for controls */
        if (bytes != 0)
            memset(text + i, is_space ? ' ' : '?', bytes);
        /* What a backslash escapes begins no escape of its own. */
        i += bytes != 0 ? bytes : text[i] == '\\' ? 2 : wide;
    }
}
