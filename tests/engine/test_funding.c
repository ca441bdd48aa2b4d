/* Funding (rules.md R5, the hour of funding): samples, rate, payments and their rounding, epochs
 * settled by deferred work and on touch, hours that are skipped, late or passed over. Numbers by
 * hand: a size of 1,000 is 0.01 BTC, a price of 1,000,000 is 100,000 USDC. */
#include "engine/price/funding.h"
#include "engine/price/mark.h"
#include "engine/price/premium.h"
#include "engine/risk/funding_pay.h"
#include "image_copy.h"
#include "trade.h"

#define M       TRADE_MARK
#define S       HOST_SECOND_NS
#define BASE    12500 /* ppb: the rate of a premium of 0, 100,000 / 8 */
#define NO_AGE  "exchange.oracle_max_age_ms=0\n"
#define SLICED  NO_AGE "engine.work_per_command=1\n"
#define HOUR_NS MARKET_HOUR_NS

enum { ETH = 2 };

static struct host host;

/* --- rate and payment ------------------------------------------------------------------------- */

static void test_rate(void)
{
    static const struct row {
        int line;
        const char *name;
        int64_t sum;
        uint32_t count;
        int64_t want;
    } rows[] = {
        { __LINE__, "no sample", 0, 0, BASE },
        { __LINE__, "0", 0, 720, BASE },                         /* 0 + 100,000 */
        { __LINE__, "interest alone", 72000000, 720, BASE },     /* 100,000 + 0 */
        { __LINE__, "within the clamp above", 600000, 1, BASE }, /* 600,000 - 500,000 */
        { __LINE__, "above the clamp", 700000, 1, 25000 },       /* 700,000 - 500,000 */
        { __LINE__, "within the clamp below", -400000, 1, BASE },
        { __LINE__, "none left", -500000, 1, 0 },
        { __LINE__, "below the clamp", -1000000, 1, -62500 },  /* -1,000,000 + 500,000 */
        { __LINE__, "an eighth toward zero", -500009, 1, -1 }, /* -9 / 8 */
        { __LINE__, "a mean toward zero", -1000015, 2, 0 },    /* -500,007.5 -> -500,007: -7 / 8 */
        { __LINE__, "just below the cap", 40499999, 1, 4999999 }, /* 39,999,999 / 8 */
        { __LINE__, "the cap", 1000000000, 1, 5000000 },          /* 250 * 20,000 */
        { __LINE__, "the cap below", -1000000000, 1, -5000000 },
    };

    for (size_t i = 0; i < CC_COUNT(rows); i++)
        CHECK_ROW(&rows[i], premium_rate(rows[i].sum, rows[i].count, 20000) == rows[i].want);
}

/* x > 0: -cdiv(x, 1e9); x < 0: floor(-x / 1e9). 1 * 1,000,003 * 12,500 = 12,500,037,500: 12.5... */
static void test_payment(void)
{
    CHECK(funding_pay_amount(1, 1000003, BASE) == -13);
    CHECK(funding_pay_amount(-1, 1000003, BASE) == 12);
    CHECK(funding_pay_amount(1, 1000003, -BASE) == 12);
    CHECK(funding_pay_amount(-1, 1000003, -BASE) == -13);
    CHECK(funding_pay_amount(150000, M, BASE) == -1875000); /* 150,000 USDC * 0.00125 %: exact */
    CHECK(funding_pay_amount(-150000, M, BASE) == 1875000);
    CHECK(funding_pay_amount(1000, M, 0) == 0);
    CHECK(funding_pay_amount(-1, 1, 1) == 0);
    CHECK(funding_pay_amount(1, 1, 1) == -1);
    /* 2^41 * 2^20 of value at 4 %: 2^61 * 0.04 = 92,233,720,368,547,758.08 */
    CHECK(funding_pay_amount(INT64_C(1) << 41, UINT64_C(1) << 20, 40000000) == -92233720368547759);
}

/* --- an epoch --------------------------------------------------------------------------------- */

static uint64_t next_hour(void)
{
    return (host.clock_ns / HOUR_NS + 1) * HOUR_NS;
}

static void run_work(void)
{
    for (uint32_t i = 0; engine_has_work(host.engine); i++) {
        CHECK(i < 10000);
        host_tick(&host, 1);
    }
}

/* A tick at this time. */
static void tick_at(uint64_t t_ns)
{
    CHECK(t_ns >= host.clock_ns);
    host_tick(&host, t_ns - host.clock_ns);
}

static struct effect_funding_epoch epoch_told(uint32_t k)
{
    struct effect_funding_epoch body;

    CHECK(host_effect(&host, EFFECT_funding_epoch, k) != NULL);
    memcpy(&body, host_effect(&host, EFFECT_funding_epoch, k)->bytes, sizeof body);
    return body;
}

static struct effect_funding_payment payment_told(uint32_t k)
{
    struct effect_funding_payment body;

    CHECK(host_effect(&host, EFFECT_funding_payment, k) != NULL);
    memcpy(&body, host_effect(&host, EFFECT_funding_payment, k)->bytes, sizeof body);
    return body;
}

static struct effect_cash cash_told(uint32_t k)
{
    struct effect_cash body;

    CHECK(host_effect(&host, EFFECT_cash, k) != NULL);
    memcpy(&body, host_effect(&host, EFFECT_cash, k)->bytes, sizeof body);
    return body;
}

static const struct holding *holding_of(uint32_t n, uint32_t market)
{
    uint32_t portfolio = portfolio_find(host.engine, n, 0, 0);
    uint32_t holding = holding_find(host.engine, portfolio, market);

    CHECK(holding != HOLDING_NONE);
    return state_holding(host.engine, holding);
}

/* 1 is long 2,001, 2 and 3 are short 1,000 and 1,001; the index is 1,000,003. */
static void open_three(const char *options)
{
    trade_open(&host, options);
    trade_rest(&host, 1, 2001, M);
    CHECK(trade_limit(&host, 2, -1000, M) == TRADE_OK);
    CHECK(trade_limit(&host, 3, -1001, M) == TRADE_OK);
    CHECK(host_oracle(&host, HOST_BTC, 1000003) == TRADE_OK);
    run_work();
}

/* At 12,500 ppb of 1,000,003: 2,001 pay 25,012.575 -> 25,013; 1,000 get 12,500.0375 -> 12,500 and
 * 1,001 get 12,512.5375 -> 12,512. 1 is left. Fewer than 360 samples: a premium of 0. */
static void test_epoch(void)
{
    open_three(NO_AGE);
    struct market *market = trade_market(&host);
    uint64_t hour = next_hour(), seq = market->book_seq;
    int64_t cash[4], fund = state_portfolio(host.engine, 0)->cash;
    for (uint32_t n = 1; n <= 3; n++)
        cash[n] = trade_cash(&host, n);
    market->premium_sum = INT64_C(359) * 900000000; /* would be the cap */
    market->premium_count = 359;
    market->premium_slot = hour / MARKET_SLOT_NS - 1;
    market->second_ns = hour - S;
    host.clock_ns = hour - S / 2;
    host_tick(&host, 0);
    CHECK(trade_effects(&host, EFFECT_funding_epoch) == 0); /* not yet */
    tick_at(hour);

    CHECK(trade_effects(&host, EFFECT_funding_epoch) == 2);
    struct effect_funding_epoch open = epoch_told(0), done = epoch_told(1);
    CHECK(open.open == 1 && open.index == 1000003 && open.rate_ppb == BASE && open.hour == hour);
    CHECK(open.pool == 0 && open.epoch == 1 && open.asset_id == HOST_BTC);
    CHECK(done.open == 0 && done.pool == 0 && done.epoch == 1 && done.hour == hour);
    CHECK(trade_effects(&host, EFFECT_funding_payment) == 3);
    static const int64_t payments[] = { 0, -25013, 12500, 12512 };
    static const int64_t sizes[] = { 0, 2001, -1000, -1001 };
    for (uint32_t n = 1; n <= 3; n++) { /* by portfolio number; the row of cash behind each */
        struct effect_funding_payment payment = payment_told(n - 1);
        struct effect_cash row = cash_told(n - 1);
        CHECK(payment.portfolio.account_id == n && payment.payment == payments[n]);
        CHECK(payment.size == sizes[n] && payment.rate_ppb == BASE && payment.epoch == 1);
        CHECK(payment.asset_id == HOST_BTC);
        CHECK(row.kind == CASH_funding && row.amount == payments[n] && row.ref == n - 1);
        CHECK(row.portfolio.account_id == n && row.balance_after == cash[n] + payments[n]);
        CHECK(host_effect(&host, EFFECT_cash, n - 1)->index ==
              host_effect(&host, EFFECT_funding_payment, n - 1)->index + 1);
        CHECK(trade_cash(&host, n) == cash[n] + payments[n]);
        CHECK(holding_of(n, 0)->net_funding == payments[n]);
        CHECK(holding_of(n, 0)->funding_epoch == 1);
    }
    struct effect_cash rest = cash_told(3); /* the roundings */
    CHECK(rest.kind == CASH_fund && rest.amount == 1 && rest.portfolio.account_id == 0);
    CHECK(state_portfolio(host.engine, 0)->cash == fund + 1 && market->funding_pool == 0);
    CHECK(host_effect(&host, EFFECT_funding_epoch, 1)->index ==
          host_effect(&host, EFFECT_cash, 3)->index + 1);
    CHECK(market->book_seq == seq + 2 + 2); /* two epochs, two marks */
    CHECK(market->premium_count == 1);      /* the sample of the full hour is the new hour's */
    host_tick(&host, S);
    CHECK(trade_effects(&host, EFFECT_funding_epoch) == 0);
    host_close(&host);
}

/* 360 samples suffice; their mean counts, whatever their number. */
static void test_sampled_rate(void)
{
    open_three(NO_AGE);
    struct market *market = trade_market(&host);
    market->premium_sum = INT64_C(360) * 700000;
    market->premium_count = 360;
    CHECK(premium_predicted(host.engine, 0) == 25000);
    host.clock_ns = next_hour();
    host_tick(&host, 0);
    CHECK(epoch_told(0).rate_ppb == 25000); /* (700,000 - 500,000) / 8 */
    CHECK(market->premium_count == 1 && market->premium_sum == 0);
    CHECK(premium_predicted(host.engine, 0) == BASE);
    /* 2,001 * 1,000,003 * 25,000: 50,025.150075 -> 50,026 */
    CHECK(payment_told(0).payment == -50026);
    host_close(&host);
}

/* --- on touch --------------------------------------------------------------------------------- */

/* One unit a command: the hour's second, then one holder each. Who acts before its turn is settled
 * first, and only once; a position opened later begins at the new epoch. */
static void test_touch(void)
{
    open_three(SLICED);
    int64_t cash = trade_cash(&host, 3);
    host.clock_ns = next_hour();
    host_tick(&host, 0);
    CHECK(epoch_told(0).open == 1 && trade_effects(&host, EFFECT_funding_payment) == 0);
    CHECK(trade_market(&host)->funding_open);
    /* 3 is touched by its own command: its payment comes before all else, then the unit: 1 */
    CHECK(trade_limit(&host, 3, 1000, 990000) == TRADE_OK);
    CHECK(trade_effects(&host, EFFECT_funding_payment) == 2);
    CHECK(payment_told(0).portfolio.account_id == 3 && payment_told(0).payment == 12512);
    CHECK(host_effect(&host, EFFECT_funding_payment, 0)->index == 0);
    CHECK(trade_cash(&host, 3) == cash + 12512);
    CHECK(payment_told(1).portfolio.account_id == 1);
    CHECK(host_effect(&host, EFFECT_funding_payment, 1)->index >
          host_effect(&host, EFFECT_answer, 0)->index);
    CHECK(trade_market(&host)->funding_pool == 25013 - 12512);
    /* 4 trades with 3, who has been settled: neither owes anything of this hour */
    CHECK(trade_tif(&host, 4, -1000, 990000, TRADE_IOC) == TRADE_OK);
    CHECK(trade_size(&host, 4) == -1000 && holding_of(4, 0)->funding_epoch == 1);
    CHECK(trade_effects(&host, EFFECT_funding_payment) == 1); /* the unit: 2 */
    CHECK(payment_told(0).portfolio.account_id == 2);
    run_work();
    CHECK(!trade_market(&host)->funding_open);
    CHECK(holding_of(4, 0)->net_funding == 0 && holding_of(3, 0)->net_funding == 12512);
    CHECK(state_portfolio(host.engine, 0)->cash == 1);
    host_close(&host);
}

/* A maker is settled when the walk first meets it, the taker when its command begins. */
static void test_touch_of_maker(void)
{
    open_three(SLICED);
    struct trade_id bid = trade_rest(&host, 2, 1000, 999000); /* would close 2's short */
    run_work();
    host.clock_ns = next_hour();
    host_tick(&host, 0);
    CHECK(trade_tif(&host, 3, -1000, 999000, TRADE_IOC) == TRADE_OK);
    CHECK(trade_remaining(&host, 2, bid) == 0);
    CHECK(payment_told(0).portfolio.account_id == 3 && payment_told(0).size == -1001);
    CHECK(payment_told(1).portfolio.account_id == 2 && payment_told(1).size == -1000);
    CHECK(host_effect(&host, EFFECT_trade, 0)->index >
          host_effect(&host, EFFECT_funding_payment, 1)->index);
    run_work();
    /* 2,001 against 1,000 and 1,001, as they were at the hour */
    CHECK(state_portfolio(host.engine, 0)->cash == 1);
    host_close(&host);
}

/* --- two markets ------------------------------------------------------------------------------ */

static void add_eth(void)
{
    char text[4120];
    const char *rest = strstr(host_btc_record, ",\"price_decimals\"");

    CHECK(rest != NULL);
    snprintf(text, sizeof text, "{\"market\":\"ETH-PERP\",\"asset_id\":%d,\"base\":\"ETH\"%s", ETH,
             rest);
    CHECK(host_market(&host, text) == TRADE_OK);
    CHECK(host_oracle(&host, ETH, 500000) == TRADE_OK);
}

static void trade_eth(uint32_t buyer, uint32_t seller, int64_t quantity)
{
    struct host_order order = {
        .price = 500000, .quantity = quantity, .expiry = UINT64_MAX, .asset = ETH
    };

    CHECK(host_limit(&host, buyer, &order) == TRADE_OK);
    order.quantity = -quantity;
    CHECK(host_limit(&host, seller, &order) == TRADE_OK);
}

/* 1 has both markets: its first unit settles both, in order of definition, and counts as two. */
static void test_whole_portfolio(void)
{
    open_three(NO_AGE "engine.work_per_command=2\n");
    add_eth();
    trade_eth(2, 1, 3000);
    run_work();
    host.clock_ns = next_hour();
    host_tick(&host, 0); /* units: BTC's second, ETH's second */
    CHECK(trade_effects(&host, EFFECT_funding_epoch) == 2);
    CHECK(trade_effects(&host, EFFECT_funding_payment) == 0);
    host_tick(&host, 1);
    CHECK(trade_effects(&host, EFFECT_funding_payment) == 2);
    CHECK(payment_told(0).portfolio.account_id == 1 && payment_told(0).asset_id == HOST_BTC);
    CHECK(payment_told(1).portfolio.account_id == 1 && payment_told(1).asset_id == ETH);
    /* -3,000 * 500,000 * 12,500: 18,750 exactly */
    CHECK(payment_told(1).payment == 18750);
    host_tick(&host, 1); /* 2: two positions */
    CHECK(trade_effects(&host, EFFECT_funding_payment) == 2);
    CHECK(payment_told(1).portfolio.account_id == 2);
    host_tick(&host, 1); /* 3: one; and a holder of ETH, who is passed */
    CHECK(trade_effects(&host, EFFECT_funding_payment) == 1);
    CHECK(payment_told(0).portfolio.account_id == 3);
    run_work();
    CHECK(state_portfolio(host.engine, 0)->cash == 1); /* of BTC; ETH leaves nothing */
    host_close(&host);
}

/* An hour opens while positions of the one before are left: they are settled in that command. With
 * one unit a command and two markets the timers stay at the head of the queue. */
static void test_two_hours(void)
{
    open_three(SLICED);
    add_eth();
    run_work();
    uint64_t hour = next_hour();
    host.clock_ns = hour;
    host_tick(&host, 0); /* BTC's second */
    CHECK(epoch_told(0).epoch == 1 && trade_market(&host)->funding_open);
    host.clock_ns = hour + HOUR_NS;
    host_tick(&host, 0); /* ETH's second of the first hour, late */
    CHECK(epoch_told(0).asset_id == ETH);
    CHECK(epoch_told(0).hour == hour + HOUR_NS);
    host_tick(&host, 1); /* BTC's second of the next hour */
    CHECK(trade_effects(&host, EFFECT_funding_payment) == 3);
    CHECK(epoch_told(0).open == 0 && epoch_told(0).epoch == 1 && epoch_told(0).hour == hour);
    CHECK(epoch_told(1).open == 1 && epoch_told(1).epoch == 2);
    CHECK(epoch_told(1).hour == hour + HOUR_NS);
    CHECK(holding_of(1, 0)->funding_epoch == 1 && trade_market(&host)->funding_from == 0);
    run_work();
    CHECK(holding_of(1, 0)->funding_epoch == 2 && !trade_market(&host)->funding_open);
    CHECK(holding_of(1, 0)->net_funding == -2 * 25013);
    CHECK(state_portfolio(host.engine, 0)->cash == 2);
    host_close(&host);
}

/* --- hours without a settlement --------------------------------------------------------------- */

static void set_state(uint8_t state)
{
    uint8_t body[8] = { HOST_BTC, 0, 0, 0, state };
    CHECK(host_unsigned(&host, REQUEST_market_state, body, sizeof body) == TRADE_OK);
}

/* HALTED at the hour, an index that is not valid: skipped, and the next hour pays once. POST_ONLY
 * and CANCEL_ONLY pay. */
static void test_skipped(void)
{
    open_three(NO_AGE);
    struct market *market = trade_market(&host);
    set_state(MARKET_HALTED);
    host.clock_ns = next_hour();
    host_tick(&host, 0);
    CHECK(trade_effects(&host, EFFECT_funding_epoch) == 0 && market->premium_count == 0);
    set_state(MARKET_ACTIVE); /* in the same hour: it stays skipped */
    host_tick(&host, S);
    CHECK(trade_effects(&host, EFFECT_funding_epoch) == 0);
    CHECK(host_oracle(&host, HOST_BTC, M) == TRADE_OK);
    CHECK(host_oracle(&host, HOST_BTC, 1150000) == TRADE_OK && market->hold_count == 1);
    host.clock_ns = next_hour();
    host_tick(&host, 0);
    CHECK(trade_effects(&host, EFFECT_funding_epoch) == 0); /* held: not valid */
    set_state(MARKET_CANCEL_ONLY);
    for (uint32_t i = 0; i < 2; i++) /* three updates over an hour: the run is taken */
        CHECK(host_oracle(&host, HOST_BTC, 1150000) == TRADE_OK);
    CHECK(market->hold_count == 0 && market->state == MARKET_CANCEL_ONLY);
    host.clock_ns = next_hour();
    host_tick(&host, 0);
    CHECK(epoch_told(0).epoch == 1 && epoch_told(0).index == 1150000);
    CHECK(trade_effects(&host, EFFECT_funding_payment) == 3);
    set_state(MARKET_POST_ONLY);
    host.clock_ns = next_hour();
    host_tick(&host, 0);
    CHECK(epoch_told(0).epoch == 2 && trade_effects(&host, EFFECT_funding_payment) == 3);
    host_close(&host);

    open_three(NULL); /* stale at the hour, fresh a second later */
    host.clock_ns = next_hour();
    host_tick(&host, 0);
    CHECK(trade_effects(&host, EFFECT_funding_epoch) == 0);
    CHECK(host_oracle(&host, HOST_BTC, M) == TRADE_OK);
    host_tick(&host, S);
    CHECK(trade_effects(&host, EFFECT_funding_epoch) == 0);
    host_close(&host);
}

/* Three hours passed over are one settlement, whose samples are none: those taken are older. */
static void test_passed_over(void)
{
    open_three(NO_AGE);
    struct market *market = trade_market(&host);
    market->premium_sum = INT64_C(500) * 700000;
    market->premium_count = 500;
    host.clock_ns = next_hour() + 2 * HOUR_NS + 600 * S;
    uint64_t hour = host.clock_ns / HOUR_NS * HOUR_NS;
    host_tick(&host, 0);
    CHECK(trade_effects(&host, EFFECT_funding_epoch) == 2);
    CHECK(epoch_told(0).hour == hour && epoch_told(0).rate_ppb == BASE);
    CHECK(trade_effects(&host, EFFECT_funding_payment) == 3);
    host_tick(&host, S);
    CHECK(trade_effects(&host, EFFECT_funding_epoch) == 0);
    host_close(&host);
}

/* --- samples ---------------------------------------------------------------------------------- */

/* impact_notional 20,000 USDC. A bid of 0.25 BTC at 100,100, alone: 0 counts as a sample; with
 * an ask of as much at 101,000: impact bid 1,001,000, index 1,000,000: +1,000,000 ppb. One
 * sample in 5 s; 2109 of the next second tells it. */
static void test_samples(void)
{
    trade_open(&host, NO_AGE);
    struct market *market = trade_market(&host);
    struct effect_mark mark;
    trade_rest(&host, 1, 25000, 1001000);
    uint64_t slot = host.clock_ns / MARKET_SLOT_NS + 1;
    tick_at(slot * MARKET_SLOT_NS - 1);
    CHECK(market->premium_count == 0); /* the slot of the definition has none */
    tick_at(slot * MARKET_SLOT_NS);
    CHECK(market->premium_count == 1 && market->premium_sum == 0);
    trade_rest(&host, 2, -25000, 1010000);
    slot++;
    tick_at(slot * MARKET_SLOT_NS);
    CHECK(market->premium_count == 2 && market->premium_sum == 1000000);
    memcpy(&mark, host_effect(&host, EFFECT_mark, 0)->bytes, sizeof mark);
    CHECK(mark.premium_ppb == 0);
    host_tick(&host, S);
    memcpy(&mark, host_effect(&host, EFFECT_mark, 0)->bytes, sizeof mark);
    CHECK(mark.premium_ppb == 1000000);
    tick_at((slot + 1) * MARKET_SLOT_NS - S / 2);
    CHECK(market->premium_count == 2);
    /* an ask at 99,800: index - impact ask = 2,000: -2,000,000 ppb. 0.3 BTC: 29,940 USDC */
    CHECK(host_cancel_all(&host, 1, HOST_BTC, 0) == TRADE_OK);
    CHECK(host_cancel_all(&host, 2, HOST_BTC, 0) == TRADE_OK);
    trade_rest(&host, 1, 30000, 990000);
    trade_rest(&host, 2, -30000, 998000);
    tick_at((slot + 1) * MARKET_SLOT_NS + 3 * S); /* late, but in the slot */
    CHECK(market->premium_count == 3 && market->premium_sum == -1000000);
    /* not enough depth on one side: 0 counts as a sample. Slots passed over have none. */
    CHECK(host_cancel_all(&host, 2, HOST_BTC, 0) == TRADE_OK);
    trade_rest(&host, 2, -10000, 997000);
    tick_at((slot + 4) * MARKET_SLOT_NS);
    CHECK(market->premium_count == 4 && market->premium_sum == -1000000);
    CHECK(market->premium_ppb == 0);
    /* HALTED: no sample, also not later in the same slot */
    set_state(MARKET_HALTED);
    tick_at((slot + 5) * MARKET_SLOT_NS);
    set_state(MARKET_POST_ONLY);
    tick_at((slot + 5) * MARKET_SLOT_NS + S);
    CHECK(market->premium_count == 4);
    tick_at((slot + 6) * MARKET_SLOT_NS);
    CHECK(market->premium_count == 5);
    host_close(&host);
}

/* A sample is at most 1,000 * max(mark_book_ppm, a quarter of the lowest maintenance rate) ppb:
 * 2,500,000 on either side. */
static void test_sample_bound(void)
{
    trade_open(&host, NO_AGE);
    struct market *market = trade_market(&host);
    trade_rest(&host, 1, 1000000, 1050000);
    trade_rest(&host, 2, -1000000, 1060000);
    host_tick(&host, MARK_REST_NS); /* an order counts when it has rested so long */
    market->index_price = 1;
    market->premium_slot = 0;
    premium_sample(host.engine, 0);
    CHECK(market->premium_ppb == 2500000);
    market->index_price = 1047381; /* 2,619 below the bid: 2,500,522.8 ppb */
    market->premium_slot = 0;
    premium_sample(host.engine, 0);
    CHECK(market->premium_ppb == 2500000);
    market->index_price = 1047382; /* 2,618: 2,499,565.5 */
    market->premium_slot = 0;
    premium_sample(host.engine, 0);
    CHECK(market->premium_ppb == 2499565);
    market->index_price = 2000000;
    market->premium_slot = 0;
    premium_sample(host.engine, 0);
    CHECK(market->premium_ppb == -2500000);
    for (enum market_state state = MARKET_ACTIVE; state < MARKET_HALTED; state++) {
        bool matches = state == MARKET_ACTIVE || state == MARKET_REDUCE_ONLY;
        market->state = (uint8_t)state; /* elsewhere nobody can trade with what rests */
        market->premium_slot = 0;
        premium_sample(host.engine, 0);
        CHECK(market->premium_ppb == (matches ? -2500000 : 0));
    }
    market->state = MARKET_ACTIVE;
    market->in_gap = true; /* nor here */
    market->premium_slot = 0;
    premium_sample(host.engine, 0);
    CHECK(market->premium_ppb == 0);
    market->in_gap = false;
    host_close(&host);
}

/* --- image ------------------------------------------------------------------------------------ */

static struct host loaded;
static struct image_copy ours, theirs;

/* In each slice of an epoch a state made from the image goes on alike. */
static void test_image(void)
{
    struct image_problem problem;

    for (uint32_t slices = 0; slices < 7; slices++) {
        open_three(SLICED);
        host.clock_ns = next_hour();
        host_tick(&host, 0);
        for (uint32_t i = 0; i < slices; i++)
            host_tick(&host, 1);
        CHECK(trade_market(&host)->funding_open == (slices < 4));
        image_copy_take(&ours, host.engine);
        CHECK(image_copy_open(&ours, &loaded, NULL, &problem));
        host.mirror = &loaded;
        CHECK(trade_limit(&host, 3, 500, 990000) == TRADE_OK);
        CHECK(trade_limit(&host, 4, -700, 990000) == TRADE_OK);
        run_work();
        image_copy_take(&ours, host.engine);
        image_copy_take(&theirs, loaded.engine);
        CHECK(image_copy_equal(&ours, &theirs));
        CHECK(state_portfolio(host.engine, 0)->cash == 1);
        host.mirror = NULL;
        host_close(&loaded);
        host_close(&host);
    }
    image_copy_free(&ours);
    image_copy_free(&theirs);
}

int main(void)
{
    test_rate();
    test_payment();
    test_epoch();
    test_sampled_rate();
    test_touch();
    test_touch_of_maker();
    test_whole_portfolio();
    test_two_hours();
    test_skipped();
    test_passed_over();
    test_samples();
    test_sample_bound();
    test_image();
    return 0;
}
