/* fill.h - one trade between two orders: positions, cash, fees (rules.md R2, R6), and what R7 puts
 * in the place of fees. Owned by the engine.
 *
 * Order.  Told as 2108, 2102 maker, 2102 taker, 2104 taker (trade, fee), 2104 maker (trade, fee),
 *         2103 maker, 2103 taker; then the maker's order (resting_tell).
 * Units.  Sizes raw and signed, costs and cash micro-USDC, prices raw. */
#ifndef ENGINE_TRADE_FILL_H
#define ENGINE_TRADE_FILL_H

#include "engine/state/state.h"

/* What a taker of the engine's own pays in the place of its fee (R7, orders that the engine
 * makes). */
enum fill_kind {
    FILL_TRADE,       /* fees of R6 */
    FILL_LIQUIDATION, /* L1: the penalty, to the fund; the fund pays the maker's rebate */
    FILL_UNWIND,      /* the fund's own: nothing, and the maker gets no rebate */
};

/* The terms of a house taker; FILL_TRADE: of anybody's. */
struct fill_house {
    int64_t rebates; /* what is left for makers' rebates */
    uint8_t kind;    /* enum fill_kind */
};

struct fill_fees {
    int64_t maker;
    int64_t taker;
};

struct fill_position {
    int64_t size;
    int64_t cost;
};

/* Trades signed `quantity` at `price` on a position. Gives the realised PnL (0 when nothing is
 * closed); *opened: a new position begins, from zero or by a flip. Pure. */
CC_MUST_USE int64_t fill_position(struct fill_position *position, int64_t quantity, uint64_t price,
                                  bool *opened);

/* The fees of a fill with a house taker. fees->maker: R6's, given; it becomes what is paid.
 * `equity_after`: E of the taker's portfolio with this fill, before what it pays. Pure. */
void fill_house_fees(const struct fill_house *house, uint64_t notional, int128 equity_after,
                     struct fill_fees *fees);

/* Takes a rebate that was paid off what is left. */
static inline void fill_house_spend(struct fill_house *house, int64_t maker_fee)
{
    if (maker_fee < 0)
        house->rebates += maker_fee;
}

/* Executes a fill of the maker's resting order against the taker's order, at the maker's price, and
 * removes the maker when nothing is left of it. Both holdings exist, bounds were checked, the walk
 * has touched both accounts (fee_touch). */
void fill_execute(struct engine *engine, uint32_t maker, uint32_t taker, uint64_t quantity,
                  struct fill_house *house);

/* A fill outside the book (L2, L3) of all that is left of two of the engine's own orders, equal in
 * size, opposite, without fees: realised PnL of both sides is of this kind. Told as above, without
 * 2108. Both portfolios were touched. */
void fill_between(struct engine *engine, uint32_t maker, uint32_t taker, uint64_t price,
                  enum effect_cash_kind kind);

#endif
