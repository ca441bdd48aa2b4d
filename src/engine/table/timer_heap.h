/* timer_heap.h - records by deadline: an indexed binary heap of (time, rank). Owned by the engine.
 *
 * Order.  Earliest time first; equal times by rank, ascending (R3: of orders the placing sequence,
 *         with their number in the command below it). Two records never share time and rank, so the
 *         order in which they fire does not depend on history.
 * Units.  Times in unix ns; indexes are the owner's, 1..records.
 * Bound.  One place a record; it never refuses. set, remove, pop cost O(log n) moves. */
#ifndef ENGINE_TABLE_TIMER_HEAP_H
#define ENGINE_TABLE_TIMER_HEAP_H

#include "base/compiler.h"

struct timer_heap_entry {
    uint64_t time_ns;
    uint64_t rank;
    uint32_t index;
};

struct timer_heap {
    struct timer_heap_entry *entries; /* [records + 1]; the root is entries[1] */
    uint32_t *places;                 /* by index: place in entries, or 0 */
    uint32_t records;
    uint32_t count;
};

size_t timer_heap_bytes(uint32_t records);

/* `memory`: timer_heap_bytes(records) zero bytes, 64-byte aligned, that outlive the heap. */
void timer_heap_init(struct timer_heap *heap, void *memory, uint32_t records);

/* Gives the record a deadline, or another one. */
void timer_heap_set(struct timer_heap *heap, uint32_t index, uint64_t time_ns, uint64_t rank);

/* Takes its deadline away; nothing happens when it has none. */
void timer_heap_remove(struct timer_heap *heap, uint32_t index);

/* The record whose deadline comes first, or 0 when there is none. */
static inline uint32_t timer_heap_first(const struct timer_heap *heap)
{
    return heap->count == 0 ? 0 : heap->entries[1].index;
}

/* The first deadline, or UINT64_MAX when there is none. */
static inline uint64_t timer_heap_deadline(const struct timer_heap *heap)
{
    return heap->count == 0 ? UINT64_MAX : heap->entries[1].time_ns;
}

#endif
