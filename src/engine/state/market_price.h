/* market_price.h - what follows from a market's mark and index: the better one for an owner,
 * and the band of the mark. Pure.
 *
 * Units. Raw prices. */
#ifndef ENGINE_STATE_MARKET_PRICE_H
#define ENGINE_STATE_MARKET_PRICE_H

#include "engine/state/market.h"

/* Of mark and index the better one for the owner of a long or a short position (R7). */
static inline uint64_t market_price_better(const struct market *market, bool is_long)
{
    bool is_index = is_long == (market->index_price > market->mark);

    return is_index ? market->index_price : market->mark;
}

/* The lowest and highest price within the band of the mark (R3). */
static inline uint64_t market_price_low(const struct market *market)
{
    uint128 price = (uint128)market->mark * (1000000 - market->record.price_band_ppm);
    uint64_t low = (uint64_t)((price + 999999) / 1000000);

    return low < 1 ? 1 : low;
}
static inline uint64_t market_price_high(const struct market *market)
{
    return (uint64_t)((uint128)market->mark * (1000000 + market->record.price_band_ppm) / 1000000);
}

#endif
