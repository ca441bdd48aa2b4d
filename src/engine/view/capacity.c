#include "engine/view/capacity.h"

#include "engine/state/state.h"

bool capacity_suffices(const struct engine *engine, const struct option_engine *options,
                       enum option *option)
{
    const struct {
        enum option option;
        uint64_t used;
    } tables[] = {
        { OPTION_engine_accounts, engine->accounts.count },
        { OPTION_engine_portfolios, engine->portfolios.count },
        { OPTION_engine_portfolios, engine->subaccounts.count },
        { OPTION_engine_orders, engine->orders.count },
        { OPTION_engine_positions, engine->holdings.slots.count },
        { OPTION_engine_positions, engine->leverages.slots.count },
        { OPTION_engine_positions, engine->mmps.slots.count },
        { OPTION_engine_credentials, engine->credentials.slots.count },
        { OPTION_engine_credentials, engine->arms.slots.count },
        { OPTION_engine_deposits, engine->deposits_seen.count },
        { OPTION_engine_deposits, engine->withdrawals.slots.count },
        { OPTION_engine_ladder_pages, engine->markets.pages.used },
        { OPTION_limits_duplicate_slots, engine->duplicates.count },
    };
    for (size_t i = 0; i < CC_COUNT(tables); i++) {
        if (tables[i].used > options->values[tables[i].option]) {
            *option = tables[i].option;
            return false;
        }
    }
    return true;
}
