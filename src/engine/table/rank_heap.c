#include "engine/table/rank_heap.h"

size_t rank_heap_bytes(uint32_t records)
{
    return ((size_t)records + 1) * (sizeof(struct rank_heap_row) + sizeof(uint32_t));
}

void rank_heap_init(struct rank_heap *heap, void *memory, uint32_t records)
{
    INVARIANT(records < UINT32_MAX / 2); /* the index of a child does not wrap */
    INVARIANT((uintptr_t)memory % CC_CACHE_LINE == 0);
    struct rank_heap_row *rows = memory;
    *heap = (struct rank_heap){
        .rows = rows,
        .slots = (uint32_t *)(void *)(rows + records + 1),
        .records = records,
    };
}

static void put_at(struct rank_heap *heap, uint32_t slot, const struct rank_heap_row *row)
{
    heap->rows[slot] = *row;
    heap->slots[row->portfolio] = slot;
}

/* Puts `row` into the hole at `slot` and restores the order: moves it up, else down. */
static void sift(struct rank_heap *heap, uint32_t slot, const struct rank_heap_row *row)
{
    while (slot > 1 && rank_heap_before(row, &heap->rows[slot / 2])) {
        put_at(heap, slot, &heap->rows[slot / 2]);
        slot /= 2;
    }
    for (;;) {
        uint32_t child = 2 * slot;
        if (child > heap->count)
            break;
        if (child < heap->count && rank_heap_before(&heap->rows[child + 1], &heap->rows[child]))
            child++;
        if (!rank_heap_before(&heap->rows[child], row))
            break;
        put_at(heap, slot, &heap->rows[child]);
        slot = child;
    }
    put_at(heap, slot, row);
}

/* The slot of a portfolio, or 0. A slot that clear has left belongs to nobody. */
static uint32_t slot_of(const struct rank_heap *heap, uint32_t portfolio)
{
    INVARIANT(portfolio < heap->records);
    uint32_t slot = heap->slots[portfolio];

    return slot <= heap->count && heap->rows[slot].portfolio == portfolio ? slot : 0;
}

const struct rank_heap_row *rank_heap_find(const struct rank_heap *heap, uint32_t portfolio)
{
    uint32_t slot = slot_of(heap, portfolio);

    return slot == 0 ? NULL : &heap->rows[slot];
}

void rank_heap_put(struct rank_heap *heap, const struct rank_heap_row *row)
{
    INVARIANT(slot_of(heap, row->portfolio) == 0 && heap->count < heap->records);
    struct rank_heap_row added = *row;

    sift(heap, ++heap->count, &added);
}

static void remove_at(struct rank_heap *heap, uint32_t slot)
{
    struct rank_heap_row last = heap->rows[heap->count--];

    if (slot <= heap->count)
        sift(heap, slot, &last);
}

void rank_heap_remove(struct rank_heap *heap, uint32_t portfolio)
{
    uint32_t slot = slot_of(heap, portfolio);

    if (slot != 0)
        remove_at(heap, slot);
}

struct rank_heap_row rank_heap_pop(struct rank_heap *heap)
{
    INVARIANT(heap->count != 0);
    struct rank_heap_row best = heap->rows[1];

    remove_at(heap, 1);
    return best;
}
