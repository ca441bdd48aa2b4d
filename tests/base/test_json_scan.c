/* json_scan: wire.md W1 (UTF-8 without BOM, one object, depth at most 8, no duplicate member) and
 * RFC 8259's grammar. Texts are copied to the end of an allocation, so that the sanitizer sees a
 * byte read too far. */
#include "base/json_scan.h"
#include "check.h"

#define R(...)                \
    {                         \
        __LINE__, __VA_ARGS__ \
    }

#define DEEP_8  "{\"a\":[[[[[[[1]]]]]]]}"
#define DEEP_9  "{\"a\":[[[[[[[[1]]]]]]]]}"
#define OBJECTS "{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{}}}}}}}}"

static const struct row {
    int line;
    const char *name;
    const char *text;
    enum json_error want;
    uint32_t at; /* of the error */
} rows[] = {
    R("empty object", "{}", JSON_OK, 0),
    R("white space", " \t\r\n{ } \n", JSON_OK, 0),
    R("all kinds",
      "{\"s\":\"x\",\"n\":-1.5e+3,\"t\":true,\"f\":false,\"z\":null,\"a\":[1,[],{}],\"o\":{}}",
      JSON_OK, 0),
    R("escapes", "{\"a\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\ud83d\\ude00\"}", JSON_OK, 0),
    R("UTF-8", "{\"\xc3\xa9\":\"\xf0\x9f\x98\x80\"}", JSON_OK, 0),
    R("depth 8", DEEP_8, JSON_OK, 0),
    R("depth 8 of objects", OBJECTS, JSON_OK, 0),
    R("same name in other objects", "{\"a\":{\"b\":1},\"c\":{\"b\":2},\"b\":3}", JSON_OK, 0),
    R("same name in objects of an array", "{\"a\":[{\"b\":1},{\"b\":2}]}", JSON_OK, 0),
    R("name of a closed object again", "{\"a\":{\"x\":1},\"x\":2}", JSON_OK, 0),
    R("empty name", "{\"\":1}", JSON_OK, 0),
    R("numbers", "{\"a\":[0,-0,10,0.5,1e9,1E-9,0e0,-0.0e+00]}", JSON_OK, 0),

    R("nothing", "", JSON_ERROR_NOT_OBJECT, 0),
    R("space alone", "  ", JSON_ERROR_NOT_OBJECT, 2),
    R("array", "[1]", JSON_ERROR_NOT_OBJECT, 0),
    R("string", "\"a\"", JSON_ERROR_NOT_OBJECT, 0),
    R("word", "null", JSON_ERROR_NOT_OBJECT, 0),
    R("byte order mark", "\xef\xbb\xbf{}", JSON_ERROR_UTF8, 0),
    R("two objects", "{}{}", JSON_ERROR_TRAILING, 2),
    R("trailing word", "{} x", JSON_ERROR_TRAILING, 3),
    R("trailing comma behind", "{},", JSON_ERROR_TRAILING, 2),
    R("depth 9", DEEP_9, JSON_ERROR_DEPTH, 12),
    R("duplicate", "{\"a\":1,\"a\":1}", JSON_ERROR_DUPLICATE, 7),
    R("duplicate of a container", "{\"a\":{},\"b\":0,\"a\":[]}", JSON_ERROR_DUPLICATE, 14),
    R("duplicate deep inside", "{\"a\":[{\"b\":{\"c\":1,\"c\":2}}]}", JSON_ERROR_DUPLICATE, 18),
    R("duplicate by an escape", "{\"a\":1,\"\\u0061\":2}", JSON_ERROR_DUPLICATE, 7),
    R("duplicate of two escapes", "{\"\\u00e9\":1,\"\xc3\xa9\":2}", JSON_ERROR_DUPLICATE, 12),
    R("duplicate by a slash", "{\"a\\/b\":1,\"a/b\":2}", JSON_ERROR_DUPLICATE, 10),
    R("duplicate empty name", "{\"\":1,\"\":2}", JSON_ERROR_DUPLICATE, 6),
    R("cut", "{", JSON_ERROR_SYNTAX, 1),
    R("cut in a name", "{\"a", JSON_ERROR_SYNTAX, 3),
    R("cut before the colon", "{\"a\"", JSON_ERROR_SYNTAX, 4),
    R("cut before the value", "{\"a\":", JSON_ERROR_SYNTAX, 5),
    R("cut in a string", "{\"a\":\"b", JSON_ERROR_SYNTAX, 7),
    R("cut in an escape", "{\"a\":\"\\", JSON_ERROR_ESCAPE, 6),
    R("cut in a \\u", "{\"a\":\"\\u00", JSON_ERROR_ESCAPE, 6),
    R("cut in a word", "{\"a\":tru", JSON_ERROR_SYNTAX, 5),
    R("cut in a number", "{\"a\":1", JSON_ERROR_SYNTAX, 6),
    R("cut in an array", "{\"a\":[1", JSON_ERROR_SYNTAX, 7),
    R("comma before }", "{\"a\":1,}", JSON_ERROR_SYNTAX, 7),
    R("comma before ]", "{\"a\":[1,]}", JSON_ERROR_SYNTAX, 8),
    R("comma first", "{,\"a\":1}", JSON_ERROR_SYNTAX, 1),
    R("comma first in an array", "{\"a\":[,1]}", JSON_ERROR_SYNTAX, 6),
    R("no comma", "{\"a\":1 \"b\":2}", JSON_ERROR_SYNTAX, 7),
    R("no comma in an array", "{\"a\":[1 2]}", JSON_ERROR_SYNTAX, 8),
    R("no colon", "{\"a\" 1}", JSON_ERROR_SYNTAX, 5),
    R("name without quotes", "{a:1}", JSON_ERROR_SYNTAX, 1),
    R("name in single quotes", "{'a':1}", JSON_ERROR_SYNTAX, 1),
    R("number as a name", "{1:1}", JSON_ERROR_SYNTAX, 1),
    R("name in an array", "{\"a\":[\"b\":1]}", JSON_ERROR_SYNTAX, 9),
    R("wrong bracket", "{\"a\":[1}", JSON_ERROR_SYNTAX, 7),
    R("wrong brace", "{\"a\":1]", JSON_ERROR_SYNTAX, 6),
    R("comment", "{/**/}", JSON_ERROR_SYNTAX, 1),
    R("NaN", "{\"a\":NaN}", JSON_ERROR_SYNTAX, 5),
    R("capital word", "{\"a\":True}", JSON_ERROR_SYNTAX, 5),
    R("longer word", "{\"a\":nullx}", JSON_ERROR_SYNTAX, 9),
    R("leading zero", "{\"a\":01}", JSON_ERROR_SYNTAX, 6),
    R("plus", "{\"a\":+1}", JSON_ERROR_SYNTAX, 5),
    R("minus alone", "{\"a\":-}", JSON_ERROR_SYNTAX, 6),
    R("minus word", "{\"a\":-Infinity}", JSON_ERROR_SYNTAX, 6),
    R("no digit before the point", "{\"a\":.5}", JSON_ERROR_SYNTAX, 5),
    R("no digit behind the point", "{\"a\":5.}", JSON_ERROR_SYNTAX, 7),
    R("no digit in the exponent", "{\"a\":5e}", JSON_ERROR_SYNTAX, 7),
    R("no digit behind the sign", "{\"a\":5e+}", JSON_ERROR_SYNTAX, 8),
    R("hex number", "{\"a\":0x1}", JSON_ERROR_SYNTAX, 6),
    R("control in a string", "{\"a\":\"b\nc\"}", JSON_ERROR_SYNTAX, 7),
    R("control in a name", "{\"a\tb\":1}", JSON_ERROR_SYNTAX, 3),
    R("form feed as white space", "{\f}", JSON_ERROR_SYNTAX, 1),
    R("no-break space as white space", "{\xc2\xa0}", JSON_ERROR_SYNTAX, 1),
    R("unknown escape", "{\"a\":\"\\x41\"}", JSON_ERROR_ESCAPE, 6),
    R("capital U", "{\"a\":\"\\U0041\"}", JSON_ERROR_ESCAPE, 6),
    R("bad hex", "{\"a\":\"\\u00g0\"}", JSON_ERROR_ESCAPE, 6),
    R("lone high surrogate", "{\"a\":\"\\ud83d\"}", JSON_ERROR_ESCAPE, 6),
    R("high surrogate and text", "{\"a\":\"\\ud83dabcdef\"}", JSON_ERROR_ESCAPE, 6),
    R("two high surrogates", "{\"a\":\"\\ud83d\\ud83d\"}", JSON_ERROR_ESCAPE, 6),
    R("lone low surrogate", "{\"a\":\"\\ude00\"}", JSON_ERROR_ESCAPE, 6),
    R("not UTF-8", "{\"a\":\"\xff\"}", JSON_ERROR_UTF8, 6),
    R("not UTF-8 in a name", "{\"\xc3\":1}", JSON_ERROR_UTF8, 2),
    R("surrogate in UTF-8", "{\"a\":\"\xed\xa0\x80\"}", JSON_ERROR_UTF8, 6),
    R("overlong", "{\"a\":\"bc\xc0\xaf\"}", JSON_ERROR_UTF8, 8),
};

/* Reads all tokens of a text at the end of an allocation. */
static enum json_error scan_all(const char *text, size_t count, uint32_t *at)
{
    char *copy = malloc(count + 1);
    CHECK(copy != NULL);
    memcpy(copy + 1, text, count);
    static struct json_scan scan;
    struct json_token token;
    json_scan_begin(&scan, copy + 1, count);
    while (json_scan_next(&scan, &token))
        CHECK(token.value.text > copy && token.value.text + token.value.count <= copy + 1 + count);
    CHECK(!json_scan_next(&scan, &token)); /* stays at its end */
    *at = scan.at;
    free(copy);
    return scan.error;
}

static void test_rows(void)
{
    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        const struct row *row = &rows[i];
        uint32_t at;
        enum json_error error = scan_all(row->text, strlen(row->text), &at);
        CHECK_ROW(row, error == row->want);
        CHECK_ROW(row, error == JSON_OK || at == row->at);
        size_t member_at;
        CHECK_ROW(row, json_scan_members(row->text, strlen(row->text), NULL, 0, &member_at) ==
                           row->want);
        CHECK_ROW(row, error == JSON_OK || member_at == row->at);
    }
    uint32_t at;
    CHECK(scan_all("{\"a\":\"b\0c\"}", 11, &at) == JSON_ERROR_SYNTAX && at == 7);
    CHECK(scan_all("{}\0", 3, &at) == JSON_ERROR_TRAILING && at == 2);
}

/* Each beginning of a good text is refused, and nothing beyond it is read. */
static void test_cuts(void)
{
    static const char text[] =
        "{\"payload\":\"AQAAAAAAAAABmMDe\\u00e9\\ud83d\\ude00AABwAIAAAAAAAACh\",\"list\":[1.5e-7,"
        "{\"x\":null,\"y\":[true,false]}],\"\xe2\x82\xac\":{\"z\":{}}}";
    uint32_t at;
    for (size_t count = 0; count < sizeof text - 1; count++)
        CHECK(scan_all(text, count, &at) != JSON_OK);
    CHECK(scan_all(text, sizeof text - 1, &at) == JSON_OK);
}

/* A special byte at each place of a string as long as several steps of 16. */
static void test_places(void)
{
    char text[100];
    uint32_t at;
    for (size_t count = 1; count <= 70; count++) {
        for (size_t place = 0; place < count; place++) {
            static const char specials[] = { '"', '\\', '\x1f', '\x80' };
            static const enum json_error wants[] = { JSON_ERROR_SYNTAX, JSON_ERROR_ESCAPE,
                                                     JSON_ERROR_SYNTAX, JSON_ERROR_UTF8 };
            for (unsigned i = 0; i < sizeof specials; i++) {
                memcpy(text, "{\"a\":\"", 6);
                memset(text + 6, 'q', count); /* q: no JSON outside of a string, no escape */
                memcpy(text + 6 + count, "\"}", 2);
                CHECK(scan_all(text, count + 8, &at) == JSON_OK);
                if (specials[i] == '\\' && place == count - 1)
                    continue; /* escapes the closing quote */
                text[6 + place] = specials[i];
                CHECK(scan_all(text, count + 8, &at) == wants[i]);
                CHECK(at == 6 + place + (specials[i] == '"'));
            }
        }
    }
}

static void test_tokens(void)
{
    static const char text[] = "{\"tiers\":[{\"upper\":\"20\",\"imr\":20000},null],\"t\":true}";
    static const struct want {
        enum json_kind kind;
        const char *name;
        const char *value;
    } wants[] = {
        { JSON_OBJECT, NULL, "{" },      { JSON_ARRAY, "tiers", "[" },
        { JSON_OBJECT, NULL, "{" },      { JSON_STRING, "upper", "20" },
        { JSON_NUMBER, "imr", "20000" }, { JSON_OBJECT_END, NULL, "}" },
        { JSON_NULL, NULL, "null" },     { JSON_ARRAY_END, NULL, "]" },
        { JSON_TRUE, "t", "true" },      { JSON_OBJECT_END, NULL, "}" },
    };
    static struct json_scan scan;
    struct json_token token;
    json_scan_begin(&scan, text, sizeof text - 1);
    for (size_t i = 0; i < CC_COUNT(wants); i++) {
        CHECK(json_scan_next(&scan, &token));
        CHECK(token.kind == wants[i].kind && token.named == (wants[i].name != NULL));
        CHECK(!token.named || json_scan_equal(&token.name, wants[i].name, strlen(wants[i].name)));
        CHECK(json_scan_equal(&token.value, wants[i].value, strlen(wants[i].value)));
    }
    CHECK(!json_scan_next(&scan, &token) && scan.error == JSON_OK);

    json_scan_begin(&scan, text, sizeof text - 1);
    CHECK(json_scan_next(&scan, &token) && json_scan_next(&scan, &token));
    CHECK(token.kind == JSON_ARRAY && json_scan_skip(&scan, &token));
    CHECK(json_scan_next(&scan, &token) && json_scan_equal(&token.name, "t", 1));
    CHECK(json_scan_skip(&scan, &token)); /* of a word: nothing */
    CHECK(json_scan_next(&scan, &token) && token.kind == JSON_OBJECT_END);
}

static void test_members(void)
{
    static const char text[] = "{\"x\":{\"payload\":\"inner\"},\"p\\u0061yload\":\"A\\/B\",\"n\":5,"
                               "\"list\":[1,2]}";
    struct json_member members[] = { JSON_MEMBER("payload"), JSON_MEMBER("n"), JSON_MEMBER("list"),
                                     JSON_MEMBER("absent") };
    CHECK(json_scan_members(text, sizeof text - 1, members, CC_COUNT(members), NULL) == JSON_OK);
    CHECK(members[0].kind == JSON_STRING && members[0].value.escaped);
    char value[4];
    CHECK(json_scan_unescape(&members[0].value, value, sizeof value) == 3);
    CHECK(memcmp(value, "A/B", 3) == 0);
    CHECK(json_scan_unescape(&members[0].value, value, 2) == -1);
    CHECK(members[1].kind == JSON_NUMBER && members[2].kind == JSON_ARRAY);
    CHECK(members[3].kind == JSON_NONE);
    CHECK(json_scan_equal(&members[0].value, "A/B", 3));
    CHECK(!json_scan_equal(&members[0].value, "A/", 2));
    CHECK(!json_scan_equal(&members[0].value, "A/BC", 4));
}

static void test_unescape(void)
{
    static const char text[] =
        "{\"a\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0000\\u007f\\u0080\\u07ff\\u0800"
        "\\uffff\\ud800\\udc00\\udbff\\udfff\"}";
    static const char want[] = "\"\\/\b\f\n\r\t\0\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf"
                               "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf";
    struct json_member member = JSON_MEMBER("a");
    CHECK(json_scan_members(text, sizeof text - 1, &member, 1, NULL) == JSON_OK);
    char out[64];
    CHECK(json_scan_unescape(&member.value, out, sizeof out) == sizeof want - 1);
    CHECK(memcmp(out, want, sizeof want - 1) == 0);
    CHECK(json_scan_unescape(&member.value, out, sizeof want - 1) == sizeof want - 1);
    CHECK(json_scan_unescape(&member.value, out, sizeof want - 2) == -1);
}

static struct json_span span_of(const char *text)
{
    return (struct json_span){ .text = text, .count = (uint32_t)strlen(text) };
}

static void test_integers(void)
{
    static const struct integer {
        const char *text;
        bool is_signed, is_unsigned;
        int64_t value;
    } integers[] = {
        { "0", true, true, 0 },
        { "-0", true, false, 0 },
        { "7", true, true, 7 },
        { "-7", true, false, -7 },
        { "9223372036854775807", true, true, INT64_MAX },
        { "-9223372036854775808", true, false, INT64_MIN },
        { "9223372036854775808", false, true, INT64_MIN },
        { "-9223372036854775809", false, false, 0 },
        { "18446744073709551615", false, true, -1 },
        { "18446744073709551616", false, false, 0 },
        { "100000000000000000000", false, false, 0 },
        { "1.0", false, false, 0 },
        { "1e3", false, false, 0 },
        { "", false, false, 0 },
        { "-", false, false, 0 },
    };
    for (size_t i = 0; i < CC_COUNT(integers); i++) {
        struct json_span span = span_of(integers[i].text);
        int64_t value = 0;
        uint64_t magnitude = 0;
        CHECK(json_scan_int64(&span, &value) == integers[i].is_signed);
        CHECK(!integers[i].is_signed || value == integers[i].value);
        CHECK(json_scan_uint64(&span, &magnitude) == integers[i].is_unsigned);
        CHECK(!integers[i].is_unsigned || magnitude == (uint64_t)integers[i].value);
    }
}

/* 8 KB hold fewer names than are kept; the last of them may be a duplicate of any. */
static void test_many_names(void)
{
    static char text[64 * 1024];
    static const char digits[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-";
    uint32_t at;
    for (unsigned names = 1; names <= JSON_NAMES_MAX + 1; names += names < 8 ? 1 : 799) {
        size_t used = 1;
        text[0] = '{';
        for (unsigned i = 0; i < names; i++) {
            char member[] = "\"xy\":1,";
            member[1] = digits[i % 64];
            member[2] = digits[i / 64];
            memcpy(text + used, member, 7);
            used += 7;
        }
        text[used - 1] = '}';
        enum json_error want = names > JSON_NAMES_MAX ? JSON_ERROR_NAMES : JSON_OK;
        CHECK(scan_all(text, used, &at) == want);
        text[used - 1] = ',';
        memcpy(text + used, "\"aa\":2}", 7); /* the first name again */
        CHECK(scan_all(text, used + 7, &at) ==
              (names > JSON_NAMES_MAX ? JSON_ERROR_NAMES : JSON_ERROR_DUPLICATE));
        CHECK(names > JSON_NAMES_MAX || at == used);
    }
    static struct json_scan scan;
    struct json_token token;
    json_scan_begin(&scan, text, (size_t)JSON_TEXT_MAX + 1);
    CHECK(!json_scan_next(&scan, &token) && scan.error == JSON_ERROR_TOO_LONG);
}

/* Names in no order, plain and escaped, with others as their beginnings: each is found again. */
static void test_names_in_any_order(void)
{
    enum { NAMES = 250 };
    static char text[16 * 1024];
    size_t used = 1;
    char name[NAMES][32];
    text[0] = '{';
    for (unsigned i = 0; i < NAMES; i++) {
        unsigned number = i * 7919 % NAMES; /* each once */
        unsigned tail = number % 3;
        sprintf(name[i], "%.*s%s%u", (int)tail, "\xc3\xa9", number % 2 != 0 ? "\\u0031" : "1",
                number);
        if (tail == 1) /* no half of a character */
            sprintf(name[i], "\\u00e9\\u00e9%u", number);
        used += (size_t)sprintf(text + used, "\"%s\":[{\"a\":1}],", name[i]);
    }
    uint32_t at;
    text[used - 1] = '}';
    CHECK(scan_all(text, used, &at) == JSON_OK);
    text[used - 1] = ',';
    for (unsigned i = 0; i < NAMES; i++) {
        size_t count = used + (size_t)sprintf(text + used, "\"%s\":0}", name[i]);
        CHECK(scan_all(text, count, &at) == JSON_ERROR_DUPLICATE && at == used);
        count = used + (size_t)sprintf(text + used, "\"%s \":0}", name[i]);
        CHECK(scan_all(text, count, &at) == JSON_OK);
    }
}

/* Writes members whose names a short hash does not part: five letters or digits with one 16-bit
 * fold of FNV-1a. Returns the bytes written, of `count` at most. */
static size_t write_alike(char *out, size_t count)
{
    static const char digits[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    enum { DIGITS = sizeof digits - 1, MEMBER_BYTES = 10 };
    size_t used = 0;
    for (uint32_t number = 0; used + MEMBER_BYTES <= count; number++) {
        uint32_t hash = 2166136261u;
        char name[5] = { 0 };
        for (uint32_t i = 0, left = number; i < 4; i++, left /= DIGITS) {
            name[i] = digits[left % DIGITS];
            hash = (hash ^ (uint8_t)name[i]) * 16777619u;
        }
        for (unsigned i = 0; i < DIGITS && used + MEMBER_BYTES <= count; i++) {
            uint32_t whole = (hash ^ (uint8_t)digits[i]) * 16777619u;
            if ((uint16_t)(whole ^ whole >> 16) == 1234)
                used += (size_t)sprintf(out + used, "\"%.4s%c\":1,", name, digits[i]);
        }
    }
    return used;
}

/* The longest body full of names: each is compared with as many as halve 1,600 down to one, however
 * a client chooses them (with each of those before it where a hash was to part them). */
static void test_costly_names(void)
{
    enum { BYTES = 16000, HALVINGS = 11 };
    static char text[BYTES + 1];
    static struct json_scan scan;
    struct json_token token;
    uint32_t names = 0;
    text[0] = '{';
    size_t used = 1 + write_alike(text + 1, BYTES - 1);
    text[used - 1] = '}';

    json_scan_begin(&scan, text, used);
    while (json_scan_next(&scan, &token))
        names = scan.name_count > names ? scan.name_count : names;
    CHECK(scan.error == JSON_OK);
    CHECK(names > 1500 && names < 1u << HALVINGS);
    CHECK(scan.compared <= names * HALVINGS);
}

int main(void)
{
    test_rows();
    test_cuts();
    test_places();
    test_tokens();
    test_members();
    test_unescape();
    test_integers();
    test_many_names();
    test_names_in_any_order();
    test_costly_names();
    for (int error = JSON_OK; error <= JSON_ERROR_TOO_LONG; error++)
        CHECK(strlen(json_scan_error_text((enum json_error)error)) > 3);
    return 0;
}
