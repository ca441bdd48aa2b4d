/* snapshotter.h - when a snapshot is due, whose work it is, and what becomes of the segments below
 * (roles.md, Snapshots and history; journal.md, Archive).
 *
 *   journal/ sealed segments ──due──> child: fold, SEQUENCE.snap, verified ──> two are kept
 *        │ wholly below the older one of the two
 *        └──> archive/ ──> retired to the segment pool
 *
 * A child that fails or is killed at any point loses nothing: what it was to make is asked of
 * another one later. Nothing of it runs on the matcher's thread.
 *
 * Wait.   snapshotter_step blocks for one small piece of work: a frame read, a segment archived.
 * Owner.  The background thread; counters are read by any. snapshotter_end comes after it has
 *         ended.
 * Units.  Tail in bytes of whole segments; times are clock_monotonic_ns but where said. */
#ifndef NODE_RECOVER_SNAPSHOTTER_H
#define NODE_RECOVER_SNAPSHOTTER_H

#include "base/clock.h"
#include "store/archive.h"
#include "store/journal.h"
#include "store/snapshot.h"

enum {
    SNAPSHOTTER_FORCED = 4,          /* times the tail: whatever memory is free, and it competes */
    SNAPSHOTTER_LOOK_NS = 200000000, /* between two looks */
    SNAPSHOTTER_MEMORY_TIMES = 2,    /* engine sizes that must be free */
};

/* Who runs the child. perpd spawns a process (snapshot_child.h); the simulator folds in place. */
struct snapshotter_host {
    void *context;
    /* Begins a fold up to `last_segment`, out of everybody's way, or, forced, so that it competes;
     * 0 or -errno. */
    int (*begin)(void *context, uint64_t last_segment, bool is_forced);
    /* 0 while it goes on, 1 when it has ended well, -1 when not. Does not wait. */
    int (*poll)(void *context);
    /* Ends it, wherever it is. */
    void (*end)(void *context);
    /* Whether another process reads segments from *first on; NULL: none does. */
    bool (*wanted)(void *context, uint64_t *first);
    /* Memory that is free, and that one engine takes; NULL: enough. */
    bool (*memory)(void *context, uint64_t *free_bytes, uint64_t *engine_bytes);
};

struct snapshotter_config {
    struct disk *disk;
    const struct exchange_file *exchange; /* outlives it, as all that is named here */
    const struct clock *clock;
    const struct journal *journal;
    struct segment_pool *pool;
    const _Atomic uint64_t *applied; /* the follower's: it reads no segment at or below */
    struct snapshotter_host host;    /* begin NULL: there are no snapshots while it runs */
    uint32_t segment_bytes;
    uint64_t tail_bytes;
    uint64_t archive_keep_ns; /* 0: for ever */
    uint64_t segment;         /* that the journal goes on in */
};

/* A snapshot that counts. */
struct snapshotter_kept {
    uint64_t sequence, frame, t_ns;
    bool proven; /* read whole in this run, or by the child that wrote it */
};

struct snapshotter_counters {
    _Atomic uint64_t snapshots;
    _Atomic uint64_t failures; /* children that ended otherwise */
    _Atomic uint64_t put_off;  /* looks at which memory was too short */
    _Atomic uint64_t archived; /* segments */
    _Atomic uint64_t archive_failures;
    _Atomic uint64_t retired;
    _Atomic uint64_t pruned;
    _Atomic uint64_t sequence;   /* of the newest snapshot, 0: none */
    _Atomic uint64_t t_ns;       /* its engine time, unix ns */
    _Atomic uint64_t tail_bytes; /* of sealed segments above it */
    _Atomic uint64_t running;    /* 1: a child is at work */
    _Atomic uint64_t alarm;      /* 1: the last attempt failed, or is put off */
};

struct snapshotter {
    struct snapshotter_config config;
    struct snapshotter_kept kept[SNAPSHOT_KEPT]; /* newest first */
    uint32_t kept_count;
    bool child;         /* one is at work ... */
    bool child_forced;  /* ... that competes */
    bool archive_known; /* `archive` was opened */
    struct archive archive;
    uint64_t first;      /* lowest segment of journal/ that was not retired */
    uint64_t sealed_end; /* segments below are sealed */
    uint64_t above;      /* the first segment that begins above the newest snapshot */
    uint64_t look_ns;    /* when to look again; begin, archive, prune: not before */
    uint64_t begin_ns;
    uint64_t archive_ns;
    uint64_t prune_ns;
    bool put_off; /* said once */
    uint8_t *frame_bytes;
    struct snapshotter_counters counters;
};

/* Looks at what stands in snapshot/ and journal/. 0 or -errno; snapshotter_free works after it. */
CC_MUST_USE int snapshotter_init(struct snapshotter *snapshotter,
                                 const struct snapshotter_config *config);
void snapshotter_free(struct snapshotter *snapshotter);

/* Does what is due; the pieces of work done. What fails is logged, counted and tried again. */
uint32_t snapshotter_step(struct snapshotter *snapshotter, uint64_t now_ns);

/* Ends the child. */
void snapshotter_end(struct snapshotter *snapshotter);

/* The newest snapshot was just written and read back by somebody else, the child having ended: what
 * is older than the two that count is removed. */
void snapshotter_count(struct snapshotter *snapshotter);

#endif
