#include "engine/account/portfolio_close.h"

#include "engine/risk/risk.h"
#include "engine/state/state.h"
#include "engine/state/trigger.h"

static enum status refuse(struct engine_result *result, enum reason reason)
{
    result->reason = (uint8_t)reason;
    return STATUS_order_rejected_invalid;
}

static bool is_empty(const struct engine *engine, const struct portfolio *portfolio)
{
    if (portfolio->cash != 0 || portfolio->open_order_count != 0 ||
        portfolio->conditional_count != 0)
        return false;
    for (uint32_t at = portfolio->holding_head; at != HOLDING_NONE;
         at = engine->holdings.rows[at].next)
        if (engine->holdings.rows[at].size != 0 || trigger_holds(engine, at))
            return false;
    return true;
}

enum status portfolio_close(struct engine *engine, const struct command *command,
                            struct engine_result *result)
{
    uint32_t index;
    enum status status = portfolio_of_command(engine, command, &index, result);

    if (status != STATUS_request_completed)
        return status;
    if (index == PORTFOLIO_NONE)
        return refuse(result, REASON_portfolio_not_active);
    risk_refresh(engine, index);
    struct portfolio *portfolio = state_portfolio(engine, index);
    if (portfolio->status != PORTFOLIO_ACTIVE)
        return refuse(result, REASON_portfolio_not_active);
    if (!is_empty(engine, portfolio))
        return refuse(result, REASON_portfolio_not_empty);
    portfolio_end(engine, index);
    return STATUS_request_completed;
}
