/* The keyring follows the engine (rules.md R11): a credential is live in it from the command that
 * made it, a tombstone with the sequence that ended it, and after a start only what is live. */
#include "base/keyring.h"
#include "check.h"
#include "engine/keys.h"
#include "engine/view/read.h"
#include "node/match/primary_sink.h"

enum { CONFIGURATION_MAX = 4120 };

/* The host keeps effects, the primary's sink gets them too. */
static struct host host;
static struct primary_sink primary;
static struct key_keeper keeper;
static struct key_tables *tables;
static struct account_rate *rates; /* NULL but in test_classes */
static void (*keep)(struct engine_sink *sink, const struct effect *effect);

static void emit(struct engine_sink *sink, const struct effect *effect)
{
    keep(sink, effect);
    if ((primary.sink.ignores & EFFECT_BIT(effect->code)) == 0)
        primary.sink.emit(&primary.sink, effect);
}

static void classify(struct engine_sink *sink, uint64_t account_id, uint32_t class)
{
    (void)sink;
    primary.sink.classify(&primary.sink, account_id, class);
}

static struct keyring *make_keyring(void)
{
    static const uint8_t hash_key[16] = { 1 };
    struct keyring *keyring;

    CHECK(keyring_init(&keyring, 1024, hash_key) == 0);
    return keyring;
}

/* A keeper that is told and never looks. */
static void make_keeper(void)
{
    static const struct option_engine options;
    const struct key_tables_config small = { .large = 1 };
    CHECK(key_tables_create(&tables, &small) == 0);
    const struct key_keeper_config config = { primary.keyring, &options, tables, 1 };
    memset(&keeper, 0, sizeof keeper);
    CHECK(key_keeper_init(&keeper, &config) == 0);
}

static void open(void)
{
    make_keeper();
    primary_sink_init(&primary, make_keyring(), &keeper, rates);
    host_open(&host, NULL);
    keep = host.sink.emit;
    host.sink.emit = emit;
}

static void close(void)
{
    key_keeper_free(&keeper);
    key_tables_destroy(tables);
    keyring_free(primary.keyring);
    host_close(&host);
}

static bool find_session(uint64_t account, uint32_t n, struct keyring_row *entry)
{
    uint8_t bytes[32];

    host_session_key(n, bytes);
    struct keyring_key key = keyring_key(KEYRING_SESSION, account, bytes);
    return keyring_find(primary.keyring, &key, entry);
}

/* By the hash that 2118 told when the key was made. */
static struct keyring_key last_api_key(void)
{
    struct effect_credential body;
    const struct host_effect *effect = host_effect(&host, EFFECT_credential, 0);

    CHECK(effect != NULL);
    memcpy(&body, effect->bytes, sizeof body);
    CHECK(body.kind == EFFECT_CREDENTIAL_API_KEY);
    return keyring_key(KEYRING_API, 0, body.key);
}

static void test_api_key(void)
{
    struct keyring_row entry;

    open();
    (void)host_account(&host, 1);
    struct keys_id id = keys_make(&host, 1, KEYS_READ_WRITE, 0);
    uint64_t made = host.result.sequence;
    struct keyring_key key = last_api_key();
    CHECK(keyring_find(primary.keyring, &key, &entry));
    CHECK(entry.state == KEYRING_LIVE && entry.sequence == made && entry.account_id == 1);
    CHECK(entry.scope == 1 && entry.subaccount_pin == 0);
    CHECK(memcmp(entry.credential_id.bytes, id.bytes, 16) == 0);
    (void)keys_make(&host, 1, KEYS_READ, KEYS_NO_PIN);
    struct keyring_key other = last_api_key();
    CHECK(keys_revoke(&host, 1, id) == STATUS_request_completed);
    CHECK(keyring_find(primary.keyring, &key, &entry));
    CHECK(entry.state == KEYRING_TOMBSTONE && entry.sequence == host.result.sequence);
    CHECK(keyring_find(primary.keyring, &other, &entry) && entry.state == KEYRING_LIVE);
    CHECK(keyring_retire(primary.keyring, host.result.sequence - 1, 0) == 0); /* not durable */
    CHECK(keyring_find(primary.keyring, &key, &entry));
    CHECK(keyring_retire(primary.keyring, host.result.sequence, 0) == 1);
    CHECK(!keyring_find(primary.keyring, &key, &entry));
    close();
}

static enum status revoke_all(uint32_t n)
{
    uint8_t body[8], master[33];

    cc_store64(body, n);
    host_master_key(n, master);
    struct host_request request = { .code = REQUEST_revoke_all_sessions,
                                    .body = body,
                                    .body_bytes = sizeof body,
                                    .key = master,
                                    .key_bytes = sizeof master };
    return host_signed(&host, &request);
}

static void add_session(uint32_t n, uint32_t key)
{
    uint8_t body[56] = { 0 }, master[33];

    cc_store64(body, n);
    host_session_key(key, body + 8);
    cc_store32(body + 48, UINT32_MAX);
    host_master_key(n, master);
    struct host_request request = { .code = REQUEST_create_session,
                                    .flags = COMMAND_SESSION_KEY_VALID,
                                    .body = body,
                                    .body_bytes = sizeof body,
                                    .key = master,
                                    .key_bytes = sizeof master };
    CHECK(host_signed(&host, &request) == STATUS_session_created);
}

static void test_all_sessions(void)
{
    struct keyring_row entry;

    open();
    (void)host_account(&host, 1);
    (void)host_account(&host, 2);
    for (uint32_t key = 10; key < 15; key++)
        add_session(1, key);
    CHECK(revoke_all(1) == STATUS_session_revoked);
    uint64_t ended = host.result.sequence;
    CHECK(find_session(1, 1, &entry) && entry.state == KEYRING_TOMBSTONE);
    for (uint32_t key = 10; key < 15; key++) {
        CHECK(find_session(1, key, &entry));
        CHECK(entry.state == KEYRING_TOMBSTONE && entry.sequence == ended);
    }
    CHECK(find_session(2, 2, &entry) && entry.state == KEYRING_LIVE);
    add_session(1, 12); /* the same key again, before the tombstone is gone */
    CHECK(find_session(1, 12, &entry) && entry.state == KEYRING_LIVE);
    /* Two accounts and 5 sessions made, 6 of account 1 ended, one made again; no master key. */
    CHECK(ring_ready(&keeper.news) == 2 + 5 + 6 + 1 && !atomic_load(&keeper.missed));
    CHECK(keyring_retire(primary.keyring, ended, 0) == 5);
    CHECK(find_session(1, 12, &entry) && !find_session(1, 11, &entry));
    close();
}

/* A start fills the keyring from the recovered engine: neither the ended nor the expired. */
static void test_load(void)
{
    struct keyring_row entry;

    open();
    (void)host_account(&host, 1);
    (void)host_account(&host, 2);
    struct keys_id id = keys_make(&host, 1, KEYS_READ, KEYS_NO_PIN);
    struct keyring_key gone = last_api_key();
    (void)keys_make(&host, 1, KEYS_READ, KEYS_NO_PIN);
    struct keyring_key stays = last_api_key();
    CHECK(keys_revoke(&host, 1, id) == STATUS_request_completed);
    CHECK(revoke_all(1) == STATUS_session_revoked);
    keyring_free(primary.keyring);
    primary_sink_init(&primary, make_keyring(), &keeper, rates);
    uint64_t told = ring_ready(&keeper.news);
    CHECK(!atomic_load(&keeper.missed));
    primary_sink_load(&primary, host.engine);
    /* Not one by one: more than the ring holds may be live. */
    CHECK(atomic_load(&keeper.missed) && ring_ready(&keeper.news) == told);
    CHECK(keyring_count(primary.keyring) == 4); /* two master keys, one session, one API key */
    CHECK(!keyring_find(primary.keyring, &gone, &entry));
    CHECK(keyring_find(primary.keyring, &stays, &entry) && entry.state == KEYRING_LIVE);
    CHECK(!find_session(1, 1, &entry) && find_session(2, 2, &entry));
    close();
}

static uint64_t writes_left(uint64_t account)
{
    return account_rate_remaining(rates, account, ACCOUNT_RATE_WRITE, 0);
}

/* The rates of an account follow its class: 20 writes at once until it has brought in 10 USDC, and
 * again from when it took them out; a start finds it as it was. */
static void test_classes(void)
{
    static const char classes[] = "limits.funding_small=10\nlimits.funding_full=1000\n";
    const struct account_rate_limits limits = { 16, 1000, 2000, 1000000, 1000000 };

    CHECK(account_rate_create(&rates, &limits) == 0);
    make_keeper();
    primary_sink_init(&primary, make_keyring(), &keeper, rates);
    host_open(&host, classes);
    keep = host.sink.emit;
    host.sink.emit = emit;
    host.sink.classify = classify;
    (void)host_account(&host, 1);
    (void)host_account(&host, 2);
    CHECK(writes_left(1) == 20 && writes_left(2) == 20);
    CHECK(host_deposit(&host, 1, 10 * HOST_USDC) == STATUS_request_completed);
    CHECK(writes_left(1) == 2000 && writes_left(2) == 20);
    account_rate_destroy(rates);
    CHECK(account_rate_create(&rates, &limits) == 0);
    keyring_free(primary.keyring);
    primary_sink_init(&primary, make_keyring(), &keeper, rates);
    CHECK(writes_left(2) == 2000); /* nobody has said otherwise */
    primary_sink_load(&primary, host.engine);
    CHECK(writes_left(1) == 2000 && writes_left(2) == 20);

    uint8_t body[CONFIGURATION_MAX]; /* nobody is unfunded any more */
    CHECK(host_unsigned(&host, REQUEST_configuration, body, host_configuration(NULL, body)) ==
          STATUS_request_completed);
    CHECK(writes_left(2) == 2000);
    close();
    account_rate_destroy(rates);
    rates = NULL;
}

int main(void)
{
    test_api_key();
    test_all_sessions();
    test_load();
    test_classes();
    return 0;
}
