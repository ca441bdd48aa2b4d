#include "engine/table/timer_heap.h"

size_t timer_heap_bytes(uint32_t records)
{
    return ((size_t)records + 1) * (sizeof(struct timer_heap_row) + sizeof(uint32_t));
}

void timer_heap_init(struct timer_heap *heap, void *memory, uint32_t records)
{
    INVARIANT(records < UINT32_MAX / 2); /* the index of a child does not wrap */
    INVARIANT((uintptr_t)memory % CC_CACHE_LINE == 0);
    struct timer_heap_row *rows = memory;
    *heap = (struct timer_heap){
        .rows = rows,
        .slots = (uint32_t *)(void *)(rows + records + 1),
        .records = records,
    };
}

static bool timer_heap_before(const struct timer_heap_row *a, const struct timer_heap_row *b)
{
    return a->time_ns < b->time_ns || (a->time_ns == b->time_ns && a->rank < b->rank);
}

static void timer_heap_put(struct timer_heap *heap, uint32_t slot, struct timer_heap_row row)
{
    heap->rows[slot] = row;
    heap->slots[row.index] = slot;
}

/* Puts `row` into the hole at `slot` and restores the order: moves it up, else down. */
static void timer_heap_sift(struct timer_heap *heap, uint32_t slot, struct timer_heap_row row)
{
    while (slot > 1 && timer_heap_before(&row, &heap->rows[slot / 2])) {
        timer_heap_put(heap, slot, heap->rows[slot / 2]);
        slot /= 2;
    }
    for (;;) {
        uint32_t child = 2 * slot;
        if (child > heap->count)
            break;
        if (child < heap->count && timer_heap_before(&heap->rows[child + 1], &heap->rows[child]))
            child++;
        if (!timer_heap_before(&heap->rows[child], &row))
            break;
        timer_heap_put(heap, slot, heap->rows[child]);
        slot = child;
    }
    timer_heap_put(heap, slot, row);
}

void timer_heap_set(struct timer_heap *heap, uint32_t index, uint64_t time_ns, uint64_t rank)
{
    INVARIANT(index != 0 && index <= heap->records);
    uint32_t slot = heap->slots[index];

    if (slot == 0)
        slot = ++heap->count;
    timer_heap_sift(heap, slot, (struct timer_heap_row){ time_ns, rank, index });
}

void timer_heap_remove(struct timer_heap *heap, uint32_t index)
{
    INVARIANT(index != 0 && index <= heap->records);
    uint32_t slot = heap->slots[index];

    if (slot == 0)
        return;
    heap->slots[index] = 0;
    struct timer_heap_row last = heap->rows[heap->count--];
    if (slot <= heap->count)
        timer_heap_sift(heap, slot, last);
}
