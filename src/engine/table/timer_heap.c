#include "engine/table/timer_heap.h"

size_t timer_heap_bytes(uint32_t records)
{
    return ((size_t)records + 1) * (sizeof(struct timer_heap_entry) + sizeof(uint32_t));
}

void timer_heap_init(struct timer_heap *heap, void *memory, uint32_t records)
{
    INVARIANT(records < UINT32_MAX / 2); /* the index of a child does not wrap */
    INVARIANT((uintptr_t)memory % CC_CACHE_LINE == 0);
    struct timer_heap_entry *entries = memory;
    *heap = (struct timer_heap){
        .entries = entries,
        .places = (uint32_t *)(void *)(entries + records + 1),
        .records = records,
    };
}

static bool timer_heap_before(const struct timer_heap_entry *a, const struct timer_heap_entry *b)
{
    return a->time_ns < b->time_ns || (a->time_ns == b->time_ns && a->rank < b->rank);
}

static void timer_heap_put(struct timer_heap *heap, uint32_t place, struct timer_heap_entry entry)
{
    heap->entries[place] = entry;
    heap->places[entry.index] = place;
}

/* Puts `entry` into the hole at `place` and restores the order: moves it up, else down. */
static void timer_heap_sift(struct timer_heap *heap, uint32_t place, struct timer_heap_entry entry)
{
    while (place > 1 && timer_heap_before(&entry, &heap->entries[place / 2])) {
        timer_heap_put(heap, place, heap->entries[place / 2]);
        place /= 2;
    }
    for (;;) {
        uint32_t child = 2 * place;
        if (child > heap->count)
            break;
        if (child < heap->count &&
            timer_heap_before(&heap->entries[child + 1], &heap->entries[child]))
            child++;
        if (!timer_heap_before(&heap->entries[child], &entry))
            break;
        timer_heap_put(heap, place, heap->entries[child]);
        place = child;
    }
    timer_heap_put(heap, place, entry);
}

void timer_heap_set(struct timer_heap *heap, uint32_t index, uint64_t time_ns, uint64_t rank)
{
    INVARIANT(index != 0 && index <= heap->records);
    uint32_t place = heap->places[index];

    if (place == 0)
        place = ++heap->count;
    timer_heap_sift(heap, place, (struct timer_heap_entry){ time_ns, rank, index });
}

void timer_heap_remove(struct timer_heap *heap, uint32_t index)
{
    INVARIANT(index != 0 && index <= heap->records);
    uint32_t place = heap->places[index];

    if (place == 0)
        return;
    heap->places[index] = 0;
    struct timer_heap_entry last = heap->entries[heap->count--];
    if (place <= heap->count)
        timer_heap_sift(heap, place, last);
}
