/* history_ring.h - the newest rows of one kind, with a chain of rows for each key.
 *
 *   position   0 ... added - capacity ... added - 1
 *              └─ dropped ─┘└──────── kept ───────┘    each row links to the key's next older one
 *
 * A ring that begins after a snapshot has dropped one row of each key that existed: position 0.
 *
 * A key is an account or a market. Its rows are added in ascending (sequence, index). A page walks
 * its chain and never reads the rows of another key. A second link leads to the last milestone:
 * every HISTORY_STRIDE-th row of the key is one. Links between milestones lead far back (the jump
 * pointers of E. W. Myers, An applicative random-access stack, 1983), so that a row is found in
 * O(log rows).
 *
 * Owner.  The follower's thread.
 * Units.  A position counts rows since start. It names the same row forever, kept or dropped.
 * Bound.  `capacity` rows and a head for each key, allocated at start and touched at first use. */
#ifndef NODE_HISTORY_HISTORY_RING_H
#define NODE_HISTORY_HISTORY_RING_H

#include "base/compiler.h"

enum { HISTORY_STRIDE = 16 };

#define HISTORY_NONE    UINT64_MAX
#define HISTORY_IN_FILE (UINT64_MAX - 1) /* no position: the next older row is in the file */

/* First member of every row; written by history_ring_add only. */
struct history_link {
    uint64_t older; /* position of the key's next older row; HISTORY_NONE: none */
    uint64_t far;   /* position of a milestone before it; HISTORY_NONE: none */
    uint64_t sequence;
    uint32_t index;
    uint32_t far_ordinal; /* of a milestone: number of rows before `far`, modulo 2^32 */
};

/* The state of a key. It repeats the links of its last milestone and of that one's far milestone,
 * because older rows are cold: so they are read only for one row in many. */
struct history_ring_head {
    uint64_t newest_next; /* position of the key's newest row + 1, 0: it has none */
    uint64_t first_sequence;
    uint64_t sequence; /* of the newest, as index */
    uint64_t milestone;
    uint64_t far; /* of the milestone */
    uint64_t far_far;
    uint32_t first_index;
    uint32_t index;
    uint32_t ordinal; /* rows of the key before the newest, modulo 2^32 */
    uint32_t far_ordinal;
    uint32_t far_far_ordinal;
    uint32_t zero;
};

struct history_ring {
    uint8_t *rows;
    struct history_ring_head *heads;
    uint64_t mask; /* capacity - 1 */
    uint64_t added;
    uint64_t base; /* rows below this position never were: 0, or 1 after history_ring_forget */
    uint64_t forgotten_sequence; /* of history_ring_forget */
    uint32_t row_bytes;
    uint32_t key_count;
};

/* Allocates `capacity` rows, a power of two. 0, or -ENOMEM with nothing to free. */
CC_MUST_USE int history_ring_init(struct history_ring *ring, uint32_t capacity, size_t row_bytes,
                                  uint32_t key_count);
void history_ring_free(struct history_ring *ring);

/* Records that the key had rows, all at or below `sequence` and all dropped. The ring must be
 * empty. */
void history_ring_forget(struct history_ring *ring, uint32_t key, uint64_t sequence);

/* The key has no rows from now on: what it had is of another owner, and is found by its positions
 * alone. */
void history_ring_begin(struct history_ring *ring, uint32_t key);

/* All rows with a higher sequence are kept. 0 while none was dropped. */
uint64_t history_ring_dropped_sequence(const struct history_ring *ring);

/* The row that the next history_ring_add overwrites; NULL while there is room. */
void *history_ring_victim(const struct history_ring *ring);

/* The lowest index that a new row of the key may have at this sequence, which must not be below the
 * sequence of its newest row. */
uint32_t history_ring_next_index(const struct history_ring *ring, uint32_t key, uint64_t sequence);

/* Adds a row after every row of `key` < key_count; the caller fills the bytes after the link. Drops
 * the oldest row when full. */
CC_MUST_USE void *history_ring_add(struct history_ring *ring, uint32_t key, uint64_t sequence,
                                   uint32_t index);

/* The row at a position; NULL if it was dropped, or for HISTORY_NONE. Valid until the next add. */
const void *history_ring_at(const struct history_ring *ring, uint64_t position);

/* Position of the newest row of `key` with a lower (sequence, index); HISTORY_NONE: there never was
 * one. That row and all older ones may have been dropped. */
uint64_t history_ring_below(const struct history_ring *ring, uint64_t key, uint64_t sequence,
                            uint32_t index);

/* The row at a position that the caller knows is kept, for a thread that does not own the ring. */
static inline const struct history_link *history_ring_row(const struct history_ring *ring,
                                                          uint64_t position)
{
    return (const void *)(ring->rows + (position & ring->mask) * ring->row_bytes);
}

/* The index in `rows` of a kept row. */
static inline uint32_t history_ring_number(const struct history_ring *ring, uint64_t position)
{
    return (uint32_t)(position & ring->mask);
}

/* Whether (sequence, index) of the link is lower. */
static inline bool history_link_below(const struct history_link *link, uint64_t sequence,
                                      uint32_t index)
{
    return link->sequence < sequence || (link->sequence == sequence && link->index < index);
}

#endif
