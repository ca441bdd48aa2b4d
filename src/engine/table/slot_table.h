/* slot_table.h - which rows of a table are in use, and which index is handed out next. Owned by the
 * engine.
 *
 * Rows count from 1. Row 0 is a dummy, all zero, and is never handed out. A freed row holds the
 * index of the row that was freed before it, in a field of its owner (`next`).
 *
 *   index = slot_table_alloc(&table->slots, table->rows[table->slots.free_head].next);
 *   table->rows[index] = (struct row){ .next = slot_table_free(&table->slots, index) };
 *
 * Order.  Freed rows come first, the last freed one before the others; then the lowest row that was
 *         never handed out.
 * Bound.  At most `limit` rows are in use. */
#ifndef ENGINE_TABLE_SLOT_TABLE_H
#define ENGINE_TABLE_SLOT_TABLE_H

#include "engine/table/whole_lines.h"

struct slot_table {
    uint32_t laid_out;  /* there is memory for so many rows beside the dummy */
    uint32_t limit;     /* so many may be in use: an option, at most laid_out */
    uint32_t count;     /* in use */
    uint32_t fresh;     /* lowest row that was never handed out */
    uint32_t free_head; /* freed rows, the last first; 0: none */
};

/* Returns the bytes of the rows, the dummy included, as whole cache lines. */
static inline size_t slot_table_bytes(uint32_t rows, size_t row_bytes)
{
    return whole_lines(((size_t)rows + 1) * row_bytes);
}

/* Prepares an empty table. The owner sets the limit before the first row. */
static inline struct slot_table slot_table_init(uint32_t rows)
{
    return (struct slot_table){ .laid_out = rows, .fresh = 1 };
}

/* Whether a row can be handed out. */
static inline bool slot_table_has_room(const struct slot_table *slots)
{
    return slots->count < slots->limit;
}

/* Hands out a row; there is room. `next_free`: the index that row free_head holds, the dummy 0. */
static inline uint32_t slot_table_alloc(struct slot_table *slots, uint32_t next_free)
{
    uint32_t index = slots->free_head;

    INVARIANT(slot_table_has_room(slots));
    slots->count++;
    if (index == 0) {
        INVARIANT(slots->fresh <= slots->laid_out);
        return slots->fresh++;
    }
    slots->free_head = next_free;
    return index;
}

/* Frees a row. Returns what the row must hold from now on (`next`). */
static inline uint32_t slot_table_free(struct slot_table *slots, uint32_t index)
{
    uint32_t next_free = slots->free_head;

    INVARIANT(index != 0 && index < slots->fresh && slots->count != 0);
    slots->count--;
    slots->free_head = index;
    return next_free;
}

#endif
