/* The named roundings of rules.md R1 and the split product of the ppm helpers. */
#include "base/money.h"
#include "check.h"

static void test_divisions(void)
{
    static const struct row {
        int line;
        const char *name;
        int64_t value, divisor, toward_zero, floor, ceil;
    } rows[] = {
        { __LINE__, "exact", 6, 3, 2, 2, 2 },
        { __LINE__, "positive", 7, 3, 2, 2, 3 },
        { __LINE__, "negative value", -7, 3, -2, -3, -2 },
        { __LINE__, "negative divisor", 7, -3, -2, -3, -2 },
        { __LINE__, "both negative", -7, -3, 2, 2, 3 },
        { __LINE__, "zero", 0, 5, 0, 0, 0 },
        { __LINE__, "minus one", -1, 1000000, 0, -1, 0 },
    };

    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        const struct row *row = &rows[i];
        CHECK_ROW(row, money_tdiv(row->value, row->divisor) == row->toward_zero);
        CHECK_ROW(row, money_fdiv(row->value, row->divisor) == row->floor);
        CHECK_ROW(row, money_cdiv(row->value, row->divisor) == row->ceil);
    }
}

/* Against the plain 128-bit formula over the whole stated range. */
static void test_clamp(void)
{
    CHECK(money_clamp(0) == 0 && money_clamp(-7) == -7);
    CHECK(money_clamp(INT64_MAX) == INT64_MAX && money_clamp((int128)INT64_MAX + 1) == INT64_MAX);
    CHECK(money_clamp(INT64_MIN) == INT64_MIN && money_clamp((int128)INT64_MIN - 1) == INT64_MIN);
}

static void test_ppm(void)
{
    static const uint64_t notionals[] = {
        0,
        1,
        2221,
        2222,
        999999,
        1000000,
        1000001,
        12345678,
        1ull << 43,
        1ull << 50,
        (1ull << 50) + 1,
        (1ull << 60) - 1,
        1ull << 60,
        (1ull << 42) - 1,
        1ull << 42,
        1ull << 45,
    };
    static const uint32_t rates[] = { 0, 1, 20, 150, 450, 10000, 333333, 999999, 1000000, 1500000 };

    for (size_t i = 0; i < CC_COUNT(notionals); i++)
        for (size_t j = 0; j < CC_COUNT(rates); j++) {
            int128 product = (int128)notionals[i] * rates[j];
            CHECK(money_ppm_up(notionals[i], rates[j]) == money_cdiv(product, 1000000));
            CHECK(money_ppm_down(notionals[i], rates[j]) == money_fdiv(product, 1000000));
        }
    /* R6 by hand: 10.000001 USDC at 450 ppm is 4500.00045 micro-USDC: the taker pays 4501. */
    CHECK(money_ppm_up(10000001, 450) == 4501);
    CHECK(money_ppm_down(10000001, 450) == 4500);
}

static void test_share(void)
{
    CHECK(money_share(-10, 1, 3) == -3); /* toward zero, not -4 */
    CHECK(money_share(10, 2, 3) == 6);
    CHECK(money_share(7, 3, 3) == 7);
    int64_t cost = (INT64_C(1) << 52) - 1;
    uint64_t whole = (UINT64_C(1) << 42) - 1, part = whole - 1;
    CHECK(money_share(-cost, part, whole) ==
          money_tdiv(-(int128)cost * (int64_t)part, (int64_t)whole));
}

int main(void)
{
    test_divisions();
    test_clamp();
    test_ppm();
    test_share();
    return 0;
}
