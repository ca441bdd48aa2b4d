/* key_keeper: tables follow the sessions, whatever was told or missed; a verdict that another path
 * does not share takes its path out of use (signatures.md, Verdict audit and Key tables). */
#include "check.h"
#include "crypto/signer.h"
#include "net/request/verdict_audit.h"
#include "node/match/key_keeper.h"

enum { TABLES = 8, SECOND = 1000000000 };

static struct keyring *keyring;
static struct key_tables *tables;
static struct key_keeper keeper;
static struct option_engine options;
static uint64_t now_ns;

static void key_of(uint32_t number, uint8_t key[32])
{
    struct signer_ed25519 signer;
    uint8_t seed[32] = { 0 };
    cc_store32(seed, number);
    signer_ed25519(&signer, seed);
    memcpy(key, signer.key, 32);
}

static struct key_keeper_config config_of(struct key_tables *of)
{
    return (struct key_keeper_config){ keyring, &options, of, 1 };
}

static void begin(void)
{
    static const uint8_t hash_key[16] = { 1 };
    const struct key_tables_config config = { TABLES, TABLES, 0, { 1, 2 } };
    CHECK(keyring_init(&keyring, 256, hash_key) == 0);
    CHECK(key_tables_create(&tables, &config) == 0);
    memset(&keeper, 0, sizeof keeper);
    memset(&options, 0, sizeof options);
    const struct key_keeper_config config_keeper = config_of(tables);
    CHECK(key_keeper_init(&keeper, &config_keeper) == 0);
    now_ns = SECOND;
}

static void end(void)
{
    key_keeper_free(&keeper);
    key_tables_destroy(tables);
    keyring_free(keyring);
}

/* Steps until nothing is to do; sweeps are due at once. */
static void settle(void)
{
    now_ns += SECOND;
    while (key_keeper_step(&keeper, now_ns) != 0)
        now_ns += SECOND;
}

static struct keyring_key name_of(uint64_t account, uint32_t number)
{
    uint8_t key[32];
    key_of(number, key);
    return keyring_key(KEYRING_SESSION, account, key);
}

/* As primary_sink does it: the keyring, then the news. */
static void make(uint64_t account, uint32_t number, bool told)
{
    struct keyring_row entry = { .key = name_of(account, number), .account_id = account };
    CHECK(keyring_add(keyring, &entry) == 0);
    if (told)
        key_keeper_report(&keeper, &entry.key, false);
}

static void finish(uint64_t account, uint32_t number, bool told)
{
    struct keyring_key name = name_of(account, number);
    CHECK(keyring_end(keyring, &name, 1));
    if (told)
        key_keeper_report(&keeper, &name, true);
}

static const struct ed25519_table *table_of(uint32_t number)
{
    uint8_t key[32];
    key_of(number, key);
    return key_tables_find(tables, key);
}

static uint64_t present(void)
{
    return published_get(&key_tables_counters(tables)->present);
}

static void follows_sessions(void)
{
    begin();
    make(1, 1, true);
    make(2, 2, true);
    CHECK(table_of(1) == NULL); /* nothing is built on the matcher's thread */
    settle();
    CHECK(table_of(1) != NULL && table_of(2) != NULL && present() == 2);
    finish(1, 1, true);
    settle();
    CHECK(table_of(1) == NULL && table_of(2) != NULL && present() == 1);
    make(1, 1, true); /* made, ended and made between two looks */
    finish(1, 1, true);
    make(1, 1, true);
    settle();
    CHECK(table_of(1) != NULL && present() == 2);
    CHECK(published_get(&keeper.counters.sweeps) == 0);
    end();
}

/* A key of two accounts keeps its table until neither has a session of it. */
static void shared_keys(void)
{
    begin();
    make(1, 5, true);
    make(2, 5, true);
    settle();
    CHECK(table_of(5) != NULL && present() == 1);
    finish(1, 5, true);
    settle();
    CHECK(table_of(5) != NULL);
    finish(2, 5, true);
    settle();
    CHECK(table_of(5) == NULL && present() == 0);

    make(1, 6, true); /* somebody else's end is not ours */
    settle();
    key_keeper_report(&keeper, &(struct keyring_key){ .account_id = 9 }, true);
    struct keyring_key foreign = name_of(9, 6);
    key_keeper_report(&keeper, &foreign, true);
    settle();
    CHECK(table_of(6) != NULL);
    end();
}

static void configured_keys(void)
{
    begin();
    options.has_operator_key = true;
    key_of(20, options.operator_key);
    options.oracle_key_count = 2;
    key_of(21, options.oracle_keys[0]);
    key_of(22, options.oracle_keys[1]);
    make(1, 20, true); /* a session of the operator's key ends, the table stays */
    settle();
    CHECK(table_of(20) != NULL && table_of(21) != NULL && table_of(22) != NULL && present() == 3);
    finish(1, 20, true);
    key_keeper_request_sweep(&keeper);
    settle();
    CHECK(table_of(20) != NULL && table_of(21) != NULL && present() == 3);
    end();
}

/* After a start nothing was told: a look builds what those before it had, byte for byte. */
static void sweeps(void)
{
    begin();
    struct key_tables *before;
    const struct key_tables_config config = { TABLES, TABLES, 0, { 1, 2 } };
    for (uint32_t i = 1; i <= 12; i++)
        make(i, i, true);
    settle();
    CHECK(present() == 12 && published_get(&keeper.counters.sweeps) == 0);

    before = tables;
    key_keeper_free(&keeper);
    memset(&keeper, 0, sizeof keeper);
    CHECK(key_tables_create(&tables, &config) == 0);
    const struct key_keeper_config config_keeper = config_of(tables);
    CHECK(key_keeper_init(&keeper, &config_keeper) == 0);
    settle();
    CHECK(present() == 0);
    key_keeper_request_sweep(&keeper);
    settle();
    CHECK(present() == 12 && published_get(&keeper.counters.sweeps) == 1);
    for (uint32_t i = 1; i <= 12; i++) {
        uint8_t key[32];
        key_of(i, key);
        const struct ed25519_table *old = key_tables_find(before, key), *new = table_of(i);
        CHECK(old != NULL && new != NULL && old->positions == new->positions);
        CHECK(memcmp(old->multiples, new->multiples, ed25519_table_bytes(old->positions)) == 0);
    }
    key_tables_destroy(before);

    /* What ended and began unheard. */
    finish(3, 3, false);
    make(30, 30, false);
    make(4, 4, false); /* the same session again */
    settle();
    CHECK(table_of(3) != NULL && table_of(30) == NULL);
    key_keeper_request_sweep(&keeper);
    settle();
    CHECK(table_of(3) == NULL && table_of(30) != NULL && table_of(4) != NULL && present() == 12);
    end();
}

/* News that find no room are made good; a full store takes in who waited once somebody leaves. */
static void overruns(void)
{
    begin();
    for (uint32_t i = 0; i < KEY_KEEPER_NEWS; i++)
        make(1, 1, true);
    make(2, 2, true);
    CHECK(published_get(&keeper.counters.news_missed) == 1);
    settle();
    CHECK(table_of(1) != NULL && table_of(2) != NULL);

    for (uint32_t i = 3; i <= 2 * TABLES + 1; i++)
        make(i, i, true);
    settle();
    CHECK(present() == 2 * TABLES && table_of(2 * TABLES + 1) == NULL);
    finish(5, 5, true);
    settle();
    CHECK(table_of(5) == NULL && table_of(2 * TABLES + 1) != NULL && present() == 2 * TABLES);
    end();
}

/* Sweeps begin a second apart, however often one is asked for. */
static void pauses(void)
{
    begin();
    key_keeper_request_sweep(&keeper);
    while (key_keeper_step(&keeper, now_ns) != 0)
        ;
    for (unsigned i = 0; i < 50; i++) {
        key_keeper_request_sweep(&keeper);
        (void)key_keeper_step(&keeper, now_ns + i * (SECOND / 100));
    }
    CHECK(published_get(&keeper.counters.sweeps) == 1);
    (void)key_keeper_step(&keeper, now_ns + SECOND);
    CHECK(published_get(&keeper.counters.sweeps) == 2);
    end();
}

/* ---- verdicts -------------------------------------------------------------------------------- */

static void tell_verdict(enum ed25519_path path, bool is_right, bool said)
{
    static const uint8_t message[40] = { 1, 2, 3 };
    struct signer_ed25519 signer;
    uint8_t seed[32] = { 77 };
    signer_ed25519(&signer, seed);
    uint32_t slots = audited_verdict_slots(sizeof message);
    struct audited_verdict *audited = ring_claim(&keeper.verdicts[0], slots);
    CHECK(audited != NULL);
    *audited = (struct audited_verdict){ .slot_count = (uint16_t)slots,
                                         .message_bytes = sizeof message,
                                         .path = (uint8_t)path,
                                         .good = said };
    memcpy(audited->key, signer.key, sizeof audited->key);
    memcpy(audited->message, message, sizeof message);
    signer_ed25519_sign(&signer, message, sizeof message, audited->signature);
    audited->signature[5] ^= !is_right;
    ring_publish(&keeper.verdicts[0]);
}

static void verdicts(void)
{
    begin();
    CHECK(ed25519_init(ED25519_COMB) == 0 && ed25519_path_in_use() == ED25519_COMB);
    tell_verdict(ED25519_COMB, true, true);
    tell_verdict(ED25519_COMB, false, false);
    tell_verdict(ED25519_LIBRARY, true, true); /* looked at by the comb */
    tell_verdict(ED25519_LIBRARY, false, false);
    settle();
    CHECK(published_get(&keeper.counters.shadows) == 4);
    CHECK(published_get(&keeper.counters.shadow_differences) == 0);
    CHECK(ed25519_path_in_use() == ED25519_COMB);

    tell_verdict(ED25519_COMB, false, true); /* a false accept */
    settle();
    CHECK(published_get(&keeper.counters.shadow_differences) == 1);
    CHECK(ed25519_path_in_use() == ED25519_LIBRARY && ed25519_refusal(ED25519_COMB) != NULL);

    CHECK(ed25519_init(ED25519_COMB) == 0);
    tell_verdict(ED25519_COMB, true, false); /* a false refusal */
    settle();
    CHECK(ed25519_path_in_use() == ED25519_LIBRARY);

    /* The comb has erred and judges nobody any more. */
    tell_verdict(ED25519_LIBRARY, true, false);
    settle();
    CHECK(published_get(&keeper.counters.shadow_differences) == 2);
    CHECK(ed25519_init(ED25519_LIBRARY) == 0);  /* it has not, and was not asked for */
    tell_verdict(ED25519_LIBRARY, true, false); /* the last: an alarm, and it stays */
    settle();
    CHECK(published_get(&keeper.counters.shadow_differences) == 3);
    CHECK(ed25519_path_in_use() == ED25519_LIBRARY);
    CHECK(ed25519_init(ED25519_LANES) == 0);
    end();
}

/* A table that is damaged in memory spoils both paths that read it: the one that comes next is
 * tried with it, and goes as well. The library needs none. */
static void shared_damage(void)
{
    uint8_t key[32];
    struct signer_ed25519 signer;
    const uint8_t seed[32] = { 77 };
    begin();
    CHECK(ed25519_init(ED25519_LANES) == 0);
    if (ed25519_path_in_use() != ED25519_LANES) {
        end();
        return;
    }
    signer_ed25519(&signer, seed);
    memcpy(key, signer.key, 32);
    struct keyring_row entry = { .key = keyring_key(KEYRING_SESSION, 1, key), .account_id = 1 };
    CHECK(keyring_add(keyring, &entry) == 0);
    key_keeper_report(&keeper, &entry.key, false);
    settle();
    const struct ed25519_table *table = key_tables_find(tables, key);
    CHECK(table != NULL && ed25519_judge_of(ED25519_LANES) == ED25519_LIBRARY);
    tell_verdict(ED25519_LANES, true, false); /* the lanes alone erred: the comb is right */
    settle();
    CHECK(ed25519_path_in_use() == ED25519_COMB);

    CHECK(ed25519_init(ED25519_LANES) == 0);
    memset((void *)(uintptr_t)table->multiples, 0x5a, ed25519_table_bytes(table->positions));
    tell_verdict(ED25519_LANES, true, false);
    settle();
    CHECK(ed25519_path_in_use() == ED25519_LIBRARY && ed25519_refusal(ED25519_COMB) != NULL);
    CHECK(ed25519_judge_of(ED25519_LIBRARY) == ED25519_PATHS);
    tell_verdict(ED25519_LIBRARY, true, false); /* nobody is left to judge it */
    settle();
    CHECK(published_get(&keeper.counters.shadows) == 2);
    end();
}

/* Without a store nobody is told of anything; verdicts are looked at all the same. */
static void without_tables(void)
{
    begin();
    struct key_keeper bare = { 0 };
    const struct key_keeper_config config = config_of(NULL);
    struct keyring_key name = name_of(1, 1);
    CHECK(key_keeper_init(&bare, &config) == 0);
    key_keeper_report(&bare, &name, false);
    key_keeper_request_sweep(&bare);
    CHECK(key_keeper_step(&bare, SECOND) == 0);
    key_keeper_report(NULL, &name, false);
    key_keeper_request_sweep(NULL);
    key_keeper_free(&bare);
    end();
}

int main(void)
{
    CHECK(ed25519_init(ED25519_LANES) == 0 && signer_init() == 0);
    follows_sessions();
    shared_keys();
    configured_keys();
    sweeps();
    overruns();
    pauses();
    verdicts();
    shared_damage();
    without_tables();
    return 0;
}
