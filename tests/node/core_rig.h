/* core_rig.h - one exchange without its network, on a simulated disk with small segments. The test
 * plays the net threads: it owns the far ends of their rings. One rig a program. */
#ifndef TESTS_NODE_CORE_RIG_H
#define TESTS_NODE_CORE_RIG_H

#include "node/run/core.h"
#include "node/run/market_file.h"
#include "support/sim/disk_sim.h"

enum {
    CORE_RIG_SEGMENT_BYTES = 64 << 10,
    CORE_RIG_TURN_NS = 100 * 1000 * 1000, /* that the clock goes on a turn: a tick, a frame */
    CORE_RIG_TURNS = 4000,                /* after which whatever is under way should have ended */
    CORE_RIG_LINKS_MAX = 2,
};

#define CORE_RIG_START_NS UINT64_C(1755582431232000000)
#define CORE_RIG_LAG_NS   UINT64_C(1000000000) /* follower_lag_max_ns */

/* What a test changes about its rig. 0 and NULL: as said beside it. */
struct core_rig_options {
    uint64_t disk_seed;           /* 1 */
    uint32_t accounts;            /* engine.accounts and engine.portfolios; 4,096 */
    uint32_t credentials;         /* engine.credentials; 16,384 */
    const char *const *engine;    /* NULL-terminated, "--key=value"; keys of operator and oracle */
    uint32_t link_count;          /* 1 */
    uint32_t slots;               /* of answers, queries and replies: a link's credits; 256 */
    uint32_t history_rows;        /* 1,024 */
    int follower_commands_a_turn; /* FOLLOWER_COMMANDS_A_TURN */
    bool has_no_snapshots;        /* nobody makes any while it runs */
};

/* The rings of one net thread. */
struct core_rig_link {
    struct ring commands, answers, queries, replies;
    void *memory[4];
    struct reply_pool pool;
    void *pool_memory;
};

/* What the host of the snapshotter did, and is told to do. */
struct core_rig_host {
    uint32_t begun;     /* children */
    uint32_t competing; /* of them forced */
    uint64_t last_segment;
    bool goes_on;          /* a child does not end by itself */
    bool fails;            /* a child ends without a snapshot */
    bool dies;             /* a child has written its snapshot, unfinished, and ends */
    bool is_killed;        /* a child is ended by a signal */
    uint32_t ended;        /* from outside */
    uint64_t free_bytes;   /* UINT64_MAX at first */
    uint64_t wanted_first; /* UINT64_MAX: nobody wants any */
};

struct core_rig {
    struct core_rig_options options;
    struct clock clock;
    struct disk *disk;
    struct core core;
    struct market_file markets;
    struct core_rig_link links[CORE_RIG_LINKS_MAX];
    struct refusal refusal;
    struct core_rig_host host;
    uint64_t accounts; /* that core_rig_send_account has sent */
    /* Of the next starts. */
    const char *more; /* one engine option more, "--key=value", or NULL */
    _Atomic bool give_up;
    uint64_t history_replay_bytes;
    const char *history_folder; /* a real one; NULL: rows are in memory only */
    uint64_t private_events;
    uint64_t tail_bytes;
    bool recovers_on_two_threads;
    bool is_staged;
    struct signing_key *signing; /* read from the disk at a start; NULL: it signs nothing */
    uint64_t archive_keep_ns;
    uint64_t segment_bytes_per_s; /* 0: unbounded */
};

extern struct core_rig core_rig;

/* A disk, and nothing started on it. */
void core_rig_make(void);
void core_rig_make_with(const struct core_rig_options *options);
/* After core_rig_kill, or core_destroy. */
void core_rig_free(void);

/* As far as core_recover. */
enum refusal_kind core_rig_recover(void);
/* The whole start, which must be good. */
void core_rig_start(void);

/* Sends a creation of an account with keys of its own (wire.md W3, code 11; R11 does not verify
 * here). False if the ring has no room. */
bool core_rig_send_account(struct core_rig_link *link);

/* Steps of journal, background and follower, none of the matcher, until everything published is
 * durable and applied. */
void core_rig_settle(void);

/* `turns` turns of every role, an account created in each; everything is applied at its end. */
void core_rig_run(uint32_t turns);

/* The process dies; what it did not sync may be lost. */
void core_rig_kill(void);
/* The roles of a clean stop, to the closing frame. */
void core_rig_stop_roles(void);

/* BLAKE2b-256 of the follower's image. */
void core_rig_hash(uint8_t hash[HASH_BYTES]);

#endif
