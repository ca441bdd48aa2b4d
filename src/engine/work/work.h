/* work.h - the scheduler: does the deferred work that waits in the queue (work_queue.h), in slices,
 * each kind by the functions of its owner (R3).
 *
 * Order.  Due timers run by deadline, then market seconds by asset id before expiries by placing
 *         sequence; a scan goes by portfolio number, a cancellation list by placing sequence, that
 *         of a market by portfolio number before it.
 * Bound.  A command does engine.work_per_command units, a work tick ENGINE_WORK_TICK_UNITS: since
 *         units are counted by commands, every replica slices at the same commands.
 * Owner.  The engine. */
#ifndef ENGINE_WORK_WORK_H
#define ENGINE_WORK_WORK_H

#include "base/compiler.h"

struct engine;
struct image_sink;
struct image_read;

/* What a kind does, by its owner; a row of work.c's table. */
struct work_handler {
    /* One step of the item: takes its units off *units, which is not 0; a step that cost more takes
     * them all. False: the item is finished and nothing was done. */
    bool (*unit)(struct engine *engine, uint32_t index, uint32_t *units);
    /* Called after the last step: the item has left the queue and may be queued again. NULL:
     * nothing. */
    void (*finish)(struct engine *engine, uint32_t index);
    /* What the item has beyond kind and index goes to the image and comes back (version 3 on; the
     * tables of the engine are loaded). NULL: nothing. `load` false: refused. */
    void (*image)(const struct engine *engine, uint32_t index, struct image_sink *sink);
    bool (*load)(struct engine *engine, uint32_t index, struct image_read *read);
};

/* The handler of a kind, NULL: there is no such kind. */
const struct work_handler *work_handler(uint64_t kind);

/* Section 11 of the image. */
void work_image(const struct engine *engine, struct image_sink *sink);

/* Before a command's own effect: queues the timers when one is due at the engine's t. */
void work_timers_due(struct engine *engine);

/* Performs up to `units` units. */
void work_run(struct engine *engine, uint32_t units);

/* t of the earliest timer, UINT64_MAX: none. */
CC_MUST_USE uint64_t work_next_deadline(const struct engine *engine);

/* The same without the full seconds of markets whose index is not valid or cannot become old. */
CC_MUST_USE uint64_t work_next_needed(const struct engine *engine);

#endif
