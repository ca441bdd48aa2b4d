#include "engine/liquidate/legs.h"

#include "engine/state/state.h"

static bool comes_before(const struct engine *engine, const struct leg *a, const struct leg *b)
{
    if (a->maintenance != b->maintenance)
        return a->maintenance > b->maintenance;
    return engine->markets.rows[a->market].record.asset_id <
           engine->markets.rows[b->market].record.asset_id;
}

void legs_make(const struct engine *engine, uint32_t portfolio, struct legs *legs)
{
    uint32_t at = engine->portfolios.rows[portfolio].holding_head;

    legs->count = 0;
    for (; at != HOLDING_NONE; at = engine->holdings.rows[at].next) {
        const struct holding *holding = &engine->holdings.rows[at];
        struct leg leg = { at, holding->market, holding->size, holding->figure_maintenance };
        if (leg.size == 0 || market_is_frozen(engine, leg.market))
            continue;
        INVARIANT(legs->count < LEGS_MAX);
        uint32_t row = legs->count++;
        for (; row != 0 && comes_before(engine, &leg, &legs->rows[row - 1]); row--)
            legs->rows[row] = legs->rows[row - 1];
        legs->rows[row] = leg;
    }
}
