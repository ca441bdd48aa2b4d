/* Margin tiers (rules.md R4), every number worked out by hand. */
#include "check.h"
#include "engine/table/market_record.h"
#include "engine/table/tier.h"
#include "host.h"

#define USDC UINT64_C(1000000)

/* R4's default of BTC: $20 m 50x, $100 m 25x, $500 m 10x, rest 5x. */
static void build_btc(struct market_tier *tiers)
{
    struct market_record record;
    uint8_t body[4120] = { 0 };

    memcpy(body, host_btc_record, strlen(host_btc_record));
    CHECK(market_record_parse(&record, body, sizeof body));
    memcpy(tiers, record.tiers, 4 * sizeof *tiers);
}

static void test_deductions(void)
{
    struct market_tier table[4];
    build_btc(table);
    /* ded_2 = 20 m * (0.02 - 0.01) = 200,000; ded_3 = 200,000 + 100 m * 0.03 = 3,200,000;
     * ded_4 = 3,200,000 + 500 m * 0.05 = 28,200,000 USDC */
    CHECK(table[0].maintenance_deduction == 0);
    CHECK(table[1].maintenance_deduction == (int64_t)(200000 * USDC));
    CHECK(table[2].maintenance_deduction == (int64_t)(3200000 * USDC));
    CHECK(table[3].maintenance_deduction == (int64_t)(28200000 * USDC));
    /* initial: 20 m * 0.02 = 400,000; + 100 m * 0.06 = 6,400,000; + 500 m * 0.1 = 56,400,000 */
    CHECK(table[1].initial_deduction == (int64_t)(400000 * USDC));
    CHECK(table[2].initial_deduction == (int64_t)(6400000 * USDC));
    CHECK(table[3].initial_deduction == (int64_t)(56400000 * USDC));
    CHECK(tier_imr_max(table, 4) == 200000 && tier_mmr_max(table, 4) == 100000);
}

static void test_margins(void)
{
    static const struct row {
        int line;
        const char *name;
        uint64_t notional;
        uint32_t leverage;
        int64_t maintenance, initial;
    } rows[] = {
        { __LINE__, "nothing", 0, 20, 0, 0 },
        /* ceil both: 1 * 1 % -> 1; 1/20 -> 1 */
        { __LINE__, "one micro", 1, 20, 1, 1 },
        /* 100,000 USDC: MM 1,000; IM 100,000/20 = 5,000 (2 % would be 2,000) */
        { __LINE__, "by leverage", 100000 * USDC, 20, 1000 * (int64_t)USDC, 5000 * (int64_t)USDC },
        { __LINE__, "by tier", 100000 * USDC, 50, 1000 * (int64_t)USDC, 2000 * (int64_t)USDC },
        /* exactly the first edge belongs to tier 1: MM 200,000, IM at 50x 400,000 */
        { __LINE__, "edge", 20000000 * USDC, 50, 200000 * (int64_t)USDC, 400000 * (int64_t)USDC },
        /* one micro above: 20,000,000.000001 * 2 % - 200,000 -> 200,000.00000002, ceil; the tier's
         * initial: * 4 % - 400,000 -> 400,000.00000004, ceil; continuous, no jump */
        { __LINE__, "above edge", 20000000 * USDC + 1, 50, 200000 * (int64_t)USDC + 1,
          400000 * (int64_t)USDC + 1 },
        /* 600 m: MM 600 m * 10 % - 28.2 m = 31.8 m; IM 600 m * 20 % - 56.4 m = 63.6 m > 600/20 */
        { __LINE__, "last tier", 600000000 * USDC, 20, 31800000 * (int64_t)USDC,
          63600000 * (int64_t)USDC },
    };
    struct market_tier table[4];

    build_btc(table);
    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        const struct row *row = &rows[i];
        CHECK_ROW(row, tier_maintenance(table, row->notional) == row->maintenance);
        CHECK_ROW(row, tier_initial(table, row->notional, row->leverage) == row->initial);
        CHECK_ROW(row, tier_initial_wide(table, row->notional, row->leverage) == row->initial);
    }
    /* 2^70 micro-USDC: * 20 % - 56.4 m USDC: floor(2^70 / 5) = 236118324143482260684 (rest 4) */
    int128 wide = ((int128)236118324 * 1000000000000 + 143482260685) - 56400000000000;
    CHECK(tier_initial(table, (uint128)1 << 70, 20) == wide);
}

int main(void)
{
    test_deductions();
    test_margins();
    return 0;
}
