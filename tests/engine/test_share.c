/* Slots of bounded tables (wire.md W8, Slots): the class of an account, the shares of the classes,
 * the bounds of an account, each with its answer. In each filling an account that has brought in
 * enough goes on. */
#include "engine/state/share_count.h"
#include "image_copy.h"
#include "keys.h"
#include "passkeys.h"
#include "purse.h"
#include "rig.h"
#include "trade.h"
#include "waiting.h"

#define USDC     HOST_USDC
#define REFUSED  STATUS_order_rejected_invalid
#define CLASSES  "limits.funding_small=10\nlimits.funding_full=1000\n"
#define M        TRADE_MARK
#define PLACE(n) ((struct purse_place){ 0, (n) })

static struct host host;

static uint64_t default_of(enum option option)
{
    return strtoull(option_row(option)->initial, NULL, 10);
}

static uint8_t class_of(uint32_t n)
{
    return host.engine->accounts.rows[n].share_class;
}

static uint32_t used(enum share_table table, enum share_class class)
{
    return host.engine->share.tables[table].used[class];
}

/* A code that makes a key: the network thread adds the hash of its secret. */
static enum status make_key(uint32_t n, uint16_t code)
{
    uint8_t body[48] = { 0 }, key[32], hash[32] = { 0x33 };

    cc_store64(body, n);
    cc_store32(body + (code == REQUEST_login ? 16 : 8), UINT32_MAX); /* no pin */
    cc_store64(hash + 8, ++host.id_count);
    host_session_key(n, key);
    struct host_request request = { .code = code,
                                    .body = body,
                                    .body_bytes = code == REQUEST_login ? 24 : 48,
                                    .key = key,
                                    .key_bytes = sizeof key,
                                    .extra = hash,
                                    .extra_bytes = sizeof hash };
    return host_signed(&host, &request);
}

/* --- the arithmetic --------------------------------------------------------------------------- */

/* Whatever the sizes: accounts that are not full have at most half of a table, unfunded ones an
 * eighth, rounded down, and every table of the list has a size. */
static void test_arithmetic(void)
{
    static const uint32_t sizes[] = { 16, 17, 31, 1000, 65536, 131072, 16777216 };
    char text[1024];

    for (size_t i = 0; i < CC_COUNT(sizes); i++) {
        uint32_t size = sizes[i];
        snprintf(text, sizeof text,
                 CLASSES "engine.accounts=%u\nengine.portfolios=%u\nengine.orders=%u\n"
                         "engine.positions=%u\nengine.credentials=%u\nengine.deposits=%u\n",
                 size, size, size, size, size, size);
        host_open(&host, text);
        for (uint32_t table = 0; table < SHARE_TABLE_COUNT; table++) {
            const uint32_t *bound = host.engine->share.tables[table].bound;
            CHECK(bound[SHARE_CLASS_unfunded] == size / 8);
            CHECK(bound[SHARE_CLASS_small] == size / 2);
            CHECK(bound[SHARE_CLASS_full] == size);
            CHECK(strlen(share_table_name((enum share_table)table)) > 3);
        }
        /* Of a table that is empty but for account 0. */
        uint32_t own = used(SHARE_portfolios, SHARE_CLASS_full);
        CHECK(own == 1);
        CHECK(share_room(host.engine, SHARE_CLASS_unfunded, SHARE_portfolios) == size / 8);
        CHECK(share_room(host.engine, SHARE_CLASS_small, SHARE_portfolios) ==
              size / 2 - size / 8); /* the eighth is for newcomers */
        CHECK(share_room(host.engine, SHARE_CLASS_full, SHARE_portfolios) == size - own - size / 8);
        host_close(&host);
    }
}

/* --- classes ---------------------------------------------------------------------------------- */

static void test_class(void)
{
    static const struct step {
        int line;
        const char *name;
        uint64_t deposit, withdrawal;
        enum share_class class;
    } steps[] = {
        { __LINE__, "below 10", 10 * USDC - 1, 0, SHARE_CLASS_unfunded },
        { __LINE__, "10", 1, 0, SHARE_CLASS_small },
        { __LINE__, "below 1,000", 990 * USDC - 1, 0, SHARE_CLASS_small },
        { __LINE__, "1,000", 1, 0, SHARE_CLASS_full },
        { __LINE__, "999", 0, 1 * USDC, SHARE_CLASS_small },
        { __LINE__, "10 left", 0, 989 * USDC, SHARE_CLASS_small }, /* 10 are left */
        { __LINE__, "9 left", 0, 1 * USDC, SHARE_CLASS_unfunded },
        { __LINE__, "5,009", 5000 * USDC, 0, SHARE_CLASS_full },
    };

    host_open(&host, CLASSES);
    (void)host_account(&host, 1);
    CHECK(class_of(1) == SHARE_CLASS_unfunded && class_of(0) == SHARE_CLASS_full);
    for (size_t i = 0; i < CC_COUNT(steps); i++) {
        if (steps[i].deposit != 0)
            CHECK_ROW(&steps[i], host_deposit(&host, 1, steps[i].deposit) == TRADE_OK);
        else
            CHECK_ROW(&steps[i],
                      purse_withdraw(&host, 1, PLACE(0), steps[i].withdrawal) == TRADE_OK);
        CHECK_ROW(&steps[i], class_of(1) == steps[i].class);
        for (uint32_t class = 0; class < SHARE_CLASS_COUNT; class ++)
            CHECK_ROW(&steps[i], used(SHARE_credentials, (enum share_class) class) ==
                                     (class == steps[i].class ? 2u : 0));
    }
    uint8_t id[16];
    CHECK(purse_withdraw(&host, 1, PLACE(0), 4500 * USDC) == TRADE_OK);
    memcpy(id, host.result.id, sizeof id);
    CHECK(class_of(1) == SHARE_CLASS_small);
    CHECK(purse_settle(&host, id, 1) == TRADE_OK); /* reverted: it is full again */
    CHECK(class_of(1) == SHARE_CLASS_full);
    host_close(&host);
}

/* Cash counts that was won, but as of the next deposit or withdrawal alone; and what was lost takes
 * nothing away from what was brought in. */
static void test_class_of_cash(void)
{
    trade_open(&host, CLASSES);
    uint32_t owner = 1;
    struct portfolio *row = trade_portfolio(&host, 1);
    host.skip_audit = true; /* money from nowhere */
    int64_t before = row->cash;
    CHECK(class_of(1) == SHARE_CLASS_full);
    host.engine->accounts.rows[owner].net_deposits = -5 * (int64_t)USDC;
    row->cash = 999 * (int64_t)USDC;
    host.engine->accounts.rows[owner].cash = row->cash;
    CHECK(class_of(1) == SHARE_CLASS_full); /* nothing was moved */
    share_refund(host.engine, owner);
    CHECK(class_of(1) == SHARE_CLASS_small);
    host.engine->accounts.rows[owner].net_deposits = 1000 * (int64_t)USDC;
    row->cash = 0;
    host.engine->accounts.rows[owner].cash = 0;
    share_refund(host.engine, owner);
    CHECK(class_of(1) == SHARE_CLASS_full);
    CHECK(before != 0);
    host_close(&host);
}

/* The options of another start change the classes; 0 switches them off, for those too that have
 * taken out more than they brought in. */
static void test_switched_off(void)
{
    uint8_t body[4120];

    host_open(&host, CLASSES);
    (void)host_account(&host, 1);
    (void)host_account(&host, 2);
    CHECK(host_deposit(&host, 2, 500 * USDC) == TRADE_OK);
    host.engine->accounts.rows[1].funding = -1;
    CHECK(class_of(1) == SHARE_CLASS_unfunded && class_of(2) == SHARE_CLASS_small);
    uint32_t bytes =
        host_configuration("limits.funding_small=501\nlimits.funding_full=501\n", body);
    CHECK(host_unsigned(&host, REQUEST_configuration, body, bytes) == TRADE_OK);
    CHECK(class_of(1) == SHARE_CLASS_unfunded && class_of(2) == SHARE_CLASS_unfunded);
    CHECK(used(SHARE_credentials, SHARE_CLASS_unfunded) == 4);
    bytes = host_configuration(NULL, body); /* funding_small = funding_full = 0 */
    CHECK(host_unsigned(&host, REQUEST_configuration, body, bytes) == TRADE_OK);
    CHECK(class_of(1) == SHARE_CLASS_full && class_of(2) == SHARE_CLASS_full);
    CHECK(used(SHARE_credentials, SHARE_CLASS_full) == 4);
    host_close(&host);
}

/* --- fillings --------------------------------------------------------------------------------- */

/* Accounts without money fill their share of accounts, and nobody else's. */
static void test_accounts(void)
{
    host_open(&host, CLASSES "engine.accounts=64\nengine.portfolios=64\n");
    (void)host_account(&host, 1);
    CHECK(host_deposit(&host, 1, 1000 * USDC) == TRADE_OK);
    for (uint32_t n = 2; n < 10; n++)
        CHECK(host_sign_up(&host, n) == STATUS_account_created_with_session);
    CHECK(host_sign_up(&host, 10) == STATUS_creation_rejected);
    CHECK(used(SHARE_accounts, SHARE_CLASS_unfunded) == 64 / 8);
    CHECK(host_deposit(&host, 2, 10 * USDC) == TRADE_OK); /* one of them leaves the class */
    CHECK(host_sign_up(&host, 10) == STATUS_account_created_with_session);
    for (uint32_t i = 0; i < 20; i++)
        CHECK(purse_portfolio(&host, 1, 0, "") == TRADE_OK);
    host_close(&host);
}

/* An unfunded account's own bounds; a deposit lifts them. */
static void test_unfunded(void)
{
    struct waiting stop = { .trigger = M + 10, .quantity = 1000, .type = 3 };
    uint8_t mmp[48] = { 0 };

    trade_open(&host, CLASSES);
    (void)host_account(&host, 7);
    cc_store64(mmp, 7);
    cc_store16(mmp + 16, HOST_BTC);
    cc_store32(mmp + 20, 1000);
    cc_store64(mmp + 32, 5000);
    struct keys_id key = keys_make(&host, 7, KEYS_READ_WRITE, KEYS_NO_PIN);
    for (uint32_t pass = 0; pass < 2; pass++) {
        bool is_small = pass == 1;
        CHECK(purse_subaccount(&host, 7) == (is_small ? TRADE_OK : REFUSED));
        CHECK(is_small || host.result.reason == REASON_limit_reached);
        CHECK(purse_portfolio(&host, 7, 0, "") == TRADE_OK);
        CHECK(purse_portfolio(&host, 7, 0, "") == (is_small ? TRADE_OK : REFUSED));
        CHECK(is_small || host.result.reason == REASON_limit_reached);
        CHECK(waiting_place(&host, 7, &stop) ==
              (is_small ? TRADE_OK : STATUS_rejected_max_conditional_orders_exceeded));
        CHECK(keys_leverage(&host, key, 7, HOST_BTC, 5) == (is_small ? TRADE_OK : REFUSED));
        CHECK(is_small || host.result.reason == REASON_limit_reached);
        CHECK(keys_leverage(&host, key, 7, HOST_BTC, 20) == TRADE_OK); /* the default */
        CHECK(purse_send(&host, PURSE_SESSION, 7, REQUEST_set_mmp, mmp, sizeof mmp) ==
              (is_small ? TRADE_OK : REFUSED));
        CHECK(is_small || host.result.reason == REASON_limit_reached);
        CHECK(host_deposit(&host, 7, 15 * USDC) == TRADE_OK);
    }
    host_close(&host);
}

/* Eight keys and sessions of all kinds, ended ones as long as they are kept. */
static void test_credentials(void)
{
    struct keys_id last = { { 0 } };

    host_open(&host, CLASSES);
    (void)host_account(&host, 1);
    for (uint32_t i = 0; i < 6; i++) /* beside a master key and a session */
        last = keys_make(&host, 1, KEYS_READ, KEYS_NO_PIN);
    CHECK(make_key(1, REQUEST_create_api_key) == REFUSED);
    CHECK(host.result.reason == REASON_limit_reached);
    CHECK(make_key(1, REQUEST_login) == STATUS_session_rejected);
    CHECK(host.result.reason == REASON_none);
    CHECK(keys_revoke(&host, 1, last) == TRADE_OK);
    CHECK(make_key(1, REQUEST_create_api_key) == REFUSED); /* the row is kept */
    host.clock_ns += 45 * HOST_SECOND_NS;
    CHECK(make_key(1, REQUEST_create_api_key) == REFUSED);
    host.clock_ns += 2 * HOST_SECOND_NS; /* past + future + 11 s */
    (void)keys_make(&host, 1, KEYS_READ, KEYS_NO_PIN);
    CHECK(host.engine->accounts.rows[1].counts[SHARE_credentials] == 8);
    host_close(&host);
}

/* Keys beyond those of a creation are at most half of the share of the unfunded (a newcomer's two
 * come from the other half): so many newcomers come in as the share of accounts has. One key that
 * ends, and an account that is funded, give the others theirs. */
static void test_newcomers_keys(void)
{
    struct keys_id last = { { 0 } };

    /* An eighth: 8 accounts, 16 portfolios, 32 keys and sessions, of these 16 beside creations. */
    host_open(&host, CLASSES "engine.accounts=64\nengine.portfolios=128\nengine.credentials=256\n");
    for (uint32_t n = 1; n <= 3; n++)
        (void)host_account(&host, n);
    for (uint32_t i = 0; i < 16; i++)
        last = keys_make(&host, 1 + i / 6, KEYS_READ, KEYS_NO_PIN);
    CHECK(make_key(3, REQUEST_create_api_key) == REFUSED);
    CHECK(host.result.reason == REASON_limit_reached);
    CHECK(make_key(3, REQUEST_login) == STATUS_session_rejected);
    CHECK(host.engine->accounts.rows[3].counts[SHARE_credentials] == 6); /* 8 is its own bound */
    for (uint32_t n = 4; n <= 8; n++)
        (void)host_account(&host, n);
    CHECK(used(SHARE_credentials, SHARE_CLASS_unfunded) == 32);
    CHECK(used(SHARE_accounts, SHARE_CLASS_unfunded) == 8);
    CHECK(keys_revoke(&host, 3, last) == TRADE_OK);
    host.clock_ns += 47 * HOST_SECOND_NS;
    CHECK(make_key(8, REQUEST_create_api_key) == TRADE_OK);
    CHECK(make_key(7, REQUEST_create_api_key) == REFUSED);
    CHECK(host_deposit(&host, 1, 10 * USDC) == TRADE_OK);
    for (uint32_t i = 0; i < 6; i++)
        CHECK(make_key(7, REQUEST_create_api_key) == TRADE_OK);
    CHECK(make_key(6, REQUEST_create_api_key) == REFUSED);
    host_close(&host);
}

/* The defaults: as many newcomers as the share of accounts has find their keys in the half that is
 * kept for them, and portfolios though each takes the two that it may have. */
static void test_default_sizes(void)
{
    uint64_t accounts = default_of(OPTION_engine_accounts) / 8;
    uint64_t credentials = default_of(OPTION_engine_credentials) / 8;

    CHECK(default_of(OPTION_limits_share_unfunded_ppm) == 125000);
    CHECK(accounts == 8192);
    CHECK(2 * accounts <= credentials - credentials / 2);
    CHECK(2 * accounts <= default_of(OPTION_engine_portfolios) / 8);
}

/* Small accounts fill half of the orders and of what waits, without the eighth of newcomers: 24 of
 * 64. Full ones leave the eighth too, so they find 32. Two that take in turn stop at 9 and 8, when
 * less than a quarter of the table, 15, is left; a third one gets 5, for 2 * 4 < 11 and not
 * 2 * 5 < 10, and a fourth 4 of those 10. There is always one for what does not rest. */
static void test_orders(void)
{
    struct waiting stop = { .trigger = M + 10, .quantity = 1000, .type = 3 };

    trade_open(&host, CLASSES "engine.orders=64\nengine.positions=16\n");
    for (uint32_t n = 7; n <= 15; n++) {
        (void)host_account(&host, n);
        CHECK(host_deposit(&host, n, 900 * USDC) == TRADE_OK && class_of(n) == SHARE_CLASS_small);
    }
    for (uint32_t i = 0; i < 24; i++) {
        CHECK(trade_limit(&host, 7 + i % 4, 100, M - 1000) == TRADE_OK);
        CHECK(waiting_place(&host, 7 + i % 4, &stop) == TRADE_OK);
    }
    CHECK(trade_limit(&host, 7, 100, M - 1000) == STATUS_rejected_max_open_orders_exceeded);
    CHECK(trade_tif(&host, 7, 100, M - 1000, TRADE_IOC) == TRADE_OK); /* it does not rest */
    CHECK(waiting_place(&host, 8, &stop) == STATUS_rejected_max_conditional_orders_exceeded);
    for (uint32_t i = 0; i < 26; i++) {
        uint32_t n = i < 17 ? 1 + i % 2 : i < 22 ? 3 : 4;
        CHECK(trade_limit(&host, n, 100, M - 900) == TRADE_OK);
        CHECK(waiting_place(&host, n, &stop) == TRADE_OK);
        if (i == 16 || i == 21 || i == 25) {
            CHECK(trade_limit(&host, n, 100, M - 900) == STATUS_rejected_max_open_orders_exceeded);
            CHECK(waiting_place(&host, n, &stop) ==
                  STATUS_rejected_max_conditional_orders_exceeded);
        }
    }
    CHECK(trade_tif(&host, 1, 100, M - 900, TRADE_IOC) == TRADE_OK);
    CHECK(used(SHARE_orders, SHARE_CLASS_full) == 26);
    host_close(&host);

    trade_open(&host, CLASSES "engine.orders=64\nengine.positions=16\n");
    for (uint32_t n = 7; n <= 15; n++) {
        (void)host_account(&host, n);
        CHECK(host_deposit(&host, n, 900 * USDC) == TRADE_OK);
    }
    struct trade_id last = { { 0 } };
    for (uint32_t n = 7; n <= 12; n++) /* half of 16, without the eighth for newcomers */
        last = trade_rest(&host, n, 100, M - 1000);
    CHECK(trade_limit(&host, 15, 100, M - 1000) == STATUS_rejected_invalid_size);
    CHECK(trade_tif(&host, 15, 100, M - 1000, TRADE_IOC) == STATUS_rejected_invalid_size);
    CHECK(trade_limit(&host, 12, 100, M - 1000) == TRADE_OK); /* the record is there */
    CHECK(host_cancel(&host, 11, last.bytes) != TRADE_OK);
    CHECK(host_cancel_all(&host, 11, 0xFFFF, 0) == TRADE_OK);
    CHECK(trade_limit(&host, 15, 100, M - 1000) == TRADE_OK);
    trade_rest(&host, 1, 100, M - 1000);
    host_close(&host);
}

/* Accounts of 10 USDC that take all they may have, beyond their base at most half of what small
 * ones have: an account without money is made, and one that has little finds its base. (Of 1,024
 * rows 384 are for small ones; 192 of them beyond 4 an account; of conditionals beyond 16.) */
static void test_crowd(void)
{
    struct waiting stop = { .trigger = M + 10, .quantity = 1000, .type = 3 };

    trade_open(&host, CLASSES "engine.portfolios=1024\nengine.credentials=1024\n"
                              "engine.orders=1024\n");
    for (uint32_t n = 7; n <= 16; n++) {
        (void)host_account(&host, n);
        CHECK(host_deposit(&host, n, 10 * USDC) == TRADE_OK);
    }
    for (uint32_t n = 8; n <= 16; n++) {
        while (purse_portfolio(&host, n, 0, "") == TRADE_OK)
            ;
        CHECK(host.result.reason == REASON_limit_reached);
        while (waiting_place(&host, n, &stop) == TRADE_OK)
            ;
        while (make_key(n, REQUEST_create_api_key) == TRADE_OK)
            ;
        CHECK(host.result.reason == REASON_limit_reached);
    }
    CHECK(used(SHARE_portfolios, SHARE_CLASS_small) == 1 + 9 * 4 + 192);
    CHECK(used(SHARE_conditionals, SHARE_CLASS_small) == 9 * 16 + 192);
    CHECK(used(SHARE_credentials, SHARE_CLASS_small) == 2 + 9 * 8 + 192);
    CHECK(host_sign_up(&host, 100) == STATUS_account_created_with_session);
    for (uint32_t i = 1; i <= 4; i++)
        CHECK(purse_portfolio(&host, 7, 0, "") == (i <= 3 ? TRADE_OK : REFUSED));
    for (uint32_t i = 1; i <= 17; i++)
        CHECK(waiting_place(&host, 7, &stop) ==
              (i <= 16 ? TRADE_OK : STATUS_rejected_max_conditional_orders_exceeded));
    for (uint32_t i = 1; i <= 7; i++)
        CHECK(make_key(7, REQUEST_create_api_key) == (i <= 6 ? TRADE_OK : REFUSED));
    host_close(&host);
}

/* Bounds of an account that is full: rows of both kinds together, portfolios of all subaccounts,
 * keys. */
static void test_rows_of_account(void)
{
    uint8_t mmp[48] = { 0 };

    trade_open(&host, CLASSES "limits.account_rows=2\nlimits.account_portfolios=3\n"
                              "limits.account_credentials=4\n");
    trade_add_market(&host, "ETH", 2);
    struct keys_id key = keys_make(&host, 1, KEYS_READ_WRITE, KEYS_NO_PIN);
    CHECK(keys_leverage(&host, key, 1, HOST_BTC, 5) == TRADE_OK);
    cc_store64(mmp, 1);
    cc_store16(mmp + 16, HOST_BTC);
    cc_store32(mmp + 20, 1000);
    cc_store64(mmp + 32, 5000);
    CHECK(purse_send(&host, PURSE_SESSION, 1, REQUEST_set_mmp, mmp, sizeof mmp) == TRADE_OK);
    CHECK(keys_leverage(&host, key, 1, 2, 5) == REFUSED);
    CHECK(host.result.reason == REASON_limit_reached);
    CHECK(keys_leverage(&host, key, 1, HOST_BTC, 6) == TRADE_OK); /* no new row */
    CHECK(keys_leverage(&host, key, 1, HOST_BTC, 20) == TRADE_OK);
    CHECK(keys_leverage(&host, key, 1, 2, 5) == TRADE_OK);
    cc_store16(mmp + 16, 2);
    CHECK(purse_send(&host, PURSE_SESSION, 1, REQUEST_set_mmp, mmp, sizeof mmp) == REFUSED);
    CHECK(host.result.reason == REASON_limit_reached);
    CHECK(purse_subaccount(&host, 1) == TRADE_OK && purse_portfolio(&host, 1, 1, "") == TRADE_OK);
    CHECK(purse_portfolio(&host, 1, 0, "") == REFUSED && purse_subaccount(&host, 1) == REFUSED);
    CHECK(host.result.reason == REASON_limit_reached);
    (void)keys_make(&host, 1, KEYS_READ, KEYS_NO_PIN);
    CHECK(make_key(1, REQUEST_create_api_key) == REFUSED);
    host_close(&host);
}

/* Unfunded accounts have an eighth of the withdrawals; what was settled is given back, counted from
 * its settlement, although no command makes another. */
static void test_withdrawals(void)
{
    uint8_t first[16];

    trade_open(&host, CLASSES "engine.deposits=24\n");
    for (uint32_t i = 0; i < 4; i++) {
        (void)host_account(&host, 7 + i);
        CHECK(host_deposit(&host, 7 + i, 9 * USDC) == TRADE_OK);
        CHECK(purse_withdraw(&host, 7 + i, PLACE(0), USDC) ==
              (i < 3 ? TRADE_OK : STATUS_order_rejected_invalid));
        if (i == 0)
            memcpy(first, host.result.id, sizeof first);
    }
    CHECK(host.result.reason == REASON_limit_reached);
    CHECK(purse_withdraw(&host, 1, PLACE(0), USDC) == TRADE_OK);
    host.clock_ns += 100 * HOST_SECOND_NS;
    CHECK(purse_settle(&host, first, 0) == TRADE_OK);
    CHECK(purse_withdraw(&host, 10, PLACE(0), USDC) == STATUS_order_rejected_invalid);
    host_tick(&host, 45 * HOST_SECOND_NS);
    CHECK(host.engine->withdrawals.slots.count == 4);
    host_tick(&host, 2 * HOST_SECOND_NS);
    CHECK(host.engine->withdrawals.slots.count == 3);
    CHECK(purse_withdraw(&host, 10, PLACE(0), USDC) == TRADE_OK);
    host_close(&host);
}

/* An account that is full has its own bound, and what is kept behind its end counts. */
static void test_withdrawals_of_account(void)
{
    uint8_t first[16];

    trade_open(&host, CLASSES "limits.account_withdrawals=2\n");
    CHECK(purse_withdraw(&host, 1, PLACE(0), USDC) == TRADE_OK);
    memcpy(first, host.result.id, sizeof first);
    CHECK(purse_withdraw(&host, 1, PLACE(0), USDC) == TRADE_OK);
    CHECK(purse_withdraw(&host, 1, PLACE(0), USDC) == REFUSED);
    CHECK(host.result.reason == REASON_limit_reached);
    CHECK(purse_withdraw(&host, 2, PLACE(0), USDC) == TRADE_OK);
    CHECK(purse_settle(&host, first, 0) == TRADE_OK);
    CHECK(purse_withdraw(&host, 1, PLACE(0), USDC) == REFUSED);
    host_tick(&host, 47 * HOST_SECOND_NS);
    CHECK(purse_withdraw(&host, 1, PLACE(0), USDC) == TRADE_OK);
    host_close(&host);
}

/* A state and the state made of its image have the same classes and counts; the audit says so. */
static void test_image(void)
{
    static struct host again;
    static struct image_copy copy;
    struct image_problem problem;

    trade_open(&host, CLASSES);
    for (uint32_t n = 7; n <= 9; n++)
        (void)host_account(&host, n);
    CHECK(host_deposit(&host, 8, 20 * USDC) == TRADE_OK);
    CHECK(purse_withdraw(&host, 1, PLACE(0), USDC) == TRADE_OK);
    trade_rest(&host, 8, 100, M - 1000);
    image_copy_take(&copy, host.engine);
    CHECK(image_copy_open(&copy, &again, NULL, &problem));
    CHECK(memcmp(&again.engine->share, &host.engine->share, sizeof host.engine->share) == 0);
    image_copy_free(&copy);
    host_close(&again);
    host_close(&host);
}

int main(void)
{
    test_arithmetic();
    test_class();
    test_class_of_cash();
    test_switched_off();
    test_accounts();
    test_unfunded();
    test_credentials();
    test_newcomers_keys();
    test_default_sizes();
    test_orders();
    test_crowd();
    test_rows_of_account();
    test_withdrawals();
    test_withdrawals_of_account();
    test_image();
    return 0;
}
