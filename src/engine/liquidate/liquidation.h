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

#define LIQUIDATION_PAUSE_NS     UINT64_C(100000000)   /* between two actions of a portfolio */
#define LIQUIDATION_LEG_PAUSE_NS UINT64_C(30000000000) /* behind the first of a large position */

/* What the head of the queue is in the middle of. */
enum liquidation_step {
    LIQUIDATION_IDLE,
    LIQUIDATION_ORDER,  /* the taker's place (own_order.h) holds an order of L1 */
    LIQUIDATION_UNWIND, /* or one of the fund */
    LIQUIDATION_RUN,    /* L3 */
};

struct liquidation {
    struct timer_heap waits; /* portfolios by liquidation_wake_ns, rank = portfolio */
    uint32_t portfolio;      /* whose order or run it is */
    uint8_t step;            /* enum liquidation_step */
    bool unwind_queued[ENGINE_MARKETS_MAX];
    struct deleverage run;
};

struct engine;
struct image_sink;
struct image_read;

/* Decides about an up-to-date portfolio that has E < MM or is IN_LIQUIDATION (R7, Checks). True:
 * it moved cash. */
CC_MUST_USE bool liquidation_judge(struct engine *engine, uint32_t portfolio);

/* WORK_LIQUIDATION: a step of the portfolio's liquidation, and behind the last. */
CC_MUST_USE bool liquidation_unit(struct engine *engine, uint32_t portfolio, uint32_t *units);
void liquidation_finish(struct engine *engine, uint32_t portfolio);
/* The timers "liquidation waits" (R3). */
CC_MUST_USE uint64_t liquidation_deadline(const struct engine *engine);
void liquidation_fire(struct engine *engine);

/* All its orders and conditionals that were placed so far are dead, reason `liquidation`. */
void liquidation_cancel(struct engine *engine, uint32_t portfolio);

/* Whether an L3 run of the portfolio is under way: no order, transfer or withdrawal of it. */
CC_MUST_USE bool liquidation_is_running(const struct engine *engine, uint32_t portfolio);

/* 2113. `size`: what leaves the position, signed. */
void liquidation_tell(struct engine *engine, uint32_t holding, uint8_t level, uint64_t price,
                      int64_t size);

/* Whether the record is that of an order under way: it stays, with or without a position. */
CC_MUST_USE bool liquidation_holds(const struct engine *engine, uint32_t holding);

#endif
