/* decimal: rules.md R1 and json.md J1 (`dec`): exact text, no exponent, no trailing zeros; averages
 * with 8 decimals more than the price, half to even. */
#include "base/decimal.h"
#include "check.h"

#define R(...)                \
    {                         \
        __LINE__, __VA_ARGS__ \
    }

static const struct format_row {
    int line;
    const char *name;
    int64_t high; /* value = high * 2^64 + low */
    uint64_t low;
    unsigned scale;
    const char *want;
} format_rows[] = {
    R("zero", 0, 0, 6, "0"),
    R("zero, no decimals", 0, 0, 0, "0"),
    R("whole", 0, 1250000000, 6, "1250"),
    R("trimmed", 0, 1250000, 6, "1.25"),
    R("leading zeros", 0, 1, 6, "0.000001"),
    R("one decimal", 0, 100000, 6, "0.1"),
    R("ends with zeros before the point", 0, 1000, 1, "100"),
    R("no decimals", 0, 1000, 0, "1000"),
    R("negative", -1, (uint64_t)-4500000, 6, "-4.5"),
    R("negative below one", -1, (uint64_t)-1, 6, "-0.000001"),
    R("int64 least", -1, (uint64_t)INT64_MIN, 6, "-9223372036854.775808"),
    R("uint64 greatest", 0, UINT64_MAX, 0, "18446744073709551615"),
    R("int128 greatest", INT64_MAX, UINT64_MAX, 0, "170141183460469231731687303715884105727"),
    R("int128 least", INT64_MIN, 0, 38, "-1.70141183460469231731687303715884105728"),
    R("all decimals", 0, 5, 38, "0.00000000000000000000000000000000000005"),
    R("10^19 borders", 0, UINT64_C(10000000000000000000), 0, "10000000000000000000"),
};

static void test_format(void)
{
    for (size_t i = 0; i < CC_COUNT(format_rows); i++) {
        const struct format_row *row = &format_rows[i];
        char text[DECIMAL_TEXT_MAX];
        int128 value = (int128)((uint128)(uint64_t)row->high << 64 | row->low);
        size_t count = decimal_format(text, value, row->scale);
        CHECK_ROW(row, strcmp(text, row->want) == 0);
        CHECK_ROW(row, count == strlen(text));
    }
    char text[DECIMAL_TEXT_MAX];
    CHECK(decimal_format_uint(text, UINT64_MAX) == 20);
    CHECK(strcmp(text, "18446744073709551615") == 0);
    CHECK(decimal_format_uint(text, 0) == 1 && text[0] == '0');
}

static const struct parse_row {
    int line;
    const char *name;
    const char *text;
    unsigned scale;
    int64_t min, max;
    enum decimal_error want;
    int64_t value;
} parse_rows[] = {
    R("whole", "1250", 6, 0, INT64_MAX, DECIMAL_OK, 1250000000),
    R("decimals", "0.00001", 5, 0, INT64_MAX, DECIMAL_OK, 1),
    R("trailing zeros within the scale", "0.10", 6, 0, INT64_MAX, DECIMAL_OK, 100000),
    R("negative", "-0.00002", 6, -1000000, 0, DECIMAL_OK, -20),
    R("zero", "0", 6, 0, 0, DECIMAL_OK, 0),
    R("minus zero", "-0", 6, 0, 0, DECIMAL_OK, 0),
    R("greatest", "9223372036854.775807", 6, INT64_MIN, INT64_MAX, DECIMAL_OK, INT64_MAX),
    R("least", "-9223372036854.775808", 6, INT64_MIN, INT64_MAX, DECIMAL_OK, INT64_MIN),
    R("above the greatest", "9223372036854.775808", 6, INT64_MIN, INT64_MAX, DECIMAL_RANGE, 0),
    R("below the least", "-9223372036854.775809", 6, INT64_MIN, INT64_MAX, DECIMAL_RANGE, 0),
    R("at max", "7", 0, 1, 7, DECIMAL_OK, 7),
    R("above max", "8", 0, 1, 7, DECIMAL_RANGE, 0),
    R("below min", "0", 0, 1, 7, DECIMAL_RANGE, 0),
    R("39 digits", "999999999999999999999999999999999999999", 0, INT64_MIN, INT64_MAX,
      DECIMAL_RANGE, 0),
    R("200 digits",
      "99999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999"
      "99999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999"
      "9999999999999999",
      0, INT64_MIN, INT64_MAX, DECIMAL_RANGE, 0),
    R("many decimals", "0.1234567", 6, 0, INT64_MAX, DECIMAL_DECIMALS, 0),
    R("decimals of scale 0", "1.0", 0, 0, INT64_MAX, DECIMAL_DECIMALS, 0),
    R("empty", "", 6, 0, INT64_MAX, DECIMAL_SYNTAX, 0),
    R("sign alone", "-", 6, 0, INT64_MAX, DECIMAL_SYNTAX, 0),
    R("plus", "+1", 6, 0, INT64_MAX, DECIMAL_SYNTAX, 0),
    R("two signs", "--1", 6, INT64_MIN, INT64_MAX, DECIMAL_SYNTAX, 0),
    R("leading zero", "01", 6, 0, INT64_MAX, DECIMAL_SYNTAX, 0),
    R("two zeros", "00", 6, 0, INT64_MAX, DECIMAL_SYNTAX, 0),
    R("no whole part", ".5", 6, 0, INT64_MAX, DECIMAL_SYNTAX, 0),
    R("no decimals behind the point", "1.", 6, 0, INT64_MAX, DECIMAL_SYNTAX, 0),
    R("two points", "1.2.3", 6, 0, INT64_MAX, DECIMAL_SYNTAX, 0),
    R("exponent", "1e3", 6, 0, INT64_MAX, DECIMAL_SYNTAX, 0),
    R("space in front", " 1", 6, 0, INT64_MAX, DECIMAL_SYNTAX, 0),
    R("space behind", "1 ", 6, 0, INT64_MAX, DECIMAL_SYNTAX, 0),
    R("hex", "0x10", 6, 0, INT64_MAX, DECIMAL_SYNTAX, 0),
    R("words", "NaN", 6, 0, INT64_MAX, DECIMAL_SYNTAX, 0),
    R("comma", "1,5", 6, 0, INT64_MAX, DECIMAL_SYNTAX, 0),
};

static void test_parse(void)
{
    for (size_t i = 0; i < CC_COUNT(parse_rows); i++) {
        const struct parse_row *row = &parse_rows[i];
        int64_t value = 77;
        enum decimal_error error =
            decimal_parse(row->text, strlen(row->text), row->scale, row->min, row->max, &value);
        CHECK_ROW(row, error == row->want);
        CHECK_ROW(row, value == (error == DECIMAL_OK ? row->value : 77)); /* untouched */
    }
    int64_t value;
    CHECK(decimal_parse("1\0002", 3, 6, 0, INT64_MAX, &value) == DECIMAL_SYNTAX);
}

/* What is written is read back, for values of all lengths. */
static void test_round_trip(void)
{
    uint64_t seed = 88172645463325252;
    for (unsigned i = 0; i < 200000; i++) {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        int64_t value = (int64_t)(seed >> (seed & 63));
        value = seed & 64 ? value : -value;
        unsigned scale = (unsigned)(seed >> 32) % 19;
        char text[DECIMAL_TEXT_MAX];
        size_t count = decimal_format(text, value, scale);
        int64_t again;
        CHECK(decimal_parse(text, count, scale, INT64_MIN, INT64_MAX, &again) == DECIMAL_OK);
        CHECK(again == value);
    }
}

static const struct average_row {
    int line;
    const char *name;
    int64_t cost, quantity;
    unsigned price_decimals;
    const char *want;
} average_rows[] = {
    /* json.md J2: 0.3 BTC (price_decimals 1, size_decimals 5) at 100,000: raw 1,000,000 * 30,000 */
    R("exact", INT64_C(30000000000), 30000, 1, "100000"),
    R("short position", INT64_C(-30000000000), -30000, 1, "100000"),
    R("a third", 100, 3, 1, "3.333333333"), /* 33.333.. raw, 8 decimals more, one price decimal */
    R("two thirds", 200, 3, 1, "6.666666667"),
    /* 1 / 2e9 = 0.5 units of the last place: half to even gives 0; 3 / 2e9 = 1.5 gives 2. */
    R("half to even, down", 1, 200000000, 0, "0"),
    R("half to even, up", 3, 200000000, 0, "0.00000002"),
    R("just above half", 5000001, INT64_C(1000000000000000), 0, "0.00000001"),
    R("five halves", 5, 200000000, 0, "0.00000002"),
};

static void test_average(void)
{
    for (size_t i = 0; i < CC_COUNT(average_rows); i++) {
        const struct average_row *row = &average_rows[i];
        char text[DECIMAL_TEXT_MAX];
        decimal_format_average(text, row->cost, row->quantity, row->price_decimals);
        CHECK_ROW(row, strcmp(text, row->want) == 0);
    }
    CHECK(decimal_divide_half_even(-5, 2, 0) == -2 && decimal_divide_half_even(-7, 2, 0) == -4);
    CHECK(decimal_divide_half_even(7, -2, 0) == -4 && decimal_divide_half_even(7, 2, 0) == 4);
    /* R1's largest cost, 2^60, stays exact. */
    int128 large = (int128)1 << 60;
    CHECK(decimal_divide_half_even(large, 1, 8) == large * 100000000);
}

int main(void)
{
    test_format();
    test_parse();
    test_round_trip();
    test_average();
    return 0;
}
