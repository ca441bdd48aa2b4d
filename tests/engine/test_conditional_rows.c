/* R11's rows of code 6 and 7, each the first that is hit when all later ones are wrong too
 * (rules.md R8, R11), and what a refusal leaves: REJECTED from row 13 on, nothing
 * before. Market: tick 1, lot 1, min_size 1, min_notional 10 USDC, max slippage 50,000 ppm, band
 * 10 %. */
#include "purse.h"
#include "waiting.h"

#define M TRADE_MARK

enum {
    AT_PRICE = 24,
    AT_QUANTITY = 32,
    AT_EXPIRY = 40,
    AT_POST = 48,
    AT_REDUCE = 49,
    AT_STP = 50,
    AT_TYPE = 51,
    AT_ASSET = 52,
    AT_PAD = 54,
    AT_SLIPPAGE = 56,
    AT_SOURCE = 60,
    AT_LIVE = 61,
    AT_PAD2 = 62,
    AT_TRIGGER = 16
};

/* One row: what is wrong with a good order, and what it answers. Rows are in R11's order and each
 * test keeps the wrong of the rows behind it, so precedence is tested with it. */
struct wrong {
    const char *name;
    uint32_t at;
    uint32_t bytes;
    uint64_t value;
    enum status status;
};

static const struct wrong wrongs[] = {
    { "asset 0", AT_ASSET, 2, 0, STATUS_order_rejected_invalid_market },
    { "asset 0xFFFF", AT_ASSET, 2, 0xFFFF, STATUS_order_rejected_invalid_market },
    { "unknown asset", AT_ASSET, 2, 99, STATUS_rejected_market_not_found },
    { "pad", AT_PAD, 2, 1, STATUS_order_rejected_invalid },
    { "second pad", AT_PAD2, 2, 256, STATUS_order_rejected_invalid },
    { "kind MARKET", AT_TYPE, 1, ORDER_MARKET, STATUS_order_rejected_invalid },
    { "kind LIMIT", AT_TYPE, 1, ORDER_LIMIT, STATUS_order_rejected_invalid },
    { "kind LIQUIDATE", AT_TYPE, 1, ORDER_LIQUIDATE, STATUS_order_rejected_invalid },
    { "kind 200", AT_TYPE, 1, 200, STATUS_order_rejected_invalid },
    { "post_only 2", AT_POST, 1, 2, STATUS_rejected_invalid_order_flags },
    { "reduce_only 2", AT_REDUCE, 1, 2, STATUS_rejected_invalid_order_flags },
    { "stp 4", AT_STP, 1, 4, STATUS_rejected_invalid_order_flags },
    { "live_tif 3", AT_LIVE, 1, 3, STATUS_rejected_invalid_order_flags },
    { "expiry 0", AT_EXPIRY, 8, 0, STATUS_rejected_invalid_order_flags },
    { "expiry 1", AT_EXPIRY, 8, 1, STATUS_rejected_invalid_order_flags },
    { "expiry beyond INT64_MAX", AT_EXPIRY, 8, UINT64_MAX - 1,
      STATUS_rejected_invalid_order_flags },
    { "expiry past", AT_EXPIRY, 8, HOST_START_NS, STATUS_rejected_conditional_order_expired },
    { "quantity 0", AT_QUANTITY, 8, 0, STATUS_rejected_size_zero },
    { "quantity INT64_MIN", AT_QUANTITY, 8, UINT64_C(1) << 63, STATUS_rejected_invalid_size },
    { "quantity 2^40", AT_QUANTITY, 8, UINT64_C(1) << 40, STATUS_rejected_invalid_size },
    { "price beyond the highest", AT_PRICE, 8, 1 << 24, STATUS_rejected_invalid_price },
    { "notional above 2^50", AT_QUANTITY, 8, UINT64_C(1) << 39, STATUS_rejected_invalid_size },
    { "trigger 0", AT_TRIGGER, 8, 0, STATUS_rejected_invalid_trigger },
    { "trigger beyond the highest", AT_TRIGGER, 8, 1 << 24, STATUS_rejected_invalid_trigger },
    { "unknown source", AT_SOURCE, 1, 3, STATUS_rejected_invalid_trigger },
    { "limit kind without a price", AT_PRICE, 8, 0, STATUS_rejected_invalid_trigger },
    { "too small", AT_QUANTITY, 8, 9, STATUS_rejected_invalid_size },
    { "slippage", AT_SLIPPAGE, 4, 50001, STATUS_rejected_slippage_exceeds_maximum },
    { "satisfied", AT_TRIGGER, 8, M, STATUS_rejected_trigger_already_satisfied },
};

static const struct waiting good = {
    .trigger = M + 1000, .price = M + 2000, .quantity = 5000, .type = ORDER_STOP_LIMIT, .live = 2
};

static bool is_refused_early(enum status status) /* before row 13 */
{
    return status == STATUS_order_rejected_invalid_market ||
           status == STATUS_rejected_market_not_found || status == STATUS_order_rejected_invalid ||
           status == STATUS_rejected_invalid_order_flags ||
           status == STATUS_rejected_conditional_order_expired;
}

static void put(uint8_t *body, const struct wrong *wrong)
{
    memcpy(body + wrong->at, &wrong->value, wrong->bytes);
}

static void check_refusal(const struct host *host, enum status status)
{
    CHECK(host->engine->conditionals.count == 0);
    if (is_refused_early(status)) {
        CHECK(trade_effects(host, EFFECT_order_state) == 0);
        return;
    }
    struct effect_order_state state = trade_last_state(host);
    CHECK(state.status == ORDER_REJECTED && state.reason == status);
    CHECK(host_effect(host, EFFECT_order_state, 0)->record == EFFECT_NO_RECORD);
    CHECK(state.order_type >= ORDER_STOP_LIMIT && state.order_type <= ORDER_TAKE_PROFIT_MARKET);
}

/* Each alone, then with one of each row behind it. */
static void test_rows(void)
{
    static struct host host;

    trade_open(&host, NULL);
    for (size_t i = 0; i < CC_COUNT(wrongs); i++) {
        uint8_t body[WAITING_BODY_BYTES];
        waiting_body(1, &good, body);
        put(body, &wrongs[i]);
        CHECK(waiting_send(&host, 1, body) == wrongs[i].status);
        check_refusal(&host, wrongs[i].status);
        for (size_t k = i + 1; k < CC_COUNT(wrongs); k++) {
            bool same_field = wrongs[k].at == wrongs[i].at;
            bool no_notional = wrongs[i].value == UINT64_C(1) << 39 && wrongs[k].at == AT_PRICE;
            if (same_field || no_notional)
                continue;
            waiting_body(1, &good, body);
            put(body, &wrongs[k]);
            put(body, &wrongs[i]);
            enum status status = waiting_send(&host, 1, body);
            if (status != wrongs[i].status)
                fprintf(stderr, "%s before %s\n", wrongs[i].name, wrongs[k].name);
            CHECK(status == wrongs[i].status);
        }
    }
    CHECK(waiting_place(&host, 1, &good) == TRADE_OK);
    host_close(&host);
}

/* Market kinds: no price, live_tif 0, so never post_only; their size is held at the mark. */
static void test_market_kinds(void)
{
    static struct host host;
    struct waiting order = { .trigger = M + 1000, .quantity = 100, .type = ORDER_STOP_MARKET };

    trade_open(&host, NULL);
    order.live = 1;
    CHECK(waiting_place(&host, 1, &order) == STATUS_rejected_invalid_order_flags);
    order.live = 0;
    order.post_only = 1;
    CHECK(waiting_place(&host, 1, &order) == STATUS_rejected_invalid_order_flags);
    order.post_only = 0;
    order.price = M;
    CHECK(waiting_place(&host, 1, &order) == STATUS_rejected_invalid_trigger);
    order.price = 0;
    order.quantity = 9; /* 9 USDC */
    CHECK(waiting_place(&host, 1, &order) == STATUS_rejected_invalid_size);
    order.reduce_only = 1;
    CHECK(waiting_place(&host, 1, &order) == TRADE_OK);
    order.reduce_only = 0;
    order.quantity = 10; /* 10 USDC */
    CHECK(waiting_place(&host, 1, &order) == TRADE_OK);
    order.slippage_ppm = 50000;
    CHECK(waiting_place(&host, 1, &order) == TRADE_OK);
    host_close(&host);
}

/* post_only wants a life that rests; a GTT life of 90 days is the longest. */
static void test_flags(void)
{
    static struct host host;
    struct waiting order = good;

    trade_open(&host, NULL);
    order.post_only = 1;
    for (order.live = 0; order.live < 2; order.live++)
        CHECK(waiting_place(&host, 1, &order) == STATUS_rejected_invalid_order_flags);
    CHECK(waiting_place(&host, 1, &order) == TRADE_OK);
    order.expiry = host.clock_ns + 91 * 86400 * HOST_SECOND_NS;
    CHECK(waiting_place(&host, 1, &order) == STATUS_rejected_invalid_order_flags);
    order.expiry = host.clock_ns + 90 * 86400 * HOST_SECOND_NS - HOST_SECOND_NS;
    CHECK(waiting_place(&host, 1, &order) == TRADE_OK);
    host_close(&host);
}

/* Row 10: what the state lets in is asked when it is placed, too. */
static void test_states(void)
{
    static const struct {
        uint8_t state, post_only, reduce_only;
        enum status status;
    } rows[] = {
        { MARKET_HALTED, 0, 0, STATUS_rejected_market_halted },
        { MARKET_CANCEL_ONLY, 0, 1, STATUS_rejected_market_cancel_only },
        { MARKET_POST_ONLY, 0, 1, STATUS_rejected_market_post_only },
        { MARKET_POST_ONLY, 1, 0, TRADE_OK },
        { MARKET_REDUCE_ONLY, 1, 0, STATUS_rejected_market_reduce_only },
        { MARKET_REDUCE_ONLY, 0, 1, TRADE_OK },
    };
    static struct host host;
    uint8_t body[8] = { HOST_BTC };

    trade_open(&host, NULL);
    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        struct waiting order = good;
        body[4] = rows[i].state;
        CHECK(host_unsigned(&host, REQUEST_market_state, body, sizeof body) == TRADE_OK);
        order.post_only = rows[i].post_only;
        order.reduce_only = rows[i].reduce_only;
        CHECK(waiting_place(&host, 1, &order) == rows[i].status);
        order.stp = 9; /* row 11 is behind row 10 */
        CHECK(waiting_place(&host, 1, &order) ==
              (rows[i].status == TRADE_OK ? STATUS_rejected_invalid_order_flags : rows[i].status));
    }
    host_close(&host);
}

/* Row 19: a stale index refuses all but reduce-only ones; row 23 then looks at the last value. */
static void test_marks(void)
{
    static struct host host;
    struct waiting order = good;

    trade_open(&host, "exchange.oracle_max_age_ms=1000\n");
    host.clock_ns += 5 * HOST_SECOND_NS;
    CHECK(waiting_place(&host, 1, &order) == STATUS_rejected_mark_price_zero);
    order.reduce_only = 1;
    CHECK(waiting_place(&host, 1, &order) == TRADE_OK);
    order.trigger = M;
    for (order.source = 0; order.source < SOURCE_COUNT; order.source++)
        CHECK(waiting_place(&host, 1, &order) ==
              (order.source == SOURCE_LAST ? TRADE_OK : /* nothing was traded yet */
                   STATUS_rejected_trigger_already_satisfied));
    host_close(&host);
}

static enum status place_in(struct host *host, uint32_t subaccount, uint32_t portfolio)
{
    uint8_t body[WAITING_BODY_BYTES];

    waiting_body(1, &good, body);
    cc_store32(body + 8, subaccount);
    cc_store32(body + 12, portfolio);
    return waiting_send(host, 1, body);
}

/* Row 25: two of a portfolio, four of an account, wherever they are; another account has its
 * own. */
static void test_count_of_account(void)
{
    static struct host host;

    trade_open(&host, "limits.conditional_orders=2\nlimits.account_conditionals=4\n");
    CHECK(purse_portfolio(&host, 1, 0, "") == TRADE_OK);
    CHECK(purse_subaccount(&host, 1) == TRADE_OK);
    CHECK(place_in(&host, 0, 0) == TRADE_OK && place_in(&host, 0, 1) == TRADE_OK);
    CHECK(place_in(&host, 1, 0) == TRADE_OK && place_in(&host, 1, 0) == TRADE_OK);
    CHECK(place_in(&host, 0, 1) == STATUS_rejected_max_conditional_orders_exceeded);
    CHECK(waiting_place(&host, 2, &good) == TRADE_OK);
    CHECK(waiting_cancel_all(&host, 1, HOST_BTC, 0) == TRADE_OK); /* of subaccount 0, portfolio 0 */
    CHECK(place_in(&host, 0, 1) == TRADE_OK);
    CHECK(place_in(&host, 0, 0) == STATUS_rejected_max_conditional_orders_exceeded);
    host_close(&host);
}

/* Rows 25 and 27: 3 of a portfolio, dead ones counted until they are gone; none that does not
 * reduce while it is being liquidated. */
static void test_counts(void)
{
    static struct host host;
    struct waiting order = good;

    trade_open(&host, "limits.conditional_orders=3\nengine.work_per_command=1\n");
    for (uint32_t i = 0; i < 3; i++)
        CHECK(waiting_place(&host, 1, &order) == TRADE_OK);
    CHECK(waiting_place(&host, 1, &order) == STATUS_rejected_max_conditional_orders_exceeded);
    order.trigger = M; /* row 23 is before row 25 */
    CHECK(waiting_place(&host, 1, &order) == STATUS_rejected_trigger_already_satisfied);
    order = good;
    CHECK(waiting_place(&host, 2, &order) == TRADE_OK);
    trade_portfolio(&host, 1)->status = PORTFOLIO_IN_LIQUIDATION; /* row 27 is behind row 25 */
    CHECK(waiting_place(&host, 1, &order) == STATUS_rejected_max_conditional_orders_exceeded);
    trade_portfolio(&host, 1)->status = PORTFOLIO_ACTIVE;
    while (engine_has_work(host.engine))
        host_tick(&host, 1);
    CHECK(waiting_cancel_all(&host, 1, HOST_BTC, 0) == TRADE_OK); /* one goes at once */
    CHECK(waiting_place(&host, 1, &order) == TRADE_OK);           /* and with this the next */
    CHECK(waiting_place(&host, 1, &order) == TRADE_OK);
    CHECK(trade_portfolio(&host, 1)->conditional_count == 2);
    host_close(&host);
}

/* Row 25: engine.orders in all. */
static void test_full(void)
{
    static struct host host;

    trade_open(&host, "engine.orders=1024\nlimits.conditional_orders=1024\n"
                      "limits.account_conditionals=1024\n");
    for (uint32_t i = 0; i < 1024; i++) {
        host.skip_audit = true;
        CHECK(waiting_place(&host, 1, &good) == TRADE_OK);
    }
    CHECK(waiting_place(&host, 2, &good) == STATUS_rejected_max_conditional_orders_exceeded);
    CHECK(trade_last_state(&host).reason == STATUS_rejected_max_conditional_orders_exceeded);
    CHECK(trade_limit(&host, 2, 1000, M - 1000) == TRADE_OK); /* resting orders have their own */
    host_close(&host);
}

/* Code 7: id, asset, pads, in this order. */
static void test_cancel_rows(void)
{
    static struct host host;
    uint8_t body[40] = { 1 }, key[32];

    trade_open(&host, NULL);
    host_session_key(1, key);
    struct trade_id id = waiting_rest(&host, 1, &good);
    struct host_request request = { .code = REQUEST_conditional_order_cancel,
                                    .body = body,
                                    .body_bytes = sizeof body,
                                    .key = key,
                                    .key_bytes = sizeof key };
    body[34] = 1;
    CHECK(host_signed(&host, &request) == STATUS_rejected_invalid_uuid);
    memcpy(body + 16, id.bytes, sizeof id.bytes);
    CHECK(host_signed(&host, &request) == STATUS_order_rejected_invalid_market);
    body[32] = 9;
    CHECK(host_signed(&host, &request) == STATUS_rejected_market_not_found);
    body[32] = HOST_BTC;
    CHECK(host_signed(&host, &request) == STATUS_order_rejected_invalid);
    body[34] = 0;
    CHECK(host_signed(&host, &request) == TRADE_OK);
    body[12] = 1; /* row 5 */
    CHECK(host_signed(&host, &request) == STATUS_rejected_invalid_portfolio_id);
    host_close(&host);
}

int main(void)
{
    test_rows();
    test_market_kinds();
    test_flags();
    test_states();
    test_marks();
    test_counts();
    test_count_of_account();
    test_full();
    test_cancel_rows();
    return 0;
}
