/* snapshotter.h - decides when a snapshot is due, has it made, and archives and retires the
 * segments below it (roles.md, Snapshots and history; journal.md, Archive).
 *
 *   journal/ sealed segments ──due──> child: fold, SEQUENCE.snap, verified ──> two are kept
 *        │ wholly below the older one of the two
 *        └──> archive/ ──> retired to the segment pool
 *
 * A child that fails or is killed at any point loses nothing: another one does its work later.
 * Where two are killed in a row, slice_fold.h does it. None of this runs on the matcher's thread.
 *
 * Wait.   snapshotter_step blocks for one small piece of work: a frame read, a segment archived.
 * Owner.  The background thread. Counters are read by any thread. Call snapshotter_end after that
 *         thread has ended.
 * Units.  The tail is in bytes of whole segments; times are clock_monotonic_ns unless stated. */
#ifndef NODE_RECOVER_SNAPSHOTTER_H
#define NODE_RECOVER_SNAPSHOTTER_H

#include "base/clock.h"
#include "base/published.h"
#include "node/recover/slice_fold.h"
#include "store/archive_copy.h"
#include "store/journal.h"
#include "store/snapshot.h"

enum {
    SNAPSHOTTER_FORCED = 4, /* times the tail: the child competes, whatever memory is free */
    SNAPSHOTTER_LOOK_NS = 200000000, /* between two looks */
    SNAPSHOTTER_MEMORY_TIMES = 2,    /* engine sizes that must be free */
    SNAPSHOTTER_KILLED_MAX = 2,      /* children in a row, before one is done without */
    SNAPSHOTTER_KILLED = -2,         /* of poll */
};

struct history_keep;

/* Runs the child. perpd spawns a process (snapshot_child.h); the simulator folds in place. */
struct snapshotter_host {
    void *context;
    /* Begins a fold up to `last_segment`: at idle priority, or competing if forced. 0 or -errno. */
    int (*begin)(void *context, uint64_t last_segment, bool is_forced);
    /* 0 while it runs, 1 after success, -1 after failure, SNAPSHOTTER_KILLED after a signal. Does
     * not wait. */
    int (*poll)(void *context);
    /* Ends it at any point. */
    void (*end)(void *context);
    /* Whether another process reads segments from *first on. NULL: none does. */
    bool (*wanted)(void *context, uint64_t *first);
    /* Free memory and the memory of one engine. NULL: there is always enough. */
    bool (*memory)(void *context, uint64_t *free_bytes, uint64_t *engine_bytes);
};

struct snapshotter_config {
    struct disk *disk;
    const struct exchange_file *exchange; /* everything named here outlives it */
    const struct clock *clock;
    struct journal *journal;
    struct segment_pool *pool;
    const _Atomic uint64_t *applied;   /* the follower's: it needs no segment wholly at or below */
    struct snapshotter_host host;      /* begin NULL: no snapshots are made while it runs */
    struct archive_copy *archive_copy; /* NULL: the archive has one folder */
    struct slice_fold *fold;           /* what takes a child's place; NULL: nothing does */
    /* Whether the history has all up to a sequence; asked until it has. NULL: none is kept. */
    bool (*is_kept)(struct history_keep *history, uint64_t sequence);
    /* Rows up to this sequence the history keeps whatever happens: what made them may be removed.
     * NULL: there is no history. */
    const struct published *history_synced;
    struct history_keep *history;
    const struct published *is_late; /* not 0: a start would take too long. NULL: it never does */
    bool is_common; /* snapshots end where those of the cluster's other nodes do, to be compared */
    uint32_t segment_bytes;
    uint64_t tail_bytes;
    uint64_t archive_keep_ns; /* 0: for ever */
    uint64_t segment;         /* that the journal continues in */
};

/* A snapshot that is kept. */
struct snapshotter_kept {
    uint64_t sequence, frame, t_ns;
    bool proven; /* read whole in this run, or by the child that wrote it */
};

struct snapshotter_counters {
    struct published snapshots;
    struct published failures;  /* children that failed */
    struct published in_slices; /* snapshots made without a child */
    struct published put_off;   /* looks that found too little memory */
    struct published waits;     /* 1: the last look did */
    struct published archived;  /* segments */
    struct published archive_failures;
    struct published archive_fails; /* 1: the last attempt failed */
    struct published retired;
    struct published pruned;
    struct published sequence;   /* of the newest snapshot, 0: none */
    struct published t_ns;       /* its engine time, unix ns */
    struct published tail_bytes; /* of sealed segments above it */
    struct published running;    /* 1: a child is at work */
    struct published alarm;      /* 1: the last attempt failed or was postponed */
};

struct snapshotter {
    struct snapshotter_config config;
    struct snapshotter_kept kept[SNAPSHOT_KEPT]; /* newest first */
    uint32_t kept_count;
    bool child;         /* one is running ... */
    bool child_forced;  /* ... that competes */
    bool is_folding;    /* ... which is config.fold */
    uint32_t killed;    /* children in a row */
    bool archive_known; /* `archive` was opened */
    struct archive archive;
    uint64_t first;      /* lowest segment of journal/ that was not retired */
    uint64_t sealed_end; /* segments below are sealed */
    uint64_t above;      /* the first segment that begins above the newest snapshot */
    uint64_t look_ns;    /* when to look again; the next five: earliest time to retry */
    uint64_t begin_ns;
    uint64_t seal_ns;
    uint64_t archive_ns;
    uint64_t copy_ns;
    uint64_t prune_ns;
    uint64_t asked; /* what the history must have before the next snapshot begins; 0: not asked */
    bool put_off;   /* logged once */
    uint8_t *frame_bytes;
    struct snapshotter_counters counters;
};

/* Reads what is in snapshot/ and journal/. 0 or -errno; snapshotter_free works after both. */
CC_MUST_USE int snapshotter_init(struct snapshotter *snapshotter,
                                 const struct snapshotter_config *config);
void snapshotter_free(struct snapshotter *snapshotter);

/* Does the work that is due and returns the number of pieces. Failures are logged, counted and
 * tried again. */
uint32_t snapshotter_step(struct snapshotter *snapshotter, uint64_t now_ns);

/* Ends the child, if one runs. */
void snapshotter_end(struct snapshotter *snapshotter);

/* Counts a snapshot that was written and verified elsewhere, after the child has ended, and removes
 * the snapshots older than the newest two. */
void snapshotter_count(struct snapshotter *snapshotter);

#endif
