/* timer_heap.h - records by deadline: an indexed binary heap of (time, rank). Owned by the engine.
 *
 * Order.  Earliest time first, equal times by ascending rank (R3; the rank of an order is its
 *         order_rank). Two records never share time and rank, so records fire in an order that does
 *         not depend on history.
 * Units.  Times in unix ns; indexes are the owner's, 1 to records.
 * Bound.  It has room for a deadline of every record, so it never refuses. set and remove cost
 *         O(log n) moves. */
#ifndef ENGINE_TABLE_TIMER_HEAP_H
#define ENGINE_TABLE_TIMER_HEAP_H

#include "base/compiler.h"

struct timer_heap_row {
    uint64_t time_ns;
    uint64_t rank;
    uint32_t index;
};

struct timer_heap {
    struct timer_heap_row *rows; /* [records + 1]; the root is rows[1] */
    uint32_t *slots;             /* by index: its slot in rows, or 0 */
    uint32_t records;
    uint32_t count;
};

/* Returns the bytes that timer_heap_init needs for that many. */
size_t timer_heap_bytes(uint32_t records);

/* Prepares an empty heap. `memory` has timer_heap_bytes(records) zero bytes, 64-byte aligned, and
 * outlives the heap. */
void timer_heap_init(struct timer_heap *heap, void *memory, uint32_t records);

/* Sets the deadline of a record, which may have one already. */
void timer_heap_set(struct timer_heap *heap, uint32_t index, uint64_t time_ns, uint64_t rank);

/* Removes the deadline of a record. Nothing changes if it has none. */
void timer_heap_remove(struct timer_heap *heap, uint32_t index);

/* Prefetches the row of a deadline that will be removed. */
static inline void timer_heap_prefetch(const struct timer_heap *heap, uint32_t index)
{
    CC_PREFETCH(&heap->rows[heap->slots[index]]);
}

/* Returns the record with the earliest deadline, or 0 if none has one. */
static inline uint32_t timer_heap_first(const struct timer_heap *heap)
{
    return heap->count == 0 ? 0 : heap->rows[1].index;
}

/* Returns the earliest deadline, or UINT64_MAX if there is none. */
static inline uint64_t timer_heap_deadline(const struct timer_heap *heap)
{
    return heap->count == 0 ? UINT64_MAX : heap->rows[1].time_ns;
}

#endif
