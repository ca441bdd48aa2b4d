/* duplicate.h - the request ids that were executed, exact, for as long as they can come again.
 *
 * One structure (wire.md W5): whole ids, found by their keyed hash and kept in slices of 16 ms of
 * the id's own time. A slice is dropped when no id that passes the engine's window check can fall
 * in it any more; dropping is O(1) a slice, and its entries are taken out of the index one at a
 * time by later inserts (whose cache lines are fetched inserts ahead), so no command pays for
 * 10^6 of them. Dropped entries never match and never count.
 *
 * Owner.  The engine. duplicate_find, _full and _floor_ms only read: they serve the peek; the rest
 *         is called by sequenced commands only, so every replica drops at the same command.
 * Units.  Times of ids in unix ms, t of the engine in unix ns.
 * Bound.  `limit` live entries of `slots` laid out; the index never refuses. A command costs one
 *         index line and one entry line an id, and the same for at most one dropped entry.
 * Order.  duplicate_first/_next give the live entries in key order: (id bytes, account). */
#ifndef ENGINE_TABLE_DUPLICATE_H
#define ENGINE_TABLE_DUPLICATE_H

#include "base/compiler.h"
#include "base/mix.h"
#include "engine/table/hash_index.h"

enum {
    DUPLICATE_SLICE_MS = 16,
    DUPLICATE_SLOTS_MAX = 1 << 27,
    DUPLICATE_AHEAD = 8,       /* entries that the freeing of dropped ones fetches ahead */
    DUPLICATE_SLACK_MS = 5000, /* the engine's window is this much wider at either end (W5) */
};

/* What is kept of an id: the 40 bytes of W5. */
struct duplicate_entry {
    uint64_t id[2];           /* the UUID's bytes in wire order, loaded as two words */
    uint64_t account;         /* of the verified credential, or derived from the key (W5) */
    uint64_t processed_at_ns; /* of the first answer */
    uint64_t outcome;         /* sequence << 8 | status, duplicate_sequence, duplicate_status */
};

static_assert(sizeof(struct duplicate_entry) == 40, "W5: an entry is 40 bytes");

/* An entry and its links: one cache line. */
struct duplicate_slot {
    struct duplicate_entry entry;
    uint32_t next;  /* in its slice, then in the dead list, then in the free list; 0: last */
    uint32_t ahead; /* the entry DUPLICATE_AHEAD places down that list, or 0: only a hint */
    uint32_t place; /* in the index */
    uint32_t home;  /* upper half of the hash */
    uint32_t spare[2];
};

static_assert(sizeof(struct duplicate_slot) == CC_CACHE_LINE, "an entry and links are one line");

struct duplicate_slice {
    uint32_t head; /* of the list of its entries, newest first; 0: empty */
    uint32_t tail;
    uint32_t count;
    uint32_t recent[DUPLICATE_AHEAD]; /* its newest entries, by count at their insert */
};

struct duplicate {
    struct hash_index index;
    struct duplicate_slot *entries; /* [slots + 1], 0 unused */
    struct duplicate_slice *slices; /* ring by (slice number & slice_mask) */
    uint32_t slice_mask;
    uint32_t slots;     /* laid out */
    uint32_t limit;     /* live entries allowed (limits.duplicate_slots) */
    uint32_t count;     /* live entries */
    uint32_t fresh;     /* lowest entry never used */
    uint32_t free_head; /* freed entries, last first */
    uint32_t dead_head; /* entries of dropped slices, not yet out of the index */
    uint32_t freed;     /* how many were taken out: a place in `fetching` */
    uint32_t fetching[DUPLICATE_AHEAD / 2]; /* dead entries whose lines were asked for */
    uint64_t first_slice;                   /* number of the oldest slice that is not dropped */
    uint64_t end_slice;                     /* above every slice that has an entry */
};

/* A place in the canonical enumeration. */
struct duplicate_cursor {
    const struct duplicate_entry *entry; /* NULL at the end */
    uint64_t slice;                      /* its slice number */
};

/* window_ms: past + future of the widest configuration, without slack. */
size_t duplicate_bytes(uint32_t slots, uint32_t window_ms);

/* `memory`: duplicate_bytes() zero bytes, 64-byte aligned, that outlive the set. */
void duplicate_init(struct duplicate *set, void *memory, uint32_t slots, uint32_t window_ms);

/* How many ids may live at once (limits.duplicate_slots): count <= limit <= slots. */
void duplicate_set_limit(struct duplicate *set, uint32_t limit);

/* Read-only. The live entry of (account, id), or NULL. Valid until the next insert or advance. */
CC_MUST_USE const struct duplicate_entry *duplicate_find(const struct duplicate *set, uint64_t hash,
                                                         uint64_t account, const uint64_t id[2]);

/* Read-only. Whether `id_count` more ids would not fit: row duplicates_full (R11). A batch asks
 * for itself and its items together. */
static inline bool duplicate_full(const struct duplicate *set, uint32_t id_count)
{
    return set->limit - set->count < id_count;
}

/* Read-only. Ids dated before this were dropped and would not be recognised. The engine refuses
 * them as outside its window even when a later configuration makes `past` longer. */
CC_MUST_USE uint64_t duplicate_floor_ms(const struct duplicate *set);

/* Drops the slices in which no id can fall that passes the window check at t_ms or later: those
 * that end at or before t_ms - past_ms - DUPLICATE_SLACK_MS. Never moves back. Once a sequenced
 * command, before its insert. */
void duplicate_advance(struct duplicate *set, uint64_t t_ms, uint32_t past_ms);

/* The floor as it was; the set is empty. */
void duplicate_set_floor(struct duplicate *set, uint64_t floor_ms);

/* Adds an id that duplicate_find does not find, dated inside the window of the last advance; not
 * duplicate_full. `hash` is the keyed hash of (account, id). */
void duplicate_insert(struct duplicate *set, uint64_t hash, const struct duplicate_entry *entry);

/* First and next live entry in key order. They sort a slice's list when they enter it: this is no
 * change that anything else can see, and no other call on the set may come in between. */
void duplicate_first(struct duplicate *set, struct duplicate_cursor *cursor);
void duplicate_next(struct duplicate *set, struct duplicate_cursor *cursor);

/* Prefetch: the index line that find and insert will touch. */
static inline void duplicate_prefetch(const struct duplicate *set, uint64_t hash)
{
    hash_index_prefetch(&set->index, hash);
}

static inline uint64_t duplicate_outcome(uint64_t sequence, uint8_t status)
{
    return sequence << 8 | status;
}

static inline uint64_t duplicate_sequence(const struct duplicate_entry *entry)
{
    return entry->outcome >> 8;
}

static inline uint8_t duplicate_status(const struct duplicate_entry *entry)
{
    return (uint8_t)entry->outcome;
}

/* The unix ms that a UUIDv7 loaded as two words is dated. */
static inline uint64_t duplicate_id_ms(const uint64_t id[2])
{
    return __builtin_bswap64(id[0]) >> 16;
}

/* Section 10 of an image, into the empty set. The hashes are made with the directory's key. */
struct image_read;
CC_MUST_USE bool duplicate_load(struct duplicate *set, struct mix_key key, struct image_read *read);

#endif
