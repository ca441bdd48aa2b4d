#include "engine/standing/schedule.h"

#include "engine/state/cancel_list.h"

#define SCHEDULE_SHORTEST_NS UINT64_C(1000000000)
#define SCHEDULE_LONGEST_NS  (UINT64_C(86400) * 1000000000)

enum { SCHEDULE_DEADLINE_AT = 16 };

void schedule_end_orders(struct engine *engine, uint32_t index, enum effect_timer_kind kind,
                         uint8_t reason)
{
    struct effect_timer body = {
        .portfolio = portfolio_effect_id(engine, index),
        .kind = (uint8_t)kind,
    };

    effects_emit(engine, EFFECT_timer, index, 0, &body);
    cancel_list_portfolio(engine, index, reason);
    conditional_kill(engine, index, MARKET_NONE, CONDITIONAL_BOTH, CONDITIONAL_NOT_REDUCE_ONLY,
                     reason);
}

static void fire(struct engine *engine, uint32_t index)
{
    state_portfolio(engine, index)->dead_man_ns = 0;
    portfolio_enter_dead_man(engine, index);
    schedule_end_orders(engine, index, TIMER_DEAD_MAN, REASON_dead_man);
}

void schedule_refresh(struct engine *engine, uint32_t index)
{
    if (CC_UNLIKELY(portfolio_dead_man_has_come(state_portfolio(engine, index), engine->t_ns)))
        fire(engine, index);
}

uint64_t schedule_deadline(const struct engine *engine)
{
    return timer_heap_deadline(&engine->dead_men);
}

void schedule_fire(struct engine *engine)
{
    fire(engine, timer_heap_first(&engine->dead_men) - 1);
}

enum status schedule_cancel_all(struct engine *engine, const struct command *command,
                                struct engine_result *result)
{
    uint64_t deadline_ns = cc_load64(command_body(command) + SCHEDULE_DEADLINE_AT);
    struct portfolio *portfolio = state_portfolio(engine, engine->applying.portfolio);

    (void)result;
    if (deadline_ns != 0 && (deadline_ns < engine->t_ns + SCHEDULE_SHORTEST_NS ||
                             deadline_ns > engine->t_ns + SCHEDULE_LONGEST_NS))
        return STATUS_order_rejected_invalid;
    portfolio->dead_man_ns = deadline_ns;
    portfolio_enter_dead_man(engine, engine->applying.portfolio);
    return STATUS_request_completed;
}
