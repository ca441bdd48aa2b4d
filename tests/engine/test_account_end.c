/* Code 32: an account ends, and every credential with it (rules.md R10, R11 row 3). */
#include "engine/view/read.h"
#include "purse.h"

enum { OTHER_SESSION = 40 };

static const struct purse_place main_place = { 0, 0 };
static struct host host;

/* Account 1 without cash, its portfolio CLOSED, with two sessions and two API keys. */
static struct keys_id empty(void)
{
    uint8_t id[16];

    trade_open(&host, NULL);
    purse_session(&host, 1, OTHER_SESSION, 1, -1);
    struct keys_id key = keys_make(&host, 1, KEYS_READ_WRITE, KEYS_NO_PIN);
    (void)keys_make(&host, 1, KEYS_READ, 0);
    CHECK(purse_withdraw(&host, 1, main_place, TRADE_CASH) == TRADE_OK);
    memcpy(id, host.result.id, sizeof id);
    CHECK(purse_settle(&host, id, 0) == TRADE_OK);
    CHECK(purse_key(&host, REQUEST_portfolio_close, key, 1, main_place, 0) == TRADE_OK);
    return key;
}

/* Signer, suspended, a subaccount that is open, in this order. */
static void test_rows(void)
{
    uint8_t body[8] = { 1 };

    (void)empty();
    CHECK(purse_suspend(&host, 1, true) == TRADE_OK);
    CHECK(purse_send_as(&host, 1, REQUEST_close_account, body, sizeof body) ==
          STATUS_rejected_unauthorized); /* a session, of whatever scope */
    CHECK(purse_close_account(&host, 1) == STATUS_rejected_account_suspended);
    CHECK(purse_suspend(&host, 1, false) == TRADE_OK);
    CHECK(purse_close_account(&host, 1) == STATUS_order_rejected_invalid);
    CHECK(host.result.reason == REASON_subaccount_not_closed);
    CHECK(purse_subaccount(&host, 1) == TRADE_OK);
    CHECK(purse_close_subaccount(&host, 1, 0) == TRADE_OK);
    CHECK(purse_close_account(&host, 1) == STATUS_order_rejected_invalid); /* 1 is open */
    CHECK(host.result.reason == REASON_subaccount_not_closed);
    host_close(&host);
}

static void test_end(void)
{
    uint8_t master[33], body[80] = { 0 }, request_id[16];
    struct row_account row;

    struct keys_id key = empty();
    CHECK(purse_close_subaccount(&host, 1, 0) == TRADE_OK);
    CHECK(purse_close_account(&host, 1) == TRADE_OK);
    memcpy(request_id, host.id, sizeof request_id);
    /* 2118 of two API keys and two sessions, newest first, then 2119. */
    static const uint8_t kinds[] = { EFFECT_CREDENTIAL_API_KEY, EFFECT_CREDENTIAL_API_KEY,
                                     EFFECT_CREDENTIAL_SESSION, EFFECT_CREDENTIAL_SESSION };
    for (uint32_t i = 0; i < CC_COUNT(kinds); i++) {
        struct effect_credential told;
        const struct host_effect *effect = host_effect(&host, EFFECT_credential, i);
        CHECK(effect != NULL && effect->index == i);
        memcpy(&told, effect->bytes, sizeof told);
        CHECK(told.kind == kinds[i] && told.action == CREDENTIAL_REMOVED);
    }
    CHECK(host_effect(&host, EFFECT_credential, 4) == NULL);
    CHECK(purse_told(&host, 0).what == ACCOUNT_WHAT_ACCOUNT);
    CHECK(purse_told(&host, 0).status == ACCOUNT_CLOSED);
    CHECK(read_account(host.engine, 1, &row) && row.status == ACCOUNT_CLOSED);
    CHECK(host.engine->accounts.rows[1].api_key_count == 0);

    /* Row 3: nothing of it is valid; the ids stay unused, that of 32 too. */
    CHECK(trade_limit(&host, 1, 1000, 990000) == STATUS_rejected_unauthorized);
    CHECK(purse_subaccount(&host, 1) == STATUS_rejected_unauthorized);
    CHECK(purse_key(&host, REQUEST_portfolio_reopen, key, 1, main_place, 0) ==
          STATUS_rejected_unauthorized);
    host_master_key(1, master);
    cc_store64(body, 1);
    struct host_request again = { .code = REQUEST_close_account,
                                  .body = body,
                                  .body_bytes = 8,
                                  .key = master,
                                  .key_bytes = sizeof master,
                                  .id = request_id };
    CHECK(host_signed(&host, &again) == STATUS_rejected_unauthorized && !host.is_peeked);
    CHECK(host_signed(&host, &again) == STATUS_rejected_unauthorized && !host.is_peeked);
    uint8_t session[56] = { 1 };
    host_session_key(50, session + 8);
    cc_store32(session + 48, UINT32_MAX);
    CHECK(purse_send(&host, PURSE_MASTER, 1, REQUEST_create_session, session, sizeof session) ==
          STATUS_session_rejected);

    /* It takes no cash, and its master key stays taken (R11, 11). */
    CHECK(purse_deposit(&host, 1, main_place, 5) == STATUS_rejected_invalid_portfolio_id);
    memset(body, 0, sizeof body);
    host_session_key(51, body);
    struct host_request create = { .code = REQUEST_create_account_secp256k1,
                                   .flags = COMMAND_SESSION_KEY_VALID,
                                   .body = body,
                                   .body_bytes = sizeof body,
                                   .key = master,
                                   .key_bytes = sizeof master };
    CHECK(host_signed(&host, &create) == STATUS_creation_rejected);
    CHECK(purse_suspend(&host, 1, true) == TRADE_OK); /* R10 */
    /* Another account with the same session key goes on (R10: a session is account and key). */
    CHECK(trade_limit(&host, 2, 1000, 990000) == TRADE_OK);
    host_close(&host);
}

int main(void)
{
    test_rows();
    test_end();
    return 0;
}
