/* Codes 22 to 24, 2002, 2003 and 2010: subaccounts and portfolios are made, closed, opened again
 * and renamed (rules.md R10, R11), and what a duplicate answers (W5). */
#include "engine/view/read.h"
#include "purse.h"
#include "whole_subaccount.h"

#define REFUSED STATUS_order_rejected_invalid
#define MISSING STATUS_rejected_invalid_portfolio_id

enum { PINNED = 40, TRADING = 41, FULL = 42 };

static const struct purse_place main_place = { 0, 0 };
static struct host host;
static struct keys_id key, reader, pinned;

static void open(const char *overrides)
{
    trade_open(&host, overrides);
    key = keys_make(&host, 1, KEYS_READ_WRITE, KEYS_NO_PIN);
    reader = keys_make(&host, 1, KEYS_READ, KEYS_NO_PIN);
    pinned = keys_make(&host, 1, KEYS_READ_WRITE, 0);
}

static enum status close_place(uint32_t subaccount, uint32_t portfolio)
{
    struct purse_place place = { subaccount, portfolio };
    return purse_key(&host, REQUEST_portfolio_close, key, 1, place, 0);
}

static enum status reopen(uint32_t subaccount, uint32_t portfolio)
{
    struct purse_place place = { subaccount, portfolio };
    return purse_key(&host, REQUEST_portfolio_reopen, key, 1, place, 0);
}

static void empty_account(uint32_t n)
{
    CHECK(purse_withdraw(&host, n, main_place, TRADE_CASH) == TRADE_OK);
    uint8_t id[16];
    memcpy(id, host.result.id, sizeof id);
    CHECK(purse_settle(&host, id, 0) == TRADE_OK);
}

static bool is_named(struct purse_place place, const char *name)
{
    char want[32] = { 0 };

    memcpy(want, name, strlen(name));
    return memcmp(purse_at(&host, 1, place)->name, want, sizeof want) == 0;
}

/* R10: dense indexes, "Main" and "Portfolio N", and what the answer and 2119 say. */
static void test_make(void)
{
    open(NULL);
    for (uint32_t i = 1; i <= 3; i++) {
        struct purse_place place = { i, 0 };
        CHECK(purse_subaccount(&host, 1) == TRADE_OK);
        CHECK(host.result.members == ANSWER_HAS_INDEXES);
        CHECK(host.result.subaccount_index == i && host.result.portfolio_index == 0);
        CHECK(purse_told(&host, 0).what == ACCOUNT_WHAT_SUBACCOUNT);
        CHECK(purse_told(&host, 0).subaccount_index == i);
        CHECK(host_effect(&host, EFFECT_account, 1) == NULL); /* R10 */
        CHECK(is_named(place, "Main"));
    }
    CHECK(purse_portfolio(&host, 1, 2, "Trend") == TRADE_OK);
    CHECK(host.result.members == ANSWER_HAS_INDEXES && host.result.portfolio_index == 1);
    CHECK(host.result.subaccount_index == 2);
    CHECK(purse_told(&host, 0).what == ACCOUNT_WHAT_PORTFOLIO);
    CHECK(purse_portfolio(&host, 1, 2, "") == TRADE_OK && host.result.portfolio_index == 2);
    CHECK(purse_portfolio(&host, 1, 0, "") == TRADE_OK && host.result.portfolio_index == 1);
    CHECK(purse_portfolio(&host, 1, 0, "12345678901234567890123456789012") == TRADE_OK);
    CHECK(is_named((struct purse_place){ 2, 1 }, "Trend"));
    CHECK(is_named((struct purse_place){ 2, 2 }, "Portfolio 2"));
    CHECK(is_named((struct purse_place){ 0, 1 }, "Portfolio 1"));
    CHECK(is_named((struct purse_place){ 0, 2 }, "12345678901234567890123456789012"));
    CHECK(portfolio_find(host.engine, 1, 2, 3) == PORTFOLIO_NONE);
    CHECK(portfolio_find(host.engine, 2, 2, 0) == PORTFOLIO_NONE);
    CHECK(subaccount_find(host.engine, 1, 4) == SUBACCOUNT_NONE);
    host_close(&host);
}

/* W8, R10: CLOSED ones count. Then the tables: row 34. */
static void test_limits(void)
{
    open("limits.subaccounts=3\nlimits.portfolios=2\n");
    CHECK(purse_subaccount(&host, 1) == TRADE_OK);
    CHECK(close_place(1, 0) == TRADE_OK && purse_close_subaccount(&host, 1, 1) == TRADE_OK);
    CHECK(purse_subaccount(&host, 1) == TRADE_OK);
    CHECK(purse_subaccount(&host, 1) == REFUSED && host.result.reason == REASON_limit_reached);
    CHECK(purse_portfolio(&host, 1, 2, "") == TRADE_OK);
    CHECK(close_place(2, 0) == TRADE_OK);
    CHECK(purse_portfolio(&host, 1, 2, "") == REFUSED);
    CHECK(host.result.reason == REASON_limit_reached);
    CHECK(purse_portfolio(&host, 1, 0, "") == TRADE_OK); /* each subaccount has its own */
    host_close(&host);

    open("engine.portfolios=16\n"); /* 0/0/0, six accounts: room for nine */
    for (unsigned i = 0; i < 9; i++)
        CHECK((i % 2 == 0 ? purse_subaccount(&host, 1) : purse_portfolio(&host, 1, 0, "")) ==
              TRADE_OK);
    CHECK(purse_subaccount(&host, 1) == REFUSED && host.result.reason == REASON_limit_reached);
    CHECK(purse_portfolio(&host, 1, 0, "") == REFUSED);
    CHECK(host.result.reason == REASON_limit_reached);
    CHECK(host.engine->accounts.rows[1].subaccount_count == 6);
    host_close(&host);
}

/* Rows 3 of 22 to 24 and their other conditions, each with all that the later ones refuse. */
static void test_rows(void)
{
    static const struct row {
        int line;
        const char *name;
        uint32_t signer; /* session key, or 0: the master key of account 1 */
        uint16_t code;
        uint32_t subaccount;
        uint8_t pad, text;
        enum status want;
    } rows[] = {
        { __LINE__, "22 a session", FULL, REQUEST_create_subaccount, 0, 0, 0,
          STATUS_rejected_unauthorized },
        { __LINE__, "23 a session", FULL, REQUEST_close_subaccount, 9, 1, 0,
          STATUS_rejected_unauthorized },
        { __LINE__, "23 pads", 0, REQUEST_close_subaccount, 9, 1, 0, REFUSED },
        { __LINE__, "23 missing", 0, REQUEST_close_subaccount, 9, 0, 0, MISSING },
        { __LINE__, "23 closed", 0, REQUEST_close_subaccount, 1, 0, 0, MISSING },
        { __LINE__, "24 a trading session", TRADING, REQUEST_create_portfolio, 9, 1, 7,
          STATUS_rejected_unauthorized },
        { __LINE__, "24 beyond the pin", PINNED, REQUEST_create_portfolio, 9, 1, 7,
          STATUS_rejected_unauthorized },
        { __LINE__, "24 missing", FULL, REQUEST_create_portfolio, 9, 1, 7, MISSING },
        { __LINE__, "24 closed", FULL, REQUEST_create_portfolio, 1, 1, 7, MISSING },
        { __LINE__, "24 pads", FULL, REQUEST_create_portfolio, 0, 1, 'a', REFUSED },
        { __LINE__, "24 a control character", FULL, REQUEST_create_portfolio, 0, 0, 7, REFUSED },
        { __LINE__, "24 full", FULL, REQUEST_create_portfolio, 2, 0, 'a', REFUSED },
        { __LINE__, "24 within the pin", PINNED, REQUEST_create_portfolio, 0, 0, 'a', TRADE_OK },
        { __LINE__, "24 the master key", 0, REQUEST_create_portfolio, 0, 0, 'a', TRADE_OK },
    };

    open("limits.portfolios=3\n");
    purse_session(&host, 1, PINNED, 0, 0);
    purse_session(&host, 1, TRADING, 1, -1);
    purse_session(&host, 1, FULL, 0, -1);
    for (uint32_t i = 1; i <= 2; i++)
        CHECK(purse_subaccount(&host, 1) == TRADE_OK);
    CHECK(close_place(1, 0) == TRADE_OK && purse_close_subaccount(&host, 1, 1) == TRADE_OK);
    CHECK(purse_portfolio(&host, 1, 2, "") == TRADE_OK);
    CHECK(purse_portfolio(&host, 1, 2, "") == TRADE_OK);
    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        const struct row *row = &rows[i];
        uint8_t body[48] = { 1 };
        cc_store32(body + 8, row->subaccount);
        body[12] = row->pad;
        body[16] = row->text;
        enum status status = purse_send(&host, row->signer == 0 ? PURSE_MASTER : PURSE_SESSION,
                                        row->signer == 0 ? 1 : row->signer, row->code, body,
                                        row->code == REQUEST_create_portfolio    ? 48
                                        : row->code == REQUEST_create_subaccount ? 8
                                                                                 : 16);
        CHECK_ROW(row, status == row->want);
    }
    host_close(&host);
}

/* R10: closed is what has no cash, position or order; nothing then reaches it but a credit. */
static void test_portfolio_close(void)
{
    open(NULL);
    CHECK(close_place(0, 0) == REFUSED && host.result.reason == REASON_portfolio_not_empty);
    CHECK(reopen(0, 0) == REFUSED && host.result.reason == REASON_portfolio_not_closed);
    CHECK(purse_portfolio(&host, 1, 0, "") == TRADE_OK);
    CHECK(purse_transfer(&host, 1, main_place, (struct purse_place){ 0, 1 }, TRADE_CASH) ==
          TRADE_OK);
    CHECK(close_place(0, 0) == TRADE_OK); /* portfolio 0 too */
    CHECK(purse_told(&host, 0).status == PORTFOLIO_CLOSED);
    CHECK(close_place(0, 0) == REFUSED && host.result.reason == REASON_portfolio_not_active);
    CHECK(trade_limit(&host, 1, 1000, 990000) == MISSING);     /* row 5 */
    CHECK(host_cancel_all(&host, 1, HOST_BTC, 0) == TRADE_OK); /* of all that are open */
    CHECK(reopen(0, 0) == TRADE_OK && purse_told(&host, 0).status == PORTFOLIO_ACTIVE);
    CHECK(trade_limit(&host, 1, 0, 990000) == STATUS_rejected_size_zero);
    CHECK(close_place(0, 0) == TRADE_OK);
    CHECK(purse_deposit(&host, 1, main_place, 5) == TRADE_OK); /* a credit opens it */
    CHECK(purse_told(&host, 0).status == PORTFOLIO_ACTIVE);
    CHECK(host_effect(&host, EFFECT_account, 0)->index < host_effect(&host, EFFECT_cash, 0)->index);
    CHECK(purse_cash(&host, 1, main_place) == 5);
    /* So does one for a portfolio that does not exist. */
    CHECK(purse_transfer(&host, 1, main_place, (struct purse_place){ 0, 1 }, 5) == TRADE_OK);
    CHECK(close_place(0, 0) == TRADE_OK);
    CHECK(purse_deposit(&host, 1, (struct purse_place){ 0, 77 }, 6) == TRADE_OK);
    CHECK(purse_cash(&host, 1, main_place) == 6);
    CHECK(purse_at(&host, 1, main_place)->status == PORTFOLIO_ACTIVE);
    host_close(&host);
}

/* A position without cash, an order without either; R10: a dead order counts until it is
 * removed. */
static void test_not_empty(void)
{
    open("engine.work_per_command=1\n");
    struct purse_place second = { 0, 1 };
    CHECK(purse_portfolio(&host, 1, 0, "") == TRADE_OK);
    for (uint64_t i = 0; i < 3; i++)
        (void)trade_rest(&host, 1, 1000, 900000 + i);
    purse_at(&host, 1, main_place)->cash = 0; /* what orders without cash would be */
    purse_at(&host, 1, second)->cash = (int64_t)TRADE_CASH;
    CHECK(close_place(0, 0) == REFUSED && host.result.reason == REASON_portfolio_not_empty);
    CHECK(host_cancel_all(&host, 1, HOST_BTC, 0) == TRADE_OK); /* removes one */
    CHECK(close_place(0, 0) == REFUSED && host.result.reason == REASON_portfolio_not_empty);
    host_tick(&host, 1);
    CHECK(close_place(0, 0) == TRADE_OK);
    host_close(&host);

    open(NULL);
    (void)trade_rest(&host, 2, -1000, 1000000);
    CHECK(trade_limit(&host, 1, 1000, 1000000) == TRADE_OK && trade_size(&host, 1) == 1000);
    trade_index(&host, 1050000); /* its profit of 50 USDC is its whole equity: MM is 10.5 */
    int64_t cash = purse_cash(&host, 1, main_place);
    purse_at(&host, 1, main_place)->cash = 0;
    host.skip_audit = true; /* money is put aside */
    CHECK(close_place(0, 0) == REFUSED && host.result.reason == REASON_portfolio_not_empty);
    purse_at(&host, 1, main_place)->cash = cash;
    host_close(&host);
}

/* *credential* of 2002, 2003 and 2010, then 404. */
static void test_keys(void)
{
    const struct keys_id nobody = { { 1 } };
    static const uint16_t codes[] = { REQUEST_portfolio_close, REQUEST_portfolio_reopen };
    struct purse_place missing = { 0, 9 }, outside = { 1, 0 };

    open(NULL);
    for (size_t i = 0; i < CC_COUNT(codes); i++) {
        CHECK(purse_key(&host, codes[i], nobody, 1, missing, 0) == STATUS_rejected_unauthorized);
        CHECK(host.result.reason == REASON_none);
        CHECK(purse_key(&host, codes[i], reader, 1, missing, 0) == STATUS_rejected_unauthorized);
        CHECK(host.result.reason == REASON_read_only_key);
        CHECK(purse_key(&host, codes[i], pinned, 1, outside, 0) == STATUS_rejected_unauthorized);
        CHECK(host.result.reason == REASON_subaccount_not_permitted);
        CHECK(purse_key(&host, codes[i], key, 1, missing, 0) == MISSING);
        CHECK(purse_key(&host, codes[i], key, 2, main_place, 0) == MISSING);
    }
    CHECK(purse_rename(&host, reader, 1, main_place, "x") == STATUS_rejected_unauthorized);
    CHECK(purse_rename(&host, pinned, 1, outside, "x") == STATUS_rejected_unauthorized);
    CHECK(purse_rename(&host, key, 1, missing, "x") == MISSING);
    CHECK(purse_rename(&host, pinned, 1, main_place, "Second name") == TRADE_OK);
    CHECK(is_named(main_place, "Second name"));
    CHECK(purse_rename(&host, key, 1, main_place, "s") == TRADE_OK && is_named(main_place, "s"));
    CHECK(purse_told(&host, 0).what == ACCOUNT_WHAT_PORTFOLIO);
    CHECK(keys_revoke(&host, 1, key) == TRADE_OK);
    CHECK(purse_rename(&host, key, 1, main_place, "t") == STATUS_rejected_unauthorized);
    host_close(&host);
}

/* R10: all portfolios CLOSED, no withdrawal of it pending. Then nothing opens it again. */
static void test_subaccount_close(void)
{
    struct row_subaccount row;
    uint8_t id[16];

    open(NULL);
    CHECK(purse_subaccount(&host, 1) == TRADE_OK);
    CHECK(purse_portfolio(&host, 1, 1, "") == TRADE_OK);
    CHECK(purse_transfer(&host, 1, main_place, (struct purse_place){ 1, 0 }, 2 * HOST_USDC) ==
          TRADE_OK);
    CHECK(purse_withdraw(&host, 1, (struct purse_place){ 1, 0 }, 2 * HOST_USDC) == TRADE_OK);
    memcpy(id, host.result.id, sizeof id);
    CHECK(close_place(1, 0) == TRADE_OK); /* a withdrawal does not keep a portfolio open */
    CHECK(purse_close_subaccount(&host, 1, 1) == REFUSED);
    CHECK(host.result.reason == REASON_portfolio_not_closed);
    CHECK(close_place(1, 1) == TRADE_OK);
    CHECK(purse_close_subaccount(&host, 1, 1) == REFUSED);
    CHECK(host.result.reason == REASON_withdrawal_pending);
    CHECK(purse_settle(&host, id, 0) == TRADE_OK);
    CHECK(purse_close_subaccount(&host, 1, 1) == TRADE_OK);
    CHECK(purse_told(&host, 0).what == ACCOUNT_WHAT_SUBACCOUNT);
    CHECK(purse_told(&host, 0).status == SUBACCOUNT_CLOSED);
    CHECK(whole_subaccount(host.engine, 1, 1, &row) && row.status == 1 && row.portfolio_count == 0);
    CHECK(reopen(1, 0) == REFUSED && host.result.reason == REASON_subaccount_not_active);
    CHECK(purse_deposit(&host, 1, (struct purse_place){ 1, 0 }, 5) == MISSING);
    CHECK(purse_deposit(&host, 1, (struct purse_place){ 1, 9 }, 5) == MISSING);
    CHECK(purse_portfolio(&host, 1, 1, "") == MISSING);
    uint8_t all[24] = { 1 }; /* R10: code 4 for all portfolios of a CLOSED subaccount */
    cc_store32(all + 8, 1);
    cc_store32(all + 12, UINT32_MAX);
    cc_store16(all + 16, 0xFFFF);
    CHECK(purse_send_as(&host, 1, REQUEST_cancel_all_orders, all, sizeof all) == MISSING);
    uint8_t session[56] = { 1 }; /* 13: a pin to it */
    host_session_key(50, session + 8);
    cc_store32(session + 48, 1);
    CHECK(purse_send(&host, PURSE_MASTER, 1, REQUEST_create_session, session, sizeof session) ==
          STATUS_session_rejected);
    empty_account(2);
    CHECK(purse_close_subaccount(&host, 2, 0) == REFUSED); /* subaccount 0 is as any other */
    host_close(&host);
}

/* W5: what was made, found by the sequence that made it. */
static void test_duplicates(void)
{
    uint8_t body[48] = { 1 }, master[33], id[16];

    open(NULL);
    host_master_key(1, master);
    CHECK(purse_subaccount(&host, 1) == TRADE_OK);
    struct host_request request = { .code = REQUEST_create_subaccount,
                                    .body = body,
                                    .body_bytes = 8,
                                    .key = master,
                                    .key_bytes = sizeof master };
    CHECK(host_signed(&host, &request) == TRADE_OK && host.result.subaccount_index == 2);
    memcpy(id, host.id, sizeof id);
    cc_store32(body + 8, 2);
    request.code = REQUEST_create_portfolio;
    request.body_bytes = sizeof body;
    CHECK(host_signed(&host, &request) == TRADE_OK && host.result.portfolio_index == 1);
    CHECK(purse_subaccount(&host, 1) == TRADE_OK);
    request.id = host.id; /* of the last one: subaccount 3 */
    CHECK(host_signed(&host, &request) == STATUS_duplicate_request_id);
    CHECK(host.result.members == (ANSWER_HAS_INDEXES | ANSWER_HAS_ORIGINAL));
    CHECK(host.result.subaccount_index == 3 && host.result.portfolio_index == 0);
    request.id = id;
    CHECK(host_signed(&host, &request) == STATUS_duplicate_request_id);
    CHECK(host.result.subaccount_index == 2 && host.result.portfolio_index == 0);
    request.id = NULL;
    CHECK(host_signed(&host, &request) == TRADE_OK && host.result.portfolio_index == 2);
    memcpy(id, host.id, sizeof id);
    request.id = id;
    CHECK(host_signed(&host, &request) == STATUS_duplicate_request_id);
    CHECK(host.result.members == (ANSWER_HAS_INDEXES | ANSWER_HAS_ORIGINAL));
    CHECK(host.result.subaccount_index == 2 && host.result.portfolio_index == 2);
    host_close(&host);
}

int main(void)
{
    test_make();
    test_limits();
    test_rows();
    test_portfolio_close();
    test_not_empty();
    test_keys();
    test_subaccount_close();
    test_duplicates();
    return 0;
}
