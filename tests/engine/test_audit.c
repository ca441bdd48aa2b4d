/* I1 to I10 (R2): the terms are the sums of the tables, and each broken one is found by its bit. */
#include "engine/state/state.h"
#include "engine/view/audit.h"
#include "engine/view/watch.h"
#include "host.h"
#include "purse.h"
#include "rig.h"

static struct host host;

/* Accounts 1 and 2 deposit 1 m each; 2 buys 0.01 BTC at 100,100.0 of 1: notional 1,001 USDC. */
static void fill(void)
{
    struct host_order order = { .price = 1001000, .quantity = -2000, .expiry = UINT64_MAX };

    host_open(&host, NULL);
    for (uint32_t n = 1; n <= 2; n++) {
        (void)host_account(&host, n);
        CHECK(host_deposit(&host, n, 1000000 * HOST_USDC) == STATUS_request_completed);
    }
    CHECK(host_oracle(&host, HOST_BTC, 1000000) == STATUS_request_completed);
    CHECK(host_limit(&host, 1, &order) == STATUS_request_completed);
    order.quantity = 1000;
    order.expiry = 0;
    CHECK(host_limit(&host, 2, &order) == STATUS_request_completed);
    order = (struct host_order){ .price = 999000, .quantity = 500, .expiry = UINT64_MAX };
    CHECK(host_limit(&host, 2, &order) == STATUS_request_completed);
    order = (struct host_order){
        .price = 1002000, .quantity = -500, .expiry = UINT64_MAX, .reduce_only = 1
    };
    CHECK(host_limit(&host, 2, &order) == STATUS_request_completed);
}

static void test_terms(void)
{
    struct row_audit row;
    struct row_audit_market market;
    const int64_t notional = INT64_C(1001000000);
    const int64_t taker_fee = 450450, maker_fee = 150150; /* R6, tier 0: 450 and 150 ppm */

    audit_read(host.engine, &row, &market);
    CHECK(row.invariants == 0x3ff && row.market_count == 1 && row.recount_differences == 0);
    CHECK(row.deposits == (int128)(2000000 * HOST_USDC));
    CHECK(row.fee_account == taker_fee + maker_fee);
    CHECK(row.cash == row.deposits - row.fee_account); /* R2: opening moves cost, not cash */
    CHECK(row.cost == 0 && row.withdrawals_pending == 0 && row.funding_pool == 0);
    CHECK(row.fund == 0 && row.owed == 0 && row.claims == row.cash);
    CHECK(row.faucet == 0 && row.top_ups == 0 && row.withdrawals_settled == 0);
    CHECK(market.size_sum == 0 && market.cost_sum == 0 && market.funding_pool == 0);
    CHECK(market.best_bid == 999000 && market.best_ask == 1001000);
    CHECK(market.price_decimals == 1 && market.size_decimals == 5);
    CHECK(strcmp(market.market, "BTC-PERP") == 0);
    const struct holding *taker = state_holding(host.engine, holding_find(host.engine, 2, 0));
    CHECK(taker->size == 1000 && taker->cost == notional);
    CHECK(audit_holds(host.engine));
}

static uint16_t broken(void)
{
    struct row_audit row;

    audit_read(host.engine, &row, NULL);
    CHECK(audit_holds(host.engine) == (row.invariants == 0x3ff));
    return (uint16_t)(0x3ff & ~row.invariants);
}

#define BREAKS(field, delta, bits) \
    do {                           \
        CHECK(broken() == 0);      \
        (field) += (delta);        \
        CHECK(broken() == (bits)); \
        (field) -= (delta);        \
    } while (0)

enum { I1 = 1, I2 = 2, I3 = 4, I4 = 8, I5 = 16, I6 = 32, I9 = 256 };

static void test_each_is_found(void)
{
    struct engine *engine = host.engine;
    struct holding *taker = state_holding(engine, holding_find(engine, 2, 0));
    struct market *market = state_market(engine, 0);

    BREAKS(engine->fee_account, 1, I2 | I3);
    BREAKS(engine->deposits, 1, I2 | I3);
    BREAKS(engine->withdrawals_pending, 1, I2 | I3);
    BREAKS(market->funding_pool, 1, I2 | I3);
    BREAKS(state_portfolio(engine, 1)->cash, 1, I2 | I3);
    BREAKS(state_portfolio(engine, 0)->cash, 1, I2 | I3); /* 0/0/0 counts */
    BREAKS(taker->cost, 1, I2 | I3);
    BREAKS(taker->size, -1, I1 | I3 | I6); /* what the market and the account have of it too */
    BREAKS(taker->size, 1, I1 | I3 | I6);  /* above the market's running maximum too */
    BREAKS(market->open_interest, 1, I6);
    CHECK(taker->account_position == ACCOUNT_POSITION_NONE); /* of one portfolio */
    CHECK(purse_portfolio(&host, 2, 0, "second") == STATUS_request_completed);
    CHECK(account_position_size(engine, 2, 0) == 1000);
    BREAKS(engine->account_positions.rows[taker->account_position].size, 1, I6);
    BREAKS(engine->account_positions.rows[taker->account_position].count, 1, I6);
    BREAKS(engine->accounts.rows[0].counts[SHARE_orders], 1, I6);
    BREAKS(engine->accounts.rows[2].counts[SHARE_credentials], 1, I6);
    BREAKS(engine->share.tables[SHARE_portfolios].used[SHARE_CLASS_full], 1, I6);
    BREAKS(engine->share.tables[SHARE_portfolios].extra[SHARE_CLASS_small], 1, I6);
    BREAKS(engine->liquidation.owed_total, 1, I9);
    BREAKS(engine->liquidation.owed[2], 1, I9);
    BREAKS(taker->sides[ORDER_LONG].size, 1, I6);
    BREAKS(taker->sides[ORDER_LONG].notional, 1, I6);
    BREAKS(taker->sides[ORDER_LONG].order_count, 1, I6);
    BREAKS(taker->sides[ORDER_LONG].margin_count, 1, I6);
    BREAKS(taker->sides[ORDER_SHORT].reduce_size, 1, I6);
    BREAKS(taker->sides[ORDER_SHORT].reduce_notional, 1, I6);
    BREAKS(taker->sides[ORDER_LONG].price_bound, -1ull, I6); /* a price above buy_price_max */
    BREAKS(taker->leverage, 1, I6);                          /* a copy of no setting */
    BREAKS(state_portfolio(engine, 2)->open_order_count, 1, I6);
    BREAKS(state_portfolio(engine, 2)->holding_count, 1, I6);
    BREAKS(engine->orders.count, 1, I6);
    BREAKS(engine->orders.hot[taker->order_head].remaining, 1, I6);
    BREAKS(state_portfolio(engine, 2)->status, PORTFOLIO_CLOSED, I4);
}

/* I5: best bid < best ask. A book that crosses itself cannot be made by commands: the ask's level
 * is given another number. */
static void test_crossed_book(void)
{
    struct book *book = &state_market(host.engine, 0)->book;

    uint32_t best = book->sides[ORDER_SHORT].best;
    book->sides[ORDER_SHORT].best = 999000;
    CHECK((broken() & I5) != 0);
    book->sides[ORDER_SHORT].best = 999001;
    CHECK((broken() & I5) == 0);
    book->sides[ORDER_SHORT].best = best;
    CHECK(broken() == 0);
}

/* A second market, in which account 2 has an order. */
static void add_eth(void)
{
    char text[4120];
    const char *rest = strstr(host_btc_record, ",\"price_decimals\"");
    struct host_order order = {
        .price = 990000, .quantity = 500, .expiry = UINT64_MAX, .asset = 2
    };

    snprintf(text, sizeof text, "{\"market\":\"ETH-PERP\",\"asset_id\":2,\"base\":\"ETH\"%s", rest);
    CHECK(host_market(&host, text) == STATUS_request_completed);
    CHECK(host_oracle(&host, 2, 1000000) == STATUS_request_completed);
    CHECK(host_limit(&host, 2, &order) == STATUS_request_completed);
}

/* R2: I1, I4, I5 and I6 halt their market, I2 and I3 all of them. */
static bool judged(uint16_t failed, uint64_t markets, bool of_all)
{
    struct audit_verdict verdict;

    if (audit_judge(host.engine, &verdict) != (failed == 0))
        return false;
    return verdict.failed == failed && verdict.markets[0] == markets && verdict.markets[1] == 0 &&
           verdict.of_all == of_all;
}

#define JUDGES(field, delta, failed, markets, of_all) \
    do {                                              \
        CHECK(judged(0, 0, false));                   \
        (field) += (delta);                           \
        CHECK(judged((failed), (markets), (of_all))); \
        (field) -= (delta);                           \
    } while (0)

static void test_whose(void)
{
    struct engine *engine = host.engine;
    struct holding *btc = state_holding(engine, holding_find(engine, 2, 0));
    struct holding *eth = state_holding(engine, holding_find(engine, 2, 1));
    struct portfolio *owner = state_portfolio(engine, 2);

    JUDGES(engine->deposits, 1, I2 | I3, 0, true);
    JUDGES(btc->sides[ORDER_LONG].size, 1, I6, 1, false);
    JUDGES(eth->sides[ORDER_LONG].size, 1, I6, 2, false);
    JUDGES(state_market(engine, 0)->max_abs_size, -1000ull, I6, 1, false);
    JUDGES(btc->size, -1, I1 | I3 | I6, 1, true);
    JUDGES(state_market(engine, 0)->open_interest, 1, I6, 1, false);
    JUDGES(owner->status, PORTFOLIO_CLOSED, I4, 3, false); /* it has orders in both */
    JUDGES(owner->open_order_count, 1, I6, 3, false);      /* whichever of its markets it is */
    JUDGES(state_portfolio(engine, 0)->holding_count, 1, I6, 0, true); /* it is in none */
    JUDGES(engine->orders.count, 1, I6, 0, true);
    struct book *book = &state_market(engine, 0)->book;
    uint32_t best = book->sides[ORDER_SHORT].best;
    book->sides[ORDER_SHORT].best = 999000;
    struct audit_verdict verdict;
    CHECK(!audit_judge(engine, &verdict));
    CHECK((verdict.failed & I5) != 0 && verdict.markets[0] == 1);
    book->sides[ORDER_SHORT].best = best;
}

/* --- what a command does (watch.h) ------------------------------------------------------------ */

enum { I7 = 64, I8 = 128, I10 = 512 };

static alignas(16) uint8_t command_space[512];

/* A command as the watch looks at it: of this account, 0: unsigned. */
static const struct command *command_of(uint64_t account)
{
    struct command *command = (void *)command_space;

    memset(command_space, 0, sizeof command_space);
    command->kind = account == 0 ? COMMAND_UNSIGNED : COMMAND_SIGNED;
    command->code = account == 0 ? REQUEST_tick : REQUEST_place_limit_order;
    cc_store64(command->bytes + (account == 0 ? 0 : REQUEST_BODY_AT), account);
    return command;
}

static bool watched(uint64_t account, uint16_t failed, uint64_t markets, bool of_all)
{
    struct audit_verdict verdict;

    if (watch_end(&host.watch, host.engine, command_of(account), &verdict) != (failed == 0))
        return false;
    return verdict.failed == failed && verdict.markets[0] == markets && verdict.of_all == of_all;
}

static void see(uint16_t code, uint32_t record, const void *body, size_t bytes)
{
    struct effect effect = { .code = code, .record = record, .engine = host.engine };

    memcpy(effect.bytes, body, bytes);
    watch_effect(&host.watch, &effect);
}

/* I7: the mark is 100,000.0, the band 10 %. Account 2 has a bid, as which it is shown. */
static void test_band(void)
{
    static const struct {
        int line;
        const char *name;
        uint8_t type, liquidity;
        int64_t quantity;
        uint64_t price;
        bool holds;
    } rows[] = {
        { __LINE__, "own", ORDER_LIMIT, LIQUIDITY_TAKER, 1, 1100000, true },
        { __LINE__, "own", ORDER_LIMIT, LIQUIDITY_TAKER, 1, 1100001, false },
        { __LINE__, "own", ORDER_LIMIT, LIQUIDITY_TAKER, 1, 1, true }, /* better than the band */
        { __LINE__, "own", ORDER_LIMIT, LIQUIDITY_TAKER, -1, 900000, true },
        { __LINE__, "own", ORDER_LIMIT, LIQUIDITY_TAKER, -1, 899999, false },
        { __LINE__, "own", ORDER_LIMIT, LIQUIDITY_MAKER, 1, 1100001, true },
        { __LINE__, "sale", ORDER_LIQUIDATE, LIQUIDITY_TAKER, -1, 899999, false },
        { __LINE__, "sale", ORDER_LIQUIDATE, LIQUIDITY_TAKER, -1, 1100001, true },
        { __LINE__, "sale", ORDER_LIQUIDATE, LIQUIDITY_MAKER, 1, 899999, false },
        { __LINE__, "adl", ORDER_AUTO_DELEVERAGE, LIQUIDITY_TAKER, -1, 1100001, false },
        { __LINE__, "adl", ORDER_AUTO_DELEVERAGE, LIQUIDITY_MAKER, 1, 899999, false },
        { __LINE__, "adl", ORDER_AUTO_DELEVERAGE, LIQUIDITY_MAKER, 1, 900000, true },
    };
    uint32_t at = state_holding(host.engine, holding_find(host.engine, 2, 0))->order_head;
    struct order *order = &host.engine->orders.hot[at];
    uint8_t type = order->order_type;

    CHECK(state_market(host.engine, 0)->mark == 1000000);
    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        struct effect_fill fill = { .price = rows[i].price,
                                    .quantity = rows[i].quantity,
                                    .liquidity = rows[i].liquidity };
        order->order_type = rows[i].type;
        see(EFFECT_fill, at, &fill, sizeof fill);
        CHECK_ROW(&rows[i], watched(0, rows[i].holds ? 0 : I7, rows[i].holds ? 0 : 1, false));
    }
    order->order_type = type;
}

/* I8: the exchange is short by 1; account 2 has taken out more than it brought. */
static void test_profit_taken(void)
{
    struct effect_withdrawal withdrawal = { .amount = 10, .outcome = WITHDRAWAL_PENDING };
    int64_t *net = &host.engine->accounts.rows[2].net_deposits, before = *net;
    int64_t *fund = &state_portfolio(host.engine, 0)->cash;

    for (int64_t after = -1; after <= 0; after++) {
        *net = after;
        see(EFFECT_withdrawal, 2, &withdrawal, sizeof withdrawal);
        CHECK(watched(2, 0, 0, false)); /* not short */
        *fund -= host.engine->fee_account + 1;
        see(EFFECT_withdrawal, 2, &withdrawal, sizeof withdrawal);
        CHECK(watched(2, after < 0 ? I8 : 0, 0, after < 0));
        *fund += host.engine->fee_account + 1;
    }
    *net = before;
}

/* I10: account 2 is long 0.01 BTC: 1,000 raw, 1,000 micro-USDC for each step of the index. */
static void test_bystander(void)
{
    struct market *market = state_market(host.engine, 0);
    struct portfolio *owner = state_portfolio(host.engine, 2);
    struct watch *watch = &host.watch;

    watch_begin(watch, host.engine);
    CHECK(watched(0, 0, 0, false));
    for (int64_t fall = 0; fall <= 1; fall++) {
        watch_begin(watch, host.engine);
        owner->cash -= fall;
        CHECK(watched(0, fall == 0 ? 0 : I10, fall == 0 ? 0 : 3, false)); /* it is in both */
        watch_begin(watch, host.engine);
        owner->cash -= fall;
        CHECK(watched(2, 0, 0, false)); /* its own command */
        watch_begin(watch, host.engine);
        market->index_price -= 7;
        owner->cash -= fall;
        CHECK(watched(1, fall == 0 ? 0 : I10, fall == 0 ? 0 : 3, false));
        market->index_price += 7;
        owner->cash += 3 * fall;
    }
    /* its bid of 0.005 filled 10 above the index, at a fee of 3 */
    uint32_t at = state_holding(host.engine, holding_find(host.engine, 2, 0))->order_head;
    struct effect_fill fill = {
        .price = 1000010, .quantity = 500, .fee = 3, .liquidity = LIQUIDITY_MAKER
    };
    for (int64_t more = 0; more <= 1; more++) {
        watch_begin(watch, host.engine);
        see(EFFECT_fill, at, &fill, sizeof fill);
        owner->cash -= 500 * 10 + 3 + more;
        CHECK(watched(0, more == 0 ? 0 : I10, more == 0 ? 0 : 3, false));
        owner->cash += 500 * 10 + 3 + more;
    }
    /* the fund takes nothing from one who is not in liquidation */
    struct effect_cash cash = { .kind = CASH_fund, .amount = -5 };
    for (unsigned status = PORTFOLIO_ACTIVE; status <= PORTFOLIO_IN_LIQUIDATION; status++) {
        owner->status = (uint8_t)status;
        watch_begin(watch, host.engine);
        see(EFFECT_cash, 2, &cash, sizeof cash);
        owner->cash -= 5;
        CHECK(watched(0, status == PORTFOLIO_ACTIVE ? I10 : 0, status == PORTFOLIO_ACTIVE ? 3 : 0,
                      false));
        owner->cash += 5;
    }
    owner->status = PORTFOLIO_ACTIVE;
}

int main(void)
{
    fill();
    test_terms();
    test_each_is_found();
    test_crossed_book();
    add_eth();
    test_whose();
    test_band();
    test_profit_taken();
    test_bystander();
    host_close(&host);
    return 0;
}
