/* fill.h - executes one trade between two orders: positions, cash and fees (rules.md R2, R6), or
 * the payments that replace fees in R7. Owned by the engine.
 *
 * Order.  It emits 2108, 2102 maker, 2102 taker, 2104 taker (trade, fee), 2104 maker (trade, fee),
 *         2103 maker, 2103 taker; then the maker's order (resting_emit_inline.h).
 * Units.  Sizes raw and signed, costs and cash micro-USDC, prices raw. */
#ifndef ENGINE_TRADE_FILL_H
#define ENGINE_TRADE_FILL_H

#include "engine/state/state.h"

/* What a taker pays. An order of the engine does not pay fees of R6 (R7, orders that the engine
 * makes). */
enum fill_kind {
    FILL_TRADE,       /* fees of R6 */
    FILL_LIQUIDATION, /* L1: the penalty, to the fund; the fund pays the maker's rebate */
    FILL_UNWIND,      /* the fund sells its own: it pays nothing, the maker gets no rebate */
};

/* The terms of a house taker, an order of the engine; FILL_TRADE: of all other takers. */
struct fill_house {
    int64_t rebates;      /* cash of the fund that is left for makers' rebates */
    uint32_t penalty_ppm; /* of FILL_LIQUIDATION, of the notional */
    uint8_t kind;         /* enum fill_kind */
};

struct fill_fees {
    int64_t maker;
    int64_t taker;
};

struct fill_position {
    int64_t size;
    int64_t cost;
};

/* Trades the signed `quantity` at `price` on a position. Returns the realised PnL (0 if nothing is
 * closed). *opened is true if a new position begins, from zero or by a flip. Pure. */
CC_MUST_USE int64_t fill_position(struct fill_position *position, int64_t quantity, uint64_t price,
                                  bool *opened);

/* Computes the fees of a fill with a house taker. The caller sets fees->maker to R6's fee; it
 * becomes the fee that the maker pays. `equity_after` is E of the taker's portfolio with this fill,
 * before the taker pays. Pure. */
void fill_house_fees(const struct fill_house *house, uint64_t notional, int128 equity_after,
                     struct fill_fees *fees);

/* Subtracts a paid rebate (a maker's fee < 0) from the cash that is left for rebates. */
static inline void fill_house_spend(struct fill_house *house, int64_t maker_fee)
{
    if (maker_fee < 0)
        house->rebates += maker_fee;
}

/* One side of a fill: its order, the rows that belong to it, and the fill in progress. The rows
 * stay where they are and the fee's rate stands for the whole command, so a taker that meets
 * thousands of makers looks its own up once. */
struct fill_party {
    struct order *order;
    struct holding *holding;
    struct portfolio *portfolio;
    struct account *owner;
    uint64_t *volume;              /* its bucket of today (R6), once the walk has met it */
    struct effect_portfolio_id id; /* what effects name its portfolio by */
    uint32_t order_index;
    uint32_t day;     /* of t; a maker's is the taker's */
    int32_t fee_ppm;  /* R6's rate, as maker or as taker */
    int64_t quantity; /* signed */
    int64_t realised;
    int64_t fee;
    uint32_t fill_index;
    uint8_t liquidity;
};

/* Returns the side of an order of the engine's table, maker or taker by `liquidity`. Its holding
 * exists. Before it fills, the walk has rolled the fee days of its account (fee_refresh). */
CC_MUST_USE struct fill_party fill_party_of(struct engine *engine, uint32_t order,
                                            uint8_t liquidity);

/* Executes a fill of the maker's resting order against the taker's order, at the maker's price, and
 * removes the maker if nothing is left of it. The maker's holding exists, the caller has checked
 * the bounds, and the walk has rolled the fee days of both accounts (fee_refresh). `taker` is of
 * this command. */
void fill_execute(struct engine *engine, uint32_t maker, struct fill_party *taker,
                  uint64_t quantity, struct fill_house *house);

/* Executes a fill outside the book (L2, L3) between two orders of the engine, which have opposite
 * sides and the same remaining quantity. Nobody pays a fee; the realised PnL of both sides has this
 * kind. The effects are as above, without 2108. Both portfolios are up to date. */
void fill_between(struct engine *engine, uint32_t maker, uint32_t taker, uint64_t price,
                  enum effect_cash_kind kind);

#endif
