/* A market that is HALTED or held: whose liquidation goes on and whose waits (rules.md R7, Which
 * legs), and the mark at which it is opened (R5). */
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

/* --- whose liquidation waits ------------------------------------------------------------------ */

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
 * halted. At 95,700: E = 174.405 < MM = 182.83, 3E = 523.215 >= 2MM = 365.66. */
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

static bool is_in_liquidation(void)
{
    return trade_portfolio(&host, LOSER)->status == PORTFOLIO_IN_LIQUIDATION;
}

/* The order of L1, which finds no bid: n = cdiv((12 * 182.83 - 10 * 174.405)e6 * 1e6, 95,000) =
 * 4,735,894,737: 4,949 raw; d = fdiv(fdiv(174.405 * 181.83, 182.83) - 45.4575, 0.19) =
 * fdiv(127,993,581, 19,000) = 6,736. */
static void check_sold(void)
{
    struct effect_order_state order = trade_state(&host, 0);

    CHECK(order.order_type == ORDER_LIQUIDATE && order.asset_id == HOST_BTC);
    CHECK(order.remaining == 4949 && order.side == ORDER_SHORT && order.price == 950264);
    CHECK(is_in_liquidation() && state_market(host.engine, 1)->state == MARKET_HALTED);
    CHECK(state_market(host.engine, 1)->mark == M);
}

/* A frozen leg counts at its last mark, is left alone, and keeps nobody from being liquidated. */
static void test_other_leg_is_frozen(void)
{
    open_loser();
    host.clock_ns += 11 * S; /* its index is too old as well */
    CHECK(host_oracle(&host, HOST_BTC, 957000) == TRADE_OK);
    const struct host_effect *told = host_effect(&host, EFFECT_portfolio_state, 0);
    struct effect_portfolio_state body;
    CHECK(told != NULL);
    memcpy(&body, told->bytes, sizeof body);
    CHECK(body.portfolio.account_id == LOSER && body.status == PORTFOLIO_IN_LIQUIDATION);
    CHECK(body.equity == 174405000 && body.maintenance == 182830000);
    check_sold();
    host_close(&host);
}

/* With frozen legs alone a portfolio waits: BTC is held, 809 are taken away, E = 182.405 < 191. The
 * operator's state ends no hold; a price within 10 % of the reference does: at 99,900 E = 163.405,
 * MM = 190.81, 3E = 490.215 >= 381.62, and L1 sells. */
static void test_hold_ends(void)
{
    open_loser();
    CHECK(host_oracle(&host, HOST_BTC, 1200000) == TRADE_OK);
    CHECK(trade_market(&host)->hold_count == 1 && trade_market(&host)->state == MARKET_CANCEL_ONLY);
    trade_portfolio(&host, LOSER)->cash -= 809 * (int64_t)HOST_USDC;
    trade_portfolio(&host, 1)->cash += 809 * (int64_t)HOST_USDC;
    CHECK(trade_limit(&host, LOSER, 1000, M) != TRADE_OK); /* a touch */
    CHECK(is_in_liquidation() && trade_market(&host)->waited);
    CHECK(trade_set_state(&host, HOST_BTC, MARKET_REDUCE_ONLY) == TRADE_OK);
    CHECK(trade_market(&host)->hold_count == 1 && trade_market(&host)->state == MARKET_CANCEL_ONLY);
    CHECK(trade_effects(&host, EFFECT_order_state) == 0);
    CHECK(host_oracle(&host, HOST_BTC, 999000) == TRADE_OK);
    CHECK(trade_market(&host)->hold_count == 0 && trade_market(&host)->state == MARKET_REDUCE_ONLY);
    CHECK(trade_last_state(&host).order_type == ORDER_LIQUIDATE);
    CHECK(trade_last_state(&host).asset_id == HOST_BTC && is_in_liquidation());
    host_close(&host);
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
    test_other_leg_is_frozen();
    test_hold_ends();
    test_opened();
    test_old_mark_is_gone();
    test_opened_without_index();
    test_opened_beyond_the_bound();
    return 0;
}
