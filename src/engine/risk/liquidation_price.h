/* liquidation_price.h - the mark at which a position alone would bring its portfolio to E = MM, the
 * other marks held (rules.md R7, "liquidation_price shown"). Pure.
 *
 * It is found by the engine's own test, E >= MM with MM_m by tiers (R4): for a portfolio that
 * passes it, the last tick on the way from the mark at which it still passes; for one that does
 * not, the last tick at which it still fails. Either is the real solution rounded to the tick
 * toward the mark.
 *
 * Units.  Price, tick and size raw, amounts micro-USDC.
 * Bound.  Prices 1..2^40-1, and |size| * price <= 2^60: the mark never leaves them (R1). */
#ifndef ENGINE_RISK_LIQUIDATION_PRICE_H
#define ENGINE_RISK_LIQUIDATION_PRICE_H

#include "engine/table/tier.h"

struct liquidation_price_ask {
    const struct market_tier *tiers;
    int128 rest;  /* E less mark * size, less the MM of the other positions */
    int64_t size; /* signed, not 0 */
    uint64_t mark;
    uint64_t tick_size;
};

/* The price, or 0 when there is none within the bound. */
CC_MUST_USE uint64_t liquidation_price(const struct liquidation_price_ask *ask);

#endif
