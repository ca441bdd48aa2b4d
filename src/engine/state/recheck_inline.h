/* recheck_inline.h - recheck_holding and recheck_traded as inline functions, for what every order
 * and every fill changes. Owned by the engine. */
#ifndef ENGINE_STATE_RECHECK_INLINE_H
#define ENGINE_STATE_RECHECK_INLINE_H

#include "engine/state/liquidation_step.h"
#include "engine/state/state.h"

/* Links a portfolio, the row of `index`, into the list of changed ones; once. */
static inline void recheck_enter(struct recheck *recheck, struct portfolio *portfolio,
                                 uint32_t index)
{
    if (portfolio->changed)
        return;
    portfolio->changed = true;
    portfolio->changed_next = recheck->changed_head;
    recheck->changed_head = index;
}

/* As recheck_holding (recheck.h). `holding` is the row of `index`, `portfolio` its portfolio's. */
static inline void recheck_holding_inline(struct engine *engine, struct portfolio *portfolio,
                                          struct holding *holding, uint32_t index)
{
    INVARIANT(index != HOLDING_NONE);
    holding->figure_mark = 0;
    if (portfolio->stale_holding == HOLDING_NONE)
        portfolio->stale_holding = index;
    else if (portfolio->stale_holding != index)
        portfolio->stale_holding = RECHECK_STALE_MANY;
    recheck_enter(&engine->recheck, portfolio, holding->portfolio);
}

/* As recheck_traded, likewise. */
static inline void recheck_traded_inline(struct engine *engine, struct portfolio *portfolio,
                                         struct holding *holding, uint32_t index)
{
    if (CC_LIKELY(engine->liquidation.step != LIQUIDATION_RUN))
        recheck_holding_inline(engine, portfolio, holding, index);
    else
        recheck_traded(engine, index);
}

#endif
