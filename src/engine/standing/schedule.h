/* schedule.h - the dead-man (R10): code 25, and the deadline that ends a portfolio's orders. Owned
 * by the engine.
 *
 *   set ── t >= deadline: every resting order and conditional is dead ── fired once: timer, refresh
 *
 * Order.  An order that is entered after the deadline lives: the portfolio is refreshed first, and
 *         the refresh fires a deadline that has come (R10, Dead-man switch).
 * Units.  Unix ns. */
#ifndef ENGINE_STANDING_SCHEDULE_H
#define ENGINE_STANDING_SCHEDULE_H

#include "base/status.h"
#include "engine/state/state.h"

struct image_read;

/* Code 25; row portfolio has passed, applying.portfolio is the body's. */
CC_MUST_USE enum status schedule_cancel_all(struct engine *engine, const struct command *command,
                                            struct engine_result *result);

/* Before an order of the portfolio is entered, and before code 25: fires what has come. */
void schedule_refresh(struct engine *engine, uint32_t portfolio);

/* The first deadline, UINT64_MAX: none; and its firing when it has come. */
CC_MUST_USE uint64_t schedule_deadline(const struct engine *engine);
void schedule_fire(struct engine *engine);

/* Ends the orders of a portfolio after a deadline or a disconnect (R10, W9): emits 2115, begins the
 * portfolio's list and kills its conditionals that are not reduce-only. */
void schedule_end_orders(struct engine *engine, uint32_t portfolio, enum effect_timer_kind kind,
                         uint8_t reason);

#endif
