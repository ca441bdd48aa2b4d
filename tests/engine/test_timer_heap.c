/* The heap gives deadlines by time, then rank (R3: by placing sequence), against a plain search. */
#include "engine/table/timer_heap.h"
#include "rig.h"

enum { RECORDS = 200 };

static struct {
    uint64_t time_ns, rank;
    bool set;
} want[RECORDS + 1];

static uint32_t first_of_want(void)
{
    uint32_t first = 0;

    for (uint32_t i = 1; i <= RECORDS; i++)
        if (want[i].set &&
            (first == 0 || want[i].time_ns < want[first].time_ns ||
             (want[i].time_ns == want[first].time_ns && want[i].rank < want[first].rank)))
            first = i;
    return first;
}

static void check_same(const struct timer_heap *heap)
{
    uint32_t first = first_of_want();

    CHECK(timer_heap_first(heap) == first);
    CHECK(timer_heap_deadline(heap) == (first == 0 ? UINT64_MAX : want[first].time_ns));
}

int main(void)
{
    size_t bytes = timer_heap_bytes(RECORDS);
    struct timer_heap heap;
    uint64_t random = 11;

    timer_heap_init(&heap, rig_memory(bytes), RECORDS);
    check_same(&heap);
    timer_heap_remove(&heap, 5); /* nothing there: nothing happens */
    check_same(&heap);
    for (uint32_t turn = 0; turn < 60000; turn++) {
        uint32_t i = 1 + rig_below(&random, RECORDS);
        bool growing = turn / 5000 % 2 == 0;
        if (rig_below(&random, 4) != 0 ? growing : !growing) {
            want[i].time_ns = rig_below(&random, 50); /* many equal times: the rank decides */
            want[i].rank = (uint64_t)turn << 8;
            want[i].set = true;
            timer_heap_set(&heap, i, want[i].time_ns, want[i].rank);
        } else {
            want[i].set = false;
            timer_heap_remove(&heap, i);
        }
        check_same(&heap);
    }
    while (timer_heap_first(&heap) != 0) { /* drained in order */
        uint32_t i = timer_heap_first(&heap);
        check_same(&heap);
        want[i].set = false;
        timer_heap_remove(&heap, i);
    }
    check_same(&heap);
    CHECK(heap.count == 0);
    rig_free(heap.rows, bytes);
    return 0;
}
