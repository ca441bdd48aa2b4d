/* Accounts, sessions and API keys: codes 11, 13, 14 and 34 (R10, R11, W5, W6, W8). */
#include "base/uuid.h"
#include "engine/state/state.h"
#include "engine/view/read.h"
#include "host.h"
#include "rig.h"

static struct host host;

#define DAY_NS (86400 * HOST_SECOND_NS)

struct test_key {
    uint8_t key[33];
    uint32_t bytes;
};

static struct test_key master(uint32_t n)
{
    struct test_key signer = { .bytes = 33 };
    host_master_key(n, signer.key);
    return signer;
}

static struct test_key session(uint32_t n)
{
    struct test_key signer = { .bytes = 32 };
    host_session_key(n, signer.key);
    return signer;
}

static struct host_request request_of(uint16_t code, const void *body, uint32_t body_bytes,
                                      const struct test_key *signer)
{
    return (struct host_request){ .code = code,
                                  .flags = COMMAND_SESSION_KEY_VALID,
                                  .body = body,
                                  .body_bytes = body_bytes,
                                  .key = signer->key,
                                  .key_bytes = signer->bytes };
}

struct session_row {
    uint32_t key; /* of host_session_key */
    uint64_t expires_at;
    int32_t pin;
    uint8_t scope;
    uint8_t pad;
    uint8_t key_is_bad;
};

static struct host_request create_session_request(uint64_t account, const struct session_row *row,
                                                  const struct test_key *signer, uint8_t body[56])
{
    memset(body, 0, 56);
    cc_store64(body, account);
    host_session_key(row->key, body + 8);
    cc_store64(body + 40, row->expires_at);
    cc_store32(body + 48, (uint32_t)row->pin);
    body[52] = row->scope;
    body[55] = row->pad;
    struct host_request request = request_of(REQUEST_create_session, body, 56, signer);
    if (row->key_is_bad)
        request.flags = 0;
    return request;
}

static enum status create_session(uint64_t account, const struct session_row *row,
                                  const struct test_key *signer)
{
    uint8_t body[56];
    struct host_request request = create_session_request(account, row, signer, body);
    return host_signed(&host, &request);
}

static enum status plain_session(uint32_t key)
{
    struct test_key signer = master(1);
    return create_session(1, &(struct session_row){ .key = key, .pin = -1 }, &signer);
}

static enum status end_session(uint64_t account, uint32_t key, const struct test_key *signer)
{
    uint8_t body[40] = { 0 };

    cc_store64(body, account);
    host_session_key(key, body + 8);
    struct host_request request = request_of(REQUEST_revoke_session, body, sizeof body, signer);
    return host_signed(&host, &request);
}

/* Code 4 with an asset that is not allowed: row 7 behind row 3 shows whether the key is good. */
static bool session_works(uint64_t account, uint32_t key)
{
    uint8_t body[24] = { 0 };
    struct test_key signer = session(key);

    cc_store64(body, account);
    struct host_request request = request_of(REQUEST_cancel_all_orders, body, 24, &signer);
    enum status status = host_signed(&host, &request);
    CHECK(status == STATUS_rejected_unauthorized || status == STATUS_order_rejected_invalid_market);
    return status == STATUS_order_rejected_invalid_market;
}

/* What the 2118 of the last command say, in their order. */
static void check_credential_effects(const uint8_t *actions, uint32_t count)
{
    struct effect_credential body;

    for (uint32_t k = 0; k < count; k++) {
        CHECK(host_effect(&host, EFFECT_credential, k) != NULL);
        memcpy(&body, host_effect(&host, EFFECT_credential, k)->bytes, sizeof body);
        CHECK(body.action == actions[k]);
    }
    CHECK(host_effect(&host, EFFECT_credential, count) == NULL);
}

static void check_engine_id(const uint8_t id[16], uint64_t t_ns, uint64_t sequence)
{
    struct uuid want = uuid_engine(t_ns, sequence, 0);
    CHECK(memcmp(want.bytes, id, 16) == 0);
}

/* R10, R11 code 11: account, subaccount 0, portfolio 0 "Main", a session of 30 days. */
static void test_create_account(void)
{
    struct row_balance balance;
    struct row_account account;
    struct effect_credential added;

    host_open(&host, NULL);
    CHECK(host_account(&host, 1) == 1);
    CHECK(host.result.members == (ANSWER_HAS_ACCOUNT | ANSWER_HAS_ID | ANSWER_HAS_EXPIRY));
    CHECK(host.result.expires_at_ns == host.result.processed_at_ns + 30 * DAY_NS);
    check_engine_id(host.result.id, host.result.processed_at_ns, host.result.sequence);
    CHECK(host_effect(&host, EFFECT_account, 0) != NULL);
    memcpy(&added, host_effect(&host, EFFECT_credential, 0)->bytes, sizeof added);
    struct test_key key = master(1);
    CHECK(memcmp(added.key, key.key + 1, 32) == 0 && added.kind == EFFECT_CREDENTIAL_MASTER_KEY);
    memcpy(&added, host_effect(&host, EFFECT_credential, 1)->bytes, sizeof added);
    key = session(1);
    CHECK(memcmp(added.key, key.key, 32) == 0 && added.account_id == 1 && added.pin == -1);
    CHECK(added.kind == EFFECT_CREDENTIAL_SESSION && added.action == CREDENTIAL_ADDED);
    CHECK(read_balance(host.engine, 1, 0, 0, &balance));
    CHECK(strcmp(balance.name, "Main") == 0 && balance.cash_balance == 0);
    CHECK(!read_balance(host.engine, 1, 0, 1, &balance));
    CHECK(!read_balance(host.engine, 1, 1, 0, &balance));
    CHECK(!read_balance(host.engine, 2, 0, 0, &balance));
    CHECK(read_account(host.engine, 1, &account) && account.subaccount_count == 1);
    CHECK(!read_account(host.engine, 2, &account));
    CHECK(session_works(1, 1));
    CHECK(host_account(&host, 2) == 2);
    host_close(&host);
}

static void test_create_account_refusals(void)
{
    static const struct row {
        int line;
        const char *name;
        uint32_t at; /* byte of the body that gets `value` */
        uint8_t value;
        uint8_t is_bad_session_key;
        uint64_t expires_after_s; /* 0: as it is */
        enum status want;
    } rows[] = {
        { __LINE__, "pad", 79, 1, 0, 0, STATUS_creation_rejected },
        { __LINE__, "control character", 40, 0x1f, 0, 0, STATUS_creation_rejected },
        { __LINE__, "delete", 40, 0x7f, 0, 0, STATUS_creation_rejected },
        { __LINE__, "scope", 72, 2, 0, 0, STATUS_account_created_session_failed },
        { __LINE__, "bad key", 79, 0, 1, 0, STATUS_account_created_session_failed },
        { __LINE__, "too long", 79, 0, 0, 180 * 86400 + 1, STATUS_account_created_session_failed },
        { __LINE__, "longest", 79, 0, 0, 180 * 86400, STATUS_account_created_with_session },
        { __LINE__, "label", 40, 'x', 0, 0, STATUS_account_created_with_session },
        { __LINE__, "trading only", 72, 1, 0, 0, STATUS_account_created_with_session },
    };
    host_open(&host, NULL);
    for (uint32_t i = 0; i < CC_COUNT(rows); i++) {
        uint8_t body[80] = { 0 };
        struct test_key signer = master(100 + i);
        host_session_key(100 + i, body);
        body[rows[i].at] = rows[i].value;
        if (rows[i].expires_after_s != 0)
            cc_store64(body + 32, engine_time_next(host.engine, host.clock_ns) +
                                      rows[i].expires_after_s * HOST_SECOND_NS);
        struct host_request request =
            request_of(REQUEST_create_account_secp256k1, body, 80, &signer);
        if (rows[i].is_bad_session_key)
            request.flags = 0;
        CHECK_ROW(&rows[i], host_signed(&host, &request) == rows[i].want);
        bool is_made = rows[i].want != STATUS_creation_rejected;
        CHECK_ROW(&rows[i], ((host.result.members & ANSWER_HAS_ACCOUNT) != 0) == is_made);
        CHECK_ROW(&rows[i], is_made || host.effect_count == 1); /* only the answer */
        CHECK_ROW(&rows[i], ((host.result.members & ANSWER_HAS_ID) != 0) ==
                                (rows[i].want == STATUS_account_created_with_session));
        CHECK_ROW(&rows[i], host.result.reason == 0);
        if (is_made) /* the key is a master key now */
            CHECK_ROW(&rows[i], host_signed(&host, &request) == STATUS_creation_rejected);
    }
    host_close(&host);
}

/* W5: a lost create_account answer is repeated with account_id and session_id, also after the
 * session was revoked. */
static void test_create_account_duplicate(void)
{
    uint8_t body[80] = { 0 }, id[16];
    struct test_key signer = master(1);

    host_open(&host, NULL);
    host_session_key(1, body);
    struct host_request request = request_of(REQUEST_create_account_secp256k1, body, 80, &signer);
    CHECK(host_signed(&host, &request) == STATUS_account_created_with_session);
    struct engine_result first = host.result;
    memcpy(id, host.id, 16);
    request.id = id;
    CHECK(end_session(1, 1, &signer) == STATUS_session_revoked);
    host.clock_ns += 10 * HOST_SECOND_NS;
    CHECK(host_signed(&host, &request) == STATUS_duplicate_request_id);
    CHECK(host.result.original_status == STATUS_account_created_with_session);
    CHECK(host.result.original_processed_at_ns == first.processed_at_ns);
    CHECK(host.result.members == (first.members | ANSWER_HAS_ORIGINAL));
    CHECK(host.result.account_id == first.account_id);
    CHECK(memcmp(host.result.id, first.id, 16) == 0);
    CHECK(host.result.expires_at_ns == first.expires_at_ns);
    host_close(&host);
}

/* R11, code 13, in its order. */
static void test_create_session(void)
{
    const uint64_t t = HOST_START_NS + HOST_SECOND_NS;
    const struct row {
        int line;
        const char *name;
        struct session_row ask;
        enum status want;
    } rows[] = {
        { __LINE__, "plain", { 10, 0, -1, 0, 0, 0 }, STATUS_session_created },
        { __LINE__, "again", { 10, 0, -1, 0, 0, 0 }, STATUS_session_rejected },
        { __LINE__, "pad", { 11, 0, -1, 0, 1, 0 }, STATUS_session_rejected },
        { __LINE__, "bad key", { 11, 0, -1, 0, 0, 1 }, STATUS_session_rejected },
        { __LINE__, "scope", { 11, 0, -1, 2, 0, 0 }, STATUS_session_rejected },
        { __LINE__, "past", { 11, t, -1, 0, 0, 0 }, STATUS_session_rejected },
        { __LINE__, "now", { 11, 1, -1, 0, 0, 0 }, STATUS_session_rejected }, /* t, see below */
        { __LINE__, "pin of a missing subaccount", { 11, 0, 1, 0, 0, 0 }, STATUS_session_rejected },
        { __LINE__, "pin", { 11, 0, 0, 1, 0, 0 }, STATUS_session_created },
        { __LINE__, "too long", { 12, t + 181 * DAY_NS, -1, 0, 0, 0 }, STATUS_session_rejected },
        { __LINE__, "long", { 12, t + 179 * DAY_NS, -1, 0, 0, 0 }, STATUS_session_created },
    };
    struct test_key admin = master(1), own = session(1), other = master(2);

    host_open(&host, NULL);
    (void)host_account(&host, 1);
    (void)host_account(&host, 2);
    host.clock_ns = t;
    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        struct session_row asked = rows[i].ask;
        if (asked.expires_at == 1)
            asked.expires_at = engine_time_next(host.engine, host.clock_ns);
        CHECK_ROW(&rows[i], create_session(1, &asked, &admin) == rows[i].want);
        bool is_made = rows[i].want == STATUS_session_created;
        CHECK_ROW(&rows[i],
                  (host.result.members == (ANSWER_HAS_ID | ANSWER_HAS_EXPIRY)) == is_made);
        CHECK_ROW(&rows[i], (host_effect(&host, EFFECT_credential, 0) != NULL) == is_made);
    }
    struct session_row ask = { .key = 20, .pin = -1 };
    CHECK(create_session(1, &ask, &own) == STATUS_session_rejected);   /* W2: master only */
    CHECK(create_session(1, &ask, &other) == STATUS_session_rejected); /* of another account */
    CHECK(end_session(1, 10, &own) == STATUS_session_rejected);
    ask.key = 10; /* R10: the same key may serve two accounts */
    CHECK(create_session(2, &ask, &other) == STATUS_session_created);
    CHECK(session_works(1, 10) && session_works(2, 10));
    CHECK(end_session(2, 10, &other) == STATUS_session_revoked);
    CHECK(session_works(1, 10) && !session_works(2, 10));
    host_close(&host);
}

/* W8: 16 live sessions of a parent; expired and revoked ones do not count (R10). */
static void test_limits(void)
{
    struct test_key admin = master(1);

    host_open(&host, NULL);
    (void)host_account(&host, 1); /* one session already */
    for (uint32_t k = 0; k < 15; k++)
        CHECK(plain_session(1000 + k) == STATUS_session_created);
    CHECK(plain_session(2000) == STATUS_session_rejected_max_sessions);
    CHECK(host.result.reason == REASON_max_sessions_exceeded);
    CHECK(end_session(1, 1003, &admin) == STATUS_session_revoked);
    CHECK(plain_session(2000) == STATUS_session_created);
    CHECK(plain_session(2001) == STATUS_session_rejected_max_sessions);
    host.clock_ns += 31 * DAY_NS; /* all have expired */
    for (uint32_t k = 0; k < 16; k++)
        CHECK(plain_session(3000 + k) == STATUS_session_created);
    CHECK(plain_session(3100) == STATUS_session_rejected_max_sessions);
    host_close(&host);

    host_open(&host, "limits.sessions=3\n");
    (void)host_account(&host, 1);
    CHECK(plain_session(5) == STATUS_session_created);
    CHECK(plain_session(6) == STATUS_session_created);
    CHECK(plain_session(7) == STATUS_session_rejected_max_sessions);
    host_close(&host);
}

/* expires_at <= t is expired, decided by t alone (R10, R11 row 3). */
static void test_expiry(void)
{
    struct test_key admin = master(1);
    struct session_row ask = { .key = 9, .pin = -1 };

    host_open(&host, NULL);
    (void)host_account(&host, 1);
    ask.expires_at = engine_time(host.engine) + 100 * HOST_SECOND_NS;
    CHECK(create_session(1, &ask, &admin) == STATUS_session_created);
    host.clock_ns = ask.expires_at - 1;
    CHECK(session_works(1, 9));
    host.clock_ns = ask.expires_at;
    CHECK(!session_works(1, 9));
    check_credential_effects((const uint8_t[]){ CREDENTIAL_EXPIRED }, 1); /* its row is free */
    CHECK(end_session(1, 9, &admin) == STATUS_session_rejected); /* it is no session any more */
    ask.expires_at = 0;
    CHECK(create_session(1, &ask, &admin) == STATUS_session_created); /* and may be made anew */
    check_credential_effects((const uint8_t[]){ CREDENTIAL_ADDED }, 1);
    CHECK(session_works(1, 9));
    CHECK(session_works(1, 9));
    host_close(&host);
}

/* A short session is kept long after its end, for duplicates. Its key may have another session by
 * then: the end of the first is told before the birth of the second, and never again. */
static void test_expiry_is_told_in_time(void)
{
    struct test_key admin = master(1);
    struct session_row ask = { .key = 9, .pin = -1 };

    host_open(&host, NULL);
    (void)host_account(&host, 1);
    ask.expires_at = engine_time(host.engine) + HOST_SECOND_NS;
    CHECK(create_session(1, &ask, &admin) == STATUS_session_created);
    host.clock_ns = ask.expires_at;
    ask.expires_at = 0;
    CHECK(create_session(1, &ask, &admin) == STATUS_session_created);
    check_credential_effects((const uint8_t[]){ CREDENTIAL_EXPIRED, CREDENTIAL_ADDED }, 2);
    host.clock_ns += 60 * HOST_SECOND_NS;
    CHECK(plain_session(10) == STATUS_session_created);
    check_credential_effects((const uint8_t[]){ CREDENTIAL_ADDED }, 1);
    CHECK(session_works(1, 9));
    host_close(&host);
}

/* R10: TRADING_ONLY signs 0-8; 34 needs FULL_ACCESS (W2). Pins: row 3. */
static void test_attenuation(void)
{
    struct test_key admin = master(1), trading = session(30), pinned = session(31);
    uint8_t body[48] = { 1 }, hash[32] = { 4 };

    host_open(&host, NULL);
    (void)host_account(&host, 1);
    CHECK(create_session(1, &(struct session_row){ .key = 30, .pin = -1, .scope = 1 }, &admin) ==
          STATUS_session_created);
    CHECK(create_session(1, &(struct session_row){ .key = 31, .pin = 0 }, &admin) ==
          STATUS_session_created);
    CHECK(session_works(1, 30));
    cc_store32(body + 8, UINT32_MAX);
    struct host_request request = request_of(REQUEST_create_api_key, body, 48, &trading);
    request.extra = hash;
    request.extra_bytes = 32;
    CHECK(host_signed(&host, &request) == STATUS_rejected_unauthorized);
    request = request_of(REQUEST_create_api_key, body, 48, &pinned);
    request.extra = hash;
    request.extra_bytes = 32;
    CHECK(host_signed(&host, &request) == STATUS_order_rejected_invalid); /* pin beyond */
    cc_store32(body + 8, 0);
    CHECK(host_signed(&host, &request) == STATUS_request_completed);
    uint8_t cancel[24] = { 1 };
    cc_store32(cancel + 8, 1); /* subaccount 1 is not the pin */
    request = request_of(REQUEST_cancel_all_orders, cancel, 24, &pinned);
    uint8_t id[16];
    CHECK(host_signed(&host, &request) == STATUS_rejected_unauthorized);
    memcpy(id, host.id, 16);
    request.id = id; /* a known key that lacks the reach has used its id (W5) */
    CHECK(host_signed(&host, &request) == STATUS_duplicate_request_id);
    cc_store32(cancel + 12, UINT32_MAX); /* row 5: every portfolio of no subaccount */
    request = request_of(REQUEST_cancel_all_orders, cancel, 24, &trading);
    CHECK(host_signed(&host, &request) == STATUS_rejected_invalid_portfolio_id);
    cc_store32(cancel + 12, 1);
    cc_store32(cancel + 8, 0);
    CHECK(host_signed(&host, &request) == STATUS_rejected_invalid_portfolio_id);
    request = request_of(REQUEST_cancel_all_orders, cancel, 24, &admin); /* W2: sessions only */
    CHECK(host_signed(&host, &request) == STATUS_rejected_unauthorized);
    host_close(&host);
}

/* R11, code 34. */
static void test_api_keys(void)
{
    struct test_key own = session(1), admin = master(1), stranger = session(55);
    uint8_t body[48] = { 1 }, hash[32] = { 8 }, id[16];

    host_open(&host, "limits.api_keys=3\n");
    (void)host_account(&host, 1);
    cc_store32(body + 8, UINT32_MAX);
    struct host_request request = request_of(REQUEST_create_api_key, body, 48, &own);
    request.extra = hash;
    request.extra_bytes = 32;
    CHECK(host_signed(&host, &request) == STATUS_request_completed);
    CHECK(host.result.members == ANSWER_HAS_ID);
    check_engine_id(host.result.id, host.result.processed_at_ns, host.result.sequence);
    struct engine_result first = host.result;
    memcpy(id, host.id, 16);
    request.id = id;
    CHECK(host_signed(&host, &request) == STATUS_duplicate_request_id);
    CHECK(host.result.members == (ANSWER_HAS_ID | ANSWER_HAS_ORIGINAL));
    CHECK(memcmp(host.result.id, first.id, 16) == 0);
    request.id = NULL;

    struct effect_credential added;
    request = request_of(REQUEST_create_api_key, body, 48, &admin);
    hash[0]++;
    request.extra = hash;
    request.extra_bytes = 32;
    body[12] = 1;
    CHECK(host_signed(&host, &request) == STATUS_request_completed);
    memcpy(&added, host_effect(&host, EFFECT_credential, 0)->bytes, sizeof added);
    CHECK(memcmp(added.key, hash, 32) == 0 && added.kind == EFFECT_CREDENTIAL_API_KEY);
    CHECK(added.scope == 1 && added.pin == -1);
    static const struct row {
        int line;
        const char *name;
        uint32_t at;
        uint8_t value;
    } rows[] = {
        { __LINE__, "scope", 12, 2 },
        { __LINE__, "pad", 15, 1 },
        { __LINE__, "label", 16, 7 },
        { __LINE__, "pin", 11, 0 }, /* 0x00ffffff */
    };
    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        uint8_t keep = body[rows[i].at];
        body[rows[i].at] = rows[i].value;
        CHECK_ROW(&rows[i], host_signed(&host, &request) == STATUS_order_rejected_invalid);
        CHECK_ROW(&rows[i], host.result.reason == 0 && host.result.members == 0);
        body[rows[i].at] = keep;
    }
    CHECK(host_signed(&host, &request) == STATUS_request_completed);
    CHECK(host_signed(&host, &request) == STATUS_order_rejected_invalid);
    CHECK(host.result.reason == REASON_limit_reached);
    request.key = stranger.key;
    request.key_bytes = 32;
    CHECK(host_signed(&host, &request) == STATUS_rejected_unauthorized);
    request.key = hash; /* the hash of an API key is no session key */
    CHECK(host_signed(&host, &request) == STATUS_rejected_unauthorized);
    host_close(&host);
}

/* An ended session is kept while a repetition of its creation could come, then its slot is used
 * again; 2118 says `expired` of those that nobody revoked. */
static void test_release(void)
{
    struct test_key admin = master(1);
    struct session_row ask = { .key = 9, .pin = -1 };
    struct effect_credential gone;

    host_open(&host, "engine.credentials=16\nlimits.sessions_per_parent=64\n");
    (void)host_account(&host, 1); /* 2 of 16 */
    for (uint32_t k = 0; k < 14; k++) {
        ask.key = 100 + k;
        ask.expires_at = engine_time(host.engine) + HOST_SECOND_NS;
        CHECK(create_session(1, &ask, &admin) == STATUS_session_created);
    }
    host.clock_ns += 2 * HOST_SECOND_NS; /* all 14 have expired and are kept */
    ask.key = 200;
    ask.expires_at = 0;
    CHECK(create_session(1, &ask, &admin) == STATUS_session_rejected_max_sessions);
    uint8_t account[80] = { 9 };
    struct test_key second = master(2);
    struct host_request request =
        request_of(REQUEST_create_account_secp256k1, account, 80, &second);
    CHECK(host_signed(&host, &request) == STATUS_creation_rejected); /* the same table */
    host.clock_ns += 50 * HOST_SECOND_NS;
    CHECK(create_session(1, &ask, &admin) == STATUS_session_created);
    for (uint32_t k = 0; k < 4; k++) {
        memcpy(&gone, host_effect(&host, EFFECT_credential, k)->bytes, sizeof gone);
        CHECK(gone.action == CREDENTIAL_EXPIRED && cc_load32(gone.key) == 100 + k);
    }
    memcpy(&gone, host_effect(&host, EFFECT_credential, 4)->bytes, sizeof gone);
    CHECK(gone.action == CREDENTIAL_ADDED && host_effect(&host, EFFECT_credential, 5) == NULL);
    CHECK(session_works(1, 200) && session_works(1, 1));
    /* A run of creations and revocations finds its way round the table. */
    for (uint32_t k = 0; k < 100; k++) {
        ask.key = 300 + k;
        CHECK(create_session(1, &ask, &admin) == STATUS_session_created);
        for (uint32_t e = 0; k > 3; e++) { /* the ten that expired are gone: revoked is not that */
            if (host_effect(&host, EFFECT_credential, e) == NULL)
                break;
            memcpy(&gone, host_effect(&host, EFFECT_credential, e)->bytes, sizeof gone);
            CHECK(gone.action == CREDENTIAL_ADDED);
        }
        CHECK(end_session(1, 300 + k, &admin) == STATUS_session_revoked);
        CHECK(!session_works(1, 300 + k));
        host.clock_ns += 60 * HOST_SECOND_NS;
    }
    host_close(&host);
}

/* W5: an expired session answers for its creation as long as its request id can come again, through
 * any number of later creations. */
static void test_kept_for_duplicates(void)
{
    struct test_key admin = master(1);
    struct session_row ask = { .key = 9, .pin = -1 };
    uint8_t body[56], id[16], session_id[16];

    host_open(&host, NULL);
    (void)host_account(&host, 1);
    ask.expires_at = engine_time(host.engine) + HOST_SECOND_NS;
    struct host_request request = create_session_request(1, &ask, &admin, body);
    struct uuid ahead = uuid_make_v7(host.clock_ns / 1000000 + 9999, (uint8_t[10]){ 1 });
    memcpy(id, ahead.bytes, 16);
    request.id = id; /* dated as far ahead as the engine takes it */
    CHECK(host_signed(&host, &request) == STATUS_session_created);
    memcpy(session_id, host.result.id, 16);
    uint64_t id_ns = uuid_time_ms(&ahead) * 1000000;
    host.clock_ns += 20 * HOST_SECOND_NS;
    CHECK(plain_session(100) == STATUS_session_created);
    host.clock_ns = id_ns + 35 * HOST_SECOND_NS - 9; /* nine commands before it leaves the window */
    for (uint32_t k = 0; k < 8; k++)
        CHECK(plain_session(101 + k) == STATUS_session_created);
    CHECK(host_signed(&host, &request) == STATUS_duplicate_request_id);
    CHECK(host.result.members == (ANSWER_HAS_ID | ANSWER_HAS_EXPIRY | ANSWER_HAS_ORIGINAL));
    CHECK(memcmp(host.result.id, session_id, 16) == 0);
    CHECK(host.result.expires_at_ns == ask.expires_at);
    host_close(&host);
}

/* A key that is used again and again leaves one record to be met by its key (no command may hold
 * the matcher for more than 1 ms), and all of them by sequence, for duplicates (W5). */
static void test_key_used_again(void)
{
    enum { TIMES = 200 };
    struct test_key admin = master(1);

    host_open(&host, "limits.account_credentials=1000\n");
    (void)host_account(&host, 1);
    const struct credential_table *table = &host.engine->credentials;
    for (uint32_t k = 0; k < TIMES; k++) {
        CHECK(plain_session(50) == STATUS_session_created);
        CHECK(table->by_key.count == 3);
        CHECK(end_session(1, 50, &admin) == STATUS_session_revoked);
        CHECK(table->by_key.count == 2);
    }
    CHECK(table->by_sequence.count == TIMES + 2);
    host_close(&host);
}

/* The keyring is filled from these after a start. */
static void test_read_credentials(void)
{
    struct test_key admin = master(1);
    struct read_credential view;
    uint32_t cursor = 0, count = 0;
    static const uint32_t keys[] = { 1, 41 };

    host_open(&host, NULL);
    (void)host_account(&host, 1);
    CHECK(plain_session(40) == STATUS_session_created);
    CHECK(plain_session(41) == STATUS_session_created);
    CHECK(end_session(1, 40, &admin) == STATUS_session_revoked);
    CHECK(read_credential_at(host.engine, &cursor, &view));
    CHECK(view.kind == EFFECT_CREDENTIAL_MASTER_KEY && view.key_bytes == 33);
    CHECK(memcmp(view.key, admin.key, 33) == 0 && view.expires_ns == UINT64_MAX);
    while (read_credential_at(host.engine, &cursor, &view)) {
        struct test_key want = session(keys[count++]);
        CHECK(view.kind == EFFECT_CREDENTIAL_SESSION && view.account_id == 1 && view.pin == -1);
        CHECK(view.key_bytes == 32 && memcmp(view.key, want.key, 32) == 0);
    }
    CHECK(count == 2);
    host_close(&host);
}

int main(void)
{
    test_create_account();
    test_create_account_refusals();
    test_create_account_duplicate();
    test_create_session();
    test_limits();
    test_expiry();
    test_expiry_is_told_in_time();
    test_attenuation();
    test_api_keys();
    test_release();
    test_kept_for_duplicates();
    test_key_used_again();
    test_read_credentials();
    return 0;
}
