#include "base/hex.h"

void hex_encode(char *text, const uint8_t *bytes, size_t count)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < count; i++) {
        text[2 * i] = digits[bytes[i] >> 4];
        text[2 * i + 1] = digits[bytes[i] & 15];
    }
    text[2 * count] = '\0';
}

/* Returns 0..15, or more than 15 for a character that is not a digit. */
static unsigned digit_value(char digit)
{
    unsigned value = (unsigned)(unsigned char)digit;
    if (value - '0' <= 9)
        return value - '0';
    value |= 0x20;
    return value - 'a' <= 5 ? value - 'a' + 10 : 16;
}

bool hex_decode(uint8_t *bytes, size_t count, const char *text, size_t text_count)
{
    if (text_count != 2 * count)
        return false;
    unsigned bad = 0;
    for (size_t i = 0; i < count; i++) {
        unsigned high = digit_value(text[2 * i]);
        unsigned low = digit_value(text[2 * i + 1]);
        bad |= (high | low) & 16;
        bytes[i] = (uint8_t)(high << 4 | (low & 15));
    }
    return bad == 0;
}
