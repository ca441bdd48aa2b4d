/* Slots go to newcomers (wire.md W8, slots): the oldest unfunded account that has nothing is taken
 * when a new one does not fit, whichever table is short. What keeps an account, what goes with it,
 * and that its former owner reaches nothing any more. The host audits every command. */
#include "engine/state/state.h"
#include "engine/view/read.h"
#include "image_copy.h"
#include "purse.h"
#include "rig.h"
#include "trade.h"
#include "waiting.h"

#define MADE     STATUS_account_created_with_session
#define FULL     STATUS_creation_rejected
#define NOBODY   STATUS_rejected_unauthorized
#define UNKNOWN  STATUS_rejected_invalid_portfolio_id
#define CLASSES  "limits.funding_small=10\nlimits.funding_full=1000\nlimits.unfunded_life_s=60\n"
#define SMALL    CLASSES "engine.accounts=32\nengine.portfolios=64\nengine.credentials=512\n"
#define MAIN     ((struct purse_place){ 0, 0 })
#define NEXT(id) ((id) + (UINT64_C(1) << 32))

enum { SHARE = 4 }; /* unfunded accounts of SMALL's tables */

static struct host host;

static void wait_s(uint64_t seconds)
{
    host_tick(&host, seconds * HOST_SECOND_NS);
}

/* Accounts 1 to SHARE, a second apart: the share is used up. */
static void fill(const char *options)
{
    host_open(&host, options);
    for (uint32_t n = 1; n <= SHARE; n++) {
        CHECK(host_account(&host, n) == n);
        wait_s(1);
    }
    CHECK(host_sign_up(&host, 10) == FULL);
}

static uint32_t free_accounts(void)
{
    return host.engine->accounts.free.heap.count;
}

/* The oldest goes first, when its time has come and not before; ids are never given twice. */
static void test_oldest(void)
{
    fill(SMALL);
    wait_s(60 - SHARE - 1); /* a second is missing */
    CHECK(host_sign_up(&host, 10) == FULL && free_accounts() == 0);
    wait_s(1);
    CHECK(host_sign_up(&host, 10) == MADE && host.result.account_id == NEXT(1));
    struct effect_account ended = purse_told(&host, 0), begun = purse_told(&host, 1);
    CHECK(ended.account_id == 1 && ended.status == ACCOUNT_CLOSED);
    CHECK(ended.what == ACCOUNT_WHAT_ACCOUNT && begun.account_id == NEXT(1));
    CHECK(trade_effects(&host, EFFECT_credential) == 4); /* two removed, two added */
    CHECK(host_sign_up(&host, 11) == FULL);              /* account 2 is a second younger */
    wait_s(1);
    CHECK(host_sign_up(&host, 1) == MADE && host.result.account_id == NEXT(2)); /* 1's keys again */
    wait_s(70);
    CHECK(host_sign_up(&host, 2) == MADE && host.result.account_id == NEXT(3));
    CHECK(host_sign_up(&host, 3) == MADE && host.result.account_id == NEXT(4));
    CHECK(host_sign_up(&host, 4) == MADE && host.result.account_id == NEXT(NEXT(1)));
    CHECK(host.engine->accounts.count == SHARE + 1);
    host_close(&host);
}

/* Requests of a former owner, whose keys are another account's by now. */
static void test_former(void)
{
    uint8_t body[80] = { 0 }, key[33], session[32];

    host_open(&host, SMALL);
    host_session_key(1, body);
    host_master_key(1, key);
    struct host_request creation = { .code = REQUEST_create_account_secp256k1,
                                     .flags = COMMAND_SESSION_KEY_VALID,
                                     .body = body,
                                     .body_bytes = sizeof body,
                                     .key = key,
                                     .key_bytes = sizeof key };
    CHECK(host_signed(&host, &creation) == MADE && host.result.account_id == 1);
    struct trade_id first = trade_last_id(&host);
    for (uint32_t n = 2; n <= SHARE; n++)
        (void)host_account(&host, n);
    wait_s(59);
    uint8_t sweep[24] = { 1 };
    cc_store32(sweep + 12, UINT32_MAX);
    cc_store16(sweep + 16, UINT16_MAX);
    host_session_key(1, session);
    struct host_request request = { .code = REQUEST_cancel_all_orders,
                                    .body = sweep,
                                    .body_bytes = sizeof sweep,
                                    .key = session,
                                    .key_bytes = sizeof session };
    CHECK(host_signed(&host, &request) == TRADE_OK);
    struct trade_id swept = trade_last_id(&host);
    wait_s(1);
    CHECK(host_sign_up(&host, 9) == MADE && host.result.account_id == NEXT(1)); /* a request keeps
                                                                                  nothing */
    wait_s(1);
    creation.id = NULL;
    CHECK(host_signed(&host, &creation) == MADE && host.result.account_id == NEXT(2));
    creation.id = first.bytes; /* the first creation again: its id is out of the window */
    CHECK(host_signed(&host, &creation) != MADE && host.is_peeked);
    request.id = swept.bytes;
    CHECK(host_signed(&host, &request) == NOBODY && !host.is_peeked);
    cc_store64(sweep, NEXT(2)); /* its own, though the id was used for the former */
    CHECK(host_signed(&host, &request) == TRADE_OK);
    CHECK(host_deposit(&host, 1, HOST_USDC) == UNKNOWN);
    CHECK(purse_suspend(&host, 1, true) == UNKNOWN);
    CHECK(host_deposit(&host, NEXT(1), HOST_USDC) == TRADE_OK);
    struct row_account row;
    CHECK(!read_account(host.engine, 1, &row) && read_account(host.engine, NEXT(1), &row));
    CHECK(read_account_has_gone(host.engine, 1));
    host_close(&host);
}

/* What keeps an account of no class: it is passed over, and the next one goes. */
static void test_kept(void)
{
    static const char *const names[] = { "dust", "pending", "reverted", "suspended" };
    uint8_t id[16];

    for (uint32_t k = 0; k < CC_COUNT(names); k++) {
        fill(SMALL);
        if (k < 3)
            CHECK(host_deposit(&host, 1, k == 0 ? 1 : 5 * HOST_USDC) == TRADE_OK);
        if (k == 3)
            CHECK(purse_suspend(&host, 1, true) == TRADE_OK);
        if (k == 1 || k == 2)
            CHECK(purse_withdraw(&host, 1, MAIN, 5 * HOST_USDC) == TRADE_OK);
        memcpy(id, host.result.id, sizeof id);
        if (k == 2)
            CHECK(purse_settle(&host, id, 1) == TRADE_OK);
        wait_s(80);
        CHECK(host_sign_up(&host, 10) == MADE && host.result.account_id == NEXT(2));
        CHECK(host.engine->accounts.rows[1].unfunded_ns == engine_time(host.engine));
        if (k == 1) {
            CHECK(purse_settle(&host, id, 0) == TRADE_OK); /* paid: nothing is left ... */
            wait_s(
                59); /* ... and the row of the withdrawal is given back, but it was passed over */
            CHECK(host_sign_up(&host, 11) == MADE && host.result.account_id == NEXT(3));
            CHECK(host_sign_up(&host, 12) == MADE && host.result.account_id == NEXT(4));
            CHECK(host_sign_up(&host, 13) == FULL);
            wait_s(1);
            CHECK(host_sign_up(&host, 13) == MADE && host.result.account_id == NEXT(1));
        }
        host_close(&host);
    }
}

/* Rows that were given back go to whoever makes portfolios next, lowest first; a state that is
 * loaded knows whose they are, in the order in which they were made. */
static void others_get_rows(void)
{
    static struct image_copy copy, again;
    static struct host loaded;
    struct image_problem problem = { 0 };
    uint32_t had = host.engine->portfolios.count;

    CHECK(host_deposit(&host, 2, 2000 * HOST_USDC) == TRADE_OK);
    CHECK(purse_portfolio(&host, 2, 0, "low") == TRADE_OK);
    struct trade_id id = trade_last_id(&host);
    CHECK(purse_subaccount(&host, 2) == TRADE_OK && purse_portfolio(&host, 2, 1, "") == TRADE_OK);
    CHECK(host.engine->portfolios.count == had);
    CHECK(purse_at(&host, 2, (struct purse_place){ 0, 1 }) < purse_at(&host, 2, MAIN));
    image_copy_take(&copy, host.engine);
    if (!image_copy_open(&copy, &loaded, NULL, &problem))
        fprintf(stderr, "section %u: %s\n", problem.section, problem.text);
    CHECK(problem.text == NULL);
    image_copy_take(&again, loaded.engine);
    CHECK(image_copy_equal(&copy, &again));
    host_close(&loaded);
    CHECK(image_copy_reopen(&copy, &host, &problem));
    uint8_t body[48] = { 2, 0, 0, 0, 0, 0, 0, 0 }, key[33];
    memcpy(body + 16, "low", 3);
    host_master_key(2, key);
    struct host_request request = { .code = REQUEST_create_portfolio,
                                    .body = body,
                                    .body_bytes = sizeof body,
                                    .key = key,
                                    .key_bytes = sizeof key,
                                    .id = id.bytes };
    CHECK(host_signed(&host, &request) == STATUS_duplicate_request_id);
    CHECK(host.result.portfolio_index == 1 && host.result.subaccount_index == 0);
    image_copy_free(&copy);
    image_copy_free(&again);
}

/* Closes all subaccounts of account 1 of test_everything but 0: rows are given back. */
static void leave_two(struct keys_id key)
{
    static const struct purse_place closed[] = { { 1, 0 }, { 1, 1 }, { 2, 1 }, { 2, 0 }, { 3, 0 } };

    for (size_t i = 0; i < CC_COUNT(closed); i++)
        CHECK(purse_key(&host, REQUEST_portfolio_close, key, 1, closed[i], 0) == TRADE_OK);
    for (uint32_t i = 1; i <= 3; i++)
        CHECK(purse_close_subaccount(&host, 1, i) == TRADE_OK);
    wait_s(60);
    wait_s(1); /* a command gives back a few */
    CHECK(host.engine->portfolios.free.heap.count == CC_COUNT(closed));
    CHECK(host.engine->subaccounts.free.heap.count == 3);
}

/* All that an account may have that has spent everything goes with it, and comes again. */
static void test_everything(void)
{
    uint8_t mmp[48] = { 1 }, arm[56] = { 9 }, schedule[24] = { 1 };

    host_open(&host, CLASSES "engine.accounts=32\nengine.portfolios=256\n");
    CHECK(host_oracle(&host, HOST_BTC, TRADE_MARK) == TRADE_OK);
    (void)host_account(&host, 1);
    CHECK(host_deposit(&host, 1, 5000 * HOST_USDC) == TRADE_OK);
    for (uint32_t i = 0; i < 3; i++)
        CHECK(purse_portfolio(&host, 1, i, "") == TRADE_OK &&
              purse_subaccount(&host, 1) == TRADE_OK);
    struct keys_id key = keys_make(&host, 1, KEYS_READ_WRITE, KEYS_NO_PIN);
    struct keys_id gone = keys_make(&host, 1, KEYS_READ, KEYS_NO_PIN);
    CHECK(keys_leverage(&host, key, 1, HOST_BTC, 5) == TRADE_OK);
    cc_store16(mmp + 16, HOST_BTC);
    cc_store32(mmp + 20, 1000);
    cc_store64(mmp + 32, 5000);
    CHECK(purse_send(&host, PURSE_SESSION, 1, REQUEST_set_mmp, mmp, sizeof mmp) == TRADE_OK);
    memcpy(arm + 16, key.bytes, sizeof key.bytes);
    cc_store64(arm + 32, 1);
    arm[48] = 1;
    CHECK(host_unsigned(&host, REQUEST_disconnect_arm, arm, sizeof arm) == TRADE_OK);
    cc_store64(schedule + 16, host.clock_ns + 86400 * HOST_SECOND_NS);
    CHECK(purse_send(&host, PURSE_SESSION, 1, REQUEST_schedule_cancel_all, schedule,
                     sizeof schedule) == TRADE_OK);
    leave_two(key); /* W8: an account that becomes unfunded has no more */
    CHECK(purse_withdraw(&host, 1, MAIN, 5000 * HOST_USDC) == TRADE_OK);
    CHECK(purse_settle(&host, host.result.id, 0) == TRADE_OK);
    for (uint32_t n = 2; n <= SHARE; n++)
        (void)host_account(&host, n);
    wait_s(60);
    struct engine *engine = host.engine;
    CHECK(engine->leverages.slots.count == 1 && engine->mmps.slots.count == 1);
    CHECK(engine->arms.slots.count == 1 && engine->dead_men.count == 1);
    uint32_t credentials = engine->credentials.slots.count;
    CHECK(keys_revoke(&host, 1, gone) == TRADE_OK); /* its row is kept */
    CHECK(engine->credentials.slots.count == credentials);
    CHECK(host_sign_up(&host, 10) == MADE && host.result.account_id == NEXT(1));
    CHECK(engine->credentials.slots.count == credentials - 2); /* 4 of the former, 2 new ones */
    CHECK(engine->leverages.slots.count == 0 && engine->mmps.slots.count == 0);
    CHECK(engine->arms.slots.count == 0 && engine->dead_men.count == 0);
    CHECK(engine->subaccounts.free.heap.count == 0); /* 2 to SHARE and 10 have all 4 of them */
    CHECK(engine->portfolios.free.heap.count == 3);  /* 7 rows; 2 to SHARE and 10 have 4 of them */
    CHECK(host_unsigned(&host, REQUEST_cancel_on_disconnect, arm, 16) != MADE);
    CHECK(keys_leverage(&host, key, 1, HOST_BTC, 5) == NOBODY);
    others_get_rows();
    host_close(&host);
}

static void short_session(uint32_t key, uint64_t seconds)
{
    uint8_t body[56] = { 1 };

    host_session_key(key, body + 8);
    cc_store64(body + 40, host.clock_ns + seconds * HOST_SECOND_NS);
    cc_store32(body + 48, UINT32_MAX);
    CHECK(purse_send(&host, PURSE_MASTER, 1, REQUEST_create_session, body, sizeof body) ==
          STATUS_session_created);
}

/* Sessions that expired and are kept yet end with the account, newest first, whether a command
 * found them expired before or not: a state that is loaded tells the same. */
static void test_expired(void)
{
    static struct image_copy copy;
    static struct host loaded;
    struct image_problem problem = { 0 };
    uint8_t key[32];

    fill(SMALL);
    wait_s(30);
    short_session(21, 1);
    short_session(22, 2);
    wait_s(5);
    short_session(23, 1); /* finds those before it */
    short_session(24, 1);
    wait_s(60 - 36);
    image_copy_take(&copy, host.engine);
    CHECK(image_copy_open(&copy, &loaded, NULL, &problem));
    host.mirror = &loaded;
    CHECK(host_sign_up(&host, 10) == MADE && host.result.account_id == NEXT(1));
    for (uint32_t k = 0; k < 4; k++) { /* behind those that were live: a session, a master key */
        host_session_key(24 - k, key);
        const struct host_effect *effect = host_effect(&host, EFFECT_credential, 2 + k);
        CHECK(effect != NULL && memcmp(effect->bytes, key, sizeof key) == 0);
    }
    host.mirror = NULL;
    host_close(&loaded);
    image_copy_free(&copy);
    host_close(&host);
}

int main(void)
{
    test_oldest();
    test_former();
    test_kept();
    test_everything();
    test_expired();
    return 0;
}
