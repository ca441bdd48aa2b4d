/* rank_heap.h - portfolios by their rank in a deleveraging, best first: an indexed binary heap
 * (rules.md R7, L3). Owned by the engine.
 *
 * Order.  Score descending, ties by account, subaccount, portfolio_index; account 0 last. No two
 *         portfolios are one of the same owner, so the order does not depend on history.
 * Bound.  It has room for every portfolio, so it never refuses. put, remove and pop cost O(log n)
 *         moves, clear none. */
#ifndef ENGINE_TABLE_RANK_HEAP_H
#define ENGINE_TABLE_RANK_HEAP_H

#include "base/compiler.h"

struct rank_heap_row {
    int64_t score;            /* more is better (adl.h) */
    uint64_t owner;           /* account << 32 | subaccount */
    uint32_t portfolio_index; /* in the subaccount */
    uint32_t portfolio;       /* its number: 0 to records - 1 */
};

struct rank_heap {
    struct rank_heap_row *rows; /* [records + 1]; the best is rows[1] */
    uint32_t *slots;            /* by portfolio: its slot in rows, if that row is its own */
    uint32_t records;
    uint32_t count;
};

/* Returns the bytes that rank_heap_init needs for that many. */
size_t rank_heap_bytes(uint32_t records);

/* Prepares an empty heap. `memory` has rank_heap_bytes(records) zero bytes, 64-byte aligned, and
 * outlives the heap. */
void rank_heap_init(struct rank_heap *heap, void *memory, uint32_t records);

static inline bool rank_heap_is_fund(const struct rank_heap_row *row)
{
    return row->owner >> 32 == 0;
}

/* Whether a ranks before b. */
static inline bool rank_heap_before(const struct rank_heap_row *a, const struct rank_heap_row *b)
{
    if (rank_heap_is_fund(a) != rank_heap_is_fund(b))
        return rank_heap_is_fund(b);
    if (a->score != b->score)
        return a->score > b->score;
    if (a->owner != b->owner)
        return a->owner < b->owner;
    return a->portfolio_index < b->portfolio_index;
}

/* Returns the row of a portfolio, or NULL; valid until the next change. */
CC_MUST_USE const struct rank_heap_row *rank_heap_find(const struct rank_heap *heap,
                                                       uint32_t portfolio);

/* Adds a portfolio that has no row. */
void rank_heap_put(struct rank_heap *heap, const struct rank_heap_row *row);

/* Removes a portfolio. Nothing changes if it has no row. */
void rank_heap_remove(struct rank_heap *heap, uint32_t portfolio);

/* Removes and returns the best of a heap that is not empty. */
struct rank_heap_row rank_heap_pop(struct rank_heap *heap);

/* Removes all. */
static inline void rank_heap_clear(struct rank_heap *heap)
{
    heap->count = 0;
}

#endif
