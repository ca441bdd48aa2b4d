#include "engine/price/clock_gap.h"

#include "engine/price/market_state.h"
#include "engine/state/access.h"

enum { GAP_AT = 0 }; /* in the body of 1011 (W3a) */

void clock_gap_open(struct engine *engine, int64_t step_ns)
{
    const struct market_table *table = &engine->markets;

    if (step_ns == 0)
        return;
    for (uint32_t k = 0; k < table->count && engine->clock_step_ns == 0; k++) {
        struct market *market = state_market(engine, table->sorted[k]);
        uint8_t own = market->state;
        if (own == MARKET_CLOSED)
            continue;
        market_set_state(engine, table->sorted[k], MARKET_HALTED, CAUSE_CLOCK);
        market->clock_state = own;
    }
    engine->clock_step_ns = step_ns;
}

static void end(struct engine *engine, bool passes_hour)
{
    const struct market_table *table = &engine->markets;

    engine->clock_step_ns = 0;
    for (uint32_t k = 0; k < table->count; k++) {
        struct market *market = state_market(engine, table->sorted[k]);
        if (market->state == MARKET_CLOSED)
            continue;
        enum market_state own = (enum market_state)market->clock_state;
        market->clock_state = 0;
        market->passes_hour = passes_hour;
        market_state_move(engine, table->sorted[k], own, CAUSE_CLOCK);
    }
}

enum status clock_gap_confirm(struct engine *engine, const struct command *command,
                              struct engine_result *result)
{
    int64_t gap_ns = (int64_t)cc_load64(command_body(command) + GAP_AT);

    if (!access_body_is_clean(command))
        return result_refuse(result, OPERATOR_RULE_pad, STATUS_order_rejected_invalid);
    if (engine->clock_step_ns == 0)
        return result_refuse(result, OPERATOR_RULE_gap_none, STATUS_order_rejected_invalid);
    if (gap_ns != engine->clock_step_ns)
        return result_refuse(result, OPERATOR_RULE_gap_other, STATUS_order_rejected_invalid);
    end(engine, gap_ns > 0 || command->kind == COMMAND_UNSIGNED);
    return STATUS_request_completed;
}
