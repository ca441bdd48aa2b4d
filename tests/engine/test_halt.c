/* A market that is HALTED: who waits for its index (rules.md R5; R7, Waits), and the mark at
 * which it is opened (R5, the mark after a halt). */
#include "engine/price/mark.h"
#include "trade.h"

enum { LOSER = TRADE_ACCOUNTS + 1, SIZE = 19000, SECOND_LEG = 100, ETH = 2 };

#define M TRADE_MARK
#define S HOST_SECOND_NS

static struct host host;

static enum status node_set(uint16_t asset, uint8_t state)
{
    uint8_t body[8] = { (uint8_t)asset, (uint8_t)(asset >> 8), 0, 0, state };
    return host_unsigned(&host, REQUEST_market_state, body, sizeof body);
}

static enum status set_all(uint8_t state)
{
    uint8_t body[8] = { state };
    struct host_request request = { .code = REQUEST_halt_all,
                                    .body = body,
                                    .body_bytes = sizeof body,
                                    .key = host_operator_key,
                                    .key_bytes = 32 };
    return host_signed(&host, &request);
}

/* --- who waits for it ------------------------------------------------------------------------- */

static void buy(uint16_t asset, int64_t size)
{
    struct host_order order = {
        .price = M, .quantity = -size, .expiry = TRADE_GTC, .asset = asset
    };

    CHECK(host_limit(&host, TRADE_ACCOUNTS, &order) == TRADE_OK);
    order.quantity = size;
    order.expiry = TRADE_IOC;
    CHECK(host_limit(&host, LOSER, &order) == TRADE_OK);
}

/* Account 7 has 1,000 USDC and is long 0.19 BTC and 0.001 ETH from 100,000, for fees of 8.55 and
 * 0.045: E = 991.405 - 0.19 * (100,000 - BTC's mark), MM = 1 % of 0.19 * that mark, and 1. ETH is
 * halted. At 95,700: E = 174.405 < MM = 182.83, 3E = 523.215 >= 2MM = 365.66: L1 sells BTC, which
 * trades, when ETH's index is valid. */
static void open_loser(void)
{
    trade_open(&host, NULL);
    trade_add_market(&host, "ETH", ETH);
    CHECK(host_account(&host, LOSER) == LOSER);
    CHECK(host_deposit(&host, LOSER, 1000 * HOST_USDC) == TRADE_OK);
    buy(HOST_BTC, SIZE);
    buy(ETH, SECOND_LEG);
    CHECK(trade_cash(&host, LOSER) == 991405000);
    CHECK(trade_set_state(&host, ETH, MARKET_HALTED) == TRADE_OK);
}

static void check_waits(void)
{
    CHECK(trade_portfolio(&host, LOSER)->status == PORTFOLIO_ACTIVE);
    CHECK(state_market(host.engine, 1)->waited && !market_mark_is_valid(host.engine, 1));
}

/* The command that made the index valid has it looked at: the order of L1, which finds no bid. */
static void check_sold(void)
{
    const struct host_effect *told = host_effect(&host, EFFECT_portfolio_state, 0);
    struct effect_portfolio_state body;

    CHECK(told != NULL);
    memcpy(&body, told->bytes, sizeof body);
    CHECK(body.portfolio.account_id == LOSER && body.status == PORTFOLIO_IN_LIQUIDATION);
    CHECK(body.equity == 174405000 && body.maintenance == 182830000);
    struct effect_order_state order = trade_state(&host, 0);
    CHECK(order.order_type == ORDER_LIQUIDATE && order.asset_id == HOST_BTC);
    CHECK(order.remaining == SIZE && order.side == ORDER_SHORT);
    CHECK(state_market(host.engine, 1)->state == MARKET_HALTED);
    CHECK(state_market(host.engine, 1)->mark == M);
}

/* Its index was too old, and comes again. */
static void test_index_comes_again(void)
{
    open_loser();
    host.clock_ns += 11 * S;
    CHECK(host_oracle(&host, HOST_BTC, 957000) == TRADE_OK);
    check_waits();
    CHECK(host_oracle(&host, ETH, M) == TRADE_OK);
    check_sold();
    host_close(&host);
}

/* Its index was held: three updates agree, or the operator sets the state that it has. */
static void test_hold_ends(void)
{
    for (unsigned by_operator = 0; by_operator < 2; by_operator++) {
        open_loser();
        CHECK(host_oracle(&host, ETH, 1200000) == TRADE_OK);
        CHECK(host_oracle(&host, HOST_BTC, 957000) == TRADE_OK);
        check_waits();
        CHECK(host_oracle(&host, ETH, 1200000) == TRADE_OK);
        check_waits();
        CHECK((by_operator ? trade_set_state(&host, ETH, MARKET_HALTED)
                           : host_oracle(&host, ETH, 1200000)) == TRADE_OK);
        check_sold();
        host_close(&host);
    }
}

/* --- the mark it is opened at ----------------------------------------------------------------- */

/* Halted with the mark at 100,000 while the index went to 100,500. */
static void halt(void)
{
    trade_open(&host, NULL);
    CHECK(trade_set_state(&host, HOST_BTC, MARKET_HALTED) == TRADE_OK);
    CHECK(host_oracle(&host, HOST_BTC, M + 5000) == TRADE_OK);
    CHECK(trade_market(&host)->mark == M && trade_effects(&host, EFFECT_mark) == 0);
}

/* 2111, then 2109: whoever opens it, to whatever state. */
static void test_opened(void)
{
    for (uint32_t way = 0; way < 4; way++) {
        halt();
        CHECK((way == 0   ? trade_set_state(&host, HOST_BTC, MARKET_ACTIVE)
               : way == 1 ? set_all(MARKET_POST_ONLY)
               : way == 2 ? node_set(HOST_BTC, MARKET_CANCEL_ONLY)
                          : trade_set_state(&host, HOST_BTC, MARKET_REDUCE_ONLY)) == TRADE_OK);
        const struct host_effect *state = host_effect(&host, EFFECT_market_state, 0);
        const struct host_effect *told = host_effect(&host, EFFECT_mark, 0);
        struct effect_mark mark;
        CHECK(state != NULL && told > state && trade_effects(&host, EFFECT_mark) == 1);
        memcpy(&mark, told->bytes, sizeof mark);
        CHECK(mark.mark == M + 5000 && mark.index == M + 5000 && mark.valid == 1);
        CHECK(trade_market(&host)->mark == M + 5000);
        host_close(&host);
    }
}

/* Nobody gains by what the index did meanwhile. Account 2, with 1,300 USDC, bids for 0.19 at
 * 100,000: its margin is 950. At 94,000 the fill would leave 1,300 - 0.19 * 6,000 - 2.85 = 157.15,
 * below MM' = 178.60: the order is canceled (R4). At the old mark it would be no worse than the
 * mark, and filled: the seller would gain what account 2 cannot bear. */
static void test_old_mark_is_gone(void)
{
    trade_open(&host, NULL);
    trade_portfolio(&host, 2)->cash -= 98700 * (int64_t)HOST_USDC;
    trade_portfolio(&host, 1)->cash += 98700 * (int64_t)HOST_USDC;
    struct trade_id bid = trade_rest(&host, 2, SIZE, M);
    CHECK(trade_set_state(&host, HOST_BTC, MARKET_HALTED) == TRADE_OK);
    CHECK(host_oracle(&host, HOST_BTC, 940000) == TRADE_OK);
    CHECK(trade_set_state(&host, HOST_BTC, MARKET_ACTIVE) == TRADE_OK);
    CHECK(trade_remaining(&host, 2, bid) == SIZE);
    CHECK(trade_tif(&host, 3, -SIZE, M, TRADE_IOC) == TRADE_OK);
    CHECK(trade_effects(&host, EFFECT_trade) == 0 && trade_remaining(&host, 2, bid) == 0);
    CHECK(trade_state(&host, 0).reason == STATUS_insufficient_margin_to_trade);
    host_close(&host);
}

/* Not while its index is not valid: row 19 keeps everybody out until it is. */
static void test_opened_without_index(void)
{
    halt();
    host.clock_ns += 11 * S;
    CHECK(trade_set_state(&host, HOST_BTC, MARKET_ACTIVE) == TRADE_OK);
    CHECK(trade_market(&host)->mark == M && !market_mark_is_valid(host.engine, 0));
    CHECK(trade_limit(&host, 1, 1000, M) == STATUS_rejected_mark_price_zero);
    CHECK(host_oracle(&host, HOST_BTC, M + 6000) == TRADE_OK);
    CHECK(trade_market(&host)->mark == M + 6000);
    CHECK(trade_limit(&host, 1, 1000, M) == TRADE_OK);
    host_close(&host);
}

/* Halted by R1's bound, with an index that still does not fit: it is halted again at once.
 * 2^60 / 1,005,000 = 1,147,185,576,723.2 */
static void test_opened_beyond_the_bound(void)
{
    trade_open(&host, NULL);
    trade_market(&host)->max_abs_size = 1147185576724;
    CHECK(host_oracle(&host, HOST_BTC, M + 5000) == TRADE_OK);
    CHECK(trade_market(&host)->state == MARKET_HALTED);
    CHECK(trade_set_state(&host, HOST_BTC, MARKET_ACTIVE) == TRADE_OK);
    CHECK(trade_effects(&host, EFFECT_market_state) == 2);
    CHECK(trade_market(&host)->state == MARKET_HALTED && trade_market(&host)->mark == M);
    trade_market(&host)->max_abs_size = 1147185576723;
    CHECK(trade_set_state(&host, HOST_BTC, MARKET_ACTIVE) == TRADE_OK);
    CHECK(trade_market(&host)->state == MARKET_ACTIVE && trade_market(&host)->mark == M + 5000);
    host_close(&host);
}

int main(void)
{
    test_index_comes_again();
    test_hold_ends();
    test_opened();
    test_old_mark_is_gone();
    test_opened_without_index();
    test_opened_beyond_the_bound();
    return 0;
}
