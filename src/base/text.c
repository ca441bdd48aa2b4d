#include "base/text.h"

enum { WORD_MAX = 63 };

/* Returns the length of the character at the front of the text, or 0 when it is malformed. The
 * bounds of the second byte exclude overlong forms, surrogates and everything above U+10FFFF
 * (Unicode, table 3-7). */
static size_t character_bytes(const uint8_t *at, size_t left)
{
    uint8_t first = at[0];
    if (first < 0x80)
        return 1;
    size_t length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if (first < 0xc2 || first > 0xf4 || left < length)
        return 0;
    uint8_t low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    uint8_t high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    if (at[1] < low || at[1] > high)
        return 0;
    for (size_t i = 2; i < length; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    return length;
}

bool text_is_utf8(const char *text, size_t count)
{
    const uint8_t *bytes = (const uint8_t *)text;
    for (size_t at = 0; at < count;) {
        size_t length = character_bytes(bytes + at, count - at);
        if (length == 0)
            return false;
        at += length;
    }
    return true;
}

bool text_is_equal_folded(const char *a, const char *b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (text_lower(a[i]) != text_lower(b[i]))
            return false;
    return true;
}

size_t text_trim(const char *field, size_t count)
{
    while (count > 0 && field[count - 1] == '\0')
        count--;
    return count;
}

bool text_field_is_valid(const char *field, size_t count)
{
    size_t length = text_trim(field, count);
    for (size_t i = 0; i < length; i++)
        if (field[i] == '\0')
            return false;
    return text_is_utf8(field, length);
}

bool text_has_control(const char *text, size_t count)
{
    const uint8_t *bytes = (const uint8_t *)text;
    for (size_t i = 0; i < count; i++) {
        if ((bytes[i] >= 0x01 && bytes[i] <= 0x1f) || bytes[i] == 0x7f)
            return true;
        /* U+0080-U+009F are C2 80 - C2 9F; C2 never occurs inside another character. */
        if (bytes[i] == 0xc2 && i + 1 < count && bytes[i + 1] <= 0x9f)
            return true;
    }
    return false;
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

void text_make_printable(char *text, size_t count)
{
    if (text_is_utf8(text, count) && !text_has_control(text, count))
        return;
    for (size_t i = 0; i < count; i++)
        if (text[i] < ' ' || text[i] > '~') /* a signed byte above 0x7f is below */
            text[i] = '?';
}

unsigned text_distance(const char *a, const char *b, unsigned limit)
{
    size_t a_count = 0;
    size_t b_count = 0;
    while (a_count <= WORD_MAX && a[a_count] != '\0')
        a_count++;
    while (b_count <= WORD_MAX && b[b_count] != '\0')
        b_count++;
    if (a_count > WORD_MAX || b_count > WORD_MAX)
        return limit;

    unsigned row[WORD_MAX + 1]; /* distances of a prefix of a to each prefix of b */
    for (size_t j = 0; j <= b_count; j++)
        row[j] = (unsigned)j;
    for (size_t i = 1; i <= a_count; i++) {
        unsigned diagonal = row[0];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= b_count; j++) {
            unsigned replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            diagonal = row[j];
            row[j] = least(replaced, least(row[j], row[j - 1]) + 1);
        }
    }
    return least(row[b_count], limit);
}
