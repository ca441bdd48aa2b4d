/* Positions, subaccounts and holders as reads show them: json.md J2's example to the last digit,
 * the order of a list, R7's score. Every number is worked out by hand. */
#include "base/uuid.h"
#include "engine/table/adl.h"
#include "engine/view/read_positions.h"
#include "trade.h"
#include "whole_subaccount.h"

enum { BTC = 100000, SEVEN = TRADE_ACCOUNTS + 1 };

static struct host host;

static const struct read_filter all = {
    .subaccount_index = QUERY_ANY_INDEX,
    .portfolio_index = QUERY_ANY_INDEX,
    .status = QUERY_ANY_STATUS,
};

static struct read_positions cursor;

static void begin(uint64_t account, const char *market)
{
    struct read_filter filter = all;

    filter.account_id = account;
    memcpy(filter.market, market, strlen(market));
    read_positions_begin(&cursor, host.engine, &filter);
}

/* J2: account 7 sold 0.3 BTC at 100,000 as a maker (fee 4.5 of its 10,000 USDC) and offers 0.2
 * more; the mark is 99,990. */
static void open_example(void)
{
    trade_open(&host, NULL);
    CHECK(host_account(&host, SEVEN) == SEVEN);
    CHECK(host_deposit(&host, SEVEN, 10000 * HOST_USDC) == TRADE_OK);
    (void)trade_rest(&host, SEVEN, -BTC * 3 / 10, TRADE_MARK);
    CHECK(trade_tif(&host, 1, BTC * 3 / 10, TRADE_MARK, TRADE_IOC) == TRADE_OK);
}

static void test_example(void)
{
    struct row_position row;
    struct row_balance balance;

    open_example();
    struct uuid id = uuid_engine(host.result.processed_at_ns, host.result.sequence, 1);
    (void)trade_rest(&host, SEVEN, -BTC * 2 / 10, TRADE_MARK);
    CHECK(host_oracle(&host, HOST_BTC, 999900) == TRADE_OK);
    begin(SEVEN, "");
    CHECK(read_positions_next(&cursor, host.engine, &row));
    CHECK(row.account_id == SEVEN && row.subaccount_index == 0 && row.portfolio_index == 0);
    CHECK(memcmp(row.id, id.bytes, 16) == 0); /* R3: behind the maker's fill */
    CHECK(strcmp(row.market, "BTC-PERP") == 0);
    CHECK(row.price_decimals == 1 && row.size_decimals == 5);
    CHECK(row.size == -30000);
    CHECK(row.cost == -30000 * (int64_t)HOST_USDC); /* average 100,000 */
    CHECK(row.net_funding == 0);
    CHECK(row.mark_price == 999900);
    CHECK(row.unrealized_pnl == 3000000);
    CHECK(row.liquidation_price == 1319983);
    CHECK(row.leverage == 20);
    CHECK(row.initial_margin == 2499750000);
    CHECK(row.maintenance_margin == 299970000);
    CHECK(!read_positions_next(&cursor, host.engine, &row));
    CHECK(read_balance(host.engine, SEVEN, 0, 0, &balance));
    CHECK(balance.equity == 9998500000 && balance.withdrawable == 7495750000);
    CHECK(balance.initial_margin == 2499750000 && balance.maintenance_margin == 299970000);
    host_close(&host);
}

/* R7: the score is pnl * 1e6 / max(1, |c|), floored and clamped to 2^62. */
static void test_score(void)
{
    static const struct row {
        int line;
        const char *name;
        int64_t profit, cost;
        int128 score;
    } rows[] = {
        { __LINE__, "J2's short", 3000000, -30000000000, 100 },
        { __LINE__, "at a loss", -3000000, -30000000000, -100 },
        /* -0.0000333 floors to -1 */
        { __LINE__, "a loss of one", -1, 30000000000, -1 },
        { __LINE__, "a profit of one", 1, 30000000000, 0 },
        { __LINE__, "no profit", 0, 7, 0 },
        { __LINE__, "without cost", 5, 0, 5000000 },
        { __LINE__, "a loss beyond the clamp", INT64_MIN, 1, -((int128)1 << 62) },
        { __LINE__, "clamped", INT64_MAX, 1, (int128)1 << 62 },
    };

    for (size_t i = 0; i < CC_COUNT(rows); i++)
        CHECK_ROW(&rows[i], adl_score(rows[i].profit, rows[i].cost) == rows[i].score);
}

/* Holders by ascending portfolio number, resting orders alone among them. */
static void test_holders(void)
{
    struct read_positions_holder holder;
    struct row_position row;
    uint32_t from = 0;

    open_example();
    (void)trade_rest(&host, 3, BTC, 900000);
    CHECK(host_oracle(&host, HOST_BTC, 999900) == TRADE_OK);
    CHECK(read_positions_next_holder(host.engine, 0, &from, &holder));
    CHECK(holder.portfolio == 1 && holder.size == 30000);
    /* bought for 30,000, worth 29,997 */
    CHECK(holder.score == -100);
    CHECK(read_positions_next_holder(host.engine, 0, &from, &holder));
    CHECK(holder.portfolio == 3 && holder.size == 0 && holder.score == 0);
    CHECK(read_positions_next_holder(host.engine, 0, &from, &holder));
    CHECK(holder.portfolio == SEVEN && holder.size == -30000 && holder.score == 100);
    CHECK(!read_positions_next_holder(host.engine, 0, &from, &holder));
    begin(SEVEN, "BTC-PERP");
    CHECK(read_positions_next(&cursor, host.engine, &row));
    CHECK(cursor.portfolio == SEVEN && cursor.asset_id == 1 && cursor.score == 100);
    host_close(&host);
}

static void define(uint32_t asset, const char *base)
{
    static const char name[] = "{\"market\":\"BTC-PERP\",\"asset_id\":1,\"base\":\"BTC\",";
    static char text[4096];

    snprintf(text, sizeof text, "{\"market\":\"%s-PERP\",\"asset_id\":%u,\"base\":\"%s\",%s", base,
             asset, base, host_btc_record + sizeof name - 1);
    CHECK(host_market(&host, text) == TRADE_OK);
    CHECK(host_oracle(&host, (uint16_t)asset, TRADE_MARK) == TRADE_OK);
}

/* Account 2 buys 0.01 of the asset from this portfolio of account 1. */
static void sell(uint32_t subaccount, uint32_t portfolio, uint16_t asset)
{
    uint8_t body[48] = { 1 }, key[32];
    struct host_order buy = { .price = TRADE_MARK, .quantity = 1000, .expiry = 0, .asset = asset };

    host_session_key(1, key);
    cc_store32(body + 8, subaccount);
    cc_store32(body + 12, portfolio);
    cc_store64(body + 16, TRADE_MARK);
    cc_store64(body + 24, (uint64_t)-1000);
    cc_store64(body + 32, TRADE_GTC);
    cc_store16(body + 44, asset);
    struct host_request request = { .code = REQUEST_place_limit_order,
                                    .body = body,
                                    .body_bytes = sizeof body,
                                    .key = key,
                                    .key_bytes = 32 };
    CHECK(host_signed(&host, &request) == TRADE_OK);
    CHECK(host_limit(&host, 2, &buy) == TRADE_OK);
}

static void deposit(uint32_t subaccount, uint32_t portfolio, uint64_t amount)
{
    uint8_t body[56] = { 1 };

    cc_store32(body + 8, subaccount);
    cc_store32(body + 12, portfolio);
    cc_store64(body + 16, amount);
    cc_store64(body + 24, ++host.id_count);
    struct host_request request = { .code = REQUEST_deposit_credit,
                                    .body = body,
                                    .body_bytes = sizeof body,
                                    .key = host_operator_key,
                                    .key_bytes = 32 };
    CHECK(host_signed(&host, &request) == TRADE_OK);
}

/* Markets defined as BTC, asset 3, asset 2; portfolios made as 0/0, 1/0, 0/1: a list goes by
 * portfolio, then asset id. */
static void open_many(void)
{
    trade_open(&host, NULL);
    define(3, "DOT");
    define(2, "ETH");
    (void)subaccount_add(host.engine, 1);
    (void)portfolio_add(host.engine, subaccount_find(host.engine, 1, 0), "Second");
    deposit(1, 0, 1000 * HOST_USDC);
    deposit(0, 1, 500 * HOST_USDC);
    sell(1, 0, 2);
    sell(0, 1, 3);
    sell(0, 1, HOST_BTC);
    sell(0, 0, 3);
    sell(0, 0, 2);
}

static void test_order_of_list(void)
{
    static const struct row {
        int line;
        const char *name;
        uint32_t subaccount, portfolio;
        const char *market;
    } rows[] = {
        { __LINE__, "first", 0, 0, "ETH-PERP" }, { __LINE__, "second", 0, 0, "DOT-PERP" },
        { __LINE__, "third", 0, 1, "BTC-PERP" }, { __LINE__, "fourth", 0, 1, "DOT-PERP" },
        { __LINE__, "fifth", 1, 0, "ETH-PERP" },
    };
    struct row_position row;
    uint32_t filtered = 0;

    open_many();
    begin(1, "");
    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        CHECK_ROW(&rows[i], read_positions_next(&cursor, host.engine, &row));
        CHECK_ROW(&rows[i], row.subaccount_index == rows[i].subaccount);
        CHECK_ROW(&rows[i], row.portfolio_index == rows[i].portfolio);
        CHECK_ROW(&rows[i], strcmp(row.market, rows[i].market) == 0);
    }
    CHECK(!read_positions_next(&cursor, host.engine, &row));
    CHECK(cursor.count == CC_COUNT(rows) && cursor.visited >= cursor.count && !cursor.is_cut);
    CHECK(read_positions_asset(&cursor, host.engine, 2) == HOST_BTC);

    struct read_filter one = all;
    one.account_id = 1;
    one.subaccount_index = 0;
    one.portfolio_index = 1;
    memcpy(one.market, "DOT-PERP", sizeof "DOT-PERP");
    read_positions_begin(&cursor, host.engine, &one);
    CHECK(read_positions_next(&cursor, host.engine, &row) && row.portfolio_index == 1);
    CHECK(strcmp(row.market, "DOT-PERP") == 0);
    CHECK(!read_positions_next(&cursor, host.engine, &row));
    begin(1, "ETH-PERP");
    while (read_positions_next(&cursor, host.engine, &row))
        filtered++;
    CHECK(filtered == 2);
    begin(3, ""); /* has nothing */
    CHECK(!read_positions_next(&cursor, host.engine, &row));
    begin(99, "");
    CHECK(!read_positions_next(&cursor, host.engine, &row));
    host_close(&host);
}

/* A subaccount's free cash is the sum over its portfolios. Sold 0.01 BTC twice: fee 0.15 and IM 50
 * each; 0/0: 100,000 - 100.3, 0/1: 500 - 100.3; 1/0: 1,000 - 50.15. */
static void test_subaccounts(void)
{
    uint32_t subaccount = 0, portfolio = 0;
    struct row_subaccount row;

    open_many();
    CHECK(whole_subaccount(host.engine, 1, 0, &row));
    CHECK(row.subaccount_index == 0 && row.portfolio_count == 2 && row.status == 0);
    CHECK(row.cash_balance == 99899700000 + 399700000);
    CHECK(whole_subaccount(host.engine, 1, 1, &row));
    CHECK(row.subaccount_index == 1 && row.portfolio_count == 1);
    CHECK(row.cash_balance == 949850000);
    CHECK(!whole_subaccount(host.engine, 1, 2, &row));
    CHECK(!whole_subaccount(host.engine, 99, 0, &row));

    CHECK(read_portfolio_from(host.engine, 1, &subaccount, &portfolio));
    CHECK(subaccount == 0 && portfolio == 0);
    portfolio++;
    CHECK(read_portfolio_from(host.engine, 1, &subaccount, &portfolio));
    CHECK(subaccount == 0 && portfolio == 1);
    portfolio++;
    CHECK(read_portfolio_from(host.engine, 1, &subaccount, &portfolio));
    CHECK(subaccount == 1 && portfolio == 0);
    portfolio++;
    CHECK(!read_portfolio_from(host.engine, 1, &subaccount, &portfolio));

    /* A closed portfolio is listed, and is none of the subaccount's (json.md J2). */
    state_portfolio(host.engine, portfolio_find(host.engine, 1, 1, 0))->status = PORTFOLIO_CLOSED;
    CHECK(whole_subaccount(host.engine, 1, 1, &row));
    CHECK(row.portfolio_count == 0 && row.cash_balance == 0);
    host_close(&host);
}

int main(void)
{
    test_example();
    test_score();
    test_holders();
    test_order_of_list();
    test_subaccounts();
    return 0;
}
