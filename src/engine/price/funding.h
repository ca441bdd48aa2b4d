/* funding.h - the hourly payments between the holders of a market (rules.md R5, the hour of
 * funding). Owned by the engine.
 *
 *   full hour ──> epoch opens ──> holders by portfolio number (deferred work) ──> complete:
 *                      │          or earlier, when a command needs a portfolio    pool -> fund
 *                      └── all figures are out of date: each portfolio pays before its next use
 *
 * A position owes a payment while its epoch is not the market's. It owes at most one: an hour opens
 * only after all positions have paid for the one before. A new position begins at the market's
 * epoch.
 *
 * Order.  A portfolio pays for all its positions at once, by market in order of definition: 2105,
 *         then its 2104. Between opening and completion funding_pool holds what was paid and not
 *         yet received; at completion 0 <= pool <= holders.
 * Units.  Rates ppb, payments micro-USDC; a payment > 0 goes to the portfolio.
 * Bound.  |size * index| < 2^61 (R1, and R5's 5 % between index and mark), rate < 2^26: a payment
 *         fits 64 bits. */
#ifndef ENGINE_PRICE_FUNDING_H
#define ENGINE_PRICE_FUNDING_H

#include "engine/state/state.h"

#define FUNDING_VALUE_MAX ((uint128)1 << 61)

/* Opens the funding epoch of an hour that has begun since the market's last second, or skips it.
 * mark_second calls it after the mark. */
void funding_hour(struct engine *engine, uint32_t market);

/* Pays for all positions that are left in the market's open epoch and completes it. Without an open
 * epoch nothing changes. */
void funding_complete(struct engine *engine, uint32_t market);

/* Moves the rest of a pool to the fund (micro-USDC; < 0: the fund pays what the pool lacks). Brings
 * the fund up to date before and after. */
void funding_to_fund(struct engine *engine, int64_t amount);

/* The functions of WORK_FUNDING (struct work_handler). */
CC_MUST_USE bool funding_unit(struct engine *engine, uint32_t market, uint32_t *units);
void funding_finish(struct engine *engine, uint32_t market);
CC_MUST_USE bool funding_load(struct engine *engine, uint32_t market, struct image_read *read);

#endif
