/* funding_pay.h - pays a portfolio the funding of each hour that has opened (rules.md R5). Owned by
 * the engine.
 *
 * A position owes a payment if its epoch is not its market's. It owes at most one, because no hour
 * opens while positions of the hour before are unpaid. All positions of a portfolio are paid at
 * once, by market in order of definition; each emits 2105, then its 2104.
 *
 * Units.  Rates ppb, payments micro-USDC: what the portfolio gets. */
#ifndef ENGINE_RISK_FUNDING_PAY_H
#define ENGINE_RISK_FUNDING_PAY_H

#include "engine/state/state.h"

/* Returns the payment (micro-USDC) to a position of signed `size`: with x = size * index * rate,
 * -cdiv(x, 1e9) if x > 0, else floor(-x / 1e9). Pure. */
CC_MUST_USE int64_t funding_pay_amount(int64_t size, uint64_t index, int64_t rate_ppb);

/* Whether the position has not been paid its market's newest epoch. */
CC_MUST_USE bool funding_pay_is_due(const struct engine *engine, const struct holding *holding);

/* Pays for the positions of the portfolio that owe a payment. Returns their number. The caller
 * checks the portfolio's margin afterwards (risk_refresh does both). */
uint32_t funding_pay(struct engine *engine, uint32_t portfolio);

/* Pays for the portfolio's positions before anything of it is read or changed. It costs one
 * comparison if no epoch has opened since. */
static inline void funding_pay_refresh(struct engine *engine, const struct portfolio *portfolio,
                                       uint32_t index)
{
    if (CC_UNLIKELY(portfolio->funding_count != (uint32_t)engine->funding_count))
        (void)funding_pay(engine, index);
}

#endif
