/* key_keeper.h - keeps the tables of the keys that sign, and looks at verdicts on them again.
 *
 *   matcher (primary_sink.h) ── a session was made, or ended ──> news ──────┐
 *   net threads ── one verdict in 4,096 (verdict_audit.h) ──> verdicts ─────┴──> key_keeper_step
 *
 * A table is built when its session is made, and freed when the last session of its key has ended;
 * operator, oracle and treasury keys of the configuration have one from the beginning. Whatever is
 * missed (a start, news that found no room) is made good by a sweep: a walk over the whole keyring
 * that builds what is missing and then frees what nobody has. Tables decide nothing, so none of
 * this is on anybody's way: a key whose table is not there yet is verified without it.
 *
 * A verdict that another path does not share drops the path that gave it (ed25519_drop), is counted
 * and logged: from then on the next path verifies.
 *
 * Order.  News are in the matcher's order. A sweep begun after `missed` was taken sees whatever was
 *         in the keyring when it was set (pairs: key_keeper_look, key_keeper_step).
 * Wait.   key_keeper_tell never does: without room it asks for a sweep. A step computes for about a
 *         millisecond; sweeps that follow one another begin a second apart.
 * Owner.  key_keeper_tell and key_keeper_look: the matcher; key_keeper_step: the keys thread.
 *         Counters are shown by anyone.
 * Bound.  KEY_KEEPER_NEWS sessions told and not looked at, KEY_KEEPER_VERDICTS slots of verdicts of
 *         each net thread. */
#ifndef NODE_MATCH_KEY_KEEPER_H
#define NODE_MATCH_KEY_KEEPER_H

#include "base/keyring.h"
#include "base/option.h"
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
#define X(name, help) _Atomic uint64_t name;
    KEY_KEEPER_COUNTER_LIST(X)
#undef X
};

/* Whose session keeps a table. */
struct key_owner {
    uint64_t account_id;
    uint32_t sweep; /* number of the last sweep that found it */
    bool present;
    bool shared;     /* sessions of several accounts have this key: a sweep tells when none has */
    bool configured; /* kept for good */
};

struct key_keeper_config {
    const struct keyring *keyring;
    const struct option_engine *options; /* whose keys are configured */
    struct key_tables *tables;           /* NULL: none is kept */
    uint32_t nets;
};

struct key_keeper {
    struct key_keeper_config config;
    struct ring news;                          /* producer: the matcher */
    struct ring verdicts[KEY_KEEPER_NETS_MAX]; /* producers: the net threads */
    void *memory;
    size_t memory_bytes;
    _Atomic bool missed; /* a sweep is wanted */

    /* The keys thread's. */
    struct key_owner *owners; /* by number of the table */
    bool configured_built;
    bool sweeping, wants_sweep;
    uint32_t sweep;  /* number of the last one */
    uint32_t cursor; /* of its walk */
    uint64_t next_sweep_ns;
    uint32_t next_net; /* whose verdicts come first */
    struct key_keeper_counters counters;
};

/* 0 or -ENOMEM with nothing kept. The keeper is zeroed before. */
CC_MUST_USE int key_keeper_init(struct key_keeper *keeper, const struct key_keeper_config *config);
void key_keeper_free(struct key_keeper *keeper);

/* A session of this account and key was made, or has ended. `keeper` may be NULL. */
void key_keeper_tell(struct key_keeper *keeper, const struct keyring_key *session, bool ended);

/* The keyring holds sessions that were not told of. `keeper` may be NULL. */
void key_keeper_look(struct key_keeper *keeper);

/* Does some of what is to do; the work done, 0: nothing. */
uint32_t key_keeper_step(struct key_keeper *keeper, uint64_t now_ns);

#endif
