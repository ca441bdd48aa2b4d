/* fill.h - one trade between a resting order and a taker: positions, cash, fees (rules.md R2, R6).
 * Owned by the engine.
 *
 * Order.  Told as 2108, 2102 maker, 2102 taker, 2104 taker (trade, fee), 2104 maker (trade, fee),
 *         2103 maker, 2103 taker; then the maker's order (resting_tell).
 * Units.  Sizes raw and signed, costs and cash micro-USDC, prices raw. */
#ifndef ENGINE_FILL_H
#define ENGINE_FILL_H

#include "engine/state.h"

struct fill_position {
    int64_t size;
    int64_t cost;
};

/* Trades signed `quantity` at `price` on a position. Gives the realised PnL (0 when nothing is
 * closed); *opened: a new position begins, from zero or by a flip. Pure. */
CC_MUST_USE int64_t fill_position(struct fill_position *position, int64_t quantity, uint64_t price,
                                  bool *opened);

/* Executes a fill of the maker's resting order against the taker's order, at the maker's price, and
 * removes the maker when nothing is left of it. Both holdings exist, bounds were checked, the walk
 * has touched both accounts (fee_touch). */
void fill_execute(struct engine *engine, uint32_t maker, uint32_t taker, uint64_t quantity);

#endif
