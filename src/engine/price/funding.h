/* funding.h - the hourly payments between the holders of a market (rules.md R5; the hour
 * of funding). Owned by the engine.
 *
 *   full hour ──> epoch opens ──> holders by portfolio number (deferred work) ──> complete:
 *                      │              or whoever is touched before its turn       pool -> fund
 *                      └── every figure is behind, so that each portfolio is touched before use
 *
 * A position is behind when its epoch is not the market's: at most one, for no hour opens while
 * positions of the one before are left. One opened later begins at the market's epoch.
 *
 * Order.  A portfolio is settled whole, its positions by market in order of definition; 2105, then
 *         its 2104. Between opening and completion funding_pool holds what was paid and not yet
 *         received; at completion 0 <= pool <= holders.
 * Units.  Rates ppb, payments micro-USDC: what the portfolio gets.
 * Bound.  |size * index| < 2^61 (R1, and R5's 5 % between index and mark), rate < 2^26: a payment
 *         fits 64 bits. */
#ifndef ENGINE_PRICE_FUNDING_H
#define ENGINE_PRICE_FUNDING_H

#include "engine/state/state.h"

#define FUNDING_HOUR_NS   (3600 * UINT64_C(1000000000))
#define FUNDING_VALUE_MAX ((uint128)1 << 61)

/* x = size * index * rate; x > 0: -cdiv(x, 1e9), x < 0: floor(-x / 1e9). Pure. */
CC_MUST_USE int64_t funding_payment(int64_t size, uint64_t index, int64_t rate_ppb);

/* In a second of the market, behind its mark: settles or skips the hour that has begun. */
void funding_hour(struct engine *engine, uint32_t market);

/* Settles the positions of the portfolio that are behind; gives how many. Its check is the caller's
 * (risk_touch does both). */
uint32_t funding_settle(struct engine *engine, uint32_t portfolio);

/* Settles what is left of the market's open epoch, now, and completes it. */
void funding_complete(struct engine *engine, uint32_t market);

/* What a pool is left with, or lacks, is the fund's: touches it and moves its cash. */
void funding_to_fund(struct engine *engine, int64_t amount);

/* Of WORK_FUNDING (struct work_handler). */
CC_MUST_USE bool funding_unit(struct engine *engine, uint32_t market, uint32_t *units);
void funding_finish(struct engine *engine, uint32_t market);
CC_MUST_USE bool funding_load(struct engine *engine, uint32_t market, struct image_read *read);

/* Before anything of the portfolio is read or changed. Costs a comparison when nothing opened. */
static inline void funding_touch(struct engine *engine, uint32_t portfolio)
{
    if (CC_UNLIKELY(state_portfolio(engine, portfolio)->funding_count != engine->funding_count))
        (void)funding_settle(engine, portfolio);
}

#endif
