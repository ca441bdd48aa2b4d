/* Fee tiers by volume (rules.md R6): thresholds, the 14 days that count, midnight, and what a fill
 * costs in another tier. Every number is worked out by hand. */
#include "base/money.h"
#include "check.h"
#include "engine/risk/fee.h"
#include "engine/view/read.h"
#include "trade.h"

#define DAY    ACCOUNT_DAY_NS
#define START  (20000 * DAY) /* a midnight */
#define USDC_M (UINT64_C(1000000) * HOST_USDC)

enum { BTC = 100000 };

/* Adds volume as a fill at t does. */
static void add(struct account *account, uint64_t t_ns, uint64_t notional)
{
    (void)fee_roll_day(account, t_ns);
    fee_count_volume(fee_volume_today(account, t_ns), notional);
}

/* R6: 14 buckets with today; day 0 counts until the end of day 13. */
static void test_volume(void)
{
    struct account account = { .tier_override = ACCOUNT_TIER_BY_VOLUME };

    CHECK(fee_volume(&account, START) == 0);
    add(&account, START, 100);
    add(&account, START + DAY - 1, 10); /* the same UTC day */
    add(&account, START + DAY, 1);
    CHECK(fee_volume(&account, START + DAY) == 111);
    CHECK(fee_volume(&account, START + 14 * DAY - 1) == 111);
    CHECK(fee_volume(&account, START + 14 * DAY) == 1);
    CHECK(fee_volume(&account, START + 15 * DAY) == 0);
    add(&account, START + 14 * DAY, 1000);
    CHECK(fee_volume(&account, START + 14 * DAY) == 1001);
    add(&account, START + 40 * DAY, 5);
    CHECK(fee_volume(&account, START + 40 * DAY) == 5);
    add(&account, START + 40 * DAY, UINT64_MAX); /* a bucket does not turn over */
    CHECK(fee_volume(&account, START + 40 * DAY) == UINT64_MAX);
}

/* R6's table: the tier of the day after a day with this volume. */
static void test_thresholds(void)
{
    static const struct row {
        int line;
        const char *name;
        uint64_t volume;
        uint8_t tier;
    } rows[] = {
        { __LINE__, "none", 0, 0 },
        { __LINE__, "under 5 m", 5 * USDC_M - 1, 0 },
        { __LINE__, "5 m", 5 * USDC_M, 1 },
        { __LINE__, "under 25 m", 25 * USDC_M - 1, 1 },
        { __LINE__, "25 m", 25 * USDC_M, 2 },
        { __LINE__, "under 100 m", 100 * USDC_M - 1, 2 },
        { __LINE__, "100 m", 100 * USDC_M, 3 },
        { __LINE__, "under 500 m", 500 * USDC_M - 1, 3 },
        { __LINE__, "500 m", 500 * USDC_M, 4 },
        { __LINE__, "under 2 bn", 2000 * USDC_M - 1, 4 },
        { __LINE__, "2 bn", 2000 * USDC_M, 5 },
        { __LINE__, "90 bn", 90000 * USDC_M, 5 },
    };

    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        struct account account = { .tier_override = ACCOUNT_TIER_BY_VOLUME };
        add(&account, START + 7, rows[i].volume);
        CHECK_ROW(&rows[i], fee_tier(&account, START + DAY - 1) == 0); /* not on the day itself */
        CHECK_ROW(&rows[i], fee_tier(&account, START + DAY) == rows[i].tier);
    }
}

/* The days D-14 to D-1: the first is computed before the rotation of D drops it. */
static void test_days(void)
{
    struct account account = { .tier_override = ACCOUNT_TIER_BY_VOLUME };

    add(&account, START, 3 * USDC_M);
    add(&account, START + 13 * DAY, 2 * USDC_M);
    CHECK(account.fee_tier == 0); /* of day 13: days -1 to 12 have 3 m */
    CHECK(fee_tier(&account, START + 14 * DAY - 1) == 0);
    CHECK(fee_tier(&account, START + 14 * DAY) == 1); /* days 0 to 13: 5 m, exactly */
    CHECK(fee_volume(&account, START + 14 * DAY) == 2 * (int128)USDC_M); /* days 1 to 14 */
    CHECK(fee_tier(&account, START + 15 * DAY) == 0);
    CHECK(fee_tier(&account, START + 28 * DAY) == 0);
    /* Whoever is touched on day 14 keeps the tier for that day, and only for it. */
    CHECK(fee_roll_day(&account, START + 14 * DAY));
    CHECK(account.fee_tier == 1);
    CHECK(!fee_roll_day(&account, START + 15 * DAY - 1));
    CHECK(fee_roll_day(&account, START + 15 * DAY));
    CHECK(account.fee_tier == 0);
}

/* However long an account was not touched, it has the tier that a computation at each 00:00 gives:
 * against sums taken from a plain list of days. */
static void test_gaps(void)
{
    enum { DAYS = 200 };
    uint64_t seed = 6, volume[DAYS] = { 0 };
    struct account account = { .tier_override = ACCOUNT_TIER_BY_VOLUME };

    for (uint32_t day = 1; day < DAYS; day++) {
        uint64_t t_ns = START + day * DAY + rig_below(&seed, 86399) * HOST_SECOND_NS;
        uint64_t sum = 0;
        for (uint32_t age = 1; age <= 14 && age <= day; age++)
            sum += volume[day - age];
        uint8_t tier = sum >= 2000 * USDC_M  ? 5
                       : sum >= 500 * USDC_M ? 4
                       : sum >= 100 * USDC_M ? 3
                       : sum >= 25 * USDC_M  ? 2
                       : sum >= 5 * USDC_M   ? 1
                                             : 0;
        CHECK(fee_tier(&account, t_ns) == tier);
        if (rig_below(&seed, 5) == 0) {
            volume[day] = rig_below(&seed, 600) * rig_below(&seed, 2) * USDC_M;
            add(&account, t_ns, volume[day]);
            CHECK(account.fee_tier == tier);
        }
        if (rig_below(&seed, 12) == 0)
            day += (uint32_t)rig_below(&seed, 30);
    }
}

static struct effect_account tier_effect(const struct host *host, uint32_t k)
{
    struct effect_account body;
    const struct host_effect *effect = host_effect(host, EFFECT_account, k);

    CHECK(effect != NULL);
    memcpy(&body, effect->bytes, sizeof body);
    CHECK(body.what == ACCOUNT_WHAT_TIER);
    return body;
}

/* To the first second of the next UTC day, the index fresh. */
static void pass_midnight(struct host *host)
{
    host->clock_ns = (host->clock_ns / DAY + 1) * DAY;
    CHECK(host_oracle(host, HOST_BTC, TRADE_MARK) == TRADE_OK);
}

/* Accounts 1 and 2 trade 50 BTC at 100,000: 5 m USDC each. Tier 0 today; the next day 120 and 400
 * ppm of 100,000 USDC: 12 and 40 USDC. */
static void test_trades(struct host *host)
{
    int64_t maker, taker;

    for (uint32_t n = 1; n <= 3; n++)
        CHECK(host_deposit(host, n, 10 * USDC_M) == TRADE_OK);
    maker = trade_cash(host, 1);
    taker = trade_cash(host, 2);
    CHECK(trade_limit(host, 1, 50 * BTC, TRADE_MARK) == TRADE_OK);
    CHECK(trade_tif(host, 2, -50 * BTC, TRADE_MARK, TRADE_IOC) == TRADE_OK);
    CHECK(maker - trade_cash(host, 1) == (int64_t)(750 * HOST_USDC));  /* 150 ppm */
    CHECK(taker - trade_cash(host, 2) == (int64_t)(2250 * HOST_USDC)); /* 450 ppm */
    CHECK(trade_effects(host, EFFECT_account) == 0);

    pass_midnight(host);
    CHECK(trade_limit(host, 1, 2 * BTC, TRADE_MARK) == TRADE_OK); /* meets nobody, is touched */
    CHECK(trade_effects(host, EFFECT_account) == 1);
    CHECK(tier_effect(host, 0).account_id == 1 && tier_effect(host, 0).fee_tier == 1);
    maker = trade_cash(host, 1);
    taker = trade_cash(host, 2);
    CHECK(trade_tif(host, 2, -1 * BTC, TRADE_MARK, TRADE_IOC) == TRADE_OK);
    CHECK(trade_effects(host, EFFECT_account) == 1);
    CHECK(tier_effect(host, 0).account_id == 2 && tier_effect(host, 0).fee_tier == 1);
    CHECK(host->effects[0].code == EFFECT_account); /* before what the touch belongs to */
    CHECK(maker - trade_cash(host, 1) == (int64_t)(12 * HOST_USDC));
    CHECK(taker - trade_cash(host, 2) == (int64_t)(40 * HOST_USDC));
}

/* A fill-or-kill that is refused after midnight leaves the tiers of those it met (R3: what a touch
 * changes stays); a later fill of the day pays by them and tells nothing again. */
static void test_refused(struct host *host)
{
    pass_midnight(host); /* days -1 and -2: 5.1 m */
    host->engine->accounts.rows[3].fee_tier = 4;
    CHECK(trade_tif(host, 3, -5 * BTC, TRADE_MARK, TRADE_FOK) ==
          STATUS_rejected_f_o_k_not_fully_filled_low_liquidity);
    CHECK(trade_effects(host, EFFECT_account) == 1); /* 1 has tier 1 as before, 3 has lost its */
    CHECK(tier_effect(host, 0).account_id == 3 && tier_effect(host, 0).fee_tier == 0);
    CHECK(host->engine->accounts.rows[3].fee_tier == 0);
    CHECK(host->engine->accounts.rows[1].volume_day == account_day(host->clock_ns));
    int64_t taker = trade_cash(host, 3);
    CHECK(trade_tif(host, 3, -1 * BTC, TRADE_MARK, TRADE_IOC) == TRADE_OK);
    CHECK(trade_effects(host, EFFECT_account) == 0);
    CHECK(taker - trade_cash(host, 3) == (int64_t)(45 * HOST_USDC)); /* 450 ppm of 100,000 */
}

/* The walk's margin tests count the fee that is charged. Tier 1 pays 40 USDC for 1 BTC as a taker,
 * tier 0 would pay 45: with 5,040 USDC E' = IM' = 5,000. As a maker 0.1 % beyond the mark, at
 * 100,100, it pays 12.012 USDC and loses 100 against the mark: with 1,112.012 USDC
 * E' = MM' = 1,000. */
static struct host edge;

/* Account 1 has had 5 m of volume yesterday. */
static void open_edge(void)
{
    struct account *account;

    trade_open(&edge, "exchange.oracle_max_age_ms=0\n");
    account = &edge.engine->accounts.rows[1];
    (void)fee_roll_day(account, edge.clock_ns);
    account->volume[account->volume_day % 14] = 5 * USDC_M;
    pass_midnight(&edge);
}

/* Leaves account n with this much; account 4 has the rest (I2). */
static void leave(uint32_t n, int64_t cash)
{
    struct portfolio *portfolio = trade_portfolio(&edge, n);

    trade_portfolio(&edge, 4)->cash += portfolio->cash - cash;
    portfolio->cash = cash;
}

static void test_margin_of_walk(void)
{
    for (uint32_t missing = 0; missing < 2; missing++) {
        open_edge();
        leave(1, (int64_t)(5040 * HOST_USDC) - missing);
        CHECK(trade_limit(&edge, 2, -1 * BTC, TRADE_MARK) == TRADE_OK);
        CHECK(trade_tif(&edge, 1, 1 * BTC, TRADE_MARK, TRADE_IOC) ==
              (missing == 0 ? TRADE_OK : STATUS_insufficient_margin_to_trade));
        host_close(&edge);

        open_edge();
        CHECK(trade_limit(&edge, 1, 1 * BTC, TRADE_MARK + 1000) == TRADE_OK);
        CHECK(trade_limit(&edge, 5, 1 * BTC, TRADE_MARK + 2000) == TRADE_OK);
        leave(1, 1112012000 - missing);
        leave(5, 0); /* refused first: the execution then asks again */
        CHECK(trade_tif(&edge, 2, -1 * BTC, TRADE_MARK, TRADE_IOC) == TRADE_OK);
        CHECK(trade_size(&edge, 1) == (missing == 0 ? BTC : 0));
        host_close(&edge);
    }
}

/* Tier 5: the maker is paid 20 ppm, floored; tier 4: the taker pays 280 ppm. 49 USDC: 980 and
 * 13,720 micro-USDC. 10.00001 USDC: 200.0002, floored. */
static void test_rebate(struct host *host)
{
    struct account *accounts = host->engine->accounts.rows;

    CHECK(host_cancel_all(host, 1, 0xFFFF, 0) == TRADE_OK);
    accounts[1].volume[accounts[1].volume_day % 14] = 2000 * USDC_M;
    (void)fee_roll_day(&accounts[2], host->clock_ns);
    accounts[2].volume[accounts[2].volume_day % 14] = 500 * USDC_M;
    pass_midnight(host);
    CHECK(trade_limit(host, 1, 49, TRADE_MARK) == TRADE_OK);
    int64_t maker = trade_cash(host, 1), taker = trade_cash(host, 2);
    int64_t fees = host->engine->fee_account;
    CHECK(trade_tif(host, 2, -49, TRADE_MARK, TRADE_IOC) == TRADE_OK);
    CHECK(trade_cash(host, 1) - maker == 980);
    CHECK(taker - trade_cash(host, 2) == 13720);
    CHECK(host->engine->fee_account - fees == 13720 - 980);
    CHECK(trade_limit(host, 1, 11, TRADE_MARK + 1) == TRADE_OK);
    maker = trade_cash(host, 1);
    CHECK(trade_tif(host, 2, -10, TRADE_MARK + 1, TRADE_IOC) == TRADE_OK);
    CHECK(trade_cash(host, 1) - maker == 200);
}

/* Reads compute the same without storing: a follower that is asked all the time has the image of
 * the primary that is not. */
static void test_reads(void)
{
    static struct host host, mirror;
    uint8_t a[32], b[32];
    struct row_account row;

    trade_open(&host, "exchange.oracle_max_age_ms=0\n");
    trade_open(&mirror, "exchange.oracle_max_age_ms=0\n");
    host.mirror = &mirror;
    test_trades(&host);
    pass_midnight(&host);
    CHECK(read_account(mirror.engine, 2, &row));
    CHECK(row.fee_tier == 1 && row.maker_fee_ppm == 120 && row.taker_fee_ppm == 400);
    CHECK(row.volume_14d == 51 * (int128)(100000 * HOST_USDC));
    host.clock_ns += 14 * DAY; /* tier 1 is stored, 0 is in force */
    pass_midnight(&host);
    CHECK(read_account(mirror.engine, 2, &row));
    CHECK(row.fee_tier == 0 && row.maker_fee_ppm == 150 && row.volume_14d == 0);
    CHECK(mirror.engine->accounts.rows[2].fee_tier == 1);
    host_image_hash(&host, a);
    host_image_hash(&mirror, b);
    CHECK(memcmp(a, b, sizeof a) == 0);
    host_close(&host);
    host_close(&mirror);
}

int main(void)
{
    static struct host host;

    test_volume();
    test_thresholds();
    test_days();
    test_gaps();
    trade_open(&host, "exchange.oracle_max_age_ms=0\n");
    test_trades(&host);
    test_refused(&host);
    test_rebate(&host);
    host_close(&host);
    test_margin_of_walk();
    test_reads();
    return 0;
}
