/* uuid: wire.md W5 (version 7, window) with the vectors, rules.md R3 (ids the engine makes). */
#include "base/hex.h"
#include "base/uuid.h"
#include "check.h"
#include "support/tree.h"

enum { VECTORS = 18, PAST_MS = 30000, FUTURE_MS = 5000 }; /* W5's defaults */

static const char *verdict(const struct uuid *uuid, uint64_t now_ms)
{
    if (!uuid_is_v7(uuid))
        return "request_id_not_v7";
    return uuid_in_window(uuid, now_ms, PAST_MS, FUTURE_MS) ? "accept"
                                                            : "request_timestamp_out_of_window";
}

static void test_vectors(void)
{
    struct tree *file = tree_load("tests/vectors/perpd/uuid7.json");
    unsigned count = 0;
    for (struct tree *v = tree_get(file, "vectors")->first; v != NULL; v = v->next, count++) {
        struct uuid from_hex, from_text;
        CHECK(tree_hex(v, "hex", from_hex.bytes, UUID_BYTES) == UUID_BYTES);
        const char *text = tree_text(v, "text");
        CHECK(uuid_parse(&from_text, text, strlen(text)));
        CHECK(uuid_equal(&from_hex, &from_text));
        char formatted[UUID_TEXT_BYTES + 1];
        uuid_format(&from_hex, formatted);
        CHECK(strcmp(formatted, text) == 0);
        CHECK(uuid_is_v7(&from_hex) == (tree_int(v, "is_v7") != 0));
        CHECK(uuid_time_ms(&from_hex) == (uint64_t)tree_int(v, "unix_ms"));
        const char *want = tree_text(v, "verdict");
        CHECK(strcmp(verdict(&from_hex, (uint64_t)tree_int(v, "now_ms")), want) == 0);
    }
    CHECK(count == VECTORS);
    tree_free(file);
}

#define R(...)                \
    {                         \
        __LINE__, __VA_ARGS__ \
    }

static const struct row {
    int line;
    const char *name;
    const char *text;
    bool good;
} rows[] = {
    R("lower case", "0198c0de-0000-7000-8000-0000000000a1", true),
    R("upper case", "0198C0DE-0000-7000-8000-0000000000A1", true), /* J1: either case */
    R("mixed case", "0198c0DE-0000-7000-8000-0000000000aA", true),
    R("empty", "", false),
    R("short", "0198c0de-0000-7000-8000-0000000000a", false),
    R("long", "0198c0de-0000-7000-8000-0000000000a11", false),
    R("no dashes", "0198c0de000070008000000000000000a100", false),
    R("dash moved", "0198c0d-e0000-7000-8000-0000000000a1", false),
    R("not hex", "0198c0dg-0000-7000-8000-0000000000a1", false),
    R("brace", "{198c0de-0000-7000-8000-0000000000a1", false),
    R("space", " 198c0de-0000-7000-8000-0000000000a1", false),
    R("byte above 0x7f", "0198c0d\xe5-0000-7000-8000-0000000000a1", false),
};

static void test_text(void)
{
    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        const struct row *row = &rows[i];
        struct uuid uuid = { { 1, 2, 3 } };
        bool good = uuid_parse(&uuid, row->text, strlen(row->text));
        CHECK_ROW(row, good == row->good);
        CHECK_ROW(row, good || (uuid.bytes[0] == 1 && uuid.bytes[2] == 3)); /* untouched */
    }
    struct uuid upper, lower;
    CHECK(uuid_parse(&upper, rows[1].text, UUID_TEXT_BYTES));
    CHECK(uuid_parse(&lower, rows[0].text, UUID_TEXT_BYTES));
    CHECK(uuid_equal(&upper, &lower));
    lower.bytes[15]--;
    CHECK(!uuid_equal(&upper, &lower));
}

/* R3, worked by hand in json.md J2: t = 1755582431900112233, sequence 4720. Milliseconds
 * 0x198c0de029c; 112233 ns of 1e6 times 4096 is 459.7, so rand_a is 459 = 0x1cb; rand_b is
 * 4720 << 22 | index = 0x49c000000 | index. */
static void test_engine_ids(void)
{
    char text[UUID_TEXT_BYTES + 1];
    struct uuid fill = uuid_engine(UINT64_C(1755582431900112233), 4720, 0);
    uuid_format(&fill, text);
    CHECK(strcmp(text, "0198c0de-029c-71cb-8000-00049c000000") == 0);
    struct uuid position = uuid_engine(UINT64_C(1755582431900112233), 4720, 1);
    uuid_format(&position, text);
    CHECK(strcmp(text, "0198c0de-029c-71cb-8000-00049c000001") == 0);
    CHECK(uuid_is_v7(&fill) && uuid_time_ms(&fill) == UINT64_C(1755582431900));

    /* The last ns of a millisecond: floor(4096 * 999999 / 1e6) = 4095; sequence mod 2^40. */
    struct uuid last = uuid_engine(999999, (UINT64_C(1) << 40) | 1, UUID_ENGINE_INDEX_MAX - 1);
    uuid_format(&last, text);
    CHECK(strcmp(text, "00000000-0000-7fff-8000-0000007fffff") == 0);
    CHECK(uuid_is_v7(&last));
}

static void test_window_ends(void)
{
    const struct uuid zero = { { 0 } };
    CHECK(uuid_is_zero(&zero) && uuid_in_window(&zero, PAST_MS, PAST_MS, FUTURE_MS));
    CHECK(!uuid_in_window(&zero, PAST_MS + 1, PAST_MS, FUTURE_MS));
    CHECK(uuid_in_window(&zero, 0, PAST_MS, FUTURE_MS)); /* before 30 s after 1970: no wrap */
}

static void test_client_ids(void)
{
    uint8_t random[10];
    memset(random, 0xff, sizeof random);
    struct uuid uuid = uuid_make_v7(UINT64_C(1755582431232), random);
    char text[UUID_TEXT_BYTES + 1];
    uuid_format(&uuid, text);
    CHECK(strcmp(text, "0198c0de-0000-7fff-bfff-ffffffffffff") == 0);
}

int main(void)
{
    test_vectors();
    test_text();
    test_engine_ids();
    test_window_ends();
    test_client_ids();
    return 0;
}
