#include "node/recover/mirror.h"

#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    YIELDS = 256, /* looks before it sleeps */
    SLEEP_US = 100,
};

static void apply(struct mirror *mirror, const struct command *command)
{
    struct engine_result result;

    history_prefetch(mirror->sink->history, command);
    engine_apply(mirror->engine, command, &mirror->sink->sink, &result);
}

/* One look in vain. */
static void rest(uint32_t *looks)
{
    if (++*looks < YIELDS)
        sched_yield();
    else
        usleep(SLEEP_US);
}

static void *run(void *context)
{
    struct mirror *mirror = context;
    uint32_t looks = 0;

    for (;;) {
        /* Before the ring is looked at: what was published before the end is seen with it. */
        bool ends = atomic_load_explicit(&mirror->ends, memory_order_acquire);
        uint64_t ready = ring_ready(&mirror->ring);
        if (ready == 0 && ends)
            return NULL;
        if (ready == 0) {
            rest(&looks);
            continue;
        }
        const struct command *command = ring_at(&mirror->ring, 0);
        apply(mirror, command);
        ring_release(&mirror->ring, command->slot_count);
        looks = 0;
    }
}

void mirror_begin(struct mirror *mirror, struct engine *engine, struct history_sink *sink,
                  bool on_thread)
{
    *mirror = (struct mirror){ .engine = engine, .sink = sink };
    if (!on_thread)
        return;
    size_t bytes = (ring_bytes(MIRROR_SLOTS, MESSAGE_SLOT_BYTES) + CC_CACHE_LINE - 1) &
                   ~(size_t)(CC_CACHE_LINE - 1);
    mirror->memory = aligned_alloc(CC_CACHE_LINE, bytes);
    if (mirror->memory == NULL)
        return;
    ring_init(&mirror->ring, mirror->memory, MIRROR_SLOTS, MESSAGE_SLOT_BYTES);
    if (pthread_create(&mirror->thread, NULL, run, mirror) == 0)
        return;
    free(mirror->memory);
    mirror->memory = NULL;
}

/* Until `count` slots are used at most. */
static void wait_used(struct mirror *mirror, uint64_t count)
{
    for (uint32_t looks = 0; ring_used(&mirror->ring) > count;)
        rest(&looks);
}

void mirror_apply(struct mirror *mirror, const struct command *command)
{
    uint32_t bytes = command_bytes(command);
    uint32_t slots = command_slots(bytes - (uint32_t)sizeof *command);

    if (mirror->memory != NULL && slots <= RING_MESSAGE_SLOTS_MAX) {
        wait_used(mirror, MIRROR_SLOTS - slots);
        struct command *copy = ring_claim(&mirror->ring, slots);
        INVARIANT(copy != NULL);
        memcpy(copy, command, bytes);
        copy->slot_count = (uint16_t)slots;
        ring_publish(&mirror->ring);
        return;
    }
    if (mirror->memory != NULL)
        wait_used(mirror, 0); /* too long for a ring: the thread has nothing else meanwhile */
    apply(mirror, command);
}

void mirror_end(struct mirror *mirror)
{
    if (mirror->memory == NULL)
        return;
    atomic_store_explicit(&mirror->ends, true, memory_order_release); /* pairs: run */
    pthread_join(mirror->thread, NULL);
    free(mirror->memory);
    mirror->memory = NULL;
}
