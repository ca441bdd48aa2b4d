/* Code 9: cash between the portfolios of an account (rules.md R4, R5, R7, R10), its conditions in
 * R11's order, and the ledger (R2). Amounts are worked out by hand. */
#include "purse.h"

#define USDC HOST_USDC

static const struct purse_place main_place = { 0, 0 }, second = { 0, 1 }, other = { 1, 0 },
                                closed = { 1, 1 };
static struct host host;

/* Account 1 has 0/0 with 100,000 USDC, 0/1, 1/0, and 1/1, which is CLOSED. */
static void open(void)
{
    trade_open(&host, NULL);
    struct keys_id key = keys_make(&host, 1, KEYS_READ_WRITE, KEYS_NO_PIN);
    CHECK(purse_portfolio(&host, 1, 0, "Second") == TRADE_OK);
    CHECK(purse_subaccount(&host, 1) == TRADE_OK);
    CHECK(purse_portfolio(&host, 1, 1, "") == TRADE_OK);
    CHECK(purse_key(&host, REQUEST_portfolio_close, key, 1, closed, 0) == TRADE_OK);
}

/* R2: the row of what leaves, then of what comes; no cash is made or lost. */
static void test_ledger(void)
{
    open();
    CHECK(purse_transfer(&host, 1, main_place, other, 30000 * USDC) == TRADE_OK);
    CHECK(purse_cash(&host, 1, main_place) == (int64_t)(70000 * USDC));
    CHECK(purse_cash(&host, 1, other) == (int64_t)(30000 * USDC));
    struct effect_cash out = purse_row(&host, 0), in = purse_row(&host, 1);
    CHECK(host_effect(&host, EFFECT_cash, 2) == NULL);
    CHECK(out.kind == CASH_transfer && out.amount == -(int64_t)(30000 * USDC));
    CHECK(out.balance_after == (int64_t)(70000 * USDC) && out.portfolio.subaccount_index == 0);
    CHECK(in.kind == CASH_transfer && in.amount == (int64_t)(30000 * USDC));
    CHECK(in.balance_after == (int64_t)(30000 * USDC) && in.portfolio.subaccount_index == 1);
    CHECK(purse_transfer(&host, 1, other, second, 1) == TRADE_OK); /* the least */
    CHECK(purse_cash(&host, 1, second) == 1);
    CHECK(purse_transfer(&host, 1, main_place, second, 70000 * USDC) == TRADE_OK); /* all */
    CHECK(purse_cash(&host, 1, main_place) == 0);
    host_close(&host);
}

struct ask {
    uint64_t from_account;
    struct purse_place from;
    uint64_t to_account;
    struct purse_place to;
    uint64_t amount;
};

static enum status send(uint32_t key, const struct ask *ask)
{
    uint8_t body[40];

    cc_store64(body, ask->from_account);
    cc_store32(body + 8, ask->from.subaccount);
    cc_store32(body + 12, ask->from.portfolio);
    cc_store64(body + 16, ask->to_account);
    cc_store32(body + 24, ask->to.subaccount);
    cc_store32(body + 28, ask->to.portfolio);
    cc_store64(body + 32, ask->amount);
    return purse_send_as(&host, key, REQUEST_transfer, body, sizeof body);
}

enum { PINNED = 40, TRADING = 41 };

/* Each row has all that the later ones refuse as well, as far as it can. 0/0 has an order in a
 * market whose index is stale, 0/1 has 10 micro-USDC and nothing else. The order is 0.01 BTC: IM
 * 50, stress 10 % of 1,000: of 99,999.99999 USDC 99,849.99999 are free. */
static const struct row {
    int line;
    const char *name;
    uint32_t key;
    struct ask ask;
    enum status want;
} rows[] = {
    { __LINE__,
      "3 another account's key",
      2,
      { 1, { 9, 9 }, 2, { 9, 9 }, 0 },
      STATUS_rejected_unauthorized },
    { __LINE__,
      "3 a trading session",
      TRADING,
      { 1, { 9, 9 }, 2, { 9, 9 }, 0 },
      STATUS_rejected_unauthorized },
    { __LINE__,
      "3 from beyond the pin",
      PINNED,
      { 1, { 1, 9 }, 2, { 9, 9 }, 0 },
      STATUS_rejected_unauthorized },
    { __LINE__,
      "3 to beyond the pin",
      PINNED,
      { 1, { 0, 9 }, 1, { 1, 9 }, 0 },
      STATUS_rejected_unauthorized },
    { __LINE__,
      "5 to of another account, whatever the pin",
      PINNED,
      { 1, { 0, 0 }, 2, { 1, 0 }, 0 },
      STATUS_rejected_invalid_portfolio_id },
    { __LINE__,
      "5 from is missing",
      1,
      { 1, { 0, 9 }, 2, { 9, 9 }, 0 },
      STATUS_rejected_invalid_portfolio_id },
    { __LINE__,
      "5 from is closed",
      1,
      { 1, { 1, 1 }, 1, { 1, 0 }, 0 },
      STATUS_rejected_invalid_portfolio_id },
    { __LINE__,
      "5 to of another account",
      1,
      { 1, { 0, 0 }, 2, { 0, 0 }, 0 },
      STATUS_rejected_invalid_portfolio_id },
    { __LINE__,
      "5 to of nobody",
      1,
      { 1, { 0, 0 }, 0, { 0, 0 }, 0 },
      STATUS_rejected_invalid_portfolio_id },
    { __LINE__,
      "5 to is missing",
      1,
      { 1, { 0, 0 }, 1, { 2, 0 }, 0 },
      STATUS_rejected_invalid_portfolio_id },
    { __LINE__,
      "5 to is closed",
      1,
      { 1, { 0, 0 }, 1, { 1, 1 }, 0 },
      STATUS_rejected_invalid_portfolio_id },
    { __LINE__, "15 nothing", 1, { 1, { 0, 0 }, 1, { 0, 0 }, 0 }, STATUS_rejected_size_zero },
    { __LINE__,
      "more than free - stress",
      1,
      { 1, { 0, 0 }, 1, { 0, 1 }, 99849999991 },
      STATUS_rejected_insufficient_free_equity },
    { __LINE__, "the stress of from alone", 1, { 1, { 0, 1 }, 1, { 0, 0 }, 1 }, TRADE_OK },
    { __LINE__,
      "to itself",
      1,
      { 1, { 0, 1 }, 1, { 0, 1 }, UINT64_MAX },
      STATUS_rejected_self_transfer },
    { __LINE__,
      "more than free",
      1,
      { 1, { 0, 1 }, 1, { 0, 0 }, 10 },
      STATUS_rejected_insufficient_free_equity },
    { __LINE__,
      "beyond every bound",
      1,
      { 1, { 0, 1 }, 1, { 0, 0 }, UINT64_MAX },
      STATUS_rejected_insufficient_free_equity },
    { __LINE__, "all that is free", 1, { 1, { 0, 1 }, 1, { 1, 0 }, 9 }, TRADE_OK },
    { __LINE__,
      "all that is free - stress",
      1,
      { 1, { 0, 0 }, 1, { 1, 0 }, 99849999991 },
      TRADE_OK },
};

static void test_rows(void)
{
    open();
    purse_session(&host, 1, PINNED, 0, 0);
    purse_session(&host, 1, TRADING, 1, -1);
    CHECK(purse_transfer(&host, 1, main_place, second, 10) == TRADE_OK);
    (void)trade_rest(&host, 1, 1000, 990000); /* 0/0 has an order in BTC ... */
    host_tick(&host, 11 * HOST_SECOND_NS);    /* ... whose index is stale */
    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        uint64_t count = 0;
        CHECK_ROW(&rows[i], send(rows[i].key, &rows[i].ask) == rows[i].want);
        while (host_effect(&host, EFFECT_cash, (uint32_t)count) != NULL)
            count++;
        CHECK_ROW(&rows[i], count == (rows[i].want == TRADE_OK ? 2 : 0));
    }
    host_close(&host);
}

/* R4: HALTED, all that the order is worth is stress: 100,000 - 50 - 1,000. */
static void test_halted(void)
{
    uint8_t halt[8] = { HOST_BTC, 0, 0, 0, 4 };

    open();
    (void)trade_rest(&host, 1, 1000, 990000);
    CHECK(purse_transfer(&host, 1, main_place, second, 1) == TRADE_OK);
    CHECK(host_unsigned(&host, REQUEST_market_state, halt, sizeof halt) == TRADE_OK);
    CHECK(purse_transfer(&host, 1, main_place, second, 98950000000) ==
          STATUS_rejected_insufficient_free_equity);
    CHECK(purse_transfer(&host, 1, main_place, second, 98949999999) == TRADE_OK);
    CHECK(purse_transfer(&host, 1, second, main_place, 1) == TRADE_OK);
    host_close(&host);
}

/* R4: free = cash + min(0, uPnL) - IM. 1 BTC bought at 100,000 by a taker costs 45 USDC of fee and
 * 5,000 of margin (20x): 100,000 - 45 - 5,000 are free. A profit is not; a loss counts. */
static void test_free(void)
{
    static const struct {
        uint64_t index;
        uint64_t free;
    } steps[] = {
        { 1000000, (100000 - 45 - 5000) * USDC },       /* at the price of entry */
        { 1010000, (100000 - 45 - 5050) * USDC },       /* 1,000 of profit: IM 5,050 */
        { 990000, (100000 - 45 - 1000 - 4950) * USDC }, /* 1,000 of loss: IM 4,950 */
    };

    open();
    (void)trade_rest(&host, 2, -100000, 1000000);
    CHECK(trade_limit(&host, 1, 100000, 1000000) == TRADE_OK);
    CHECK(trade_size(&host, 1) == 100000);
    for (size_t i = 0; i < CC_COUNT(steps); i++) {
        trade_index(&host, steps[i].index);
        CHECK(trade_market(&host)->mark == steps[i].index);
        CHECK(purse_transfer(&host, 1, main_place, second, steps[i].free + 1) ==
              STATUS_rejected_insufficient_free_equity);
        CHECK(purse_transfer(&host, 1, main_place, second, steps[i].free) == TRADE_OK);
        CHECK(purse_transfer(&host, 1, main_place, second, 1) ==
              STATUS_rejected_insufficient_free_equity);
        CHECK(purse_transfer(&host, 1, second, main_place, steps[i].free) == TRADE_OK);
        trade_check_figures(&host);
    }
    host_close(&host);
}

/* Open loss counts, and exactly, though the engine keeps a bound of it (R4, open loss by bound):
 * with the mark at 99,500 the order at 100,000 loses 500, the one at 99,000 nothing; IM is 2 *
 * 99,500 / 20 more. */
static void test_free_with_orders(void)
{
    const uint64_t free = (100000 - 9950 - 500) * USDC;

    open();
    (void)trade_rest(&host, 1, 100000, 990000);
    (void)trade_rest(&host, 1, 100000, 1000000);
    trade_market(&host)->mark = 995000;
    recheck_mark_moved(host.engine, 0);
    CHECK(purse_transfer(&host, 1, main_place, second, free + 1) ==
          STATUS_rejected_insufficient_free_equity);
    CHECK(purse_transfer(&host, 1, main_place, second, free) == TRADE_OK);
    host_close(&host);
}

/* R10, where cash may not go: what is IN_LIQUIDATION takes, and gives nothing. 10 BTC bought at
 * 100,000 with 54,500 of cash: the fee is 450, and at 95,400 E = 54,050 - 46,000 = 8,050 is less
 * than MM = 954,000 / 100 = 9,540; 3E >= 2MM and nobody buys: it stays so. */
static void test_liquidation(void)
{
    open();
    CHECK(purse_transfer(&host, 1, main_place, second, 45500 * USDC) == TRADE_OK);
    (void)trade_rest(&host, 2, -1000000, 1000000);
    CHECK(trade_limit(&host, 1, 1000000, 1000000) == TRADE_OK);
    trade_index(&host, 954000);
    CHECK(purse_at(&host, 1, main_place)->status == PORTFOLIO_IN_LIQUIDATION);
    CHECK(purse_transfer(&host, 1, main_place, second, 1) ==
          STATUS_rejected_insufficient_free_equity);
    CHECK(purse_transfer(&host, 1, second, main_place, 1000 * USDC) == TRADE_OK);
    CHECK(purse_at(&host, 1, main_place)->status == PORTFOLIO_IN_LIQUIDATION);
    /* E * 100 >= MM * 105 = 10,017 * 100: it needs 967 more (R7). */
    CHECK(purse_transfer(&host, 1, second, main_place, 966 * USDC) == TRADE_OK);
    CHECK(purse_at(&host, 1, main_place)->status == PORTFOLIO_IN_LIQUIDATION);
    CHECK(purse_transfer(&host, 1, second, main_place, 1 * USDC) == TRADE_OK);
    CHECK(purse_at(&host, 1, main_place)->status == PORTFOLIO_ACTIVE);
    host_close(&host);
}

/* R10, where cash may not go: R1's bound of the receiver comes last, and nothing changes. */
static void test_bound(void)
{
    const uint64_t most = UINT64_C(1) << 60;

    open();
    CHECK(purse_deposit(&host, 1, second, most - 5) == TRADE_OK);
    CHECK(purse_transfer(&host, 1, main_place, second, 6) == STATUS_order_rejected_internal);
    CHECK(purse_cash(&host, 1, main_place) == (int64_t)(100000 * USDC));
    CHECK(purse_transfer(&host, 1, main_place, second, 5) == TRADE_OK);
    CHECK(purse_cash(&host, 1, second) == (int64_t)most);
    host_close(&host);
}

int main(void)
{
    test_ledger();
    test_rows();
    test_halted();
    test_free();
    test_free_with_orders();
    test_liquidation();
    test_bound();
    return 0;
}
