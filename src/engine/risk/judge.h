/* judge.h - decides who is liquidated, and what may be done now (rules.md R7). Owned by the engine.
 *
 *   check ── judge ──> IN_LIQUIDATION ──> item in the work queue ──> liquidation.h
 *              │  ^                         │     ^
 *              v  └── timer, scan ── waits <┘     └── may act
 *            ACTIVE: 5 % above the maintenance margin, or no position left
 *
 * Units.  Times unix ns, amounts micro-USDC. */
#ifndef ENGINE_RISK_JUDGE_H
#define ENGINE_RISK_JUDGE_H

#include "base/compiler.h"

#define LIQUIDATION_PAUSE_NS     UINT64_C(100000000)  /* between two actions of a portfolio */
#define LIQUIDATION_LEG_PAUSE_NS UINT64_C(1000000000) /* between two of a leg */

/* What a portfolio in liquidation may do now. */
struct judge_plan {
    uint64_t wake_ns; /* level 0: when a leg may be sold again, 0: none can be */
    uint32_t holding; /* level 1: the leg to sell */
    uint8_t level;    /* 1; 2: netting, backstop, or a run when that fails; 0: it waits */
};

struct engine;
struct portfolio;

/* Decides about an up-to-date portfolio that has E < MM or is IN_LIQUIDATION (R7, Checks). True:
 * it moved cash. */
CC_MUST_USE bool judge_portfolio(struct engine *engine, uint32_t portfolio);

/* What the portfolio may do now; it is up to date, in liquidation and has a position. */
CC_MUST_USE struct judge_plan judge_plan(const struct engine *engine,
                                         const struct portfolio *portfolio);

/* A scan meets the fund: with more than ten times its equity it is deleveraged (R7, Fund). */
void judge_fund(struct engine *engine);

/* Puts the portfolio, in liquidation, into the work queue, or to sleep until it may act. */
void judge_consider(struct engine *engine, uint32_t portfolio);

/* All its orders and conditionals that were placed so far are dead, reason `liquidation`. */
void judge_cancel_orders(struct engine *engine, uint32_t portfolio);

/* The timers "liquidation waits" (R3). */
CC_MUST_USE uint64_t judge_deadline(const struct engine *engine);
void judge_fire(struct engine *engine);

#endif
