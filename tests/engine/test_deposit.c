/* Code 1003 and who may sign it (R10, R11, W3a). */
#include "engine/view/read.h"
#include "host.h"
#include "rig.h"

static struct host host;

struct credit {
    uint64_t account;
    uint32_t subaccount, portfolio;
    uint64_t amount;
    uint8_t ref;
};

static enum status credit_by(const struct credit *credit, const uint8_t key[32])
{
    uint8_t body[56] = { 0 };

    cc_store64(body, credit->account);
    cc_store32(body + 8, credit->subaccount);
    cc_store32(body + 12, credit->portfolio);
    cc_store64(body + 16, credit->amount);
    body[55] = credit->ref;
    struct host_request request = { .code = REQUEST_deposit_credit,
                                    .body = body,
                                    .body_bytes = sizeof body,
                                    .key = key,
                                    .key_bytes = 32 };
    return host_signed(&host, &request);
}

static enum status credit(const struct credit *credit)
{
    return credit_by(credit, host_operator_key);
}

static int64_t balance_of(uint64_t account)
{
    struct row_balance row;
    CHECK(read_balance(host.engine, account, 0, 0, &row));
    CHECK(row.equity == row.withdrawable && row.initial_margin == 0);
    return row.cash_balance;
}

#define CASH_MAX (UINT64_C(1) << 60) /* R1 */

static const struct row {
    int line;
    const char *name;
    struct credit credit;
    enum status want;
    uint8_t reason;
    int64_t balance;
} rows[] = {
    { __LINE__, "first", { 1, 0, 0, 100, 1 }, STATUS_request_completed, 0, 100 },
    { __LINE__,
      "again",
      { 1, 0, 0, 100, 1 },
      STATUS_request_completed,
      REASON_already_credited,
      100 },
    { __LINE__,
      "again elsewhere",
      { 9, 9, 9, 0, 1 },
      STATUS_request_completed,
      REASON_already_credited,
      100 },
    { __LINE__, "no account", { 2, 0, 0, 100, 2 }, STATUS_rejected_invalid_portfolio_id, 0, 100 },
    { __LINE__,
      "the exchange's own",
      { 0, 0, 0, 100, 2 },
      STATUS_rejected_invalid_portfolio_id,
      0,
      100 },
    { __LINE__, "no subaccount", { 1, 1, 0, 0, 2 }, STATUS_rejected_invalid_portfolio_id, 0, 100 },
    { __LINE__, "zero", { 1, 0, 0, 0, 2 }, STATUS_rejected_size_zero, 0, 100 },
    { __LINE__, "too much", { 1, 0, 0, CASH_MAX + 1, 2 }, STATUS_rejected_invalid_size, 0, 100 },
    { __LINE__,
      "too much together",
      { 1, 0, 0, CASH_MAX - 99, 2 },
      STATUS_rejected_invalid_size,
      0,
      100 },
    { __LINE__, "huge", { 1, 0, 0, UINT64_MAX, 2 }, STATUS_rejected_invalid_size, 0, 100 },
    { __LINE__,
      "a refused reference is free",
      { 1, 0, 0, 7, 2 },
      STATUS_request_completed,
      0,
      107 },
    { __LINE__, "no portfolio: portfolio 0", { 1, 0, 5, 3, 3 }, STATUS_request_completed, 0, 110 },
    { __LINE__,
      "up to the bound",
      { 1, 0, 0, CASH_MAX - 110, 4 },
      STATUS_request_completed,
      0,
      (int64_t)CASH_MAX },
};

static void test_conditions(void)
{
    host_open(&host, NULL);
    (void)host_account(&host, 1);
    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        int64_t before = balance_of(1);
        CHECK_ROW(&rows[i], credit(&rows[i].credit) == rows[i].want);
        CHECK_ROW(&rows[i], host.result.reason == rows[i].reason);
        CHECK_ROW(&rows[i], balance_of(1) == rows[i].balance);
        const struct host_effect *effect = host_effect(&host, EFFECT_cash, 0);
        CHECK_ROW(&rows[i], (effect != NULL) == (rows[i].balance != before));
        if (effect != NULL) { /* R2: one ledger row */
            struct effect_cash cash;
            memcpy(&cash, effect->bytes, sizeof cash);
            CHECK_ROW(&rows[i], cash.kind == CASH_deposit && cash.portfolio.account_id == 1);
            CHECK_ROW(&rows[i], cash.amount == rows[i].balance - before);
            CHECK_ROW(&rows[i], cash.balance_after == rows[i].balance);
        }
    }
    host_close(&host);
}

/* W3a: the oracle key signs 1000 only, the operator key the others, a treasury key in its place. */
static void test_keys(void)
{
    const struct credit one = { 1, 0, 0, 5, 1 };
    uint8_t oracle[24] = { 0 }, id[16];

    host_open(&host, NULL);
    (void)host_account(&host, 1);
    CHECK(credit_by(&one, host_oracle_key) == STATUS_rejected_unauthorized);
    CHECK(credit_by(&one, host_treasury_key) == STATUS_rejected_unauthorized);
    cc_store64(oracle, host.clock_ns);
    cc_store64(oracle + 8, 1000000);
    cc_store16(oracle + 16, HOST_BTC);
    cc_store16(oracle + 20, 3); /* sources */
    struct host_request request = { .code = REQUEST_oracle_price,
                                    .body = oracle,
                                    .body_bytes = sizeof oracle,
                                    .key = host_operator_key,
                                    .key_bytes = 32 };
    CHECK(host_signed(&host, &request) == STATUS_rejected_unauthorized);
    memcpy(id, host.id, 16);
    request.id = id; /* an unknown key has not used its id (W5) */
    CHECK(host_signed(&host, &request) == STATUS_rejected_unauthorized && !host.is_peeked);
    request.id = NULL;
    request.key = host_oracle_key;
    CHECK(host_signed(&host, &request) == STATUS_request_completed);
    CHECK(credit(&one) == STATUS_request_completed);
    host_close(&host);

    host_open(&host, "exchange.treasury_key=AwAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n");
    (void)host_account(&host, 1);
    CHECK(credit(&one) == STATUS_rejected_unauthorized);
    CHECK(credit_by(&one, host_treasury_key) == STATUS_request_completed);
    CHECK(balance_of(1) == 5);
    host_close(&host);

    host_open(&host, "exchange.operator_key=\nexchange.oracle_keys=\n");
    (void)host_account(&host, 1);
    CHECK(credit(&one) == STATUS_rejected_unauthorized); /* none is configured */
    CHECK(host_oracle(&host, HOST_BTC, 1000000) == STATUS_rejected_unauthorized);
    host_close(&host);
}

/* Row 34: nothing is credited when the table is full. */
static void test_table_is_full(void)
{
    host_open(&host, "engine.deposits=16\n");
    (void)host_account(&host, 1);
    for (uint8_t i = 1; i <= 16; i++)
        CHECK(credit(&(struct credit){ 1, 0, 0, 1, i }) == STATUS_request_completed);
    CHECK(credit(&(struct credit){ 1, 0, 0, 1, 17 }) == STATUS_order_rejected_internal);
    CHECK(balance_of(1) == 16);
    CHECK(credit(&(struct credit){ 1, 0, 0, 1, 3 }) == STATUS_request_completed);
    CHECK(host.result.reason == REASON_already_credited);
    host_close(&host);
}

int main(void)
{
    test_conditions();
    test_keys();
    test_table_is_full();
    return 0;
}
