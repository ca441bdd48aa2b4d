/* Code 2009: test money (wire.md W7, R11) and its term in I2. The host checks I2 after every
 * command. */
#include "engine/account/faucet.h"
#include "engine/view/audit.h"
#include "purse.h"

#define USDC HOST_USDC
#define DAY  FAUCET_PERIOD_NS

static const struct purse_place main_place = { 0, 0 }, second = { 0, 1 }, closed = { 0, 2 };
static struct host host;
static struct keys_id key, reader, pinned;

static void open(const char *overrides)
{
    host_open(&host, overrides);
    (void)host_account(&host, 1);
    (void)host_account(&host, 2);
    CHECK(purse_portfolio(&host, 1, 0, "") == TRADE_OK);
    CHECK(purse_portfolio(&host, 1, 0, "") == TRADE_OK);
    key = keys_make(&host, 1, KEYS_READ_WRITE, KEYS_NO_PIN);
    reader = keys_make(&host, 1, KEYS_READ, KEYS_NO_PIN);
    pinned = keys_make(&host, 1, KEYS_READ_WRITE, 0);
    CHECK(purse_key(&host, REQUEST_portfolio_close, key, 1, closed, 0) == TRADE_OK);
}

static enum status credit(struct purse_place place, uint64_t amount)
{
    return purse_key(&host, REQUEST_faucet_credit, key, 1, place, amount);
}

/* R11's conditions, each with all that the later ones refuse. */
static void test_rows(void)
{
    const struct keys_id nobody = { { 1 } };

    open("exchange.testnet=on\n");
    const struct row {
        int line;
        const char *name;
        struct keys_id key;
        uint32_t account;
        struct purse_place place;
        uint64_t amount;
        enum status want;
        uint8_t reason;
    } rows[] = {
        { __LINE__, "nobody's key", nobody, 1, { 9, 9 }, 0, STATUS_rejected_unauthorized, 0 },
        { __LINE__,
          "a reader",
          reader,
          1,
          { 9, 9 },
          0,
          STATUS_rejected_unauthorized,
          REASON_read_only_key },
        { __LINE__,
          "beyond the pin",
          pinned,
          1,
          { 1, 9 },
          0,
          STATUS_rejected_unauthorized,
          REASON_subaccount_not_permitted },
        { __LINE__,
          "another account",
          key,
          2,
          { 0, 0 },
          0,
          STATUS_rejected_invalid_portfolio_id,
          0 },
        { __LINE__, "missing", key, 1, { 0, 9 }, 0, STATUS_rejected_invalid_portfolio_id, 0 },
        { __LINE__, "closed", key, 1, closed, 0, STATUS_order_rejected_invalid,
          REASON_portfolio_not_active },
        { __LINE__, "nothing", key, 1, main_place, 0, STATUS_order_rejected_invalid,
          REASON_invalid_parameter },
        { __LINE__, "beyond R1", key, 1, main_place, (UINT64_C(1) << 60) + 1,
          STATUS_order_rejected_invalid, REASON_invalid_parameter },
        { __LINE__, "beyond the limit", key, 1, main_place, 100000 * USDC + 1,
          STATUS_order_rejected_invalid, REASON_faucet_limit_exceeded },
        { __LINE__, "the limit", pinned, 1, main_place, 100000 * USDC, TRADE_OK, 0 },
    };
    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        CHECK_ROW(&rows[i], purse_key(&host, REQUEST_faucet_credit, rows[i].key, rows[i].account,
                                      rows[i].place, rows[i].amount) == rows[i].want);
        CHECK_ROW(&rows[i], host.result.reason == rows[i].reason);
    }
    struct effect_cash row = purse_row(&host, 0);
    CHECK(row.kind == CASH_faucet && row.amount == (int64_t)(100000 * USDC));
    CHECK(host.engine->faucet == (int64_t)(100000 * USDC));
    host_close(&host);
}

/* W7: 24 h begin with the first credit; refused credits count nothing, all portfolios count. */
static void test_period(void)
{
    open("exchange.testnet=on\n");
    CHECK(credit(main_place, 100001 * USDC) == STATUS_order_rejected_invalid);
    host.clock_ns += DAY / 2;
    CHECK(credit(main_place, 60000 * USDC) == TRADE_OK);
    uint64_t first_ns = host.engine->t_ns;
    host.clock_ns += DAY / 2;
    CHECK(credit(second, 40000 * USDC + 1) == STATUS_order_rejected_invalid);
    CHECK(host.result.reason == REASON_faucet_limit_exceeded);
    CHECK(credit(second, 40000 * USDC) == TRADE_OK);
    CHECK(credit(second, 1) == STATUS_order_rejected_invalid);
    host.clock_ns = first_ns + DAY - 1;
    CHECK(credit(second, 1) == STATUS_order_rejected_invalid);
    host.clock_ns = first_ns + DAY;
    CHECK(credit(second, 100000 * USDC) == TRADE_OK && host.engine->t_ns == first_ns + DAY);
    CHECK(credit(second, 1) == STATUS_order_rejected_invalid);
    CHECK(host.engine->faucet == (int64_t)(200000 * USDC));
    host_close(&host);
}

/* R10: without exchange.testnet there is nothing to credit. */
static void test_mainnet(void)
{
    open(NULL);
    CHECK(credit(main_place, 1) == STATUS_rejected_invalid_portfolio_id);
    CHECK(host.engine->faucet == 0);
    host_close(&host);
}

/* I2's term: with another one the invariant fails. */
static void test_audit(void)
{
    open("exchange.testnet=on\n");
    CHECK(credit(main_place, 5) == TRADE_OK && audit_holds(host.engine));
    host.engine->faucet = 4;
    CHECK(!audit_holds(host.engine));
    host.engine->faucet = 5;
    host_close(&host);
}

int main(void)
{
    test_rows();
    test_period();
    test_mainnet();
    test_audit();
    return 0;
}
