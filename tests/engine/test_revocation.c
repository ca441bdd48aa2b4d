/* Codes 15 and 35 (rules.md R11, R10; wire.md W3): all sessions of an account, one API key. */
#include "engine/state/state.h"
#include "engine/view/read.h"
#include "keys.h"
#include "rig.h"

static struct host host;

static enum status revoke_all(uint64_t account, const uint8_t *key, uint32_t key_bytes)
{
    uint8_t body[8];

    cc_store64(body, account);
    struct host_request request = { .code = REQUEST_revoke_all_sessions,
                                    .body = body,
                                    .body_bytes = sizeof body,
                                    .key = key,
                                    .key_bytes = key_bytes };
    return host_signed(&host, &request);
}

static enum status revoke_all_by_master(uint32_t n)
{
    uint8_t master[33];

    host_master_key(n, master);
    return revoke_all(n, master, sizeof master);
}

/* A session of account 1 with this key. */
static enum status open_session(uint32_t key, int32_t pin, uint8_t scope, uint64_t expires_at)
{
    uint8_t body[56] = { 1 }, master[33];

    host_master_key(1, master);
    host_session_key(key, body + 8);
    cc_store64(body + 40, expires_at);
    cc_store32(body + 48, (uint32_t)pin);
    body[52] = scope;
    struct host_request request = { .code = REQUEST_create_session,
                                    .flags = COMMAND_SESSION_KEY_VALID,
                                    .body = body,
                                    .body_bytes = sizeof body,
                                    .key = master,
                                    .key_bytes = sizeof master };
    return host_signed(&host, &request);
}

/* Whether the session signs for the account. */
static bool works(uint64_t account, uint32_t key)
{
    uint8_t body[24] = { 0 }, session[32];

    host_session_key(key, session);
    cc_store64(body, account);
    cc_store16(body + 16, 0xFFFF);
    struct host_request request = { .code = REQUEST_cancel_all_orders,
                                    .body = body,
                                    .body_bytes = sizeof body,
                                    .key = session,
                                    .key_bytes = sizeof session };
    return host_signed(&host, &request) == STATUS_request_completed;
}

static uint32_t removed(void)
{
    uint32_t count = 0;
    const struct host_effect *effect;

    while ((effect = host_effect(&host, EFFECT_credential, count)) != NULL) {
        struct effect_credential body;
        memcpy(&body, effect->bytes, sizeof body);
        CHECK(body.account_id == 1 && body.action == CREDENTIAL_REMOVED);
        count++;
    }
    return count;
}

/* R11, 15: every session of the account, and nothing else. */
static void test_all_sessions(void)
{
    uint8_t session[32];

    host_open(&host, NULL);
    (void)host_account(&host, 1);
    (void)host_account(&host, 2);
    struct keys_id key = keys_make(&host, 1, KEYS_READ, KEYS_NO_PIN);
    uint64_t soon = engine_time(host.engine) + 10 * HOST_SECOND_NS;
    CHECK(open_session(10, -1, 0, 0) == STATUS_session_created);
    CHECK(open_session(11, 0, 1, 0) == STATUS_session_created);
    CHECK(open_session(12, -1, 0, soon) == STATUS_session_created);
    host_session_key(1, session);
    CHECK(revoke_all(1, session, 32) == STATUS_session_rejected); /* row 3: a master key signs */
    CHECK(works(1, 1) && works(1, 10) && works(1, 11) && works(2, 2));

    host.clock_ns = soon; /* 12 has expired: it is none any more */
    CHECK(revoke_all_by_master(1) == STATUS_session_revoked);
    CHECK(removed() == 3);
    CHECK(host.effects[host.effect_count - 1].code == EFFECT_answer);
    CHECK(!works(1, 1) && !works(1, 10) && !works(1, 11) && !works(1, 12) && works(2, 2));
    CHECK(host.engine->accounts.rows[1].api_key_count == 1); /* keys stay */
    CHECK(keys_revoke(&host, 2, key) == STATUS_order_rejected_invalid);
    CHECK(revoke_all_by_master(1) == STATUS_session_revoked); /* none is left: no fault */
    CHECK(removed() == 0);
    uint8_t stranger[33];
    host_master_key(3, stranger);
    CHECK(revoke_all(1, stranger, 33) == STATUS_session_rejected);
    /* A key may have a session again. */
    CHECK(open_session(10, -1, 0, 0) == STATUS_session_created);
    CHECK(works(1, 10));
    host_close(&host);
}

/* The bound of sessions counts again from zero, as often as one likes. */
static void test_room(void)
{
    host_open(&host, "limits.sessions=16\nlimits.sessions_per_parent=16\n");
    (void)host_account(&host, 1);
    for (uint32_t round = 0; round < 5; round++) {
        for (uint32_t i = 0; i < 15u + (round != 0); i++)
            CHECK(open_session(100 * round + 10 + i, -1, 0, 0) == STATUS_session_created);
        CHECK(open_session(99, -1, 0, 0) == STATUS_session_rejected_max_sessions);
        CHECK(revoke_all_by_master(1) == STATUS_session_revoked);
        CHECK(removed() == 16);
    }
    host_close(&host);
}

/* R11, 35; what an unknown key is, and who reaches which (R10). */
static void test_api_key(void)
{
    struct keys_id unknown = { { 1, 2, 3 } }, other;

    host_open(&host, "limits.api_keys=3\n");
    (void)host_account(&host, 1);
    (void)host_account(&host, 2);
    struct keys_id whole = keys_make(&host, 1, KEYS_READ_WRITE, KEYS_NO_PIN);
    struct keys_id pinned = keys_make(&host, 1, KEYS_READ, 0);
    struct keys_id foreign = keys_make(&host, 2, KEYS_READ, KEYS_NO_PIN);
    CHECK(keys_revoke(&host, 1, unknown) == STATUS_order_rejected_invalid);
    CHECK(keys_revoke(&host, 1, foreign) == STATUS_order_rejected_invalid);
    other = whole;
    other.bytes[15] ^= 1; /* index 1 of the same command */
    CHECK(keys_revoke(&host, 1, other) == STATUS_order_rejected_invalid);
    other = whole;
    other.bytes[5] ^= 1; /* another millisecond */
    CHECK(keys_revoke(&host, 1, other) == STATUS_order_rejected_invalid);

    CHECK(open_session(1000, 0, 0, 0) == STATUS_session_created);
    CHECK(open_session(1001, -1, 1, 0) == STATUS_session_created); /* TRADING_ONLY */
    uint8_t body[24] = { 1 }, session[32];
    struct host_request request = { .code = REQUEST_revoke_api_key,
                                    .body = body,
                                    .body_bytes = sizeof body,
                                    .key = session,
                                    .key_bytes = sizeof session };
    memcpy(body + 8, whole.bytes, 16);
    host_session_key(1000, session);
    CHECK(host_signed(&host, &request) == STATUS_rejected_unauthorized);
    host_session_key(1001, session);
    CHECK(host_signed(&host, &request) == STATUS_rejected_unauthorized);
    memcpy(body + 8, pinned.bytes, 16);
    host_session_key(1000, session);
    CHECK(host_signed(&host, &request) == STATUS_request_completed);
    CHECK(removed() == 1);

    CHECK(host.engine->accounts.rows[1].api_key_count == 1);
    CHECK(keys_revoke(&host, 1, pinned) == STATUS_order_rejected_invalid); /* it is none now */
    CHECK(keys_revoke(&host, 1, whole) == STATUS_request_completed);
    for (uint32_t i = 0; i < 3; i++) /* limits.api_keys has its room back */
        other = keys_make(&host, 1, KEYS_READ, KEYS_NO_PIN);
    CHECK(keys_revoke(&host, 1, other) == STATUS_request_completed);
    host_close(&host);
}

/* W5: the repetition of a 34 answers with the id of its key, revoked or not. Its record leaves the
 * table when no such repetition passes the window any more. */
static void test_kept_for_duplicates(void)
{
    uint8_t body[48] = { 1 }, session[32], hash[32] = { 9 }, id[16];
    struct keys_id key;

    host_open(&host, NULL);
    (void)host_account(&host, 1);
    host_session_key(1, session);
    cc_store32(body + 8, UINT32_MAX);
    struct host_request request = { .code = REQUEST_create_api_key,
                                    .body = body,
                                    .body_bytes = sizeof body,
                                    .key = session,
                                    .key_bytes = sizeof session,
                                    .extra = hash,
                                    .extra_bytes = sizeof hash };
    CHECK(host_signed(&host, &request) == STATUS_request_completed);
    memcpy(id, host.id, 16);
    memcpy(key.bytes, host.result.id, 16);
    CHECK(keys_revoke(&host, 1, key) == STATUS_request_completed);
    request.id = id;
    CHECK(host_signed(&host, &request) == STATUS_duplicate_request_id);
    CHECK(host.result.members == (ANSWER_HAS_ID | ANSWER_HAS_ORIGINAL));
    CHECK(memcmp(host.result.id, key.bytes, 16) == 0);

    uint32_t count = host.engine->credentials.slots.count;
    host.clock_ns += 60 * HOST_SECOND_NS;
    (void)keys_make(&host, 1, KEYS_READ, KEYS_NO_PIN); /* makes room first */
    CHECK(host.engine->credentials.slots.count == count);
    CHECK(host_signed(&host, &request) == STATUS_request_dropped); /* out of the window */
    host_close(&host);
}

/* R3: an id has the low 40 bits of its sequence. A key made 2^40 commands and more ago is found. */
static void test_old_ids(void)
{
    host_open(&host, NULL);
    (void)host_account(&host, 1);
    struct keys_id first = keys_make(&host, 1, KEYS_READ, KEYS_NO_PIN);
    host.engine->sequence += UINT64_C(1) << 40;
    struct keys_id second = keys_make(&host, 1, KEYS_READ, KEYS_NO_PIN);
    host.engine->sequence += (UINT64_C(1) << 40) - 5; /* its low bits are below theirs */
    CHECK(keys_revoke(&host, 1, first) == STATUS_request_completed);
    CHECK(keys_revoke(&host, 1, second) == STATUS_request_completed);
    CHECK(keys_revoke(&host, 1, second) == STATUS_order_rejected_invalid);
    host_close(&host);
}

/* A follower that started from the records alone sees neither key nor session any more. */
static void test_live_list(void)
{
    struct read_credential view;
    uint32_t cursor = 0, keys = 0, sessions = 0;

    host_open(&host, NULL);
    (void)host_account(&host, 1);
    struct keys_id key = keys_make(&host, 1, KEYS_READ, KEYS_NO_PIN);
    (void)keys_make(&host, 1, KEYS_READ, KEYS_NO_PIN);
    CHECK(keys_revoke(&host, 1, key) == STATUS_request_completed);
    CHECK(revoke_all_by_master(1) == STATUS_session_revoked);
    while (read_credential_at(host.engine, &cursor, &view)) {
        keys += view.kind == EFFECT_CREDENTIAL_API_KEY;
        sessions += view.kind == EFFECT_CREDENTIAL_SESSION;
    }
    CHECK(keys == 1 && sessions == 0);
    host_close(&host);
}

int main(void)
{
    test_all_sessions();
    test_room();
    test_api_key();
    test_kept_for_duplicates();
    test_old_ids();
    test_live_list();
    return 0;
}
