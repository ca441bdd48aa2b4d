/* history_ring.h - the newest rows of one kind, and through them a chain for each key.
 *
 *   position   0 ... added - capacity ... added - 1
 *              └─ dropped ─┘└──────── kept ───────┘    each row links to the key's next older one
 *
 * A ring that begins behind a snapshot has dropped one row of each key that was there: position 0.
 *
 * A key is an account or a market. Its rows are added in ascending (sequence, index); a page walks
 * its chain and never touches the rows of another. A second link leads to the last milestone, every
 * HISTORY_STRIDE-th row of the key; those of milestones lead far back (the jump pointers of E. W.
 * Myers, An applicative random-access stack, 1983), so a place is found in O(log rows).
 *
 * Owner.  The follower's thread.
 * Units.  A position counts rows since start: it names a row for ever, kept or dropped.
 * Bound.  `capacity` rows and a head for each key, taken at start and touched when first used. */
#ifndef NODE_HISTORY_HISTORY_RING_H
#define NODE_HISTORY_HISTORY_RING_H

#include "base/compiler.h"

enum { HISTORY_STRIDE = 16 };

#define HISTORY_NONE UINT64_MAX

/* First member of every row; written by history_ring_add only. */
struct history_link {
    uint64_t older; /* position of the key's next older row, HISTORY_NONE: it is its first */
    uint64_t far;   /* position of a milestone before it, HISTORY_NONE: it is its first */
    uint64_t sequence;
    uint32_t index;
    uint32_t far_ordinal; /* of a milestone: how many come before `far`, modulo 2^32 */
};

/* What is known of a key. The links of its last milestone and of that one's far one are repeated:
 * older rows are cold, and so they are read for one row in many only. */
struct history_head {
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
    struct history_head *heads;
    uint64_t mask; /* capacity - 1 */
    uint64_t added;
    uint64_t base; /* rows below this position never were: 0, or 1 after history_ring_forget */
    uint64_t forgotten_sequence; /* of history_ring_forget */
    uint32_t row_bytes;
    uint32_t key_count;
};

/* Room for `capacity` rows, a power of two; 0 or -ENOMEM, then there is nothing to free. */
CC_MUST_USE int history_ring_init(struct history_ring *ring, uint32_t capacity, size_t row_bytes,
                                  uint32_t key_count);
void history_ring_free(struct history_ring *ring);

/* Of an empty ring: the key has had rows, all at or below `sequence` and all dropped. */
void history_ring_forget(struct history_ring *ring, uint32_t key, uint64_t sequence);

/* Rows with a higher sequence are kept, all of them; 0 while none was dropped. */
uint64_t history_ring_dropped_sequence(const struct history_ring *ring);

/* The row that the next history_ring_add overwrites; NULL while there is room. */
void *history_ring_victim(const struct history_ring *ring);

/* The lowest index that a row of the key may be added with now at this sequence, which is not below
 * that of its newest. */
uint32_t history_ring_next_index(const struct history_ring *ring, uint32_t key, uint64_t sequence);

/* A row at the newest end, behind every row of `key` < key_count; the caller fills what follows the
 * link. The oldest row is dropped when full. */
CC_MUST_USE void *history_ring_add(struct history_ring *ring, uint32_t key, uint64_t sequence,
                                   uint32_t index);

/* The row at a position, NULL when it is dropped or HISTORY_NONE. Valid until the next add. */
const void *history_ring_at(const struct history_ring *ring, uint64_t position);

/* Position of the newest row of `key` with a lower (sequence, index); HISTORY_NONE: there never was
 * one. It may be dropped, and so may all that is older. */
uint64_t history_ring_below(const struct history_ring *ring, uint64_t key, uint64_t sequence,
                            uint32_t index);

/* Number of a kept row: its place in `rows`. */
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
