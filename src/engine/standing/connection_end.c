#include "engine/standing/connection_end.h"

#include "engine/standing/schedule.h"
#include "engine/state/state.h"

void connection_end(struct engine *engine, const struct command *command)
{
    uint64_t id[2];

    memcpy(id, command_body(command), sizeof id);
    uint32_t index = disconnect_find(engine, id);
    if (index == DISCONNECT_NONE)
        return;
    struct disconnect_arm row = engine->arms.rows[index];
    disconnect_drop(engine, index);
    uint32_t at = engine->accounts.rows[row.account].portfolio_head;
    for (; at != PORTFOLIO_NONE; at = state_portfolio(engine, at)->account_next) {
        const struct portfolio *portfolio = state_portfolio(engine, at);
        if (portfolio->subaccount_index == row.subaccount_index &&
            portfolio->status != PORTFOLIO_CLOSED)
            schedule_end_orders(engine, at, TIMER_DISCONNECT, REASON_disconnect);
    }
}
