/* history_keep.h - rows of the past that outlive the process: from the rings into the file of the
 * store, and from the file to reads that go below the rings.
 *
 *   follower, recovery ── history_keep_publish, after each command ──> positions of the rings
 *   history thread     ── history_keep_step: the rows up to there ──> one commit with `applied`
 *   a read             <── ring, then history_keep_below <── the file
 *
 * The rings are the list of pending rows: a row leaves its ring only after it was committed, so a
 * page made of ring and file misses none and repeats none.
 *
 * Order.  A commit has the rows of all commands up to its `applied`, and of no later one.
 * Wait.   While history_keep_is_full the follower applies nothing, until a commit made room.
 * Owner.  Publish, is_full, below and end: the follower's thread, before it the one that recovers.
 *         Step and flush: the history thread, before it the one that recovers.
 * Errors. -errno of history_file.h. A write that fails is tried again; if rows would be overwritten
 *         meanwhile, the file gets no more in this run, and reads below the rings are refused. */
#ifndef NODE_HISTORY_HISTORY_KEEP_H
#define NODE_HISTORY_HISTORY_KEEP_H

#include "base/published.h"
#include "engine/engine.h"
#include "node/history/history_ring.h"
#include "node/history/private_keep.h"
#include "store/history_file.h"

struct history;

/* A row of the file, shaped like a row of a ring. */
struct history_found {
    struct history_link link;
    uint8_t bytes[HISTORY_ROW_BYTES_MAX];
};

struct request_log;

struct history_keep {
    struct history_file *file; /* NULL: rows are kept in memory only */
    struct history_cursor *cursor;
    struct history_ring *rings[HISTORY_TABLES]; /* NULL: its rows are in the ring of another */
    const struct request_log *requests;
    struct private_keep *privates;
    struct history_found found;    /* the row that history_keep_below returned */
    uint64_t pending_max;          /* rows of one ring */
    uint64_t gap_ms;               /* history_file_gap_ms */
    uint64_t gap_accounts;         /* history_file_gap_accounts */
    uint64_t seen[HISTORY_TABLES]; /* positions: the view has every row below them */
    uint64_t seen_sequence;        /* that the view reaches, at least */
    bool is_viewing;               /* a view of one commit has begun */
    _Atomic bool is_damaged;       /* a read met a page that is not as it was written */
    /* The follower's. */
    _Atomic uint64_t added[HISTORY_TABLES]; /* positions */
    struct hash_board marks;                /* what the next commit ends with */
    /* The history thread's. */
    _Atomic uint64_t committed[HISTORY_TABLES]; /* positions below are in the file */
    _Atomic bool is_stopped;
    _Atomic uint64_t wanted; /* sequence that a snapshot waits for */
    uint64_t committed_ns;   /* time of the last commit */
    struct published applied, commits, rows;
    struct published synced; /* no power loss takes rows up to this sequence; 0: no file */
    struct published from;   /* rows from this sequence on are all there */
};

enum history_older {
    HISTORY_OLDER_ROW,
    HISTORY_OLDER_END,  /* the key has no older row */
    HISTORY_OLDER_LOST, /* older rows are not kept */
};

/* Keeps the rows of a new `history` in `file`, which outlives it; NULL: in memory only. 0 or
 * -ENOMEM. */
CC_MUST_USE int history_keep_init(struct history_keep *keep, struct history *history,
                                  struct history_file *file);
void history_keep_free(struct history_keep *keep);

/* A start from a snapshot: rows between the file's and the engine's sequence are never made. The
 * ids of requests among them are dated `newest_ms` at most. */
void history_keep_forget(struct history_keep *keep, const struct engine *engine,
                         uint64_t newest_ms);

/* The end of a recovery at `sequence`. True: the file had rows above it, which nothing shows to be
 * this journal's below it either; those behind an older commit are removed, and the recovery is to
 * be done again. A failure ends the writing and is logged. */
CC_MUST_USE bool history_keep_cut(struct history_keep *keep, uint64_t sequence);

/* A command has been applied. */
void history_keep_publish(struct history_keep *keep);

/* The state behind the last command that was published. The next commit ends there: by it a start
 * knows the file as that of its journal. The publisher's thread, now and then, and when the keep is
 * full. */
static inline void history_keep_mark(struct history_keep *keep, const struct engine *engine)
{
    struct hash_point point = { .sequence = engine_sequence(engine) };

    engine_effects_hash(engine, point.hash);
    hash_board_set(&keep->marks, &point);
}

/* The last of them; sequence 0: there is none, or it is being written now. */
CC_MUST_USE static inline struct hash_point history_keep_marked(const struct history_keep *keep)
{
    struct hash_point point;

    if (!hash_board_get(&keep->marks, &point))
        point.sequence = 0;
    return point;
}

/* Whether everything up to a sequence is committed, or never will be because nothing is written;
 * if not, the next step commits. Any thread. */
CC_MUST_USE bool history_keep_has(struct history_keep *keep, uint64_t sequence);

/* Whether rows are written to the file, and read from it. Any thread. */
CC_MUST_USE bool history_keep_is_written(const struct history_keep *keep);

/* Whether rows wait for a commit so many that no command may add more. */
bool history_keep_is_full(const struct history_keep *keep);

/* Commits when rows wait and a second has passed, when many wait, or when history_keep_has was
 * asked for more. Returns the rows written. */
CC_MUST_USE int history_keep_step(struct history_keep *keep, uint64_t now_ns);

/* Commits everything that is published. With `durable` also makes it durable. Returns the rows
 * written. */
CC_MUST_USE int history_keep_flush(struct history_keep *keep, bool durable);

/* The newest row of the table and key below (sequence, index) in the file, as a row of its ring
 * whose link leads to the file again. With HISTORY_OLDER_LOST, *lost is the sequence up to which
 * rows are not kept. The row is valid until the next call. */
enum history_older history_keep_below(struct history_keep *keep, enum history_table table,
                                      uint64_t key, uint64_t sequence, uint32_t index,
                                      const struct history_link **row, uint64_t *lost);

/* The same for any table and id: the newest row below *location, which becomes its location, with
 * its *bytes, into keep->found. A row without a gap and an id that is not there are not told
 * apart. */
enum history_older history_keep_load(struct history_keep *keep, struct history_location *location,
                                     size_t *bytes, uint64_t *lost);

/* Begins the view of one commit that history_keep_below shows, unless it has begun. Returns the
 * position in the table's ring from which on rows may not be in the view. */
uint64_t history_keep_view(struct history_keep *keep, enum history_table table);

/* The sequence below which placed orders of the account may be missing in the file; 0: none are. */
uint64_t history_keep_orders_from(struct history_keep *keep, uint64_t account_id);

/* The sequence below which requested withdrawals of any account may be missing; 0: none are. */
uint64_t history_keep_withdrawals_from(struct history_keep *keep);

/* For the thread that recovers, before there is a history thread: commits what is published, up to
 * the engine's state, if the rings are full. A failure ends the writing and is logged. */
void history_keep_make_room(struct history_keep *keep, const struct engine *engine);

/* Ends the view of one commit that one of the functions above began. */
void history_keep_end(struct history_keep *keep);

#endif
