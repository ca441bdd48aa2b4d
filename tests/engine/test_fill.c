/* Position accounting (rules.md R2), fees (R6), and the order in which one fill is told
 * (wire.md W3c). Every number is worked out by hand. */
#include "base/uuid.h"
#include "check.h"
#include "engine/risk/fee.h"
#include "engine/trade/fill.h"
#include "trade.h"

static void test_position(void)
{
    static const struct row {
        int line;
        const char *name;
        int64_t size, cost, quantity;
        uint64_t price;
        int64_t size_after, cost_after, realised;
        bool opened;
    } rows[] = {
        /* s = 0: s += q, c += v, v = p * q */
        { __LINE__, "open long", 0, 0, 10, 100, 10, 1000, 0, true },
        { __LINE__, "open short", 0, 0, -10, 100, -10, -1000, 0, true },
        { __LINE__, "add to long", 10, 1000, 5, 120, 15, 1600, 0, false },
        { __LINE__, "add to short", -10, -1000, -5, 80, -15, -1400, 0, false },
        /* cr = tdiv(1000 * 4, 10) = 400; cash += 440 - 400 */
        { __LINE__, "reduce long at a profit", 10, 1000, -4, 110, 6, 600, 40, false },
        /* cr = tdiv(-1000 * 4, 10) = -400; cash += -360 + 400 */
        { __LINE__, "reduce short at a profit", -10, -1000, 4, 90, -6, -600, 40, false },
        /* cr = tdiv(1000 * 1, 3) = 333; cash += 300 - 333 */
        { __LINE__, "truncated share of a long", 3, 1000, -1, 300, 2, 667, -33, false },
        /* cr = tdiv(-1000 * 1, 3) = -333, toward zero and not -334; cash += -300 + 333 */
        { __LINE__, "truncated share of a short", -3, -1000, 1, 300, -2, -667, 33, false },
        { __LINE__, "close long: c = 0", 3, 1000, -3, 400, 0, 0, 200, false },
        { __LINE__, "close short: c = 0", -3, -1000, 3, 300, 0, 0, 100, false },
        /* closing part q1 = -3: cash += 1200 - 1000; then -2 opened at 400 */
        { __LINE__, "flip to short", 3, 1000, -5, 400, -2, -800, 200, true },
        { __LINE__, "flip to long", -3, -1000, 5, 300, 2, 600, 100, true },
        /* a long may have a negative cost (part was sold far above): cr = tdiv(-10 * 2, 3) = -6 */
        { __LINE__, "negative cost of a long", 3, -10, -2, 5, 1, -4, 16, false },
    };

    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        const struct row *row = &rows[i];
        struct fill_position position = { row->size, row->cost };
        bool opened;
        int64_t realised = fill_position(&position, row->quantity, row->price, &opened);
        CHECK_ROW(row, realised == row->realised);
        CHECK_ROW(row, position.size == row->size_after);
        CHECK_ROW(row, position.cost == row->cost_after);
        CHECK_ROW(row, opened == row->opened);
    }
}

/* Cash minus cost moves by exactly -p * q whatever was closed: so I2 holds for every pair. */
static void test_position_conserves(void)
{
    uint64_t seed = 1;
    struct fill_position position = { 0, 0 };

    for (uint32_t i = 0; i < 200000; i++) {
        int64_t quantity = (int64_t)rig_below(&seed, 2000) - 1000;
        uint64_t price = 1 + rig_below(&seed, 2000000);
        int64_t cost = position.cost;
        bool opened;
        if (quantity == 0)
            continue;
        int64_t realised = fill_position(&position, quantity, price, &opened);
        CHECK(realised - (position.cost - cost) == -(int64_t)price * quantity);
        CHECK(position.size != 0 || position.cost == 0);
    }
}

static void test_fee(void)
{
    /* R6: 10.000001 USDC at 450 ppm: 4,500.00045, the taker pays the ceiling */
    CHECK(fee_amount(10000001, 450) == 4501);
    CHECK(fee_amount(10000000, 450) == 4500);
    CHECK(fee_amount(1, 150) == 1);
    CHECK(fee_amount(12345, 0) == 0);
    /* rebate 20 ppm of 10.049999 USDC: 200.99998, floored: the maker gets 200 */
    CHECK(fee_amount(10049999, -20) == -200);
    CHECK(fee_amount(49999, -20) == 0);
}

/* 1 sells 0.5 BTC at 100,000, 2 buys 0.3 of it: notional 30,000 USDC. Maker fee 150 ppm: 4.5 USDC,
 * taker fee 450 ppm: 13.5 USDC. */
static void test_open(struct host *host)
{
    trade_rest(host, 1, -50000, TRADE_MARK);
    CHECK(trade_limit(host, 2, 30000, TRADE_MARK) == TRADE_OK);
    CHECK(trade_size(host, 1) == -30000 && trade_cost(host, 1) == -30000000000);
    CHECK(trade_size(host, 2) == 30000 && trade_cost(host, 2) == 30000000000);
    CHECK(trade_cash(host, 1) == 100000000000 - 4500000);
    CHECK(trade_cash(host, 2) == 100000000000 - 13500000);
    CHECK(host->engine->fee_account == 18000000);
    CHECK(fee_volume(&host->engine->accounts.rows[1], host->engine->t_ns) == 30000000000);
    CHECK(fee_volume(&host->engine->accounts.rows[2], host->engine->t_ns) == 30000000000);
}

/* W3c: 2108, 2102 maker, 2102 taker, 2104 taker, 2104 maker, 2103 maker, 2103 taker, the maker's
 * 2101, 2107, 2106; the taker's 2101; 2100. No ledger row has amount 0, so nothing is realised. */
static void test_order_of_effects(const struct host *host)
{
    static const uint16_t want[] = { 2108, 2102, 2102, 2104, 2104, 2103,
                                     2103, 2101, 2107, 2106, 2101, 2100 };

    CHECK(host->effect_count == CC_COUNT(want));
    for (uint32_t i = 0; i < CC_COUNT(want); i++)
        CHECK(host->effects[i].code == want[i]);

    struct effect_fill maker, taker;
    memcpy(&maker, host_effect(host, EFFECT_fill, 0)->bytes, sizeof maker);
    memcpy(&taker, host_effect(host, EFFECT_fill, 1)->bytes, sizeof taker);
    /* ids: maker's fill 0, maker's position 1, taker's fill 2, taker's position 3 */
    CHECK(maker.index == 0 && maker.liquidity == LIQUIDITY_MAKER && maker.quantity == -30000);
    CHECK(taker.index == 2 && taker.liquidity == LIQUIDITY_TAKER && taker.quantity == 30000);
    CHECK(maker.fee == 4500000 && taker.fee == 13500000);
    CHECK(memcmp(taker.order_id, host->id, 16) == 0);

    struct effect_cash cash;
    memcpy(&cash, host_effect(host, EFFECT_cash, 0)->bytes, sizeof cash);
    CHECK(cash.portfolio.account_id == 2 && cash.kind == CASH_fee && cash.amount == -13500000);
    CHECK(cash.balance_after == 100000000000 - 13500000 && cash.ref == 2);
    CHECK(trade_trade(host, 0).price == TRADE_MARK && trade_trade(host, 0).size == 30000);
    CHECK(trade_trade(host, 0).taker_side == ORDER_LONG && trade_trade(host, 0).trade_seq == 1);
    CHECK(trade_state(host, 0).status == ORDER_PARTIALLY_FILLED);
    CHECK(trade_state(host, 0).remaining == 20000 && trade_state(host, 0).filled == 30000);
    CHECK(trade_last_state(host).status == ORDER_FILLED);
}

/* 2 sells 0.5 at 101,000 to 3 as maker: closes 0.3 at +1,000 each: realised 300 USDC, a row of its
 * own before the fee; flips to short 0.2. Fee 150 ppm of 50,500: 7.575 USDC. */
static void test_flip(struct host *host)
{
    trade_rest(host, 2, -50000, 1010000);
    trade_rest(host, 3, 50000, 1010000); /* meets 1's 0.2 at 100,000 first, then 0.3 of 2 */
    CHECK(trade_trade(host, 0).price == TRADE_MARK && trade_trade(host, 0).size == 20000);
    CHECK(trade_trade(host, 1).price == 1010000 && trade_trade(host, 1).size == 30000);
    CHECK(trade_size(host, 2) == 0 && trade_cost(host, 2) == 0);
    /* 0.3 * 101,000 = 30,300: maker fee 4.545 */
    CHECK(trade_cash(host, 2) == 100000000000 - 13500000 + 300000000 - 4545000);
    trade_rest(host, 3, 20000, 1010000);
    CHECK(trade_size(host, 2) == -20000 && trade_cost(host, 2) == -20200000000);
    CHECK(trade_cash(host, 2) == 100000000000 - 13500000 + 300000000 - 4545000 - 3030000);
    CHECK(trade_size(host, 3) == 70000);
    /* 20,000 + 30,300 + 20,200 USDC */
    CHECK(trade_cost(host, 3) == 70500000000);
}

/* R2: a position's id is new when it opens from zero or flips, and only then. */
static void test_position_ids(struct host *host)
{
    const struct holding *holding =
        state_holding(host->engine, holding_find(host->engine, 3, 0)); /* account 3, portfolio 3 */
    uint64_t sequence = holding->position_sequence;

    CHECK(holding->size == 70000);
    trade_rest(host, 4, -10000, 1010000);
    trade_rest(host, 3, 10000, 1010000);
    CHECK(holding->position_sequence == sequence);
    trade_rest(host, 4, 90000, 1000000);
    CHECK(trade_limit(host, 3, -90000, 1000000) == TRADE_OK);
    CHECK(holding->size == -10000 && holding->position_sequence == host->result.sequence);
}

int main(void)
{
    static struct host host, mirror;

    test_position();
    test_position_conserves();
    test_fee();
    trade_open(&host, NULL);
    trade_open(&mirror, NULL);
    host.mirror = &mirror;
    test_open(&host);
    test_order_of_effects(&host);
    test_flip(&host);
    test_position_ids(&host);
    trade_check_figures(&host);
    host_close(&mirror);
    host_close(&host);
    return 0;
}
