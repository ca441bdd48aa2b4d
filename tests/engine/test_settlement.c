/* CLOSED (rules.md R9, how a market is settled): when it may be entered, the price, what becomes of
 * orders and both passes with shortfall, fund and cuts. Numbers by hand:
 * a size of 100,000 is 1 BTC, a price of 1,000,000 is 100,000 USDC. */
#include "closing.h"
#include "engine/price/funding.h"
#include "engine/price/mark.h"
#include "engine/risk/risk.h"

#define M      TRADE_MARK
#define S      HOST_SECOND_NS
#define NO_AGE "exchange.oracle_max_age_ms=0\n"
#define SLICED NO_AGE "engine.work_per_command=1\n"
#define HOUR   MARKET_HOUR_NS

enum { ETH = 2 };

static struct host host;

static struct portfolio *fund(void)
{
    return state_portfolio(host.engine, 0);
}

/* Cash from nowhere, so that I2 holds; the portfolio is not looked at. */
static void put(struct portfolio *portfolio, int64_t amount)
{
    portfolio->cash += amount;
    host.engine->deposits += amount;
}

static void give(struct portfolio *portfolio, int64_t amount)
{
    put(portfolio, amount);
    for (uint32_t i = 0; i < host.engine->portfolios.count; i++)
        risk_refresh(host.engine, i);
}

static struct effect_settlement settled(uint32_t k)
{
    struct effect_settlement body;

    CHECK(host_effect(&host, EFFECT_settlement, k) != NULL);
    memcpy(&body, host_effect(&host, EFFECT_settlement, k)->bytes, sizeof body);
    return body;
}

static struct effect_cash cash_told(uint32_t k)
{
    struct effect_cash body;

    CHECK(host_effect(&host, EFFECT_cash, k) != NULL);
    memcpy(&body, host_effect(&host, EFFECT_cash, k)->bytes, sizeof body);
    return body;
}

/* --- entry ------------------------------------------------------------------------------------ */

/* An announcement an hour old that no other 1002 called off, or force; the operator's alone;
 * final. */
static void test_entry(void)
{
    uint8_t body[8] = { HOST_BTC, 0, 0, 0, MARKET_CLOSED, 1 };

    trade_open(&host, NO_AGE);
    CHECK(closing_set(&host, MARKET_CLOSED, 0) == STATUS_order_rejected_invalid);
    CHECK(host_unsigned(&host, REQUEST_market_state, body, 8) == STATUS_order_rejected_invalid);
    CHECK(closing_set(&host, MARKET_REDUCE_ONLY, 0) == TRADE_OK); /* announces nothing */
    host.clock_ns = engine_time(host.engine) + HOUR;
    CHECK(closing_set(&host, MARKET_CLOSED, 0) == STATUS_order_rejected_invalid);
    CHECK(closing_set(&host, MARKET_REDUCE_ONLY, 1) == TRADE_OK);
    host.clock_ns = engine_time(host.engine) + HOUR / 2;
    CHECK(closing_set(&host, MARKET_REDUCE_ONLY, 0) == TRADE_OK); /* calls it off */
    host.clock_ns = engine_time(host.engine) + HOUR;
    CHECK(closing_set(&host, MARKET_CLOSED, 0) == STATUS_order_rejected_invalid);
    CHECK(closing_set(&host, MARKET_REDUCE_ONLY, 1) == TRADE_OK);
    host.clock_ns = engine_time(host.engine) + HOUR / 2;
    CHECK(closing_set(&host, MARKET_REDUCE_ONLY, 1) == TRADE_OK); /* begins anew */
    uint64_t since = engine_time(host.engine);
    host.clock_ns = since + HOUR - 1;
    CHECK(closing_set(&host, MARKET_CLOSED, 0) == STATUS_order_rejected_invalid);
    CHECK(trade_market(&host)->state == MARKET_REDUCE_ONLY);
    CHECK(engine_time(host.engine) == since + HOUR - 1);
    CHECK(closing_set(&host, MARKET_CLOSED, 0) == TRADE_OK); /* t = since + an hour */
    CHECK(trade_market(&host)->state == MARKET_CLOSED);
    CHECK(closing_set(&host, MARKET_ACTIVE, 0) == STATUS_market_closed);
    CHECK(closing_now(&host) == STATUS_market_closed);
    CHECK(host_oracle(&host, HOST_BTC, M) == STATUS_market_closed);
    CHECK(host_market(&host, host_btc_record) == STATUS_market_closed);
    CHECK(trade_limit(&host, 1, 1000, M) == STATUS_market_closed);
    CHECK(engine_next_deadline(host.engine) == UINT64_MAX); /* no second is made any more */
    host_tick(&host, 2 * HOUR);
    CHECK(trade_effects(&host, EFFECT_mark) == 0 &&
          trade_effects(&host, EFFECT_funding_epoch) == 0);
    closing_check_empty(&host);
    host_close(&host);

    trade_open(&host, NO_AGE); /* by force, from any state; a hold ends without its price */
    CHECK(host_oracle(&host, HOST_BTC, 1200000) == TRADE_OK);
    CHECK(trade_market(&host)->hold_count == 1);
    CHECK(closing_now(&host) == TRADE_OK);
    CHECK(trade_market(&host)->hold_count == 0 && trade_market(&host)->index_price == M);
    CHECK(trade_market(&host)->mark == M);
    host_close(&host);
}

/* --- the price -------------------------------------------------------------------------------- */

/* The operator announces the closing and closes by force: the samples count from before. */
static enum status close_announced(void)
{
    CHECK(closing_set(&host, MARKET_REDUCE_ONLY, 1) == TRADE_OK);
    return closing_now(&host);
}

/* 30 seconds at 1,010,000 and 31 at 1,020,000: 1,010,000 + 310,000 / 61 = 1,015,081.96. */
static void test_price(void)
{
    struct effect_market_state state;
    struct effect_mark mark;

    trade_open(&host, NO_AGE);
    CHECK(host_oracle(&host, HOST_BTC, 1010000) == TRADE_OK);
    closing_seconds(&host, 30);
    CHECK(host_oracle(&host, HOST_BTC, 1020000) == TRADE_OK);
    closing_seconds(&host, 31);
    CHECK(close_announced() == TRADE_OK);
    memcpy(&state, host_effect(&host, EFFECT_market_state, 0)->bytes, sizeof state);
    CHECK(state.state == MARKET_CLOSED && state.cause == CAUSE_OPERATOR);
    CHECK(state.price == 1015081 && trade_market(&host)->mark == 1015081);
    memcpy(&mark, host_effect(&host, EFFECT_mark, 0)->bytes, sizeof mark);
    CHECK(mark.mark == 1015081 && mark.valid == 0);
    memcpy(&mark, host_effect(&host, EFFECT_mark, 1)->bytes, sizeof mark);
    CHECK(mark.mark == 1015081 && mark.valid == 1); /* nobody held anything: complete */
    host_close(&host);

    trade_open(&host, NO_AGE); /* not announced: the last mark, whatever the samples */
    CHECK(host_oracle(&host, HOST_BTC, 1010000) == TRADE_OK);
    closing_seconds(&host, 61);
    CHECK(host_oracle(&host, HOST_BTC, 1020000) == TRADE_OK);
    CHECK(closing_now(&host) == TRADE_OK && trade_market(&host)->mark == 1020000);
    host_close(&host);

    trade_open(&host, NO_AGE); /* 59 samples are too few */
    CHECK(host_oracle(&host, HOST_BTC, 1010000) == TRADE_OK);
    closing_seconds(&host, 29);
    CHECK(host_oracle(&host, HOST_BTC, 1020000) == TRADE_OK);
    closing_seconds(&host, 30);
    CHECK(close_announced() == TRADE_OK && trade_market(&host)->mark == 1020000);
    host_close(&host);

    trade_open(&host, NO_AGE); /* the first of 60 is as old as the half hour allows, or older */
    for (uint32_t late = 0; late < 2; late++) {
        CHECK(host_oracle(&host, HOST_BTC, 1010000) == TRADE_OK);
        closing_seconds(&host, 59);
        uint64_t first = engine_time(host.engine) / S - 58;
        CHECK(host_oracle(&host, HOST_BTC, 1070000) == TRADE_OK);
        host.clock_ns = (first + SAMPLES_MAX - 1 + late) * S;
        host_tick(&host, 0); /* the 60th */
        if (late == 1) {
            CHECK(close_announced() == TRADE_OK && trade_market(&host)->mark == 1070000);
            break;
        }
        CHECK(samples_mean(host.engine, 0, SAMPLES_LEAST) ==
              1011000); /* (59 * 1,010,000 + 1,070,000) / 60 */
        host_close(&host);
        trade_open(&host, NO_AGE);
    }
    host_close(&host);

    trade_open(&host, NULL); /* seconds at which the index was not valid have none; HALTED has */
    CHECK(closing_set(&host, MARKET_HALTED, 0) == TRADE_OK);
    CHECK(host_oracle(&host, HOST_BTC, 1010000) == TRADE_OK);
    closing_seconds(&host, 80); /* valid for ten seconds: 10 or 11 samples */
    CHECK(samples_mean(host.engine, 0, SAMPLES_LEAST) == 0);
    for (uint32_t i = 0; i < 60; i++) {
        CHECK(host_oracle(&host, HOST_BTC, 1010000) == TRADE_OK);
        closing_seconds(&host, 1);
    }
    CHECK(trade_market(&host)->mark == M && samples_mean(host.engine, 0, SAMPLES_LEAST) == 1010000);
    CHECK(close_announced() == TRADE_OK && trade_market(&host)->mark == 1010000);
    host_close(&host);
}

/* R1: T * max|s| <= 2^60, else the last mark. 2^60 / 1,010,000 = 1,141,506,440,204.8 */
static void test_price_bound(void)
{
    for (unsigned more = 0; more < 2; more++) {
        trade_open(&host, NO_AGE);
        closing_samples(&host, 1010000);
        trade_market(&host)->max_abs_size = 1141506440204 + more;
        CHECK(closing_now(&host) == TRADE_OK);
        CHECK(trade_market(&host)->mark == (more ? M : 1010000));
        host_close(&host);
    }
}

/* --- orders ----------------------------------------------------------------------------------- */

/* The orders that the last command released, all by the market's state. */
static uint32_t count_released(void)
{
    uint32_t count = trade_effects(&host, EFFECT_order_state);

    for (uint32_t k = 0; k < count; k++) {
        CHECK(trade_state(&host, k).status == ORDER_CANCELED);
        CHECK(trade_state(&host, k).reason == REASON_market_state);
    }
    return count;
}

/* A stop of account n: buys when the mark reaches 110,000. */
static void place_stop(uint32_t n)
{
    uint8_t body[80] = { 0 }, key[32];

    host_session_key(n, key);
    cc_store64(body, n);
    cc_store64(body + 16, 1100000);
    cc_store64(body + 32, 1000);
    cc_store64(body + 40, TRADE_GTC);
    body[51] = ORDER_STOP_MARKET;
    cc_store16(body + 52, HOST_BTC);
    struct host_request request = { .code = REQUEST_place_conditional_order,
                                    .body = body,
                                    .body_bytes = sizeof body,
                                    .key = key,
                                    .key_bytes = sizeof key };
    CHECK(host_signed(&host, &request) == TRADE_OK);
}

/* Every order is dead at once and then released with its reason, reduce-only and untriggered
 * ones too. */
static void test_orders(void)
{
    trade_open(&host, SLICED);
    trade_rest(&host, 1, 2000, M);
    CHECK(trade_limit(&host, 2, -2000, M) == TRADE_OK);
    struct trade_id plain = trade_rest(&host, 3, 1000, 990000);
    CHECK(trade_reduce(&host, 1, -500, 1050000, TRADE_GTC) == TRADE_OK);
    struct trade_id reducing = trade_last_id(&host);
    CHECK(trade_tif(&host, 4, 1000, 980000, host.clock_ns + 3600 * S) == TRADE_OK);
    place_stop(5);
    place_stop(6);
    closing_work(&host);
    CHECK(closing_now(&host) == TRADE_OK);
    uint32_t seen = count_released();
    CHECK(seen <= 1); /* in slices; what is left is as dead */
    CHECK(host_cancel(&host, 3, plain.bytes) == STATUS_rejected_order_not_found);
    seen += count_released();
    CHECK(host_cancel(&host, 1, reducing.bytes) == STATUS_rejected_order_not_found);
    seen += count_released();
    CHECK(host_cancel_all(&host, 4, HOST_BTC, 0) == TRADE_OK); /* CLOSED was first */
    seen += count_released();
    for (uint32_t i = 0; i < 40; i++) {
        host_tick(&host, 1);
        seen += count_released();
    }
    CHECK(trade_portfolio(&host, 5)->conditional_count == 0);
    CHECK(trade_portfolio(&host, 6)->conditional_count == 0);
    CHECK(seen == 5 && host.engine->orders.count == 0 && !engine_has_work(host.engine));
    closing_check_empty(&host);
    host_close(&host);
}

/* --- passes ----------------------------------------------------------------------------------- */

/* T = 950,001: 1 loses 49,999 * 1,000,000 and has enough: no shortfall, no cut. */
static void test_plain(void)
{
    closing_open_three(&host, NO_AGE);
    closing_samples(&host, 950001);
    CHECK(closing_now(&host) == TRADE_OK);
    CHECK(trade_effects(&host, EFFECT_settlement) == 3);
    static const int64_t profits[] = { -49999000000, 16666316667, 33332683333 };
    for (uint32_t n = 1; n <= 3; n++) {
        struct effect_settlement row = settled(n - 1);
        CHECK(row.portfolio.account_id == n && row.price == 950001 && row.cut == 0);
        CHECK(row.profit == profits[n - 1] && row.asset_id == HOST_BTC);
        struct effect_cash cash = cash_told(n - 1);
        CHECK(cash.kind == CASH_settlement && cash.amount == profits[n - 1]);
        struct effect_position gone;
        memcpy(&gone, host_effect(&host, EFFECT_position, n - 1)->bytes, sizeof gone);
        CHECK(gone.portfolio.account_id == n && gone.size == 0 && gone.cost == 0);
        uint32_t at = host_effect(&host, EFFECT_settlement, n - 1)->index;
        CHECK(host_effect(&host, EFFECT_cash, n - 1)->index == at + 1);
        CHECK(host_effect(&host, EFFECT_position, n - 1)->index == at + 2);
    }
    CHECK(trade_effects(&host, EFFECT_cash) == 3); /* the fund has no part in it */
    CHECK(trade_cash(&host, 1) == 99850000000 - 49999000000);
    closing_check_empty(&host);
    CHECK(trade_market(&host)->mark_valid);
    host_close(&host);
}

/* T = 850,001: 1 loses 149,999,000,000 with 99,850,000,000: D = 50,149,000,000. The fund has 7:
 * D' = 50,148,999,993. g2 = 149,999 * 333,333, g3 = 149,999 * 666,667, G = 149,999 * 1,000,000.
 * cut 2: 333,333 * 50,148.999993 = 16,716,316,614.67 -> 16,716,316,615
 * cut 3: 666,667 * 50,148.999993 = 33,432,683,378.33 -> 33,432,683,379: 1 too much, for the
 * fund. */
static void test_shortfall(void)
{
    closing_open_three(&host, NO_AGE);
    give(fund(), 7);
    closing_samples(&host, 850001);
    CHECK(closing_now(&host) == TRADE_OK);
    struct effect_settlement one = settled(0), two = settled(1), three = settled(2);
    CHECK(one.portfolio.account_id == 1 && one.profit == -149999000000 && one.cut == 0);
    CHECK(two.portfolio.account_id == 2 && two.profit == 49999616667 && two.cut == 16716316615);
    CHECK(three.profit == 99999383333 && three.cut == 33432683379);
    static const struct {
        uint64_t account;
        int64_t amount;
        uint8_t kind;
    } rows[] = {
        { 1, -149999000000, CASH_settlement },
        { 1, 50149000000, CASH_settlement },
        { 0, -7, CASH_fund },
        { 2, 49999616667, CASH_settlement },
        { 2, -16716316615, CASH_settlement },
        { 3, 99999383333, CASH_settlement },
        { 3, -33432683379, CASH_settlement },
        { 0, 1, CASH_fund },
    };
    CHECK(trade_effects(&host, EFFECT_cash) == CC_COUNT(rows));
    for (uint32_t i = 0; i < CC_COUNT(rows); i++) {
        struct effect_cash row = cash_told(i);
        CHECK(row.portfolio.account_id == rows[i].account && row.amount == rows[i].amount);
        CHECK(row.kind == rows[i].kind && row.ref == 0);
    }
    CHECK(trade_cash(&host, 1) == 0 && fund()->cash == 1);
    CHECK(trade_cash(&host, 2) == 99850000150 + 49999616667 - 16716316615);
    closing_check_empty(&host);
    host_close(&host);
}

/* The fund has more than is lacking: no cuts. */
static void test_fund_pays_all(void)
{
    closing_open_three(&host, NO_AGE);
    give(fund(), 60000000000);
    closing_samples(&host, 850001);
    CHECK(closing_now(&host) == TRADE_OK);
    CHECK(settled(1).cut == 0 && settled(2).cut == 0);
    CHECK(fund()->cash == 60000000000 - 50149000000);
    host_close(&host);
}

/* max(0, E): 3 owes so much elsewhere that E = cash + g is 10 USDC, 2 that it is below 0. What the
 * cuts do not bring is the fund's in the end. */
static void test_cut_by_equity(void)
{
    closing_open_three(&host, SLICED);
    closing_samples(&host, 850001);
    CHECK(closing_now(&host) == TRADE_OK);
    put(trade_portfolio(&host, 2), -49999616667 - 1 - trade_cash(&host, 2));
    put(trade_portfolio(&host, 3), -99999383333 + 10000000 - trade_cash(&host, 3));
    int64_t others = -1;
    for (uint32_t i = 0; i < 20 && engine_has_work(host.engine); i++) {
        host_tick(&host, 1);
        if (host_effect(&host, EFFECT_settlement, 0) == NULL)
            continue;
        struct effect_settlement row = settled(0);
        if (row.portfolio.account_id == 2) {
            /* E = -1: no cut; the 1 that he lacks comes from the pool */
            CHECK(row.cut == 0 && trade_cash(&host, 2) == 0);
            CHECK(trade_effects(&host, EFFECT_cash) == 2 && cash_told(1).amount == 1);
        } else if (row.portfolio.account_id == 3) {
            CHECK(row.cut == 10000000 && trade_cash(&host, 3) == 0);
            others = 0;
        }
    }
    CHECK(others == 0);
    CHECK(fund()->cash == -50149000000 + 10000000 - 1);
    closing_check_empty(&host);
    host_close(&host);
}

/* Account 1 buys 0.02 ETH of account 4. */
static void add_other_position(void)
{
    char text[4120];
    const char *rest = strstr(host_btc_record, ",\"price_decimals\"");
    struct host_order order = {
        .price = 500000, .quantity = 2000, .expiry = UINT64_MAX, .asset = ETH
    };

    snprintf(text, sizeof text, "{\"market\":\"ETH-PERP\",\"asset_id\":%d,\"base\":\"ETH\"%s", ETH,
             rest);
    CHECK(host_market(&host, text) == TRADE_OK);
    CHECK(host_oracle(&host, ETH, 500000) == TRADE_OK);
    CHECK(host_limit(&host, 1, &order) == TRADE_OK);
    order.quantity = -2000;
    CHECK(host_limit(&host, 4, &order) == TRADE_OK);
    closing_work(&host);
}

static void check_other_position(int64_t cash)
{
    CHECK(settled(0).portfolio.account_id == 1);
    CHECK(cash_told(0).amount == -149999000000 && cash_told(1).amount == 149999000000 - cash);
    CHECK(trade_cash(&host, 1) == 0);
    CHECK((int64_t)host.engine->settlements[0].shortfall == 149999000000 - cash);
    CHECK(!market_mark_is_valid(host.engine, 0));
}

/* Who has another position too is brought to E = 0 by what he lost here: no loss of this market is
 * left to the other side of another one. One unit a command shows it before anything else is done
 * with him. Until all is settled the market is frozen: 283,333 of stress keep account 2 from an
 * order elsewhere, and nothing account 4, which has nothing in it (R4). The other leg is live: L3
 * closes it at the mark, for it has lost nothing. */
static void test_other_position(void)
{
    struct host_order order = {
        .price = 500000, .quantity = -1000, .expiry = UINT64_MAX, .asset = ETH
    };

    closing_open_three(&host, SLICED);
    add_other_position();
    int64_t cash = trade_cash(&host, 1), other = trade_cash(&host, 4);
    closing_samples(&host, 850001);
    CHECK(closing_now(&host) == TRADE_OK);
    CHECK(host_limit(&host, 2, &order) == STATUS_insufficient_margin_to_place);
    while (host_effect(&host, EFFECT_settlement, 0) == NULL)
        host_tick(&host, 1);
    check_other_position(cash);
    CHECK(trade_portfolio(&host, 1)->holding_count == 0 && trade_cash(&host, 4) == other);
    CHECK(host_limit(&host, 4, &order) == TRADE_OK);
    while (host.engine->settlements[0].pass != SETTLEMENT_NONE)
        host_tick(&host, 1);
    CHECK(market_mark_is_valid(host.engine, 0));
    CHECK(host_limit(&host, 2, &order) == TRADE_OK);
    host_close(&host);
}

/* The same while the other market is HALTED: the leg stays. */
static void test_other_position_is_frozen(void)
{
    closing_open_three(&host, SLICED);
    add_other_position();
    CHECK(trade_set_state(&host, ETH, MARKET_HALTED) == TRADE_OK);
    int64_t cash = trade_cash(&host, 1);
    closing_samples(&host, 850001);
    CHECK(closing_now(&host) == TRADE_OK);
    while (host_effect(&host, EFFECT_settlement, 0) == NULL)
        host_tick(&host, 1);
    check_other_position(cash);
    CHECK(trade_portfolio(&host, 1)->holding_count == 1);
    host_close(&host);
}

/* Gives the position of n to the fund, as L2 does it, at no price. */
static void give_position(uint32_t n)
{
    struct engine *engine = host.engine;
    uint32_t from = holding_find(engine, portfolio_find(engine, n, 0, 0), 0);
    uint32_t to = holding_get(engine, 0, 0);

    struct holding *taker = state_holding(engine, to), *giver = state_holding(engine, from);
    int64_t size = giver->size;
    taker->cost = giver->cost;
    giver->cost = 0;
    giver->size = 0;
    taker->size = size;
    holding_move(engine, giver, size);
    holding_move(engine, taker, 0);
    recheck_holding(engine, from);
    recheck_holding(engine, to);
    risk_flush(engine);
}

/* The fund gains: nothing is cut from it, what it does not bear nobody bears. The fund loses: what
 * it lacks is its deficit (R7, the last in the order of losses) and no winner's. */
static void test_fund_holds(void)
{
    closing_open_three(&host, NO_AGE);
    give_position(3);
    closing_samples(&host, 850001);
    CHECK(closing_now(&host) == TRADE_OK);
    /* pass 1: 1; pass 2: 0, then 2 with the same share as ever: D' = 50,149,000,000, fund cash 0;
     * 333,333 * 50,149 = 16,716,316,617 */
    CHECK(settled(1).portfolio.account_id == 0 && settled(1).cut == 0);
    CHECK(settled(1).profit == 99999383333);
    CHECK(settled(2).portfolio.account_id == 2 && settled(2).cut == 16716316617);
    CHECK(fund()->cash == 99999383333 - 50149000000 + 16716316617);
    closing_check_empty(&host);
    host_close(&host);

    closing_open_three(&host, NO_AGE);
    give_position(1);
    closing_samples(&host, 990000); /* the fund loses 10,000 * 1,000,000 and has nothing */
    CHECK(closing_now(&host) == TRADE_OK);
    CHECK(settled(0).portfolio.account_id == 0 && settled(0).profit == -10000000000);
    CHECK(settled(1).cut == 0 && settled(2).cut == 0);
    CHECK(fund()->cash == -10000000000);
    host_close(&host);
}

/* An open epoch is completed on entry, at its own index. */
static void test_funding_first(void)
{
    closing_open_three(&host, SLICED);
    host.clock_ns = (host.clock_ns / HOUR + 1) * HOUR;
    host_tick(&host, 0);
    CHECK(trade_market(&host)->funding_open);
    CHECK(closing_now(&host) == TRADE_OK);
    CHECK(trade_effects(&host, EFFECT_funding_payment) == 3);
    CHECK(!trade_market(&host)->funding_open);
    CHECK(host_effect(&host, EFFECT_funding_epoch, 0)->index <
          host_effect(&host, EFFECT_market_state, 0)->index);
    closing_work(&host);
    closing_check_empty(&host);
    /* 12,500 ppb of 100,000 USDC a BTC: 10 BTC pay 12.5 USDC, and 333,333 and 666,667 get all but
     * 1 */
    CHECK(trade_cash(&host, 1) == 99850000000 - 12500000);
    host_close(&host);
}

int main(void)
{
    test_entry();
    test_price();
    test_price_bound();
    test_orders();
    test_plain();
    test_shortfall();
    test_fund_pays_all();
    test_cut_by_equity();
    test_other_position();
    test_other_position_is_frozen();
    test_fund_holds();
    test_funding_first();
    return 0;
}
