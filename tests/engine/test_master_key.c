/* Codes 16, 17, 19, 20, 28 to 31, and what scoped keys may do (rules.md R10, R11; wire.md W3). */
#include "engine/state/state.h"
#include "engine/view/read.h"
#include "image_copy.h"
#include "passkeys.h"
#include "purse.h"

/* Passkeys apart from wallets: passkeys_key and host_master_key number the same bytes. */
enum {
    ADMIN_BODY = 48,
    SCOPED_BODY = 56,
    WHOLE = -1,
    FULL = 0,
    TRADING = 1,
    P1 = 1001,
    P2,
    P3,
    P4
};

#define ID(n) ((0x40 + (n)) & 0xFF) /* the bytes of its credential id */

static struct host host;
static struct passkeys_signer passkey;

/* A request of the wallet n of host_master_key. */
static enum status by_wallet(uint32_t n, uint16_t code, uint8_t flags, const void *body,
                             uint32_t body_bytes)
{
    uint8_t key[33];

    host_master_key(n, key);
    struct host_request request = { .code = code,
                                    .flags = flags,
                                    .body = body,
                                    .body_bytes = body_bytes,
                                    .key = key,
                                    .key_bytes = sizeof key };
    return host_signed(&host, &request);
}

/* A body of 16, 17, 20, 29, 31: account and key. */
static void put_admin(uint8_t body[ADMIN_BODY], uint64_t account, const uint8_t key[33])
{
    memset(body, 0, ADMIN_BODY);
    cc_store64(body, account);
    memcpy(body + 8, key, 33);
}

/* The wallet `by` of an account signs `code` for the key of wallet n. */
static enum status change(uint32_t by, uint64_t account, uint16_t code, uint32_t n)
{
    uint8_t body[ADMIN_BODY], key[33];

    host_master_key(n, key);
    put_admin(body, account, key);
    return by_wallet(by, code, COMMAND_MASTER_KEY_VALID, body, sizeof body);
}

static enum status add_admin(uint32_t by, uint64_t account, uint32_t n)
{
    return change(by, account, REQUEST_add_admin_secp256k1_master_key, n);
}

static enum status remove_admin(uint32_t by, uint64_t account, uint32_t n)
{
    return change(by, account, REQUEST_remove_admin_secp256k1_master_key, n);
}

static enum status add_scoped(uint32_t by, uint64_t account, uint32_t n, int32_t pin, uint8_t scope)
{
    uint8_t body[SCOPED_BODY] = { 0 };

    cc_store64(body, account);
    cc_store32(body + 8, (uint32_t)pin);
    body[12] = scope;
    host_master_key(n, body + 16);
    return by_wallet(by, REQUEST_add_scoped_secp256k1_master_key, COMMAND_MASTER_KEY_VALID, body,
                     sizeof body);
}

/* Codes 19 and 30 by wallet `by` for passkey n, whose id has `id_bytes`. `code` 30 has the head of
 * 28. */
static enum status add_passkey(uint32_t by, uint64_t account, uint16_t code, uint32_t n,
                               uint32_t id_byte, uint32_t id_bytes)
{
    uint8_t body[320] = { 0 };
    bool is_scoped = code == REQUEST_add_scoped_passkey_master_key;
    uint32_t key_at = is_scoped ? 16 : 8, id_at = is_scoped ? 52 : 44;

    cc_store64(body, account);
    if (is_scoped)
        cc_store32(body + 8, UINT32_MAX);
    passkeys_key(n, body + key_at);
    cc_store16(body + id_at - 2, (uint16_t)id_bytes);
    memset(body + id_at, (int)id_byte, id_bytes);
    return by_wallet(by, code, COMMAND_MASTER_KEY_VALID, body, (id_at + id_bytes + 7) & ~7u);
}

static enum status remove_passkey(uint32_t by, uint64_t account, uint16_t code, uint32_t n)
{
    uint8_t body[ADMIN_BODY], key[33];

    passkeys_key(n, key);
    put_admin(body, account, key);
    return by_wallet(by, code, 0, body, sizeof body);
}

static enum status make_session(uint32_t by, uint64_t account, uint32_t n, int32_t pin,
                                uint8_t scope)
{
    uint8_t body[56] = { 0 };

    cc_store64(body, account);
    host_session_key(n, body + 8);
    cc_store32(body + 48, (uint32_t)pin);
    body[52] = scope;
    return by_wallet(by, REQUEST_create_session, COMMAND_SESSION_KEY_VALID, body, sizeof body);
}

static enum status end_session(uint32_t by, uint64_t account, uint32_t n)
{
    uint8_t body[40] = { 0 };

    cc_store64(body, account);
    host_session_key(n, body + 8);
    return by_wallet(by, REQUEST_revoke_session, 0, body, sizeof body);
}

static enum status end_sessions(uint32_t by, uint64_t account)
{
    uint8_t body[8];

    cc_store64(body, account);
    return by_wallet(by, REQUEST_revoke_all_sessions, 0, body, sizeof body);
}

/* Whether the session of key n can sign for portfolio 0 of the subaccount. */
static bool works(uint64_t account, uint32_t n, uint32_t subaccount)
{
    uint8_t body[24] = { 0 }, key[32];

    cc_store64(body, account);
    cc_store32(body + 8, subaccount);
    cc_store16(body + 16, UINT16_MAX);
    host_session_key(n, key);
    struct host_request request = { .code = REQUEST_cancel_all_orders,
                                    .body = body,
                                    .body_bytes = sizeof body,
                                    .key = key,
                                    .key_bytes = sizeof key };
    return host_signed(&host, &request) == STATUS_request_completed;
}

static enum status make_subaccount(uint32_t by, uint64_t account)
{
    uint8_t body[8];

    cc_store64(body, account);
    return by_wallet(by, REQUEST_create_subaccount, 0, body, sizeof body);
}

static enum status withdraw(uint32_t by, uint64_t account, uint32_t subaccount)
{
    uint8_t body[48] = { 0 };

    cc_store64(body, account);
    cc_store32(body + 8, subaccount);
    cc_store64(body + 16, HOST_USDC);
    body[24] = 1;
    return by_wallet(by, REQUEST_withdraw, 0, body, sizeof body);
}

/* R11, 16 and 17: an admin key does everything, the others' end included; not its own, not the
 * last. */
static void test_admin(void)
{
    uint8_t body[ADMIN_BODY], key[33];

    host_open(&host, "limits.admin_keys=3\n");
    CHECK(host_account(&host, 1) == 1 && host_account(&host, 2) == 2);
    CHECK(add_admin(2, 1, 30) == STATUS_master_key_rejected_unauthorized);
    CHECK(add_admin(30, 1, 31) == STATUS_master_key_rejected_unauthorized);
    CHECK(remove_admin(1, 1, 1) == STATUS_master_key_rejected_last_key);
    CHECK(add_admin(1, 1, 30) == STATUS_master_key_added && host.result.members == 0);
    CHECK(add_admin(1, 1, 30) == STATUS_master_key_rejected_invalid); /* is one */
    CHECK(add_admin(2, 2, 30) == STATUS_master_key_rejected_invalid); /* of another account */
    CHECK(add_admin(1, 1, 2) == STATUS_master_key_rejected_invalid);
    CHECK(host.result.reason == REASON_none);
    CHECK(add_admin(30, 1, 31) == STATUS_master_key_added);
    CHECK(add_admin(30, 1, 32) == STATUS_master_key_rejected_invalid);
    CHECK(host.result.reason == REASON_limit_reached);
    CHECK(make_session(31, 1, 310, WHOLE, FULL) == STATUS_session_created);
    CHECK(remove_admin(31, 1, 31) == STATUS_master_key_rejected_self_removal);
    CHECK(remove_admin(31, 1, 2) == STATUS_master_key_rejected_invalid); /* another account's */
    CHECK(remove_admin(31, 1, 40) == STATUS_master_key_rejected_invalid);
    CHECK(change(1, 1, REQUEST_remove_scoped_secp256k1_master_key, 31) ==
          STATUS_master_key_rejected_invalid); /* of the other kind */
    CHECK(change(1, 1, REQUEST_remove_admin_passkey_master_key, 31) ==
          STATUS_master_key_rejected_invalid); /* and curve */
    CHECK(works(1, 1, 0) && works(1, 310, 0));
    CHECK(remove_admin(31, 1, 1) == STATUS_master_key_removed);
    CHECK(!works(1, 1, 0) && works(1, 310, 0)); /* the first session was made by key 1 */
    CHECK(remove_admin(1, 1, 31) == STATUS_master_key_rejected_unauthorized);
    CHECK(make_session(1, 1, 11, WHOLE, FULL) == STATUS_session_rejected);
    CHECK(add_admin(31, 1, 32) == STATUS_master_key_added); /* there is room again */
    CHECK(remove_admin(32, 1, 32) == STATUS_master_key_rejected_self_removal);

    /* Pads, a bad point: what the body holds decides, not who signs. */
    host_master_key(50, key);
    put_admin(body, 2, key);
    CHECK(by_wallet(2, REQUEST_add_admin_secp256k1_master_key, 0, body, sizeof body) ==
          STATUS_master_key_rejected_invalid);
    body[47] = 1;
    CHECK(by_wallet(2, REQUEST_add_admin_secp256k1_master_key, COMMAND_MASTER_KEY_VALID, body,
                    sizeof body) == STATUS_master_key_rejected_invalid);
    CHECK(add_admin(2, 2, 1) == STATUS_master_key_added); /* what is none any more is free */
    put_admin(body, 2, key);
    memcpy(body + 8, host.engine->credentials.rows[1].key, 33);
    body[47] = 1;
    CHECK(by_wallet(2, REQUEST_remove_admin_secp256k1_master_key, 0, body, sizeof body) ==
          STATUS_master_key_rejected_invalid);
    host_close(&host);
}

/* Two keys that remove each other: the earlier sequence decides, and the later id stays unused. */
static void test_each_other(void)
{
    uint8_t body[ADMIN_BODY], key[33], id[16];

    host_open(&host, NULL);
    (void)host_account(&host, 1);
    CHECK(add_admin(1, 1, 30) == STATUS_master_key_added);
    CHECK(remove_admin(1, 1, 30) == STATUS_master_key_removed);
    CHECK(remove_admin(30, 1, 1) == STATUS_master_key_rejected_unauthorized);
    memcpy(id, host.id, sizeof id);
    CHECK(add_admin(1, 1, 30) == STATUS_master_key_added);
    host_master_key(1, key);
    put_admin(body, 1, key);
    host_master_key(30, key);
    struct host_request again = { .code = REQUEST_remove_admin_secp256k1_master_key,
                                  .body = body,
                                  .body_bytes = sizeof body,
                                  .key = key,
                                  .key_bytes = sizeof key,
                                  .id = id };
    CHECK(host_signed(&host, &again) == STATUS_master_key_removed);
    CHECK(remove_admin(30, 1, 30) == STATUS_master_key_rejected_last_key);
    host_close(&host);
}

/* W5: a repetition has no members of a created account, also where the key is gone. */
static void test_duplicate(void)
{
    uint8_t body[ADMIN_BODY], key[33], id[16];

    host_open(&host, NULL);
    (void)host_account(&host, 1);
    host_master_key(30, key);
    put_admin(body, 1, key);
    host_master_key(1, key);
    CHECK(add_admin(1, 1, 30) == STATUS_master_key_added);
    memcpy(id, host.id, sizeof id);
    struct host_request again = { .code = REQUEST_add_admin_secp256k1_master_key,
                                  .flags = COMMAND_MASTER_KEY_VALID,
                                  .body = body,
                                  .body_bytes = sizeof body,
                                  .key = key,
                                  .key_bytes = sizeof key,
                                  .id = id };
    CHECK(host_signed(&host, &again) == STATUS_duplicate_request_id);
    CHECK(host.result.members == ANSWER_HAS_ORIGINAL);
    CHECK(host.result.original_status == STATUS_master_key_added);
    CHECK(remove_admin(1, 1, 30) == STATUS_master_key_removed);
    CHECK(host_signed(&host, &again) == STATUS_duplicate_request_id);
    CHECK(host.result.members == ANSWER_HAS_ORIGINAL);
    host_close(&host);
}

/* R10, R11: what a scoped key reaches, and that it never widens itself. */
static void test_scoped(void)
{
    host_open(&host, "limits.scoped_keys=4\n");
    (void)host_account(&host, 1);
    CHECK(host_deposit(&host, 1, 100 * HOST_USDC) == STATUS_request_completed);
    CHECK(make_subaccount(1, 1) == STATUS_request_completed);
    CHECK(add_scoped(1, 1, 20, 2, FULL) == STATUS_master_key_rejected_invalid); /* no such one */
    CHECK(add_scoped(1, 1, 20, 0, 2) == STATUS_master_key_rejected_invalid);    /* no such scope */
    CHECK(add_scoped(1, 1, 20, 0, FULL) == STATUS_master_key_added);
    CHECK(add_scoped(1, 1, 21, 1, TRADING) == STATUS_master_key_added);
    CHECK(add_scoped(1, 1, 22, WHOLE, FULL) == STATUS_master_key_added);
    CHECK(add_scoped(1, 1, 23, WHOLE, TRADING) == STATUS_master_key_added);
    CHECK(add_scoped(1, 1, 24, WHOLE, TRADING) == STATUS_master_key_rejected_invalid);
    CHECK(host.result.reason == REASON_limit_reached);
    CHECK(add_admin(1, 1, 30) == STATUS_master_key_added); /* they count apart */

    /* Sessions within pin and scope. */
    CHECK(make_session(20, 1, 200, WHOLE, FULL) == STATUS_session_rejected);
    CHECK(make_session(20, 1, 200, 1, FULL) == STATUS_session_rejected);
    CHECK(make_session(20, 1, 200, 0, FULL) == STATUS_session_created);
    CHECK(make_session(20, 1, 201, 0, TRADING) == STATUS_session_created);
    CHECK(make_session(21, 1, 210, 1, FULL) == STATUS_session_rejected);
    CHECK(make_session(21, 1, 210, 1, TRADING) == STATUS_session_created);
    CHECK(make_session(22, 1, 220, 1, FULL) == STATUS_session_created);
    CHECK(make_session(23, 1, 230, WHOLE, TRADING) == STATUS_session_created);
    CHECK(works(1, 200, 0) && !works(1, 200, 1) && works(1, 210, 1) && works(1, 230, 1));

    /* Cash and structure: FULL_ACCESS and reach. */
    CHECK(withdraw(20, 1, 0) == STATUS_request_completed);
    CHECK(withdraw(20, 1, 1) == STATUS_rejected_unauthorized);
    CHECK(withdraw(21, 1, 1) == STATUS_rejected_unauthorized);
    CHECK(withdraw(22, 1, 0) == STATUS_request_completed);
    CHECK(withdraw(23, 1, 0) == STATUS_rejected_unauthorized);
    CHECK(make_subaccount(20, 1) == STATUS_rejected_unauthorized);
    CHECK(make_subaccount(23, 1) == STATUS_rejected_unauthorized);
    CHECK(make_subaccount(22, 1) == STATUS_request_completed);

    /* Never key management, nor the end of the account. */
    for (uint32_t by = 20; by <= 23; by++) {
        uint8_t body[8] = { 1 };
        CHECK(add_admin(by, 1, 40) == STATUS_master_key_rejected_unauthorized);
        CHECK(remove_admin(by, 1, 30) == STATUS_master_key_rejected_unauthorized);
        CHECK(add_scoped(by, 1, 41, WHOLE, FULL) == STATUS_master_key_rejected_unauthorized);
        CHECK(change(by, 1, REQUEST_remove_scoped_secp256k1_master_key, by) ==
              STATUS_master_key_rejected_unauthorized);
        CHECK(add_passkey(by, 1, REQUEST_add_admin_passkey_master_key, P1, 9, 9) ==
              STATUS_master_key_rejected_unauthorized);
        CHECK(by_wallet(by, REQUEST_close_account, 0, body, sizeof body) ==
              STATUS_rejected_unauthorized);
    }

    /* 14 and 15: those made under it. */
    CHECK(end_session(20, 1, 1) == STATUS_session_rejected);
    CHECK(end_session(20, 1, 210) == STATUS_session_rejected);
    CHECK(end_session(22, 1, 200) == STATUS_session_rejected); /* whole account, made by 20 */
    CHECK(end_session(20, 1, 201) == STATUS_session_revoked);
    CHECK(end_sessions(21, 1) == STATUS_session_revoked);
    CHECK(!works(1, 210, 1) && works(1, 200, 0) && works(1, 220, 1) && works(1, 1, 0));

    /* An admin key ends it, and its sessions with it. */
    CHECK(change(30, 1, REQUEST_remove_admin_secp256k1_master_key, 20) ==
          STATUS_master_key_rejected_invalid);
    CHECK(change(30, 1, REQUEST_remove_scoped_secp256k1_master_key, 20) ==
          STATUS_master_key_removed);
    CHECK(!works(1, 200, 0) && works(1, 220, 1) && works(1, 1, 0));
    CHECK(make_session(20, 1, 202, 0, FULL) == STATUS_session_rejected);
    CHECK(withdraw(20, 1, 0) == STATUS_rejected_unauthorized);
    CHECK(end_sessions(30, 1) == STATUS_session_revoked); /* of the whole account */
    CHECK(!works(1, 220, 1) && !works(1, 1, 0));
    host_close(&host);
}

/* Effects of a removal: the key, then its sessions, newest first. */
static void test_effects(void)
{
    struct effect_credential body;
    uint8_t key[33];

    host_open(&host, NULL);
    (void)host_account(&host, 1);
    CHECK(add_scoped(1, 1, 20, 0, TRADING) == STATUS_master_key_added);
    memcpy(&body, host_effect(&host, EFFECT_credential, 0)->bytes, sizeof body);
    host_master_key(20, key);
    CHECK(body.kind == EFFECT_CREDENTIAL_MASTER_KEY && body.action == CREDENTIAL_ADDED);
    CHECK(body.pin == 0 && body.scope == TRADING && memcmp(body.key, key + 1, 32) == 0);
    for (uint32_t n = 200; n < 203; n++)
        CHECK(make_session(20, 1, n, 0, TRADING) == STATUS_session_created);
    CHECK(change(1, 1, REQUEST_remove_scoped_secp256k1_master_key, 20) ==
          STATUS_master_key_removed);
    for (uint32_t i = 0; i < 4; i++) {
        memcpy(&body, host_effect(&host, EFFECT_credential, i)->bytes, sizeof body);
        CHECK(body.action == CREDENTIAL_REMOVED);
        if (i > 0)
            host_session_key(203 - i, key + 1);
        CHECK(memcmp(body.key, key + 1, 32) == 0);
    }
    CHECK(host_effect(&host, EFFECT_credential, 4) == NULL);
    host_close(&host);
}

/* Codes 19, 20, 30, 31: a passkey that another key brings; its credential id names one key. */
static void test_passkeys(void)
{
    uint8_t one[8] = { 1 }, body[64] = { 1 };

    host_open(&host, NULL);
    (void)host_account(&host, 1);
    (void)host_account(&host, 2);
    CHECK(add_passkey(1, 1, REQUEST_add_admin_passkey_master_key, P1, ID(P1), 16) ==
          STATUS_master_key_added);
    passkey = (struct passkeys_signer){ .n = P1 };
    struct host_request request =
        passkeys_request(&passkey, REQUEST_create_subaccount, one, sizeof one, NULL);
    CHECK(host_signed(&host, &request) == STATUS_request_completed);
    /* Its key, or its id, is a master key already: here, elsewhere, of a new account. */
    CHECK(add_passkey(1, 1, REQUEST_add_scoped_passkey_master_key, P1, 0x51, 16) ==
          STATUS_master_key_rejected_invalid);
    CHECK(add_passkey(2, 2, REQUEST_add_admin_passkey_master_key, P2, ID(P1), 16) ==
          STATUS_master_key_rejected_invalid);
    passkey = (struct passkeys_signer){ .n = P1 };
    CHECK(passkeys_account(&host, &passkey) == STATUS_creation_rejected);
    /* Another length is another id. */
    CHECK(add_passkey(2, 2, REQUEST_add_scoped_passkey_master_key, P2, ID(P1), 17) ==
          STATUS_master_key_added);
    CHECK(add_passkey(2, 2, REQUEST_add_scoped_passkey_master_key, P3, ID(P2), 256) ==
          STATUS_master_key_added);
    passkey = (struct passkeys_signer){ .n = P2, .id_bytes = 256 };
    CHECK(passkeys_account(&host, &passkey) == STATUS_creation_rejected); /* the id of passkey 3 */
    CHECK(remove_passkey(2, 2, REQUEST_remove_admin_passkey_master_key, P3) ==
          STATUS_master_key_rejected_invalid);
    CHECK(remove_passkey(2, 2, REQUEST_remove_scoped_passkey_master_key, P3) ==
          STATUS_master_key_removed);
    CHECK(remove_passkey(1, 1, REQUEST_remove_admin_passkey_master_key, P1) ==
          STATUS_master_key_removed);
    passkey = (struct passkeys_signer){ .n = P1 };
    request = passkeys_request(&passkey, REQUEST_create_subaccount, one, sizeof one, NULL);
    CHECK(host_signed(&host, &request) == STATUS_rejected_unauthorized);
    CHECK(passkeys_account(&host, &passkey) == STATUS_account_created_with_session);
    CHECK(host.result.account_id == 3); /* key and id were free */

    /* The zeros after the id are pads. */
    cc_store64(body, 1);
    passkeys_key(P4, body + 8);
    cc_store16(body + 42, 1);
    body[44] = 7;
    body[45] = 1;
    CHECK(by_wallet(1, REQUEST_add_admin_passkey_master_key, COMMAND_MASTER_KEY_VALID, body, 48) ==
          STATUS_master_key_rejected_invalid);
    body[45] = 0;
    CHECK(by_wallet(1, REQUEST_add_admin_passkey_master_key, COMMAND_MASTER_KEY_VALID, body, 48) ==
          STATUS_master_key_added);
    host_close(&host);
}

/* The row of a removed passkey is kept for duplicates, then it is free: keys that come and go use
 * no more rows than the window holds. */
static void test_rows_are_freed(void)
{
    host_open(&host, "engine.credentials=64\n");
    host.skip_audit = true;
    (void)host_account(&host, 1);
    for (uint32_t i = 0; i < 300; i++) {
        CHECK(add_passkey(1, 1, REQUEST_add_admin_passkey_master_key, P1 + i, i & 0xFF, 16) ==
              STATUS_master_key_added);
        CHECK(remove_passkey(1, 1, REQUEST_remove_admin_passkey_master_key, P1 + i) ==
              STATUS_master_key_removed);
        host.clock_ns += 4 * HOST_SECOND_NS;
    }
    CHECK(host.engine->passkeys.slots.count < 32);
    CHECK(host.engine->passkeys.by_id.count == 0);
    CHECK(host.engine->accounts.rows[1].master_head != 0);
    host_close(&host);
}

/* A full table: its own status, and nothing has changed. */
static void test_room(void)
{
    enum status status = STATUS_master_key_added;
    uint32_t n = 100;

    host_open(&host, "engine.credentials=32\nlimits.scoped_keys=64\n");
    (void)host_account(&host, 1);
    for (; status == STATUS_master_key_added; n++)
        status = add_scoped(1, 1, n, WHOLE, FULL);
    CHECK(n == 100 + 31 && status == STATUS_master_key_rejected_invalid);
    CHECK(host.result.reason == REASON_none);
    CHECK(host_effect(&host, EFFECT_credential, 0) == NULL);
    CHECK(change(1, 1, REQUEST_remove_scoped_secp256k1_master_key, 100) ==
          STATUS_master_key_removed);
    host.clock_ns += 3600 * HOST_SECOND_NS;
    CHECK(add_scoped(1, 1, n, WHOLE, FULL) == STATUS_master_key_added);
    host_close(&host);
}

/* A CLOSED account has no credential that is shown, and its keys stay taken. */
static void test_closed(void)
{
    uint8_t one[8] = { 1 }, close[16] = { 1 };
    struct read_credential view;
    uint32_t cursor = 0, count = 0;

    host_open(&host, NULL);
    (void)host_account(&host, 1);
    (void)host_account(&host, 2);
    CHECK(add_admin(1, 1, 30) == STATUS_master_key_added);
    CHECK(add_passkey(1, 1, REQUEST_add_scoped_passkey_master_key, P1, ID(P1), 16) ==
          STATUS_master_key_added);
    for (; read_master_key_at(host.engine, 1, &cursor, &view); count++)
        CHECK(view.is_admin == (count < 2) && (view.passkey_id != NULL) == (count == 2));
    CHECK(count == 3);
    struct keys_id api_key = keys_make(&host, 1, KEYS_READ_WRITE, KEYS_NO_PIN);
    struct purse_place place = { 0, 0 };
    CHECK(purse_key(&host, REQUEST_portfolio_close, api_key, 1, place, 0) == TRADE_OK);
    CHECK(by_wallet(1, REQUEST_close_subaccount, 0, close, sizeof close) ==
          STATUS_request_completed);
    CHECK(by_wallet(30, REQUEST_close_account, 0, one, sizeof one) == STATUS_request_completed);
    for (cursor = 0, count = 0; read_credential_at(host.engine, &cursor, &view); count++)
        CHECK(view.account_id == 2);
    CHECK(count == 2);
    CHECK(add_admin(1, 1, 31) == STATUS_master_key_rejected_unauthorized);
    CHECK(add_admin(2, 2, 30) == STATUS_master_key_rejected_invalid);
    CHECK(add_passkey(2, 2, REQUEST_add_admin_passkey_master_key, P2, ID(P1), 16) ==
          STATUS_master_key_rejected_invalid);
    host_close(&host);
}

/* Keys of every kind, live and ended, survive in the image and go on. */
static void test_image(void)
{
    static struct host later;
    static struct image_copy copy, again;
    struct image_problem problem;

    host_open(&host, NULL);
    (void)host_account(&host, 1);
    CHECK(add_admin(1, 1, 30) == STATUS_master_key_added);
    CHECK(add_scoped(30, 1, 20, 0, TRADING) == STATUS_master_key_added);
    CHECK(add_passkey(1, 1, REQUEST_add_admin_passkey_master_key, P1, ID(P1), 16) ==
          STATUS_master_key_added);
    CHECK(add_passkey(1, 1, REQUEST_add_scoped_passkey_master_key, P2, ID(P2), 1) ==
          STATUS_master_key_added);
    CHECK(remove_passkey(1, 1, REQUEST_remove_admin_passkey_master_key, P1) ==
          STATUS_master_key_removed);
    CHECK(add_passkey(1, 1, REQUEST_add_scoped_passkey_master_key, P3, ID(P1), 16) ==
          STATUS_master_key_added); /* the id again, while the ended row is kept */
    CHECK(remove_admin(30, 1, 1) == STATUS_master_key_removed);
    image_copy_take(&copy, host.engine);
    CHECK(image_copy_open(&copy, &later, NULL, &problem));
    image_copy_take(&again, later.engine);
    CHECK(image_copy_equal(&copy, &again));
    later.id_count = host.id_count;
    later.clock_ns = host.clock_ns;
    host_close(&host);
    host = later;
    CHECK(make_session(20, 1, 200, 0, TRADING) == STATUS_session_created);
    CHECK(add_admin(1, 1, 31) == STATUS_master_key_rejected_unauthorized);
    CHECK(remove_passkey(30, 1, REQUEST_remove_scoped_passkey_master_key, P3) ==
          STATUS_master_key_removed);
    CHECK(remove_passkey(30, 1, REQUEST_remove_scoped_passkey_master_key, P1) ==
          STATUS_master_key_rejected_invalid);
    CHECK(remove_admin(30, 1, 30) == STATUS_master_key_rejected_last_key);
    image_copy_free(&copy);
    image_copy_free(&again);
    host_close(&host);
}

int main(void)
{
    test_admin();
    test_each_other();
    test_duplicate();
    test_scoped();
    test_effects();
    test_passkeys();
    test_rows_are_freed();
    test_room();
    test_closed();
    test_image();
    return 0;
}
