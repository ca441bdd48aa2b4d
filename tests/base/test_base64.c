/* base64: wire.md W1 (standard alphabet, length a multiple of 4, padding at the end only, unused
 * bits zero), and every single-byte mutation at every position (signatures.md, Base64). */
#include "base/base64.h"
#include "check.h"

#define R(...)                \
    {                         \
        __LINE__, __VA_ARGS__ \
    }

static const struct row {
    int line;
    const char *name;
    const char *text;
    ptrdiff_t want;
    const char *bytes; /* decoded, or NULL */
    size_t error_at;
} rows[] = {
    /* RFC 4648, section 10 */
    R("empty", "", 0, "", 0),
    R("f", "Zg==", 1, "f", 0),
    R("fo", "Zm8=", 2, "fo", 0),
    R("foo", "Zm9v", 3, "foo", 0),
    R("foob", "Zm9vYg==", 4, "foob", 0),
    R("fooba", "Zm9vYmE=", 5, "fooba", 0),
    R("foobar", "Zm9vYmFy", 6, "foobar", 0),
    R("plus and slash", "+/+/", 3, "\xfb\xff\xbf", 0),
    R("length 1", "Z", -1, NULL, 1),
    R("length 2", "Zg", -1, NULL, 2),
    R("length 3", "Zg=", -1, NULL, 3),
    R("length 5", "Zm9vY", -1, NULL, 5),
    R("unused bits, one byte", "Zh==", -1, NULL, 1),
    R("unused bits, two bytes", "Zm9=", -1, NULL, 2),
    R("padding alone", "====", -1, NULL, 0),
    R("three padding", "Z===", -1, NULL, 1),
    R("padding inside", "Zg==Zm9v", -1, NULL, 2),
    R("padding in front", "=Zg=", -1, NULL, 0),
    R("URL-safe minus", "-_-_", -1, NULL, 0),
    R("URL-safe line", "Zm_v", -1, NULL, 2),
    R("white space", "Zm9v\nYmFy", -1, NULL, 4),
    R("space in a group", "Zm 9vYmE", -1, NULL, 2),
    R("space at the end", "Zm9v    ", -1, NULL, 4),
    R("high byte",
      "\x80"
      "BCD",
      -1, NULL, 0), /* libsodium's decoder takes it */
    R("high byte before padding", "Z\xe7==", -1, NULL, 1),
};

static void test_rows(void)
{
    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        const struct row *row = &rows[i];
        uint8_t bytes[16];
        size_t error_at = 99;
        size_t count = strlen(row->text);
        ptrdiff_t got = base64_decode(bytes, sizeof bytes, row->text, count, &error_at);
        CHECK_ROW(row, got == row->want);
        if (got < 0) {
            CHECK_ROW(row, error_at == row->error_at);
            CHECK_ROW(row, base64_decode(bytes, sizeof bytes, row->text, count, NULL) == -1);
            continue;
        }
        CHECK_ROW(row, memcmp(bytes, row->bytes, (size_t)got) == 0);
        char text[32];
        CHECK_ROW(row, base64_encode(text, bytes, (size_t)got) == count);
        CHECK_ROW(row, strcmp(text, row->text) == 0);
    }
}

/* What the alphabet is, said in another way than the tables say it. */
static bool in_alphabet(unsigned byte)
{
    return byte != 0 && byte < 128 &&
           strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", (int)byte) !=
               NULL;
}

/* Every byte at every place of texts of 0..64 and 195..200 bytes: what still decodes has a text of
 * its own and encodes back to exactly the mutated text. */
static void test_mutations(void)
{
    uint8_t bytes[200], decoded[204];
    char text[272], mutated[272], again[280];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * 167 + 13);
    for (size_t count = 0; count <= sizeof bytes; count++) {
        size_t length = base64_encode(text, bytes, count);
        CHECK(length == BASE64_TEXT_BYTES(count));
        CHECK(base64_decode(decoded, count, text, length, NULL) == (ptrdiff_t)count);
        CHECK(memcmp(decoded, bytes, count) == 0);
        CHECK(count == 0 || base64_decode(decoded, count - 1, text, length, NULL) == -2);
        if (count > 64 && count < 195)
            continue;
        memcpy(mutated, text, length + 1);
        for (size_t at = 0; at < length; at++) {
            for (unsigned byte = 0; byte < 256; byte++) {
                mutated[at] = (char)byte;
                ptrdiff_t got = base64_decode(decoded, sizeof decoded, mutated, length, NULL);
                if (got < 0) {
                    CHECK(got == -1);
                    continue;
                }
                CHECK(in_alphabet(byte) || byte == '=');
                CHECK(base64_encode(again, decoded, (size_t)got) == length);
                CHECK(memcmp(again, mutated, length) == 0);
            }
            mutated[at] = text[at];
        }
    }
}

/* All 2^16 texts of two characters and two of padding: 256 decode, one for each byte. */
static void test_tail_bits(void)
{
    unsigned good = 0;
    for (unsigned a = 0; a < 256; a++) {
        for (unsigned b = 0; b < 256; b++) {
            char text[4] = { (char)a, (char)b, '=', '=' };
            uint8_t byte;
            good += base64_decode(&byte, 1, text, 4, NULL) == 1;
        }
    }
    CHECK(good == 256);
}

static void test_capacity(void)
{
    uint8_t bytes[4] = { 0, 0, 0, 0xaa };
    CHECK(base64_decode(bytes, 3, "Zm9v", 4, NULL) == 3 && bytes[3] == 0xaa);
    CHECK(base64_decode(bytes, 2, "Zm9v", 4, NULL) == -2);
    size_t error_at = 0;
    CHECK(base64_decode(bytes, 2, "Zm!v", 4, &error_at) == -1 && error_at == 2);
}

int main(void)
{
    test_rows();
    test_mutations();
    test_tail_bits();
    test_capacity();
    return 0;
}
