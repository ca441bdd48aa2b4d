/* text: wire.md W1 (UTF-8, zero padding, control characters). */
#include "base/text.h"
#include "check.h"

#define R(...)                \
    {                         \
        __LINE__, __VA_ARGS__ \
    }

static const struct row {
    int line;
    const char *name;
    const char *text;
    bool utf8;
    bool control;
} rows[] = {
    R("empty", "", true, false),
    R("ascii", "label 1", true, false),
    R("two bytes", "\xc3\xa9", true, false),
    R("three bytes", "\xe2\x82\xac", true, false),
    R("four bytes", "\xf0\x9f\x98\x80", true, false),
    R("last of two bytes", "\xdf\xbf", true, false),
    R("U+D7FF", "\xed\x9f\xbf", true, false),
    R("U+E000", "\xee\x80\x80", true, false),
    R("U+10FFFF", "\xf4\x8f\xbf\xbf", true, false),
    R("above U+10FFFF", "\xf4\x90\x80\x80", false, false),
    R("five bytes", "\xf8\x88\x80\x80\x80", false, false),
    R("surrogate", "\xed\xa0\x80", false, false),
    R("last surrogate", "\xed\xbf\xbf", false, false),
    R("overlong slash, two bytes", "\xc0\xaf", false, false),
    R("overlong slash, three bytes", "\xe0\x80\xaf", false, false),
    R("overlong, four bytes", "\xf0\x8f\xbf\xbf", false, false),
    R("c1 is never there", "\xc1\xbf", false, false),
    R("lone continuation", "a\x80", false, false),
    R("cut, two bytes", "a\xc3", false, false),
    R("cut, three bytes", "\xe2\x82", false, false),
    R("cut, four bytes", "\xf0\x9f\x98", false, false),
    R("wrong continuation", "\xe2\x28\xa1", false, false),
    R("latin-1", "caf\xe9", false, false),
    R("U+0001", "a\x01", true, true),
    R("U+001F", "\x1f", true, true),
    R("tab", "\t", true, true),
    R("space is none", " ", true, false),
    R("tilde is none", "~", true, false),
    R("U+007F", "a\x7f", true, true),
    R("U+0080", "\xc2\x80", true, true),
    R("U+009F", "\xc2\x9f", true, true),
    R("U+00A0 is none", "\xc2\xa0", true, false),
    R("9f inside another character", "\xe0\xa0\x9f", true, false),
};

static void test_rows(void)
{
    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        const struct row *row = &rows[i];
        size_t count = strlen(row->text);
        CHECK_ROW(row, text_is_utf8(row->text, count) == row->utf8);
        if (row->utf8)
            CHECK_ROW(row, text_has_control(row->text, count) == row->control);
        char field[32] = { 0 };
        memcpy(field, row->text, count);
        CHECK_ROW(row, text_trim(field, sizeof field) == count);
        CHECK_ROW(row, text_field_is_valid(field, sizeof field) == row->utf8);
    }
}

/* Every code point encoded by the book is UTF-8; every one but surrogates, and nothing else. */
static void test_all_code_points(void)
{
    for (uint32_t code = 0x80; code <= 0x10ffff; code++) {
        char text[4];
        size_t count;
        if (code < 0x800) {
            text[0] = (char)(0xc0 | code >> 6);
            count = 2;
        } else if (code < 0x10000) {
            text[0] = (char)(0xe0 | code >> 12);
            text[1] = (char)(0x80 | (code >> 6 & 63));
            count = 3;
        } else {
            text[0] = (char)(0xf0 | code >> 18);
            text[1] = (char)(0x80 | (code >> 12 & 63));
            text[2] = (char)(0x80 | (code >> 6 & 63));
            count = 4;
        }
        text[count - 1] = (char)(0x80 | (code & 63));
        CHECK(text_is_utf8(text, count) == (code < 0xd800 || code > 0xdfff));
        CHECK(text_has_control(text, count) == (code <= 0x9f));
    }
}

static void test_fields(void)
{
    CHECK(text_trim("\0\0\0", 3) == 0 && text_field_is_valid("\0\0\0", 3));
    CHECK(!text_field_is_valid("a\0b\0", 4)); /* W1: a NUL inside */
    CHECK(!text_field_is_valid("\0a", 2));
    CHECK(text_field_is_valid("abcd", 4)); /* no zero at all */
}

static void test_distance(void)
{
    CHECK(text_distance("net.listen", "net.listen", 99) == 0);
    CHECK(text_distance("kitten", "sitting", 99) == 3); /* Levenshtein's usual example */
    CHECK(text_distance("", "abc", 99) == 3 && text_distance("abc", "", 99) == 3);
    CHECK(text_distance("flaw", "lawn", 99) == 2);
    CHECK(text_distance("abcdef", "uvwxyz", 4) == 4);
    char longer[80];
    memset(longer, 'a', 79);
    longer[79] = '\0';
    CHECK(text_distance(longer, "a", 99) == 99);
}

int main(void)
{
    test_rows();
    test_all_code_points();
    test_fields();
    test_distance();
    return 0;
}
