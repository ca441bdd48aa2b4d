/* The liquidation price shown (rules.md R7): worked by hand for BTC's tiers, and against a walk
 * over every tick with margins made from R4's definitions. */
#include "engine/risk/liquidation_price.h"
#include "rig.h"

#define USDC     ((int128)1000000)
#define NO_END   UINT64_MAX
#define BTC(n)   ((int64_t)((n)*100000)) /* five decimals */
#define PRICE(p) ((uint64_t)((p)*10))    /* one */

/* BTC (R4): to 20 m USDC 50x, to 100 m 25x, to 500 m 10x, the rest 5x; mmr 1, 2, 5, 10 %. */
static const struct market_tier btc[] = {
    { .upper_notional = 20000000000000, .mmr_ppm = 10000 },
    { .upper_notional = 100000000000000,
      .mmr_ppm = 20000,
      .maintenance_deduction = 200000000000 }, /* 20 m * 1 % */
    { .upper_notional = 500000000000000,
      .mmr_ppm = 50000,
      .maintenance_deduction = 3200000000000 }, /* + 100 m * 3 % */
    { .upper_notional = NO_END,
      .mmr_ppm = 100000,
      .maintenance_deduction = 28200000000000 }, /* + 500 m * 5 % */
};

static void test_by_hand(void)
{
    static const struct row {
        int line;
        const char *name;
        int64_t size;
        int64_t cash, cost; /* USDC; the portfolio's cash, and the position's cost */
        uint64_t mark, want;
    } rows[] = {
        /* json.md J2: 39,995.5 - 0.3 p = 0.003 p: 131,998.349 */
        { __LINE__, "J2's short", BTC(-0.3), 0, 0, PRICE(99990), PRICE(131998.3) },
        /* 10 m - 30 m + 300 p = 0.02 * 300 p - 0.2 m: p = 19.8 m / 294 = 67,346.94, up */
        { __LINE__, "long, second tier", BTC(300), 10000000, 30000000, PRICE(100000),
          PRICE(67347) },
        /* -18 m + 300 p = 0.01 * 300 p (N = 18.2 m): p = 18 m / 297 = 60,606.06, up */
        { __LINE__, "long, into the first", BTC(300), 12000000, 30000000, PRICE(100000),
          PRICE(60606.1) },
        /* 40 m - 300 p = 6 p - 0.2 m: p = 40.2 m / 306 = 131,372.55, down */
        { __LINE__, "short, second tier", BTC(-300), 10000000, -30000000, PRICE(100000),
          PRICE(131372.5) },
        /* 9.9 m - 100 p = 0.01 * 100 p: p = 98,019.80: the mark is beyond it, so up */
        { __LINE__, "short under water", BTC(-100), 0, -9900000, PRICE(100000), PRICE(98019.9) },
        /* -10 m + 100 p = p: p = 101,010.10: above the mark, so down */
        { __LINE__, "long under water", BTC(100), 0, 10000000, PRICE(100000), PRICE(101010.1) },
        /* -9.9 m + 100 p = p: p = 100,000 to the unit: a tick that still passes */
        { __LINE__, "on the tick", BTC(100), 0, 9900000, PRICE(100001), PRICE(100000) },
        { __LINE__, "at the mark", BTC(100), 0, 9900000, PRICE(100000), PRICE(100000) },
        { __LINE__, "a long that is paid for", BTC(1), 100000, 100000, PRICE(100000), 0 },
        { __LINE__, "and one that is nearly", BTC(1), 100000, 100001, PRICE(100000),
          PRICE(1.1) }, /* 1 / 0.99 = 1.01 */
        /* 10^9 - p / 1000 (0.00001 BTC is worth p * 10^-5): far above 2^40 - 1 raw */
        { __LINE__, "a short that cannot lose it", -1, 1000000000, -1, PRICE(100000), 0 },
        { __LINE__, "a hopeless short", BTC(-1), -200000, -100000, PRICE(100000), 0 },
    };

    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        const struct row *row = &rows[i];
        struct liquidation_price_ask ask = {
            .tiers = btc,
            .rest = row->cash * USDC - row->cost * USDC,
            .size = row->size,
            .mark = row->mark,
            .tick_size = 1,
        };
        if (i == 0)
            ask.rest = 39995500000; /* 9,995.5 of cash, sold for 30,000 */
        CHECK_ROW(row, liquidation_price(&ask) == row->want);
    }
}

/* R4's tiers as a list, and MM_m by their definition. */
struct ladder {
    uint32_t count;
    struct market_tier tiers[4];
};

static int128 up(int128 value)
{
    return (value + 999999) / 1000000;
}

static int128 maintenance(const struct ladder *ladder, int128 notional)
{
    int128 deduction = 0;
    uint32_t k = 0;

    for (; (int128)ladder->tiers[k].upper_notional < notional; k++)
        deduction += up((int128)ladder->tiers[k].upper_notional *
                        (ladder->tiers[k + 1].mmr_ppm - ladder->tiers[k].mmr_ppm));
    int128 margin = up(notional * ladder->tiers[k].mmr_ppm) - deduction;
    return margin > 0 ? margin : 0;
}

static void draw_ladder(uint64_t *seed, struct ladder *ladder)
{
    uint64_t upper = 0;
    uint32_t rate = 1000 + rig_below(seed, 20000);
    int64_t deduction = 0;

    ladder->count = 1 + rig_below(seed, 4);
    for (uint32_t k = 0; k < ladder->count; k++) {
        bool is_last = k + 1 == ladder->count;
        upper += UINT64_C(1) << (40 + rig_below(seed, 20));
        ladder->tiers[k] = (struct market_tier){
            .upper_notional = is_last ? NO_END : upper,
            .mmr_ppm = rate,
            .maintenance_deduction = deduction,
        };
        uint32_t next = rate + rig_below(seed, 150000);
        deduction += (int64_t)up((int128)upper * (next - rate));
        rate = next;
    }
}

static int128 gap(const struct ladder *ladder, const struct liquidation_price_ask *ask,
                  uint64_t price)
{
    int128 value = (int128)ask->size * (int64_t)price;

    return ask->rest + value - maintenance(ladder, value < 0 ? -value : value);
}

/* From the mark, tick by tick: as long as the portfolio passes when it did at the mark, or has not
 * come above E = MM when it did not. */
static uint64_t walked(const struct ladder *ladder, const struct liquidation_price_ask *ask,
                       uint64_t highest)
{
    bool passes = gap(ladder, ask, ask->mark) >= 0;
    bool goes_down = (ask->size > 0) == passes;
    int64_t tick = (int64_t)ask->tick_size, floor = (int64_t)ask->mark / tick * tick;
    int64_t at = goes_down && floor != (int64_t)ask->mark ? floor + tick : floor, last = -1;

    for (; at >= 0 && at <= (int64_t)highest; at += goes_down ? -tick : tick) {
        int128 left = gap(ladder, ask, (uint64_t)at);
        if (passes ? left < 0 : left > 0)
            return last < 0 ? 0 : (uint64_t)last;
        last = at;
    }
    return 0; /* it never turns */
}

static void test_every_tick(void)
{
    uint32_t shown = 0, none = 0, under = 0;
    uint64_t seed = 27;

    for (uint32_t i = 0; i < 4000; i++) {
        struct ladder ladder;
        draw_ladder(&seed, &ladder);
        uint64_t highest = 100 + rig_below(&seed, 20000);
        int64_t size = (int64_t)((UINT64_C(1) << 60) / highest);
        highest = (UINT64_C(1) << 60) / (uint64_t)size;
        struct liquidation_price_ask ask = {
            .tiers = ladder.tiers,
            .size = rig_below(&seed, 2) == 0 ? size : -size,
            .mark = 1 + rig_below(&seed, (uint32_t)highest - 60),
            .tick_size = 1 + rig_below(&seed, 50),
        };
        int64_t entry = 1 + rig_below(&seed, (uint32_t)highest);
        int128 cash = (int128)size * rig_below(&seed, (uint32_t)highest / 2) +
                      rig_below(&seed, 1000) - (int128)size * rig_below(&seed, 50);
        ask.rest = cash - (int128)ask.size * entry;
        uint64_t want = walked(&ladder, &ask, highest);
        CHECK(liquidation_price(&ask) == want);
        shown += want != 0;
        none += want == 0;
        under += gap(&ladder, &ask, ask.mark) < 0 && want != 0;
    }
    printf("%u prices, %u of them of a portfolio under water, %u without one\n", shown, under,
           none);
    CHECK(shown > 1000 && none > 100 && under > 100);
}

int main(void)
{
    test_by_hand();
    test_every_tick();
    return 0;
}
