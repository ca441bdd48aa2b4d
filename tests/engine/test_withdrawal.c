/* Codes 10 and 1004: cash on its way out (rules.md R10, R2, R3), the conditions in R11's order,
 * what a duplicate answers (W5), and how long a row is kept (R10). */
#include "base/row_history.h"
#include "base/uuid.h"
#include "engine/state/withdrawal.h"
#include "image_copy.h"
#include "purse.h"

#define USDC HOST_USDC

enum { SETTLED, REVERTED, PINNED = 40, TRADING = 41 };

static const struct purse_place main_place = { 0, 0 }, second = { 0, 1 };
static struct host host;

struct id {
    uint8_t bytes[16];
};

static struct id withdraw(uint32_t n, uint64_t amount)
{
    struct id id;

    CHECK(purse_withdraw(&host, n, main_place, amount) == TRADE_OK);
    CHECK(host.result.members == ANSWER_HAS_ID);
    memcpy(id.bytes, host.result.id, sizeof id.bytes);
    return id;
}

static struct effect_withdrawal told(void)
{
    const struct host_effect *effect = host_effect(&host, EFFECT_withdrawal, 0);
    struct effect_withdrawal body;

    CHECK(effect != NULL && host_effect(&host, EFFECT_withdrawal, 1) == NULL);
    memcpy(&body, effect->bytes, sizeof body);
    return body;
}

/* What leaves the portfolio is pending, then gone or back; every step is told. */
static void test_way(void)
{
    trade_open(&host, NULL);
    struct id id = withdraw(1, 30000 * USDC);
    struct uuid want = uuid_engine(host.engine->t_ns, engine_sequence(host.engine), 0); /* R3 */
    CHECK(memcmp(want.bytes, id.bytes, sizeof id.bytes) == 0);
    CHECK(purse_cash(&host, 1, main_place) == (int64_t)(70000 * USDC));
    CHECK(host.engine->withdrawals_pending == (int64_t)(30000 * USDC));
    struct effect_cash row = purse_row(&host, 0);
    CHECK(row.kind == CASH_withdrawal && row.amount == -(int64_t)(30000 * USDC));
    CHECK(told().outcome == 255 && told().amount == 30000 * USDC);
    CHECK(memcmp(told().withdrawal_id, id.bytes, sizeof id.bytes) == 0);

    CHECK(purse_settle(&host, id.bytes, SETTLED) == TRADE_OK);
    CHECK(host.engine->withdrawals_pending == 0);
    CHECK(host.engine->withdrawals_settled == (int64_t)(30000 * USDC));
    CHECK(told().outcome == SETTLED && host_effect(&host, EFFECT_cash, 0) == NULL);
    CHECK(purse_settle(&host, id.bytes, SETTLED) == STATUS_order_rejected_invalid);
    CHECK(purse_settle(&host, id.bytes, REVERTED) == STATUS_order_rejected_invalid);
    CHECK(host.result.rule == OPERATOR_RULE_withdrawal_id);

    id = withdraw(1, 70000 * USDC); /* all of it */
    CHECK(purse_cash(&host, 1, main_place) == 0);
    CHECK(purse_settle(&host, id.bytes, REVERTED) == TRADE_OK);
    row = purse_row(&host, 0);
    CHECK(row.kind == CASH_withdrawal_reverted && row.amount == (int64_t)(70000 * USDC));
    CHECK(told().outcome == REVERTED);
    CHECK(purse_cash(&host, 1, main_place) == (int64_t)(70000 * USDC));
    CHECK(host.engine->withdrawals_pending == 0);
    CHECK(host.engine->withdrawals_settled == (int64_t)(30000 * USDC));
    host_close(&host);
}

/* Each row has all that the later ones refuse as well, as far as it can. 0/0 has 99,999 USDC and an
 * order of 0.01 BTC whose market's index is stale: IM 50, stress 10 % of 1,000. */
static const struct row {
    int line;
    const char *name;
    uint32_t key;
    uint32_t subaccount, portfolio;
    uint64_t amount;
    uint8_t pad, destination;
    enum status want;
} rows[] = {
    { __LINE__, "3 nobody's key", 99, 9, 9, 0, 1, 0, STATUS_rejected_unauthorized },
    { __LINE__, "3 a trading session", TRADING, 9, 9, 0, 1, 0, STATUS_rejected_unauthorized },
    { __LINE__, "3 beyond the pin", PINNED, 1, 9, 0, 1, 0, STATUS_rejected_unauthorized },
    { __LINE__, "5 missing", 1, 0, 9, 0, 1, 0, STATUS_rejected_invalid_portfolio_id },
    { __LINE__, "pads", 1, 0, 0, 0, 1, 0, STATUS_order_rejected_invalid },
    { __LINE__, "15 nothing", 1, 0, 0, 0, 0, 0, STATUS_rejected_size_zero },
    { __LINE__, "more than free - stress", 1, 0, 0, 99849000001, 0, 0,
      STATUS_rejected_insufficient_free_equity },
    { __LINE__, "less than 1 USDC", 1, 0, 1, 999999, 0, 0, STATUS_rejected_invalid_size },
    { __LINE__, "more than free", 1, 0, 1, 1000001, 0, 0,
      STATUS_rejected_insufficient_free_equity },
    { __LINE__, "more than anybody has", 1, 0, 1, UINT64_MAX, 0, 0,
      STATUS_rejected_insufficient_free_equity },
    { __LINE__, "nowhere", 1, 0, 1, 1000000, 0, 0, STATUS_order_rejected_invalid },
    { __LINE__, "1 USDC within the pin", PINNED, 0, 1, 1000000, 0, 1, TRADE_OK },
    { __LINE__, "all that is free - stress", 1, 0, 0, 99849000000, 0, 1, TRADE_OK },
};

static void test_rows(void)
{
    trade_open(&host, NULL);
    CHECK(purse_portfolio(&host, 1, 0, "") == TRADE_OK);
    purse_session(&host, 1, PINNED, 0, 0);
    purse_session(&host, 1, TRADING, 1, -1);
    CHECK(purse_transfer(&host, 1, main_place, second, 1000000) == TRADE_OK);
    (void)trade_rest(&host, 1, 1000, 990000);
    host_tick(&host, 11 * HOST_SECOND_NS); /* the index of 0/0's market is stale */
    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        uint8_t body[48] = { 1 };
        cc_store32(body + 8, rows[i].subaccount);
        cc_store32(body + 12, rows[i].portfolio);
        cc_store64(body + 16, rows[i].amount);
        body[43] = rows[i].destination;
        body[47] = rows[i].pad;
        CHECK_ROW(&rows[i], purse_send_as(&host, rows[i].key, REQUEST_withdraw, body,
                                          sizeof body) == rows[i].want);
        CHECK_ROW(&rows[i],
                  (host_effect(&host, EFFECT_withdrawal, 0) != NULL) == (rows[i].want == TRADE_OK));
    }
    host_close(&host);
}

/* Code 1004: pads and unknown ids. An id of another kind, or of nobody, is unknown. */
static void test_settle_rows(void)
{
    uint8_t body[24] = { 0 };

    trade_open(&host, NULL);
    struct id id = withdraw(1, USDC);
    memcpy(body, id.bytes, sizeof id.bytes);
    body[23] = 1;
    CHECK(purse_send(&host, PURSE_OPERATOR, 0, REQUEST_withdrawal_settle, body, sizeof body) ==
          STATUS_order_rejected_invalid);
    CHECK(host.result.rule == OPERATOR_RULE_pad);
    body[23] = 0;
    body[16] = 2;
    CHECK(purse_send(&host, PURSE_OPERATOR, 0, REQUEST_withdrawal_settle, body, sizeof body) ==
          STATUS_order_rejected_invalid);
    CHECK(host.result.rule == OPERATOR_RULE_outcome);
    for (unsigned i = 0; i < 16; i++) {
        struct id other = id;
        other.bytes[i] ^= 1;
        CHECK(purse_settle(&host, other.bytes, SETTLED) == STATUS_order_rejected_invalid);
        CHECK(host.result.rule == OPERATOR_RULE_withdrawal_id);
    }
    CHECK(host.engine->withdrawals_pending == (int64_t)USDC);
    CHECK(purse_settle(&host, id.bytes, SETTLED) == TRADE_OK);
    host_close(&host);
}

static enum status withdraw_again(const uint8_t request_id[16], uint64_t amount)
{
    uint8_t body[48] = { 1 }, key[32];

    cc_store64(body + 16, amount);
    body[24] = 0xD0;
    host_session_key(1, key);
    struct host_request request = { .code = REQUEST_withdraw,
                                    .body = body,
                                    .body_bytes = sizeof body,
                                    .key = key,
                                    .key_bytes = sizeof key,
                                    .id = request_id };
    return host_signed(&host, &request);
}

/* W5: a repeated request answers with the id of its withdrawal, pending or settled. */
static void test_duplicate(void)
{
    uint8_t request_id[16];

    trade_open(&host, NULL);
    struct id id = withdraw(1, 5 * USDC);
    memcpy(request_id, host.id, sizeof request_id);
    for (unsigned settled = 0; settled < 2; settled++) {
        CHECK(withdraw_again(request_id, 5 * USDC) == STATUS_duplicate_request_id);
        CHECK(host.is_peeked && host.result.members == (ANSWER_HAS_ID | ANSWER_HAS_ORIGINAL));
        CHECK(memcmp(host.result.id, id.bytes, sizeof id.bytes) == 0);
        if (!settled)
            CHECK(purse_settle(&host, id.bytes, SETTLED) == TRADE_OK);
        host.clock_ns += 30 * HOST_SECOND_NS; /* inside the window of 45 s */
        (void)withdraw(2, USDC);
    }
    CHECK(purse_cash(&host, 1, main_place) == (int64_t)(99995 * USDC));
    host_close(&host);
}

/* Pending ones fill the table; a settled one leaves it when its id cannot come back. */
static void test_table(void)
{
    struct id first = { { 0 } };

    trade_open(&host, "engine.deposits=16\n");
    for (unsigned i = 0; i < 16; i++) {
        struct id id = withdraw(1, USDC);
        first = i == 0 ? id : first;
    }
    CHECK(purse_withdraw(&host, 1, main_place, USDC) == STATUS_order_rejected_invalid);
    CHECK(host.result.reason == REASON_limit_reached);
    CHECK(purse_settle(&host, first.bytes, SETTLED) == TRADE_OK);
    CHECK(purse_withdraw(&host, 1, main_place, USDC) == STATUS_order_rejected_invalid);
    CHECK(host.result.reason == REASON_limit_reached);
    host.clock_ns += 60 * HOST_SECOND_NS;
    (void)withdraw(1, USDC);
    CHECK(host.engine->withdrawals.slots.count == 16);
    CHECK(purse_settle(&host, first.bytes, SETTLED) == STATUS_order_rejected_invalid);
    CHECK(host.engine->withdrawals_pending == (int64_t)(16 * USDC));
    host_close(&host);
}

/* R10: what comes back opens a CLOSED portfolio, and is told behind that; where cash may not go:
 * not beyond R1's bound, then it stays pending. */
static void test_revert(void)
{
    trade_open(&host, NULL);
    struct keys_id key = keys_make(&host, 1, KEYS_READ_WRITE, KEYS_NO_PIN);
    struct id id = withdraw(1, 100000 * USDC);
    CHECK(purse_key(&host, REQUEST_portfolio_close, key, 1, main_place, 0) == TRADE_OK);
    CHECK(purse_settle(&host, id.bytes, REVERTED) == TRADE_OK);
    CHECK(purse_at(&host, 1, main_place)->status == PORTFOLIO_ACTIVE);
    struct effect_account opened = purse_told(&host, 0);
    CHECK(opened.what == ACCOUNT_WHAT_PORTFOLIO && opened.status == PORTFOLIO_ACTIVE);
    CHECK(host_effect(&host, EFFECT_account, 0)->index < host_effect(&host, EFFECT_cash, 0)->index);

    id = withdraw(1, 10 * USDC);
    CHECK(purse_deposit(&host, 1, main_place, (UINT64_C(1) << 60) - 99990 * USDC) == TRADE_OK);
    CHECK(purse_settle(&host, id.bytes, REVERTED) == STATUS_order_rejected_internal);
    CHECK(host.result.rule == OPERATOR_RULE_reverted_cash);
    CHECK(host.engine->withdrawals_pending == (int64_t)(10 * USDC));
    CHECK(purse_settle(&host, id.bytes, SETTLED) == TRADE_OK);
    host_close(&host);
}

/* R7, Checks: what comes back to a portfolio in liquidation is told, then judged. As in
 * test_transfer.c: E = 8,050 with MM = 9,540; 10,017 make it ACTIVE. */
static void test_revert_in_liquidation(void)
{
    trade_open(&host, NULL);
    struct id id = withdraw(1, 45500 * USDC);
    (void)trade_rest(&host, 2, -1000000, 1000000);
    CHECK(trade_limit(&host, 1, 1000000, 1000000) == TRADE_OK);
    trade_index(&host, 954000);
    CHECK(purse_at(&host, 1, main_place)->status == PORTFOLIO_IN_LIQUIDATION);
    CHECK(purse_settle(&host, id.bytes, REVERTED) == TRADE_OK);
    const struct host_effect *state = host_effect(&host, EFFECT_portfolio_state, 0);
    CHECK(state != NULL && state->index > host_effect(&host, EFFECT_withdrawal, 0)->index);
    CHECK(state->index < host_effect(&host, EFFECT_answer, 0)->index);
    CHECK(purse_at(&host, 1, main_place)->status == PORTFOLIO_ACTIVE);
    host_close(&host);
}

/* R10, where cash may not go: what is pending of all accounts stays within 2^62. */
static void test_pending_bound(void)
{
    const uint64_t most = UINT64_C(1) << 60;

    trade_open(&host, NULL);
    for (uint32_t n = 1; n <= 4; n++) {
        CHECK(purse_deposit(&host, n, main_place, most - 100000 * USDC) == TRADE_OK);
        (void)withdraw(n, most);
    }
    CHECK(purse_withdraw(&host, 5, main_place, USDC) == STATUS_order_rejected_internal);
    host_close(&host);
}

/* What the operator has to know is in the state, ended or not, and in what a start loads. */
static void test_read(void)
{
    static struct image_copy copy;
    static struct host loaded;
    struct image_problem problem;
    struct row_withdrawal row;
    uint8_t first_to[20], second_to[20];

    memset(first_to, 0xA1, sizeof first_to); /* purse.c */
    memset(second_to, 0xA2, sizeof second_to);
    trade_open(&host, NULL);
    struct id first = withdraw(1, 3 * USDC);
    uint64_t first_sequence = engine_sequence(host.engine);
    struct id other = withdraw(2, 5 * USDC);
    CHECK(purse_settle(&host, first.bytes, SETTLED) == TRADE_OK);
    image_copy_take(&copy, host.engine);
    CHECK(image_copy_open(&copy, &loaded, NULL, &problem));

    uint32_t at = withdrawal_older(loaded.engine, WITHDRAWAL_NONE);
    CHECK(at == withdrawal_find(loaded.engine, other.bytes));
    CHECK(withdrawal_read(loaded.engine, at, &row) && row.outcome == ROW_WITHDRAWAL_PENDING);
    CHECK(row.account_id == 2 && row.amount == 5 * USDC);
    CHECK(memcmp(row.destination, second_to, sizeof second_to) == 0);
    at = withdrawal_older(loaded.engine, at);
    CHECK(withdrawal_read(loaded.engine, at, &row) && row.outcome == ROW_WITHDRAWAL_SETTLED);
    CHECK(memcmp(row.id, first.bytes, sizeof row.id) == 0 && row.sequence == first_sequence);
    CHECK(memcmp(row.destination, first_to, sizeof first_to) == 0);
    CHECK(withdrawal_older(loaded.engine, at) == WITHDRAWAL_NONE);
    CHECK(!withdrawal_read(loaded.engine, WITHDRAWAL_NONE, &row));
    host_close(&loaded);
    image_copy_free(&copy);
    host_close(&host);
}

int main(void)
{
    test_way();
    test_rows();
    test_settle_rows();
    test_duplicate();
    test_table();
    test_revert();
    test_revert_in_liquidation();
    test_pending_bound();
    test_read();
    return 0;
}
