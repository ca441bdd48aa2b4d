#include "engine/state/recheck.h"

#include "engine/state/recheck_inline.h"

void recheck_init(struct recheck *recheck)
{
    *recheck = (struct recheck){
        .mark_epoch = 1,
        .changed_head = RECHECK_LIST_END,
        .judged_head = RECHECK_LIST_END,
    };
}

void recheck_portfolio(struct engine *engine, uint32_t index)
{
    recheck_enter(&engine->recheck, state_portfolio(engine, index), index);
}

void recheck_holding(struct engine *engine, uint32_t index)
{
    struct holding *holding = state_holding(engine, index);

    recheck_holding_inline(engine, state_portfolio(engine, holding->portfolio), holding, index);
}

void recheck_traded(struct engine *engine, uint32_t index)
{
    const struct holding *holding = state_holding(engine, index);

    recheck_holding(engine, index);
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
