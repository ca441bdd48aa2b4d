/* slice_fold.h - a snapshot that the follower's thread makes of its own engine, in slices, where a
 * child cannot: it was killed again and again (roles.md, Snapshots and history).
 *
 *   background: slice_fold_ask ──> follower: applies to the end of a frame, then nothing more
 *        │                              │ each turn one slice: rows into SEQUENCE.snap.part,
 *        │                              │ the history's commit, the name, the bytes read back
 *        └── slice_fold_poll <── done ──┘ and applies again
 *
 * It needs no second engine: there may be no memory for one. So the file is read back and its
 * bytes compared, but no engine is loaded from it.
 *
 * Wait.   A slice blocks for one piece of rows, 1 MiB written and synced, or 1 MiB read. Reads wait
 *         for the follower meanwhile, or are refused when it lags too far.
 * Owner.  ask, poll: the background thread. aim, step: the follower's. end: any thread.
 * Bound.  Memory while it works: SCRUB_ROOM_BYTES and a buffer of 1 MiB. */
#ifndef NODE_RECOVER_SLICE_FOLD_H
#define NODE_RECOVER_SLICE_FOLD_H

#include "engine/engine.h"
#include "engine/image/image.h"
#include "node/history/history_keep.h"
#include "store/frame_board.h"
#include "store/scrub.h"
#include "store/snapshot.h"

enum { SLICE_FOLD_ROWS = 1024 };

/* clang-format off */
/*    state    may become */
#define SLICE_FOLD_STATE_LIST(X)                                                                   \
    X(IDLE,    TO(ASKED))              /* the background thread's move, */                         \
    X(ASKED,   TO(DONE) | TO(FAILED))  /* the follower's, */                                       \
    X(DONE,    TO(IDLE))               /* the background thread's again */                         \
    X(FAILED,  TO(IDLE))
/* clang-format on */

enum slice_fold_state {
#define X(name, next) SLICE_FOLD_##name,
    SLICE_FOLD_STATE_LIST(X)
#undef X
        SLICE_FOLD_STATE_COUNT
};

struct slice_fold {
    struct disk *disk; /* NULL: never asked; what is named here outlives it */
    const struct exchange_file *exchange;
    const struct frame_board *frames;
    struct history_keep *keep;
    _Atomic uint32_t state;
    _Atomic bool is_ended;
    /* The follower's. */
    struct frame_location frame; /* that the snapshot ends with */
    uint64_t target;             /* its last sequence; 0: none is aimed at */
    struct snapshot_writer *writer;
    struct image_cursor cursor;
    bool is_written; /* the rows are */
    struct snapshot_head head;
    struct scrub check;
    bool is_checked; /* the file has its name and is being read */
};

/* Fills a fold that is all zeros. */
void slice_fold_init(struct slice_fold *fold, struct disk *disk,
                     const struct exchange_file *exchange, const struct frame_board *frames,
                     struct history_keep *keep);

/* Ends what is under way, after the follower's last step. */
void slice_fold_free(struct slice_fold *fold);

/* Asks for a snapshot; then poll says 0 until it is there (1) or has failed (-1). */
void slice_fold_ask(struct slice_fold *fold);
CC_MUST_USE int slice_fold_poll(struct slice_fold *fold);

/* No snapshot is made any more: what is under way fails at the next step. */
void slice_fold_end(struct slice_fold *fold);

/* The sequence after which the follower that has applied `applied` must apply nothing before the
 * next step; UINT64_MAX: none. */
CC_MUST_USE uint64_t slice_fold_aim(struct slice_fold *fold, uint64_t applied);

/* One slice, if the engine has applied exactly what was aimed at. Returns the work done. */
uint32_t slice_fold_step(struct slice_fold *fold, struct engine *engine);

#endif
