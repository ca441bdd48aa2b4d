/* The ring of history rows against a plain list: what is kept, the chains, the place below any
 * (sequence, index); and that finding a place far back costs few steps. */
#include "check.h"
#include "engine/rig.h"
#include "node/history/history_ring.h"

enum { CAPACITY = 64, KEYS = 5, ROWS = 3000, LONG_CAPACITY = 1 << 16 };

struct row {
    struct history_link link;
    uint64_t number;
};

static struct {
    uint64_t sequence;
    uint32_t index;
    uint32_t key;
} all[ROWS];

static uint64_t seed = 7;

/* Position of the newest of `key` below a place by the list, HISTORY_NONE: there never was one. */
static uint64_t below_in_list(uint32_t count, uint32_t key, uint64_t sequence, uint32_t index)
{
    for (uint32_t k = count; k-- > 0;)
        if (all[k].key == key &&
            (all[k].sequence < sequence || (all[k].sequence == sequence && all[k].index < index)))
            return k;
    return HISTORY_NONE;
}

static void check_chain(const struct history_ring *ring, uint32_t count, uint32_t key)
{
    uint64_t at = history_ring_below(ring, key, UINT64_MAX, 0);
    uint64_t want = below_in_list(count, key, UINT64_MAX, 0);

    for (; want != HISTORY_NONE && count - want <= CAPACITY;
         want = below_in_list((uint32_t)want, key, UINT64_MAX, 0)) {
        const struct row *row = history_ring_at(ring, at);
        CHECK(at == want && row != NULL && row->number == want);
        CHECK(row->link.sequence == all[want].sequence && row->link.index == all[want].index);
        at = row->link.older;
    }
    /* The next one is dropped and named, or there never was one. */
    CHECK(history_ring_at(ring, at) == NULL);
    CHECK((at == HISTORY_NONE) == (want == HISTORY_NONE));
}

static void check_places(const struct history_ring *ring, uint32_t count)
{
    for (uint32_t n = 0; n < 20; n++) {
        uint32_t key = rig_below(&seed, KEYS), near = rig_below(&seed, count);
        uint64_t sequence = all[near].sequence + rig_below(&seed, 2);
        uint32_t index = rig_below(&seed, 4);
        uint64_t at = history_ring_below(ring, key, sequence, index);
        uint64_t want = below_in_list(count, key, sequence, index);
        bool is_kept = want != HISTORY_NONE && count - want <= CAPACITY;
        if (is_kept || want == HISTORY_NONE)
            CHECK(at == want);
        else /* dropped: any dropped position says so */
            CHECK(at != HISTORY_NONE && history_ring_at(ring, at) == NULL);
    }
}

static void check_against_list(void)
{
    struct history_ring ring;
    uint64_t sequence = 1;
    uint32_t index = 0;

    CHECK(history_ring_init(&ring, CAPACITY, sizeof(struct row), KEYS) == 0);
    CHECK(history_ring_below(&ring, 0, UINT64_MAX, 0) == HISTORY_NONE);
    CHECK(history_ring_below(&ring, KEYS, UINT64_MAX, 0) == HISTORY_NONE); /* no such key */
    for (uint32_t n = 0; n < ROWS; n++) {
        /* Key 4 is seldom: most of the time all its rows are dropped. */
        uint32_t key = rig_below(&seed, 200) == 0 ? 4 : rig_below(&seed, 4);
        if (rig_below(&seed, 2)) {
            sequence += 1 + rig_below(&seed, 3);
            index = 0;
        }
        all[n].sequence = sequence;
        all[n].index = index;
        all[n].key = key;
        CHECK((history_ring_victim(&ring) == NULL) == (n < CAPACITY));
        struct row *row = history_ring_add(&ring, key, sequence, index++);
        CHECK(row->number == 0);
        row->number = n;
        for (uint32_t k = 0; k < KEYS; k++)
            check_chain(&ring, n + 1, k);
        check_places(&ring, n + 1);
    }
    history_ring_free(&ring);
}

/* From the newest row to any other along the links that do not overshoot. */
static uint32_t steps_to(const struct history_ring *ring, uint64_t target)
{
    uint64_t at = history_ring_below(ring, 0, UINT64_MAX, 0);
    uint32_t steps = 0;

    for (; at != target; steps++) {
        const struct history_link *link = history_ring_at(ring, at);
        at = link->far != HISTORY_NONE && link->far >= target ? link->far : link->older;
    }
    return steps;
}

static void check_jumps(void)
{
    struct history_ring ring;

    CHECK(history_ring_init(&ring, LONG_CAPACITY, sizeof(struct row), 1) == 0);
    for (uint64_t n = 0; n < 3 * LONG_CAPACITY + 777; n++)
        CHECK(history_ring_add(&ring, 0, n + 1, 0) != NULL);
    for (uint32_t n = 0; n < 500; n++) {
        uint64_t target = ring.added - 1 - rig_below(&seed, LONG_CAPACITY);
        CHECK(steps_to(&ring, target) <= 4 * 16); /* 2^16 rows */
        CHECK(history_ring_below(&ring, 0, target + 1, 1) == target);
    }
    history_ring_free(&ring);
}

int main(void)
{
    check_against_list();
    check_jumps();
    return 0;
}
