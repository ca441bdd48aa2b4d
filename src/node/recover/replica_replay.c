#include "node/recover/replica_replay.h"

#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "node/recover/replay.h"

enum {
    YIELDS = 256, /* looks before it sleeps */
    SLEEP_US = 100,
};

/* The history begins behind the engine's state: what was before is in the file, or in a gap. */
static void begin_history(struct replica_replay *replay)
{
    replay->passed = 0;
    if (engine_sequence(replay->engine) != 0)
        history_forget(replay->sink->history, replay->engine);
}

/* The file has the command's rows: making them again is most of the work of a replay. */
static void pass(struct replica_replay *replay, const struct command *command)
{
    struct engine_sink ignore = replay_ignoring();
    struct engine_result result;

    engine_apply(replay->engine, command, &ignore, &result);
    if (result.sequence == replay->passed)
        begin_history(replay);
}

static void apply(struct replica_replay *replay, const struct command *command)
{
    struct engine_result result;

    if (replay->passed != 0) {
        pass(replay, command);
        return;
    }
    history_prefetch(replay->sink->history, command);
    engine_apply(replay->engine, command, &replay->sink->sink, &result);
    struct history_keep *keep = &replay->sink->history->keep;
    history_keep_publish(keep);
    history_keep_make_room(keep, replay->engine);
}

/* Waits a little after a look that found nothing. */
static void rest(uint32_t *looks)
{
    if (++*looks < YIELDS)
        sched_yield();
    else
        usleep(SLEEP_US);
}

static void *run(void *context)
{
    struct replica_replay *replay = context;
    uint32_t looks = 0;

    for (;;) {
        /* Load `ends` before the ring: commands published before the end are then seen. */
        bool ends = atomic_load_explicit(&replay->ends, memory_order_acquire);
        uint64_t ready = ring_ready(&replay->ring);
        if (ready == 0 && ends)
            return NULL;
        if (ready == 0) {
            rest(&looks);
            continue;
        }
        const struct command *command = ring_at(&replay->ring, 0);
        apply(replay, command);
        ring_release(&replay->ring, command->slot_count);
        looks = 0;
    }
}

void replica_replay_begin(struct replica_replay *replay, struct engine *engine,
                          struct history_sink *sink, bool on_thread)
{
    *replay = (struct replica_replay){ .engine = engine,
                                       .sink = sink,
                                       .passed = history_sink_in_file(sink) };
    if (engine_sequence(engine) >= replay->passed)
        begin_history(replay);
    if (!on_thread)
        return;
    size_t bytes = (ring_bytes(REPLICA_REPLAY_SLOTS, MESSAGE_SLOT_BYTES) + CC_CACHE_LINE - 1) &
                   ~(size_t)(CC_CACHE_LINE - 1);
    replay->memory = aligned_alloc(CC_CACHE_LINE, bytes);
    if (replay->memory == NULL)
        return;
    ring_init(&replay->ring, replay->memory, REPLICA_REPLAY_SLOTS, MESSAGE_SLOT_BYTES);
    if (pthread_create(&replay->thread, NULL, run, replay) == 0)
        return;
    free(replay->memory);
    replay->memory = NULL;
}

/* Waits until at most `count` slots are used. */
static void wait_used(struct replica_replay *replay, uint64_t count)
{
    for (uint32_t looks = 0; ring_used(&replay->ring) > count;)
        rest(&looks);
}

void replica_replay_apply(struct replica_replay *replay, const struct command *command)
{
    uint32_t bytes = command_bytes(command);
    uint32_t slots = command_slots(bytes - (uint32_t)sizeof *command);

    if (replay->memory != NULL && slots <= RING_MESSAGE_SLOTS_MAX) {
        wait_used(replay, REPLICA_REPLAY_SLOTS - slots);
        struct command *copy = ring_claim(&replay->ring, slots);
        INVARIANT(copy != NULL);
        memcpy(copy, command, bytes);
        copy->slot_count = (uint16_t)slots;
        ring_publish(&replay->ring);
        return;
    }
    if (replay->memory != NULL)
        wait_used(replay, 0); /* too long for the ring: applied here while the thread is idle */
    apply(replay, command);
}

void replica_replay_end(struct replica_replay *replay)
{
    if (replay->memory != NULL) {
        atomic_store_explicit(&replay->ends, true, memory_order_release); /* pairs: run */
        pthread_join(replay->thread, NULL);
        free(replay->memory);
        replay->memory = NULL;
    }
    if (replay->passed != 0) /* the file goes further than the journal */
        begin_history(replay);
}
