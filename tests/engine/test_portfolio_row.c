/* The rows of CLOSED portfolios (wire.md W8, slots; rules.md R10): given back a minute after the
 * closing when nothing speaks of the portfolio, while its index stays and reads as CLOSED; got
 * again by 2003, if the share has room, and by 1003 always. The host audits every command. */
#include "engine/state/portfolio_row.h"
#include "engine/view/read.h"
#include "image_copy.h"
#include "keys.h"
#include "purse.h"
#include "trade.h"
#include "whole_subaccount.h"

#define USDC     HOST_USDC
#define REFUSED  STATUS_order_rejected_invalid
#define MISSING  STATUS_rejected_invalid_portfolio_id
#define PLACE(n) ((struct purse_place){ 0, (n) })

enum { KEPT_S = 47 }; /* past 30 s, future 5 s, 11 s more (R10), and one */

static struct host host;
static struct keys_id key;

static void begin(const char *options)
{
    trade_open(&host, options);
    key = keys_make(&host, 1, KEYS_READ_WRITE, KEYS_NO_PIN);
}

static void wait_s(uint64_t seconds)
{
    host_tick(&host, seconds * HOST_SECOND_NS);
}

static enum status close_it(struct purse_place place)
{
    return purse_key(&host, REQUEST_portfolio_close, key, 1, place, 0);
}

static enum status reopen(struct purse_place place)
{
    return purse_key(&host, REQUEST_portfolio_reopen, key, 1, place, 0);
}

/* Code 2001 of account 1's 0/1. */
static enum status set_leverage(uint32_t leverage)
{
    uint8_t body[40] = { 0 };

    memcpy(body, key.bytes, sizeof key.bytes);
    cc_store64(body + 16, 1);
    cc_store32(body + 28, 1);
    cc_store32(body + 32, leverage);
    cc_store16(body + 36, HOST_BTC);
    return host_unsigned(&host, REQUEST_set_leverage, body, sizeof body);
}

static bool has_row(struct purse_place place)
{
    return portfolio_find(host.engine, 1, place.subaccount, place.portfolio) != PORTFOLIO_NONE;
}

static uint32_t rows_of(uint32_t n)
{
    return host.engine->accounts.rows[n].counts[SHARE_portfolios];
}

/* GET /balance of the portfolio: whether it says status, and this name. */
static bool reads_as(struct purse_place place, uint8_t status, const char *name)
{
    struct row_balance row;
    char want[32] = { 0 };

    memcpy(want, name, strlen(name));
    return read_balance(host.engine, 1, place.subaccount, place.portfolio, &row) &&
           row.status == status && memcmp(row.name, want, sizeof want) == 0 &&
           row.cash_balance == 0 && row.equity == 0 && row.withdrawable_now == 0;
}

/* --- a row goes ------------------------------------------------------------------------------- */

static void test_goes(void)
{
    begin(NULL);
    CHECK(purse_portfolio(&host, 1, 0, "Trend") == TRADE_OK);
    CHECK(purse_portfolio(&host, 1, 0, "") == TRADE_OK && rows_of(1) == 3);
    CHECK(close_it(PLACE(1)) == TRADE_OK && has_row(PLACE(1)));
    CHECK(reads_as(PLACE(1), PORTFOLIO_CLOSED, "Portfolio 1")); /* at once */
    wait_s(KEPT_S - 2);
    CHECK(has_row(PLACE(1)) && rows_of(1) == 3);
    wait_s(2);
    CHECK(!has_row(PLACE(1)) && rows_of(1) == 2);
    CHECK(reads_as(PLACE(1), PORTFOLIO_CLOSED, "Portfolio 1"));
    CHECK(reads_as(PLACE(2), PORTFOLIO_ACTIVE, "Portfolio 2"));
    CHECK(!read_balance(host.engine, 1, 0, 3, &(struct row_balance){ 0 }));
    /* The next index is the next one, in the row that was given back. */
    uint32_t table = host.engine->portfolios.count;
    CHECK(purse_portfolio(&host, 1, 0, "") == TRADE_OK && host.result.portfolio_index == 3);
    CHECK(host.engine->portfolios.count == table && rows_of(1) == 3);
    /* What names it answers as before. */
    CHECK(close_it(PLACE(1)) == REFUSED && host.result.reason == REASON_portfolio_not_active);
    CHECK(purse_rename(&host, key, 1, PLACE(1), "Mine") == REFUSED);
    CHECK(host.result.reason == REASON_portfolio_not_active);
    CHECK(purse_transfer(&host, 1, PLACE(0), PLACE(1), USDC) == MISSING);
    CHECK(close_it(PLACE(9)) == MISSING);
    CHECK(host_cancel_all(&host, 1, 0xFFFF, 0) == TRADE_OK);
    struct row_subaccount row;
    CHECK(whole_subaccount(host.engine, 1, 0, &row) && row.portfolio_count == 3);
    host_close(&host);
}

/* What keeps a row: the setting of a leverage, a withdrawal that is kept, that it opened again. */
static void test_stays(void)
{
    begin(NULL);
    for (uint32_t i = 1; i <= 4; i++)
        CHECK(purse_portfolio(&host, 1, 0, "") == TRADE_OK);
    CHECK(set_leverage(3) == TRADE_OK);
    CHECK(purse_transfer(&host, 1, PLACE(0), PLACE(2), 5 * USDC) == TRADE_OK);
    CHECK(purse_withdraw(&host, 1, PLACE(2), 5 * USDC) == TRADE_OK);
    uint8_t id[16];
    memcpy(id, host.result.id, sizeof id);
    for (uint32_t i = 1; i <= 4; i++)
        CHECK(close_it(PLACE(i)) == TRADE_OK);
    CHECK(reopen(PLACE(3)) == TRADE_OK);
    wait_s(KEPT_S);
    CHECK(has_row(PLACE(1)) && has_row(PLACE(2)) && has_row(PLACE(3)) && !has_row(PLACE(4)));
    CHECK(purse_settle(&host, id, 0) == TRADE_OK);
    for (uint32_t i = 0; i < 3; i++)
        wait_s(KEPT_S);
    CHECK(has_row(PLACE(1)) && !has_row(PLACE(2)) && has_row(PLACE(3)));
    CHECK(reopen(PLACE(1)) == TRADE_OK);
    CHECK(set_leverage(market_leverage(trade_market(&host))) == TRADE_OK);
    CHECK(close_it(PLACE(1)) == TRADE_OK);
    wait_s(KEPT_S);
    CHECK(!has_row(PLACE(1)));
    host_close(&host);
}

/* Portfolio 0 of an open subaccount, and 0/0, keep theirs. */
static void test_first(void)
{
    struct purse_place first = { 1, 0 };

    begin(NULL);
    CHECK(purse_withdraw(&host, 1, PLACE(0), TRADE_CASH) == TRADE_OK);
    uint8_t id[16];
    memcpy(id, host.result.id, sizeof id);
    CHECK(purse_settle(&host, id, 0) == TRADE_OK);
    CHECK(purse_subaccount(&host, 1) == TRADE_OK && purse_portfolio(&host, 1, 1, "") == TRADE_OK);
    CHECK(close_it(PLACE(0)) == TRADE_OK && close_it(first) == TRADE_OK);
    CHECK(close_it((struct purse_place){ 1, 1 }) == TRADE_OK);
    wait_s(KEPT_S);
    wait_s(KEPT_S);
    CHECK(has_row(PLACE(0)) && has_row(first) && !has_row((struct purse_place){ 1, 1 }));
    CHECK(purse_close_subaccount(&host, 1, 1) == TRADE_OK);
    wait_s(KEPT_S);
    CHECK(!has_row(first) && reads_as(first, PORTFOLIO_CLOSED, "Main") && rows_of(1) == 1);
    CHECK(reopen(first) == REFUSED && host.result.reason == REASON_subaccount_not_active);
    CHECK(purse_close_subaccount(&host, 1, 0) == TRADE_OK);
    CHECK(purse_close_account(&host, 1) == TRADE_OK);
    host_close(&host);
}

/* --- the row of a subaccount ------------------------------------------------------------------ */

static void through_image(void);

static uint32_t subaccounts_of(uint32_t n)
{
    return host.engine->accounts.rows[n].counts[SHARE_subaccounts];
}

/* Code 1007 of account 1: all orders of a portfolio, of all of the subaccount with UINT32_MAX. */
static enum status operator_ends(uint32_t subaccount, uint32_t portfolio)
{
    uint8_t body[40] = { 0 };

    cc_store64(body, 1);
    cc_store32(body + 8, subaccount);
    cc_store32(body + 12, portfolio);
    cc_store16(body + 32, 0xFFFF);
    return purse_send(&host, PURSE_OPERATOR, 0, REQUEST_operator_cancel, body, sizeof body);
}

/* It goes with the row of its last portfolio, its index does not: it reads as CLOSED, with
 * portfolio 0, and answers so. */
static void test_subaccount(void)
{
    struct purse_place first = { 1, 0 }, second = { 1, 1 };
    struct row_subaccount row;

    begin("limits.subaccounts=3\n");
    CHECK(purse_subaccount(&host, 1) == TRADE_OK && purse_portfolio(&host, 1, 1, "") == TRADE_OK);
    CHECK(close_it(first) == TRADE_OK && close_it(second) == TRADE_OK);
    wait_s(KEPT_S);
    wait_s(KEPT_S);
    CHECK(!has_row(second) && has_row(first) && subaccounts_of(1) == 2); /* it is ACTIVE */
    CHECK(reopen(second) == TRADE_OK && close_it(second) == TRADE_OK);
    CHECK(purse_close_subaccount(&host, 1, 1) == TRADE_OK);
    wait_s(KEPT_S - 2);
    CHECK(subaccounts_of(1) == 2);
    wait_s(2);
    CHECK(!has_row(first) && !has_row(second) && subaccounts_of(1) == 1);
    CHECK(subaccount_find(host.engine, 1, 1) == SUBACCOUNT_NONE);
    CHECK(whole_subaccount(host.engine, 1, 1, &row) && row.status == SUBACCOUNT_CLOSED);
    CHECK(row.subaccount_index == 1 && row.portfolio_count == 0 && row.cash_balance == 0);
    CHECK(!whole_subaccount(host.engine, 1, 2, &row));
    CHECK(reads_as(first, PORTFOLIO_CLOSED, "Main"));
    CHECK(!read_balance(host.engine, 1, 1, 1, &(struct row_balance){ 0 }));
    CHECK(reopen(first) == REFUSED && host.result.reason == REASON_subaccount_not_active);
    CHECK(close_it(first) == REFUSED && host.result.reason == REASON_portfolio_not_active);
    CHECK(reopen(second) == MISSING && purse_close_subaccount(&host, 1, 1) == MISSING);
    CHECK(purse_portfolio(&host, 1, 1, "") == MISSING);
    CHECK(purse_deposit(&host, 1, first, USDC) == MISSING);
    CHECK(operator_ends(1, UINT32_MAX) == TRADE_OK && operator_ends(1, 0) == TRADE_OK);
    CHECK(operator_ends(1, 1) == MISSING && operator_ends(2, UINT32_MAX) == MISSING);
    CHECK(operator_ends(UINT32_MAX, UINT32_MAX) == TRADE_OK);
    through_image();
    /* The next one has the next index, in the row that was given back; 3 were made with it. */
    uint32_t table = host.engine->subaccounts.count;
    CHECK(purse_subaccount(&host, 1) == TRADE_OK && host.result.subaccount_index == 2);
    CHECK(host.engine->subaccounts.count == table && subaccounts_of(1) == 2);
    through_image();
    CHECK(purse_subaccount(&host, 1) == REFUSED && host.result.reason == REASON_limit_reached);
    host_close(&host);
}

/* An arm and a pinned key of a subaccount outlive its row, and an image has them. The account
 * closes beside it. */
static void test_subaccount_named(void)
{
    uint8_t arm[56] = { 0 };
    struct purse_place first = { 1, 0 };

    begin(NULL);
    CHECK(purse_subaccount(&host, 1) == TRADE_OK);
    struct keys_id pinned = keys_make(&host, 1, KEYS_READ_WRITE, 1);
    memset(arm, 0xA5, 16);
    memcpy(arm + 16, key.bytes, sizeof key.bytes);
    cc_store64(arm + 32, 1);
    cc_store32(arm + 40, 1);
    arm[48] = 1;
    CHECK(host_unsigned(&host, REQUEST_disconnect_arm, arm, sizeof arm) == TRADE_OK);
    CHECK(close_it(first) == TRADE_OK && purse_close_subaccount(&host, 1, 1) == TRADE_OK);
    wait_s(KEPT_S);
    CHECK(subaccounts_of(1) == 1 && host.engine->arms.slots.count == 1);
    through_image();
    CHECK(purse_key(&host, REQUEST_portfolio_close, pinned, 1, first, 0) == REFUSED);
    CHECK(host_unsigned(&host, REQUEST_cancel_on_disconnect, arm, 16) == TRADE_OK);
    CHECK(purse_withdraw(&host, 1, PLACE(0), TRADE_CASH) == TRADE_OK);
    uint8_t id[16];
    memcpy(id, host.result.id, sizeof id);
    CHECK(purse_settle(&host, id, 0) == TRADE_OK && close_it(PLACE(0)) == TRADE_OK);
    CHECK(purse_close_account(&host, 1) == REFUSED); /* subaccount 0 is ACTIVE */
    CHECK(purse_close_subaccount(&host, 1, 0) == TRADE_OK);
    CHECK(purse_close_account(&host, 1) == TRADE_OK);
    through_image();
    host_close(&host);
}

/* --- a row comes again ------------------------------------------------------------------------ */

static void test_again(void)
{
    begin("limits.account_portfolios=3\nlimits.portfolios=8\n");
    for (uint32_t i = 1; i <= 2; i++)
        CHECK(purse_portfolio(&host, 1, 0, "Mine") == TRADE_OK);
    CHECK(close_it(PLACE(1)) == TRADE_OK && close_it(PLACE(2)) == TRADE_OK);
    wait_s(KEPT_S);
    CHECK(rows_of(1) == 1);
    CHECK(reopen(PLACE(2)) == TRADE_OK && purse_told(&host, 0).status == PORTFOLIO_ACTIVE);
    CHECK(purse_told(&host, 0).portfolio_index == 2 && host.result.members == 0);
    CHECK(reads_as(PLACE(2), PORTFOLIO_ACTIVE, "Portfolio 2"));
    CHECK(purse_portfolio(&host, 1, 0, "") == TRADE_OK && host.result.portfolio_index == 3);
    /* The bound is reached: 2003 says so, a credit gets a row all the same. */
    CHECK(reopen(PLACE(1)) == REFUSED && host.result.reason == REASON_limit_reached);
    CHECK(purse_portfolio(&host, 1, 0, "") == REFUSED && !has_row(PLACE(1)));
    CHECK(purse_deposit(&host, 1, PLACE(1), 7 * USDC) == TRADE_OK);
    CHECK(host.result.members == 0 && purse_told(&host, 0).status == PORTFOLIO_ACTIVE);
    CHECK(purse_cash(&host, 1, PLACE(1)) == 7 * (int64_t)USDC && rows_of(1) == 4);
    CHECK(purse_deposit(&host, 1, PLACE(1), 0) == STATUS_rejected_size_zero);
    CHECK(purse_transfer(&host, 1, PLACE(1), PLACE(2), 7 * USDC) == TRADE_OK);
    CHECK(close_it(PLACE(1)) == TRADE_OK);
    wait_s(KEPT_S);
    CHECK(!has_row(PLACE(1)) && purse_cash(&host, 1, PLACE(2)) == 7 * (int64_t)USDC);
    host_close(&host);
}

/* A table without any row: the credit goes to portfolio 0, as for an index that was never made. */
static void test_full(void)
{
    begin(NULL);
    CHECK(purse_portfolio(&host, 1, 0, "") == TRADE_OK && close_it(PLACE(1)) == TRADE_OK);
    wait_s(KEPT_S);
    struct portfolio_table *table = &host.engine->portfolios;
    uint32_t limit = table->limit;
    struct free_rows free = table->free;
    host.skip_audit = true; /* it counts free rows */
    table->free.heap.count = 0;
    table->limit = table->count;
    CHECK(purse_deposit(&host, 1, PLACE(1), 7 * USDC) == TRADE_OK);
    table->free = free;
    table->limit = limit;
    host.skip_audit = false;
    CHECK(!has_row(PLACE(1)));
    CHECK(purse_cash(&host, 1, PLACE(0)) == (int64_t)(TRADE_CASH + 7 * USDC));
    host_close(&host);
}

/* --- positions and images --------------------------------------------------------------------- */

static void through_image(void)
{
    static struct image_copy copy, again;
    struct image_problem problem;

    image_copy_take(&copy, host.engine);
    CHECK(image_copy_reopen(&copy, &host, &problem));
    image_copy_take(&again, host.engine);
    CHECK(image_copy_equal(&copy, &again));
    image_copy_free(&copy);
    image_copy_free(&again);
}

/* Account 1 buys from 2. */
static void swap(int64_t quantity)
{
    trade_index(&host, TRADE_MARK);
    (void)trade_rest(&host, 2, -quantity, TRADE_MARK);
    CHECK(trade_limit(&host, 1, quantity, TRADE_MARK) == TRADE_OK);
}

/* An account that is left with one row still counts what it holds (R4, tiers of entry), and an
 * image of that brings the same state. */
static void test_positions(void)
{
    begin(NULL);
    CHECK(purse_portfolio(&host, 1, 0, "") == TRADE_OK);
    swap(1000);
    CHECK(close_it(PLACE(1)) == TRADE_OK);
    wait_s(KEPT_S);
    CHECK(rows_of(1) == 1 && account_position_counts(&host.engine->accounts.rows[1]));
    uint32_t market = market_find(host.engine, HOST_BTC);
    CHECK(account_position_size(host.engine, 1, market) == 1000);
    through_image();
    swap(500);
    CHECK(account_position_size(host.engine, 1, market) == 1500);
    CHECK(reopen(PLACE(1)) == TRADE_OK);
    through_image();
    host_close(&host);
}

int main(void)
{
    test_goes();
    test_stays();
    test_first();
    test_subaccount();
    test_subaccount_named();
    test_again();
    test_full();
    test_positions();
    return 0;
}
