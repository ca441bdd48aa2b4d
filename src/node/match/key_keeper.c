#include "node/match/key_keeper.h"

#include <errno.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/hex.h"
#include "base/log.h"
#include "crypto/second_path.h"
#include "net/request/verdict_audit.h"

enum {
    NEWS_A_STEP = 64,
    BUILDS_A_STEP = 8,     /* about 150 us each */
    ENTRIES_A_STEP = 4096, /* of the keyring that a sweep reads */
    SHADOWS_A_STEP = 8,    /* about 100 us each */
};

#define SWEEP_INTERVAL_NS UINT64_C(1000000000)

/* One session that was created or ended. */
struct news {
    uint64_t account_id;
    uint8_t key[ED25519_KEY_BYTES];
    bool ended;
};

static_assert(sizeof(struct news) % 8 == 0, "a slot of a ring");

int key_keeper_init(struct key_keeper *keeper, const struct key_keeper_config *config)
{
    INVARIANT(config->nets <= KEY_KEEPER_NETS_MAX);
    size_t news_bytes = (ring_bytes(KEY_KEEPER_NEWS, sizeof(struct news)) + 63) & ~(size_t)63;
    size_t verdict_bytes = ring_bytes(KEY_KEEPER_VERDICTS, MESSAGE_SLOT_BYTES);
    keeper->config = *config;
    keeper->memory_bytes = news_bytes + config->nets * verdict_bytes;
    int failed = arena_map(REGION_keys, &keeper->memory, keeper->memory_bytes, false);
    if (failed != 0)
        return failed;
    uint32_t tables = config->tables != NULL ? key_tables_capacity(config->tables) : 0;
    keeper->owners = calloc((size_t)tables + 1, sizeof *keeper->owners);
    if (keeper->owners == NULL) {
        key_keeper_free(keeper);
        return -ENOMEM;
    }
    ring_init(&keeper->news, keeper->memory, KEY_KEEPER_NEWS, sizeof(struct news));
    for (uint32_t i = 0; i < config->nets; i++)
        ring_init(&keeper->verdicts[i], (uint8_t *)keeper->memory + news_bytes + i * verdict_bytes,
                  KEY_KEEPER_VERDICTS, MESSAGE_SLOT_BYTES);
    return 0;
}

void key_keeper_free(struct key_keeper *keeper)
{
    arena_unmap(keeper->memory, keeper->memory_bytes);
    free(keeper->owners);
    keeper->memory = NULL;
    keeper->owners = NULL;
}

/* ---- the matcher's side ---------------------------------------------------------------------- */

void key_keeper_request_sweep(struct key_keeper *keeper)
{
    if (keeper != NULL)
        /* release (pairs: key_keeper_step): the keyring was written before. */
        atomic_store_explicit(&keeper->missed, true, memory_order_release);
}

void key_keeper_report(struct key_keeper *keeper, const struct keyring_key *session, bool ended)
{
    if (keeper == NULL || keeper->config.tables == NULL)
        return;
    struct news *news = ring_claim(&keeper->news, 1);
    if (news == NULL) {
        published_add(&keeper->counters.news_missed, 1);
        key_keeper_request_sweep(keeper);
        return;
    }
    news->account_id = session->account_id;
    memcpy(news->key, session->bytes, sizeof news->key);
    news->ended = ended;
    ring_publish(&keeper->news);
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* A session of this account has this key. 1 when a table was built. */
static uint32_t keep(struct key_keeper *keeper, uint64_t account_id, const uint8_t *key)
{
    struct key_tables *tables = keeper->config.tables;
    uint32_t number = key_tables_number(tables, key);
    if (number == 0) {
        int made = key_tables_add(tables, key);
        if (made > 0)
            keeper->owners[made] = (struct key_owner){ .account_id = account_id,
                                                       .sweep = keeper->sweep,
                                                       .present = true };
        return 1;
    }
    struct key_owner *owner = &keeper->owners[number];
    owner->shared |= owner->account_id != account_id;
    owner->sweep = keeper->sweep;
    return 0;
}

static void drop(struct key_keeper *keeper, uint32_t number)
{
    key_tables_remove(keeper->config.tables, key_tables_key(keeper->config.tables, number));
    keeper->owners[number].present = false;
    /* Another key may have waited for this room. */
    keeper->wants_sweep |= published_get(&key_tables_counters(keeper->config.tables)->full) != 0;
}

static void let_go(struct key_keeper *keeper, uint64_t account_id, const uint8_t *key)
{
    uint32_t number = key_tables_number(keeper->config.tables, key);
    if (number == 0 || keeper->owners[number].configured)
        return;
    if (keeper->owners[number].shared)
        keeper->wants_sweep = true;
    else if (keeper->owners[number].account_id == account_id)
        drop(keeper, number);
}

static uint32_t read_news(struct key_keeper *keeper)
{
    uint64_t ready = ring_ready(&keeper->news);
    uint32_t taken = 0, built = 0;
    while (taken < ready && taken < NEWS_A_STEP && built < BUILDS_A_STEP) {
        const struct news *news = ring_at(&keeper->news, taken++);
        if (news->ended)
            let_go(keeper, news->account_id, news->key);
        else
            built += keep(keeper, news->account_id, news->key);
    }
    if (taken > 0)
        ring_release(&keeper->news, taken);
    return taken;
}

static void keep_configured(struct key_keeper *keeper, const uint8_t *key)
{
    (void)keep(keeper, 0, key);
    uint32_t number = key_tables_number(keeper->config.tables, key);
    keeper->owners[number].configured = true; /* 0: no table */
}

static uint32_t build_configured(struct key_keeper *keeper)
{
    const struct option_engine *options = keeper->config.options;
    if (keeper->configured_built)
        return 0;
    keeper->configured_built = true;
    if (options->has_operator_key)
        keep_configured(keeper, options->operator_key);
    if (options->has_treasury_key)
        keep_configured(keeper, options->treasury_key);
    for (uint32_t i = 0; i < options->oracle_key_count; i++)
        keep_configured(keeper, options->oracle_keys[i]);
    return 1;
}

/* ---- sweeps ---------------------------------------------------------------------------------- */

static void begin_sweep(struct key_keeper *keeper, uint64_t now_ns)
{
    keeper->sweeping = true;
    keeper->wants_sweep = false;
    keeper->sweep++;
    keeper->cursor = 0;
    keeper->next_sweep_ns = now_ns + SWEEP_INTERVAL_NS;
    for (uint32_t i = 1; i <= key_tables_capacity(keeper->config.tables); i++)
        keeper->owners[i].shared = false; /* the sweep finds out again */
    published_add(&keeper->counters.sweeps, 1);
}

static void end_sweep(struct key_keeper *keeper)
{
    keeper->sweeping = false;
    for (uint32_t i = 1; i <= key_tables_capacity(keeper->config.tables); i++) {
        const struct key_owner *owner = &keeper->owners[i];
        if (owner->present && !owner->configured && owner->sweep != keeper->sweep)
            drop(keeper, i);
    }
}

/* A session of the keyring. The first that this sweep finds for a key owns the table. */
static uint32_t meet(struct key_keeper *keeper, const struct keyring_row *row)
{
    uint32_t number = key_tables_number(keeper->config.tables, row->key.bytes);
    struct key_owner *owner = &keeper->owners[number];
    if (number != 0 && owner->sweep != keeper->sweep)
        owner->account_id = row->account_id;
    return keep(keeper, row->account_id, row->key.bytes);
}

static uint32_t sweep(struct key_keeper *keeper, uint64_t now_ns)
{
    /* acquire (pairs: key_keeper_request_sweep) */
    if (atomic_exchange_explicit(&keeper->missed, false, memory_order_acquire))
        keeper->wants_sweep = true;
    if (!keeper->sweeping) {
        if (!keeper->wants_sweep || now_ns < keeper->next_sweep_ns)
            return 0;
        begin_sweep(keeper, now_ns);
    }
    uint32_t built = 0;
    struct keyring_row row;
    for (uint32_t i = 0; i < ENTRIES_A_STEP && built < BUILDS_A_STEP; i++) {
        if (!keyring_walk(keeper->config.keyring, &keeper->cursor, &row)) {
            end_sweep(keeper);
            break;
        }
        if (row.key.kind == KEYRING_SESSION)
            built += meet(keeper, &row);
    }
    return 1;
}

/* ---- verdicts -------------------------------------------------------------------------------- */

static struct ed25519_job job_of(const struct audited_verdict *audited)
{
    return (struct ed25519_job){ .key = audited->key,
                                 .signature = audited->signature,
                                 .message = audited->message,
                                 .message_bytes = audited->message_bytes };
}

/* Drops the path, and those after it that share its fault: they get the table that it may have
 * used. Returns the path in use afterwards. */
static enum ed25519_path drop_path(struct key_keeper *keeper, enum ed25519_path path,
                                   const struct audited_verdict *audited)
{
    struct ed25519_job job = job_of(audited);
    enum ed25519_path left = ed25519_drop(path);

    if (keeper->config.tables != NULL) /* freed by this thread alone */
        job.table = key_tables_find(keeper->config.tables, audited->key);
    while (left != path && ed25519_judge_of(left) != ED25519_PATHS &&
           (ed25519_verify_by(left, &job, 1) == 1) == audited->good) {
        path = left;
        left = ed25519_drop(path);
    }
    return left;
}

/* Logs a wrong verdict with the first bytes of what is signed. They hold the id of the request,
 * which leads to its sequence, as `perp audit signatures` does. */
static void log_wrong(const struct audited_verdict *audited, enum ed25519_path judge,
                      enum ed25519_path left)
{
    enum { SHOWN_BYTES = 80 };
    char key[2 * ED25519_KEY_BYTES + 1], message[2 * SHOWN_BYTES + 1];
    size_t count = audited->message_bytes < SHOWN_BYTES ? audited->message_bytes : SHOWN_BYTES;

    hex_encode(key, audited->key, sizeof audited->key);
    hex_encode(message, audited->message, count);
    log_line(LOG_ERROR, "signatures",
             "%s called a signature %s, %s does not: signatures are verified by %s from now on; "
             "key=%s signed=%s",
             ed25519_path_name((enum ed25519_path)audited->path), audited->good ? "good" : "wrong",
             ed25519_path_name(judge), ed25519_path_name(left), key, message);
}

static void look_again(struct key_keeper *keeper, const struct audited_verdict *audited)
{
    enum ed25519_path path = (enum ed25519_path)audited->path;
    enum ed25519_path judge = ed25519_judge_of(path);
    const struct ed25519_job job = job_of(audited);
    if (judge == ED25519_PATHS)
        return;
    published_add(&keeper->counters.shadows, 1);
    if (second_path_ed25519(path, &job) == audited->good)
        return;
    log_wrong(audited, judge, drop_path(keeper, path, audited));
    published_add(&keeper->counters.shadow_differences, 1);
}

static uint32_t read_verdicts(struct key_keeper *keeper)
{
    uint32_t done = 0;
    for (uint32_t i = 0; i < keeper->config.nets && done < SHADOWS_A_STEP; i++) {
        struct ring *ring = &keeper->verdicts[keeper->next_net++ % keeper->config.nets];
        uint64_t ready = ring_ready(ring), taken = 0;
        while (taken < ready && done < SHADOWS_A_STEP) {
            const struct audited_verdict *audited = ring_at(ring, taken);
            look_again(keeper, audited);
            taken += audited->slot_count;
            done++;
        }
        if (taken > 0)
            ring_release(ring, taken);
    }
    return done;
}

uint32_t key_keeper_step(struct key_keeper *keeper, uint64_t now_ns)
{
    uint32_t done = read_verdicts(keeper);
    if (keeper->config.tables == NULL)
        return done;
    return done + build_configured(keeper) + read_news(keeper) + sweep(keeper, now_ns);
}
