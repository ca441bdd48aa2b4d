/* Codes 1005, 1006 and 1009: row 4 and its exemptions, the fund's top-up, a tier by order (rules.md
 * R2, R6, R11). */
#include "base/field.h"
#include "engine/risk/fee.h"
#include "engine/view/audit.h"
#include "purse.h"

#define USDC HOST_USDC

static const struct purse_place main_place = { 0, 0 };
static struct host host;

static enum status order_code(uint16_t code, uint64_t first, uint8_t second, uint8_t pad)
{
    uint8_t body[16] = { 0 };

    cc_store64(body, first);
    body[8] = second;
    body[15] = pad;
    return purse_send(&host, PURSE_OPERATOR, 0, code, body,
                      code == REQUEST_fund_top_up ? 8 : sizeof body);
}

/* R11, 1005: account unknown; pads. */
static void test_suspend_rows(void)
{
    static const struct row {
        int line;
        const char *name;
        uint64_t account;
        uint8_t suspended, pad;
        enum status want;
    } rows[] = {
        { __LINE__, "nobody", 99, 2, 1, STATUS_rejected_invalid_portfolio_id },
        { __LINE__, "the exchange's own", 0, 2, 1, STATUS_rejected_invalid_portfolio_id },
        { __LINE__, "no bool", 1, 2, 0, STATUS_order_rejected_invalid },
        { __LINE__, "pads", 1, 1, 1, STATUS_order_rejected_invalid },
        { __LINE__, "suspended", 1, 1, 0, TRADE_OK },
        { __LINE__, "again", 1, 1, 0, TRADE_OK },
        { __LINE__, "lifted", 1, 0, 0, TRADE_OK },
    };

    trade_open(&host, NULL);
    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        CHECK_ROW(&rows[i], order_code(REQUEST_suspend_account, rows[i].account, rows[i].suspended,
                                       rows[i].pad) == rows[i].want);
        bool tells = i == 4 || i == 6; /* R10: a change */
        CHECK_ROW(&rows[i], (host_effect(&host, EFFECT_account, 0) != NULL) == tells);
        if (tells)
            CHECK_ROW(&rows[i], purse_told(&host, 0).what == ACCOUNT_WHAT_SUSPENDED);
    }
    host_close(&host);
}

/* Row 4: every code that an account signs, but those that the two lists of R11 exempt. The bodies
 * are wrong further on: row 4 comes before their conditions. */
static void test_suspended(void)
{
    static const uint16_t exempt[] = { 1,  3,  4,  7,  13, 14, 15, 16, 17,
                                       19, 20, 25, 28, 29, 30, 31, 33, 35 };
    uint8_t body[4120], hash[32] = { 1 }, key[33];
    size_t count;
    const struct request *rows = request_table(&count);

    trade_open(&host, NULL);
    CHECK(purse_suspend(&host, 1, true) == TRADE_OK);
    for (size_t i = 0; i < count; i++) {
        const struct request *row = &rows[i];
        bool is_exempt = false;
        bool by_master = row->signer == SIGNER_MASTER || row->signer == SIGNER_ADMIN ||
                         row->signer == SIGNER_SESSION_OR_MASTER;
        if (!row->built || row->code >= REQUEST_oracle_price ||
            row->signer == SIGNER_NEW_SECP256K1 || row->signer == SIGNER_NEW_PASSKEY ||
            row->code == REQUEST_revoke_all_sessions || row->code == REQUEST_find_account)
            continue;
        for (size_t k = 0; k < CC_COUNT(exempt); k++)
            is_exempt = is_exempt || exempt[k] == row->code;
        memset(body, 0xEE, sizeof body);
        cc_store64(body, 1);
        cc_store16(body + 16, 1); /* items of a batch */
        uint32_t length_at = row->code == REQUEST_add_scoped_passkey_master_key ? 50 : 42;
        uint32_t bytes = row->body_bytes != 0 ? row->body_bytes : 88;
        if (row->form == BODY_CREDENTIAL) { /* with an id of one byte (wire.md W3) */
            cc_store16(body + length_at, 1);
            bytes = length_at + 6;
        }
        if (by_master)
            host_master_key(1, key);
        else
            host_session_key(1, key);
        struct host_request request = {
            .code = row->code,
            .body = body,
            .body_bytes = bytes,
            .key = key,
            .key_bytes = by_master ? 33 : 32,
            .extra = hash,
            .extra_bytes =
                row->code == REQUEST_create_api_key || row->code == REQUEST_login ? 32 : 0,
        };
        bool refused = host_signed(&host, &request) == STATUS_rejected_account_suspended;
        if (refused == is_exempt)
            fprintf(stderr, "code %u: status %u\n", row->code, host.result.status);
        CHECK(refused != is_exempt);
        CHECK(!host.is_peeked && host.result.sequence != 0);
    }
    /* Another account's key is row 3 still; what nobody of the account signs goes on. */
    CHECK(purse_send(&host, PURSE_SESSION, 2, REQUEST_transfer, body, 40) ==
          STATUS_rejected_unauthorized);
    CHECK(purse_deposit(&host, 1, main_place, 1) == TRADE_OK);
    CHECK(purse_suspend(&host, 1, false) == TRADE_OK);
    CHECK(purse_subaccount(&host, 1) == TRADE_OK);
    host_close(&host);
}

/* R11, 1006: 15, R1's bound of 2^62; the fund's cash and I2's term. */
static void test_top_up(void)
{
    const uint64_t most = UINT64_C(1) << 62;

    trade_open(&host, NULL);
    CHECK(order_code(REQUEST_fund_top_up, 0, 0, 0) == STATUS_rejected_size_zero);
    CHECK(order_code(REQUEST_fund_top_up, most + 1, 0, 0) == STATUS_rejected_invalid_size);
    CHECK(order_code(REQUEST_fund_top_up, UINT64_MAX, 0, 0) == STATUS_rejected_invalid_size);
    CHECK(order_code(REQUEST_fund_top_up, 7 * USDC, 0, 0) == TRADE_OK);
    struct effect_cash row = purse_row(&host, 0);
    CHECK(row.kind == CASH_fund && row.amount == (int64_t)(7 * USDC));
    CHECK(row.portfolio.account_id == 0 && host.engine->top_ups == (int64_t)(7 * USDC));
    CHECK(host.engine->portfolios.rows[0].cash == (int64_t)(7 * USDC));
    CHECK(order_code(REQUEST_fund_top_up, most - 7 * USDC + 1, 0, 0) ==
          STATUS_rejected_invalid_size);
    CHECK(order_code(REQUEST_fund_top_up, most - 7 * USDC, 0, 0) == TRADE_OK);
    host.engine->top_ups -= 1;
    CHECK(!audit_holds(host.engine));
    host.engine->top_ups += 1;
    host_close(&host);
}

static void test_tier_rows(void)
{
    static const struct row {
        int line;
        const char *name;
        uint64_t account;
        uint8_t tier, pad;
        enum status want;
    } rows[] = {
        { __LINE__, "nobody", 99, 6, 1, STATUS_rejected_invalid_portfolio_id },
        { __LINE__, "the exchange's own", 0, 1, 0, STATUS_rejected_invalid_portfolio_id },
        { __LINE__, "no such tier", 1, 6, 0, STATUS_order_rejected_invalid },
        { __LINE__, "almost none", 1, 254, 0, STATUS_order_rejected_invalid },
        { __LINE__, "pads", 1, 5, 1, STATUS_order_rejected_invalid },
        { __LINE__, "the last", 1, 5, 0, TRADE_OK },
        { __LINE__, "back to volume", 1, 255, 0, TRADE_OK },
    };

    trade_open(&host, NULL);
    for (size_t i = 0; i < CC_COUNT(rows); i++)
        CHECK_ROW(&rows[i], order_code(REQUEST_set_fee_tier, rows[i].account, rows[i].tier,
                                       rows[i].pad) == rows[i].want);
    host_close(&host);
}

/* The fee that account 1 pays as the taker of 1 BTC at 100,000, micro-USDC. */
static int64_t taker_fee(void)
{
    (void)trade_rest(&host, 2, -100000, 1000000);
    CHECK(trade_tif(&host, 1, 100000, 1000000, TRADE_IOC) == TRADE_OK);
    return -purse_row(&host, 0).amount;
}

/* R6: tier 5 takes 260 ppm, tier 0 450. The volume's tier goes on beneath: 5 m of volume on the
 * first day make tier 1 (400 ppm) on the second, override or not. */
static void test_tier(void)
{
    trade_open(&host, NULL);
    CHECK(taker_fee() == (int64_t)(45 * USDC));
    CHECK(order_code(REQUEST_set_fee_tier, 1, 5, 0) == TRADE_OK);
    struct effect_account told = purse_told(&host, 0);
    CHECK(told.what == ACCOUNT_WHAT_TIER && told.fee_tier == 5);
    CHECK(order_code(REQUEST_set_fee_tier, 1, 5, 0) == TRADE_OK);
    CHECK(host_effect(&host, EFFECT_account, 0) == NULL); /* nothing changed */
    CHECK(taker_fee() == (int64_t)(26 * USDC));
    uint64_t day = host.engine->t_ns / ACCOUNT_DAY_NS;
    host.engine->accounts.rows[1].volume[day % ACCOUNT_VOLUME_DAYS] = 5000000 * USDC;
    host.clock_ns = (day + 1) * ACCOUNT_DAY_NS + HOST_SECOND_NS;
    CHECK(host_oracle(&host, HOST_BTC, TRADE_MARK) == TRADE_OK);
    CHECK(taker_fee() == (int64_t)(26 * USDC)); /* midnight does not end it */
    CHECK(fee_tier(&host.engine->accounts.rows[1], host.engine->t_ns) == 5);
    CHECK(order_code(REQUEST_set_fee_tier, 1, 255, 0) == TRADE_OK);
    CHECK(purse_told(&host, 0).fee_tier == 1);
    CHECK(taker_fee() == (int64_t)(40 * USDC));
    host_close(&host);
}

int main(void)
{
    test_suspend_rows();
    test_suspended();
    test_top_up();
    test_tier_rows();
    test_tier();
    return 0;
}
