/* liquidation.h - who is liquidated, when, and by which level (rules.md R7).
 * Owned by the engine.
 *
 *   check ── judge ──> IN_LIQUIDATION ──> item in the queue ──┬─ L1: an order on the book
 *              │  ^                         │     ^           ├─ L2: the fund takes all (backstop)
 *              v  └── timer, scan ── waits <┘     └── may act └─ L3: a run (deleverage)
 *            ACTIVE: 5 % above the maintenance margin, or no position left
 *
 * Order.  Items first in, first out. An order of L1 that is cut by a slice, an order of the fund,
 *         or a run is the work of the queue's head: there is one at a time.
 * Units.  Times unix ns, amounts micro-USDC. */
#ifndef ENGINE_LIQUIDATE_LIQUIDATION_H
#define ENGINE_LIQUIDATE_LIQUIDATION_H

#include "engine/liquidate/deleverage.h"
#include "engine/state/market.h"
#include "engine/table/timer_heap.h"

struct engine;
struct image_sink;
struct image_read;

/* WORK_LIQUIDATION: a step of the portfolio's liquidation, and what follows the last step. */
CC_MUST_USE bool liquidation_unit(struct engine *engine, uint32_t portfolio, uint32_t *units);
void liquidation_finish(struct engine *engine, uint32_t portfolio);

/* 2113. `size`: what leaves the position, signed. */
void liquidation_emit(struct engine *engine, uint32_t holding, uint8_t level, uint64_t price,
                      int64_t size);

#endif
