#include "engine/risk/liquidation_price.h"

#define PRICE_MAX ((UINT64_C(1) << 40) - 1)
#define VALUE_MAX (UINT64_C(1) << 60)

/* E - MM with the market at this price. */
static int128 gap(const struct liquidation_price_ask *ask, uint64_t price)
{
    uint64_t size = ask->size < 0 ? -(uint64_t)ask->size : (uint64_t)ask->size;

    return ask->rest + (int128)ask->size * (int64_t)price -
           tier_maintenance(ask->tiers, size * price);
}

/* Whether the price lies on the mark's side of the solution, or on it. `passes`: the mark does. */
static bool is_on_side(const struct liquidation_price_ask *ask, bool passes, uint64_t price)
{
    int128 left = gap(ask, price);

    return passes ? left >= 0 : left <= 0;
}

/* E - MM grows with the price of a long and falls with that of a short, so the ticks on the mark's
 * side are all those above the solution, or all those below it. */
uint64_t liquidation_price(const struct liquidation_price_ask *ask)
{
    uint64_t size = ask->size < 0 ? -(uint64_t)ask->size : (uint64_t)ask->size;
    uint64_t highest = VALUE_MAX / size < PRICE_MAX ? VALUE_MAX / size : PRICE_MAX;
    bool passes = gap(ask, ask->mark) >= 0;
    bool is_below = (ask->size > 0) == passes; /* the solution is below the mark */
    uint64_t low = 0, high = highest / ask->tick_size;

    if (is_on_side(ask, passes, 0) == is_below ||
        is_on_side(ask, passes, high * ask->tick_size) != is_below)
        return 0;
    /* low is as 0 is, high is as the highest: they meet at the solution. */
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (is_on_side(ask, passes, middle * ask->tick_size) == is_below)
            high = middle;
        else
            low = middle;
    }
    return (is_below ? high : low) * ask->tick_size;
}
