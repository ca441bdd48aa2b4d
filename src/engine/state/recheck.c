#include "engine/state/recheck.h"

#include "engine/state/liquidation_step.h"
#include "engine/state/state.h"

void recheck_init(struct recheck *recheck)
{
    *recheck = (struct recheck){
        .mark_epoch = 1,
        .changed_head = RECHECK_LIST_END,
        .judged_head = RECHECK_LIST_END,
    };
}

static void enter_changed(struct recheck *recheck, struct portfolio *portfolio, uint32_t index)
{
    if (portfolio->changed)
        return;
    portfolio->changed = true;
    portfolio->changed_next = recheck->changed_head;
    recheck->changed_head = index;
}

void recheck_portfolio(struct engine *engine, uint32_t index)
{
    enter_changed(&engine->recheck, state_portfolio(engine, index), index);
}

void recheck_holding(struct engine *engine, uint32_t index)
{
    struct holding *holding = state_holding(engine, index);
    struct portfolio *portfolio = state_portfolio(engine, holding->portfolio);

    INVARIANT(index != HOLDING_NONE);
    holding->figure_mark = 0;
    if (portfolio->stale_holding == HOLDING_NONE)
        portfolio->stale_holding = index;
    else if (portfolio->stale_holding != index)
        portfolio->stale_holding = RECHECK_STALE_MANY;
    enter_changed(&engine->recheck, portfolio, holding->portfolio);
}

void recheck_traded(struct engine *engine, uint32_t index)
{
    recheck_holding(engine, index);
    if (CC_LIKELY(engine->liquidation.step != LIQUIDATION_RUN))
        return;
    const struct holding *holding = state_holding(engine, index);
    if (liquidation_step_ranks(engine, holding->market))
        state_portfolio(engine, holding->portfolio)->moved = true;
}

void recheck_mark_moved(struct engine *engine, uint32_t market)
{
    INVARIANT(market < engine->markets.count);
    engine->recheck.mark_epoch++;
    work_queue_scan(engine, market);
}

void recheck_waiting(struct engine *engine, uint32_t index)
{
    struct market *market = state_market(engine, index);

    if (CC_LIKELY(!market->waited))
        return;
    market->waited = false;
    work_queue_scan(engine, index);
}

void recheck_tiers_changed(struct engine *engine, uint32_t market)
{
    state_market(engine, market)->tier_generation++;
    engine->recheck.mark_epoch++;
    work_queue_scan(engine, market);
    engine->work.scans[market].exact = 1;
}
