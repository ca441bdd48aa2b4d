/* free_rows.h - rows of a table without gaps that were given back. The lowest is handed out first:
 * which row comes next follows from which are free, not from their history. Owned by the engine.
 *
 * Bound.  Room for every row of the table; O(log n) moves each. */
#ifndef ENGINE_TABLE_FREE_ROWS_H
#define ENGINE_TABLE_FREE_ROWS_H

#include "engine/table/timer_heap.h"

struct free_rows {
    struct timer_heap heap; /* row + 1, by row */
};

static inline size_t free_rows_bytes(uint32_t rows)
{
    return timer_heap_bytes(rows);
}

/* `memory`: free_rows_bytes(rows) zero bytes, 64-byte aligned, which outlive it. */
static inline void free_rows_init(struct free_rows *free, void *memory, uint32_t rows)
{
    timer_heap_init(&free->heap, memory, rows);
}

static inline void free_rows_add(struct free_rows *free, uint32_t row)
{
    timer_heap_set(&free->heap, row + 1, 0, row);
}

/* The lowest free row, else the next one that was never used: there is one. */
static inline uint32_t free_rows_alloc(struct free_rows *free, uint32_t *count)
{
    uint32_t first = timer_heap_first(&free->heap);

    if (first == 0)
        return (*count)++;
    timer_heap_remove(&free->heap, first);
    return first - 1;
}

/* The rows of a table in the order of the commands that made them, which their indexes do not give.
 * Only while the table is loaded: it has no free rows then. */
static inline void free_rows_sort_add(struct free_rows *free, uint32_t row, uint64_t sequence)
{
    timer_heap_set(&free->heap, row + 1, sequence, row);
}

/* False: there is none left. */
static inline bool free_rows_sort_next(struct free_rows *free, uint32_t *row)
{
    uint32_t first = timer_heap_first(&free->heap);

    if (first == 0)
        return false;
    timer_heap_remove(&free->heap, first);
    *row = first - 1;
    return true;
}

#endif
