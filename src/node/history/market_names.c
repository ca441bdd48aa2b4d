#include "node/history/market_names.h"

#include "base/row.h"
#include "engine/view/read.h"

void market_names_refresh(struct market_names *names, const struct engine *engine)
{
    struct row_market market;

    if (names->count == read_market_count(engine))
        return;
    names->count = read_market_count(engine);
    INVARIANT(names->count <= CC_COUNT(names->rows));
    for (uint32_t k = 0; k < names->count; k++) {
        struct market_name *name = &names->rows[k];
        read_market(engine, k, &market);
        memcpy(name->symbol, market.market, sizeof name->symbol);
        name->asset_id = market.asset_id;
        name->price_decimals = market.price_decimals;
        name->size_decimals = market.size_decimals;
    }
}

const struct market_name *market_names_of(const struct market_names *names, uint16_t asset_id)
{
    uint32_t low = 0, high = names->count;

    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (names->rows[middle].asset_id < asset_id)
            low = middle + 1;
        else
            high = middle;
    }
    INVARIANT(low < names->count && names->rows[low].asset_id == asset_id);
    return &names->rows[low];
}

const struct market_name *market_names_find(const struct market_names *names, const char symbol[32])
{
    for (uint32_t k = 0; k < names->count; k++)
        if (memcmp(names->rows[k].symbol, symbol, sizeof names->rows[k].symbol) == 0)
            return &names->rows[k];
    return NULL;
}
