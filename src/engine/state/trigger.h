/* trigger.h - untriggered orders by the price that they wait for, and the queue of those whose
 * price has come (rules.md R8). Owned by the engine.
 *
 *   a tree a (market, source, direction) ── mark computed, trade ──> batch ──> queue ── firing.h
 *              ^                                by placing sequence             │
 *              └── armed: queued, but its market had stopped firing ────────────┘
 *
 * Order.  A batch is the orders that one event has met, by placing sequence; batches are items of
 *         the deferred work (WORK_TRIGGER), first in, first out. One that would come directly
 *         after another joins it: the order of firing is the same, and so the queue of work never
 *         holds more of them than other items.
 * Bound.  A tree is a treap whose weights are secret hashes: its depth is logarithmic whatever
 *         prices clients choose, and its shape decides nothing. An event that meets no order costs
 *         two comparisons a source; one that meets n takes and sorts them at once. */
#ifndef ENGINE_STATE_TRIGGER_H
#define ENGINE_STATE_TRIGGER_H

#include "base/compiler.h"

struct engine;
struct conditional;
struct image_sink;
struct image_read;

/* A row waits for its price; or for the next mark, when it is armed. */
void trigger_wait(struct engine *engine, uint32_t conditional);

/* Takes it from its tree or from the queue; nothing when it is in neither. */
void trigger_forget(struct engine *engine, uint32_t conditional);

/* Row trigger_is_met: its price has come already. */
CC_MUST_USE bool trigger_is_met(const struct engine *engine, const struct conditional *row);

/* R8 and R9: the market's state fires and its index is valid now. */
CC_MUST_USE bool trigger_may_fire(const struct engine *engine, uint32_t market);

/* A mark was computed (R5): mark, index and what is armed are looked at. */
void trigger_mark_computed(struct engine *engine, uint32_t market);

/* A trade was made at this price. */
void trigger_traded(struct engine *engine, uint32_t market, uint64_t price);

/* The order that the item at the head fires next, or CONDITIONAL_NONE. It stays where it is. */
CC_MUST_USE uint32_t trigger_next(const struct engine *engine, uint32_t batch);

/* R3, Gap: the order that the item at the head of the others fires next waits, for its market is in
 * a gap. */
CC_MUST_USE bool trigger_waits_for_gap(const struct engine *engine);

/* Whether the record is that of an order that fired and goes on: it stays, with or without a
 * position. */
CC_MUST_USE bool trigger_holds(const struct engine *engine, uint32_t holding);

/* It does not fire now: armed. */
void trigger_arm(struct engine *engine, uint32_t conditional);

/* Of the item (work.h): it is finished; its orders go to the image and come back. */
void trigger_finish(struct engine *engine, uint32_t batch);
void trigger_image(const struct engine *engine, uint32_t batch, struct image_sink *sink);
CC_MUST_USE bool trigger_load(struct engine *engine, uint32_t batch, struct image_read *read);

#endif
