/* key_keeper.h - keeps the tables of the keys that sign, and audits verdicts on signatures.
 *
 *   matcher (primary_sink.h) ── a session was created or ended ──> news ────────────┐
 *   net threads ── some verdicts (net/request/verdict_audit.h) ──> verdicts ┴─> step
 *
 * A table is built when its session is created and freed when the last session of its key ends. The
 * operator, oracle and treasury keys of the configuration have tables from the start. A sweep makes
 * good what was missed (at a start, or when the news were full): it walks the whole keyring, builds
 * missing tables, then frees unused ones. Tables decide nothing and hold up nobody: a key without
 * one is verified without it.
 *
 * A verdict that another path contradicts drops the path that gave it (ed25519_drop), and the next
 * one too if it decides likewise by the table in use. It is counted and logged, and what is left
 * verifies from then on.
 *
 * Order.  News are in the matcher's order. A sweep that begins after `missed` was cleared sees
 *         every key that was in the keyring when `missed` was set (pairs:
 *         key_keeper_request_sweep, key_keeper_step).
 * Wait.   key_keeper_report never waits: without room it requests a sweep. A step computes for
 *         about a millisecond; consecutive sweeps begin a second apart.
 * Owner.  key_keeper_report and key_keeper_request_sweep: the matcher; key_keeper_step: the keys
 *         thread. Counters are read by any thread.
 * Bound.  KEY_KEEPER_NEWS reports not yet processed, KEY_KEEPER_VERDICTS slots of verdicts of
 *         each net thread. */
#ifndef NODE_MATCH_KEY_KEEPER_H
#define NODE_MATCH_KEY_KEEPER_H

#include "base/keyring.h"
#include "base/option.h"
#include "base/published.h"
#include "base/ring.h"
#include "crypto/ed25519.h"
#include "crypto/key_tables.h"

enum {
    KEY_KEEPER_NEWS = 4096,
    KEY_KEEPER_VERDICTS = 1024,
    KEY_KEEPER_NETS_MAX = 32,
};

/* Totals since start. */
/* clang-format off */
#define KEY_KEEPER_COUNTER_LIST(X) \
    X(sweeps,             "Walks over all sessions for what was missed.") \
    X(news_missed,        "Sessions told of when there was no room for it.") \
    X(shadows,            "Verdicts on signatures that were computed again by another path.") \
    X(shadow_differences, "Those that the other path did not share: alarm.")
/* clang-format on */
struct key_keeper_counters {
#define X(name, help) struct published name;
    KEY_KEEPER_COUNTER_LIST(X)
#undef X
};

/* The account whose session keeps a table. */
struct key_owner {
    uint64_t account_id;
    uint32_t sweep; /* number of the last sweep that found it */
    bool present;
    bool shared;     /* by sessions of several accounts: only a sweep can free the table */
    bool configured; /* named by the configuration: never freed */
};

struct key_keeper_config {
    const struct keyring *keyring;
    const struct option_engine *options; /* name the configured keys */
    struct key_tables *tables;           /* NULL: no tables are kept */
    uint32_t nets;
};

struct key_keeper {
    struct key_keeper_config config;
    struct ring news;                          /* producer: the matcher */
    struct ring verdicts[KEY_KEEPER_NETS_MAX]; /* producers: the net threads */
    void *memory;
    size_t memory_bytes;
    _Atomic bool missed; /* a sweep is requested */

    /* The rest belongs to the keys thread. */
    struct key_owner *owners; /* by number of the table */
    bool configured_built;
    bool sweeping, wants_sweep;
    uint32_t sweep;  /* number of the last one */
    uint32_t cursor; /* of its walk */
    uint64_t next_sweep_ns;
    uint32_t next_net; /* whose verdicts are audited first */
    struct key_keeper_counters counters;
};

/* The keeper was zeroed before. 0, or -ENOMEM with nothing to free. */
CC_MUST_USE int key_keeper_init(struct key_keeper *keeper, const struct key_keeper_config *config);
void key_keeper_free(struct key_keeper *keeper);

/* Reports that a session of this account and key was created or ended. `keeper` may be NULL. */
void key_keeper_report(struct key_keeper *keeper, const struct keyring_key *session, bool ended);

/* Requests a sweep: the keyring holds sessions that were not reported. `keeper` may be NULL. */
void key_keeper_request_sweep(struct key_keeper *keeper);

/* Does one slice of the pending work. Returns the work done, 0: none. */
uint32_t key_keeper_step(struct key_keeper *keeper, uint64_t now_ns);

#endif
