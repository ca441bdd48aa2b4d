/* duplicate.h - the exact set of executed request ids that can still come again.
 *
 * The set of W5 (wire.md) keeps whole ids, finds them by their keyed hash, and groups them in
 * slices of 16 ms by the time in the id. A slice is dropped when no id in it can pass the engine's
 * window check any more. A drop costs O(1) per slice. Later inserts remove the dropped rows from
 * the index, one each, and prefetch their lines several inserts before, so no command pays for
 * 10^6 of them. Dropped rows never match and do not count.
 *
 * Of an account's live rows it knows about how many there are (duplicate_count), so that nobody
 * fills the set: they are counted by the twelfth of the window that the id falls into, and one that
 * is dropped in part counts whole.
 *
 * Owner.  The engine. duplicate_find, _full and _floor_ms only read, for the peek. Only sequenced
 *         commands call the other functions, so every replica drops at the same command.
 * Units.  Times of ids in unix ms, t of the engine in unix ns.
 * Bound.  `limit` live rows; memory is laid out for `slots`. The index never refuses. A command
 *         costs one index line and one row line per id, and the same for at most one dropped
 *         row per insert.
 * Order.  duplicate_first/_next visit the live rows in key order: (id bytes, account). */
#ifndef ENGINE_TABLE_DUPLICATE_H
#define ENGINE_TABLE_DUPLICATE_H

#include "base/compiler.h"
#include "base/mix.h"
#include "engine/table/hash_index.h"

enum {
    DUPLICATE_SLICE_MS = 16,
    DUPLICATE_SLOTS_MAX = 1 << 27,
    DUPLICATE_AHEAD = 8,       /* dropped rows to prefetch before their turn */
    DUPLICATE_SLACK_MS = 5000, /* the engine's window is this much wider at either end (W5) */
    DUPLICATE_PARTS = 12,      /* of the window, in which the rows of an account are counted */
    DUPLICATE_KEPT = 8,        /* one in so many rows is kept for cancels */
};

/* The 40 bytes of W5 that the set keeps of an id. */
struct duplicate_row {
    uint64_t id[2];           /* the UUID's bytes in wire order, loaded as two words */
    uint64_t account;         /* the verified credential's, or derived from the key (W5) */
    uint64_t processed_at_ns; /* time in the first answer */
    uint64_t outcome;         /* sequence << 8 | status, duplicate_sequence, duplicate_status */
};

static_assert(sizeof(struct duplicate_row) == 40, "W5: a row is 40 bytes");

/* A row and its links: one cache line. */
struct duplicate_slot {
    struct duplicate_row row;
    uint32_t next;     /* in its slice, then in the dead list, then in the free list; 0: last */
    uint32_t ahead;    /* the row DUPLICATE_AHEAD further in that list, or 0; only a hint */
    uint32_t map_slot; /* bucket and slot in the index */
    uint32_t home;     /* upper half of the hash */
    uint32_t spare[2];
};

static_assert(sizeof(struct duplicate_slot) == CC_CACHE_LINE, "a row and links are one line");

struct duplicate_slice {
    uint32_t head; /* of the list of its rows, newest first; 0: empty */
    uint32_t tail;
    uint32_t count;
    uint32_t recent[DUPLICATE_AHEAD]; /* its newest rows: a ring by `count` */
};

/* How many live rows an account has: one cache line. */
struct duplicate_owner {
    uint64_t first; /* number of the oldest part that is counted */
    uint32_t total;
    uint32_t counts[DUPLICATE_PARTS]; /* ring by part */
    uint32_t zero;
};

static_assert(sizeof(struct duplicate_owner) == CC_CACHE_LINE, "an account's counts are one line");

struct duplicate {
    struct hash_index index;
    struct duplicate_slot *rows;    /* [slots + 1], 0 unused */
    struct duplicate_slice *slices; /* ring by (slice number & slice_mask) */
    uint32_t slice_mask;
    uint32_t slots;     /* laid out */
    uint32_t limit;     /* live rows allowed (limits.duplicate_slots) */
    uint32_t count;     /* live rows */
    uint32_t fresh;     /* lowest row never used */
    uint32_t free_head; /* freed rows, last first */
    uint32_t dead_head; /* rows of dropped slices, not yet out of the index */
    uint32_t freed;     /* dead rows freed so far; gives the index in `fetching` */
    uint32_t fetching[DUPLICATE_AHEAD / 2]; /* dead rows whose lines were prefetched */
    uint64_t first_slice;                   /* number of the oldest slice that is not dropped */
    uint64_t end_slice;                     /* above every slice that has a row */
    struct duplicate_owner *owners;         /* [owner_count] by account */
    uint32_t owner_count;
    uint32_t part_slices; /* slices of a part */
    uint32_t grant;       /* rows that one account may have; 0: any number */
};

/* A position in the enumeration in key order. */
struct duplicate_cursor {
    const struct duplicate_row *row; /* NULL at the end */
    uint64_t slice;                  /* its slice number */
};

/* Returns the bytes of a set that counts the rows of `accounts` accounts. `window_ms` is past +
 * future of the widest configuration, without slack. */
size_t duplicate_bytes(uint32_t slots, uint32_t window_ms, uint32_t accounts);

/* Prepares an empty set. `memory` has duplicate_bytes() zero bytes, 64-byte aligned, and outlives
 * the set. */
void duplicate_init(struct duplicate *set, void *memory, uint32_t slots, uint32_t window_ms,
                    uint32_t accounts);

/* Sets how many ids may live at once (limits.duplicate_slots): count <= limit <= slots. */
void duplicate_set_limit(struct duplicate *set, uint32_t limit);

/* Returns the live row of (account, id), or NULL. The set owns it; it is valid until the next
 * insert or advance. Read-only. */
CC_MUST_USE const struct duplicate_row *duplicate_find(const struct duplicate *set, uint64_t hash,
                                                       uint64_t account, const uint64_t id[2]);

/* True if `id_count` more ids would not fit: row duplicates_full (R11). A batch counts itself and
 * its items together. Without `is_kept_for` the rows that are kept for cancels are none. Read-only.
 */
static inline bool duplicate_full(const struct duplicate *set, uint32_t id_count, bool is_kept_for)
{
    uint32_t kept = is_kept_for ? 0 : set->limit / DUPLICATE_KEPT;
    uint32_t free = set->limit - set->count;

    return free < kept || free - kept < id_count;
}

/* Returns how many live rows an account has, at least; at most a twelfth of the window's more. 0:
 * rows of this account are not counted. Read-only. */
CC_MUST_USE uint32_t duplicate_count(const struct duplicate *set, uint64_t account);

/* Returns for how many ms an account that adds nothing has as many rows as now, at least 1.
 * Read-only. */
CC_MUST_USE uint64_t duplicate_wait_ms(const struct duplicate *set, uint64_t account);

/* Returns the time (unix ms) before which ids were dropped. The set does not recognise an older id,
 * so the engine refuses it as outside its window, even if a later configuration makes `past`
 * longer. Read-only. */
CC_MUST_USE uint64_t duplicate_floor_ms(const struct duplicate *set);

/* Drops the slices whose ids all fail the window check at t_ms and later: those that end at or
 * before t_ms - past_ms - DUPLICATE_SLACK_MS. The floor never moves back. Each sequenced command
 * calls it once, before its insert. */
void duplicate_advance(struct duplicate *set, uint64_t t_ms, uint32_t past_ms);

/* Sets the floor of an empty set to that of an image. It is a multiple of DUPLICATE_SLICE_MS. */
void duplicate_set_floor(struct duplicate *set, uint64_t floor_ms);

/* Adds an id. duplicate_find does not find it, its time lies inside the window of the last advance,
 * and the set is not full. `hash` is the keyed hash of (account, id). */
void duplicate_insert(struct duplicate *set, uint64_t hash, const struct duplicate_row *row);

/* Move the cursor to the first and to the next live row in key order; its `row` is NULL at the
 * end. They sort a slice's list when they enter it. No other function sees the difference, but no
 * other call on the set may come between. */
void duplicate_first(struct duplicate *set, struct duplicate_cursor *cursor);
void duplicate_next(struct duplicate *set, struct duplicate_cursor *cursor);

/* Prefetches the index line that find and insert will read. */
static inline void duplicate_prefetch(const struct duplicate *set, uint64_t hash)
{
    hash_index_prefetch(&set->index, hash);
}

static inline uint64_t duplicate_outcome(uint64_t sequence, uint8_t status)
{
    return sequence << 8 | status;
}

static inline uint64_t duplicate_sequence(const struct duplicate_row *row)
{
    return row->outcome >> 8;
}

static inline uint8_t duplicate_status(const struct duplicate_row *row)
{
    return (uint8_t)row->outcome;
}

/* Returns the time (unix ms) in a UUIDv7 that is loaded as two words. */
static inline uint64_t duplicate_id_ms(const uint64_t id[2])
{
    return __builtin_bswap64(id[0]) >> 16;
}

/* Loads section 10 of an image into the empty set. `key` is the directory's key for the hashes.
 * False: read->wrong says why, and the set is of no further use. */
struct image_read;
CC_MUST_USE bool duplicate_load(struct duplicate *set, struct mix_key key, struct image_read *read);

#endif
