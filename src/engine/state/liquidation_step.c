#include "engine/state/liquidation_step.h"

#include "engine/state/state.h"

void liquidation_step_move(struct liquidation *liquidation, enum liquidation_step next)
{
#define TO(name)            (1u << LIQUIDATION_##name)
#define X(name, next_steps) next_steps,
    static const uint8_t allowed[LIQUIDATION_STEP_COUNT] = { LIQUIDATION_STEP_LIST(X) };
#undef X
#undef TO

    INVARIANT(liquidation->step < LIQUIDATION_STEP_COUNT);
    INVARIANT((allowed[liquidation->step] >> next & 1u) != 0);
    liquidation->step = (uint8_t)next;
}

bool liquidation_step_is_running(const struct engine *engine, uint32_t portfolio)
{
    return engine->liquidation.step == LIQUIDATION_RUN &&
           engine->liquidation.portfolio == portfolio;
}

bool liquidation_step_is_busy(const struct engine *engine, uint32_t portfolio)
{
    return engine->liquidation.step != LIQUIDATION_IDLE &&
           engine->liquidation.portfolio == portfolio;
}

bool liquidation_step_holds(const struct engine *engine, uint32_t holding)
{
    uint8_t step = engine->liquidation.step;

    if (CC_LIKELY(step != LIQUIDATION_ORDER && step != LIQUIDATION_UNWIND))
        return false;
    return engine->orders.hot[state_own_order(engine, OWN_ORDER_TAKER)].holding == holding;
}

bool liquidation_step_ranks(const struct engine *engine, uint32_t market)
{
    const struct deleverage *run = &engine->liquidation.run;

    return run->leg != run->leg_count && run->legs[run->leg].market == market;
}
