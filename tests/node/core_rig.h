/* core_rig.h - one exchange on a simulated disk with small segments, for tests of what lives from
 * start to start: snapshots, archive, recycling. One rig a program. */
#ifndef TESTS_NODE_CORE_RIG_H
#define TESTS_NODE_CORE_RIG_H

#include "node/run/core.h"
#include "node/run/market_file.h"
#include "support/sim/disk_sim.h"

enum {
    CORE_RIG_SEGMENT_BYTES = 64 << 10,
    CORE_RIG_TURN_NS = 100 * 1000 * 1000, /* that the clock goes on a turn: a tick, a frame */
};

/* What the host of the snapshotter did, and is told to do. */
struct core_rig_host {
    uint32_t begun;     /* children */
    uint32_t competing; /* of them forced */
    uint64_t last_segment;
    bool goes_on;          /* a child does not end by itself */
    bool fails;            /* a child ends without a snapshot */
    bool dies;             /* a child has written its snapshot, unfinished, and ends */
    uint32_t ended;        /* from outside */
    uint64_t free_bytes;   /* UINT64_MAX at first */
    uint64_t wanted_first; /* UINT64_MAX: nobody wants any */
};

struct core_rig {
    struct clock clock;
    struct disk *disk;
    struct core core;
    struct market_file markets;
    struct ring commands, answers, queries, replies;
    void *ring_memory[4];
    struct reply_pool pool;
    void *pool_memory;
    struct refusal refusal;
    struct core_rig_host host;
    uint64_t accounts;
    /* Of the next starts. */
    uint64_t history_replay_bytes;
    uint64_t tail_bytes;
    bool recovers_on_two_threads;
    bool is_staged;
    uint64_t archive_keep_ns;
    uint64_t segment_bytes_per_s; /* 0: unbounded */
};

extern struct core_rig core_rig;

void core_rig_make(void);
void core_rig_free(void);

/* As far as core_recover. */
enum refusal_kind core_rig_recover(void);
/* The whole start, which must be good. */
void core_rig_start(void);

/* `turns` turns of every role, an account created in each; everything is applied at its end. */
void core_rig_run(uint32_t turns);

/* The process dies; what was written stays. */
void core_rig_kill(void);
/* The roles of a clean stop, to the closing frame. */
void core_rig_stop_roles(void);

/* BLAKE2b-256 of the follower's image. */
void core_rig_hash(uint8_t hash[HASH_BYTES]);

#endif
