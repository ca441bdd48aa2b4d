/* margin.h - equity and margin of a portfolio, and the tests that guard it (rules.md R4). Owned by
 * the engine.
 *
 * Each holding keeps its figures at the market's mark, each portfolio their sums, so a test costs
 * the same with one market or 64. margin_bring refreshes figures of an older mark; a function that
 * changes a holding calls recheck_holding. The open loss is exact where its price bound says so,
 * elsewhere an upper bound with a known slack (`loose`): the order list is walked only when that
 * slack decides.
 *
 * Units.  Amounts micro-USDC, prices and sizes raw, a size is signed by its side.
 * Bound.  |E| <= 2^66, N <= 2^60 (R1); IM of far orders may pass 64 bits: sums are int128. */
#ifndef ENGINE_RISK_MARGIN_H
#define ENGINE_RISK_MARGIN_H

#include "engine/state/state.h"
#include "engine/table/tier.h"

/* What an order would do to its portfolio in its market. */
struct margin_change {
    int64_t size_after; /* position after the walk */
    int128 equity;      /* E' - E: mark * q - p * q - fee over the walk's fills */
    int64_t rest_size;  /* remainder that rests and is not reduce-only, else 0 */
    uint64_t rest_price;
    int64_t out_size; /* own old rest that a replacement takes out, unless reduce-only, else 0 */
    uint64_t out_price;
    int64_t rest_reduce; /* the remainder that rests if it is reduce-only, else 0 */
    int64_t out_reduce;  /* the old rest if it was, else 0 */
    int64_t interest;    /* what the walk adds to the market's open interest */
    uint8_t side;        /* of the order */
};

/* A portfolio's figures as R4 defines them, made from nothing. */
struct margin_view {
    int128 equity;
    int128 initial;
    int128 maintenance;
    int128 withdrawable; /* cash + min(0, sum of uPnL) - IM */
};

/* Of a portfolio without its open orders, and of one of its records with them (R4). */
struct margin_standing {
    int128 equity;
    int128 maintenance;
};
struct margin_part {
    int128 initial;      /* IM_m */
    int64_t value;       /* mark * s - c */
    int64_t maintenance; /* MM_m */
};

/* Figures up to date at the current marks. */
void margin_bring(struct engine *engine, struct portfolio *portfolio);

/* Makes IM of an up-to-date portfolio exact: walks the order lists where a bound was used, and
 * tightens their price bounds. Its slacks must be computed again (risk_refresh). */
void margin_resolve(struct engine *engine, struct portfolio *portfolio);

/* The holding is about to be given back: its figures leave the sums. */
void margin_drop(struct engine *engine, uint32_t holding);

/* R4's taker test of an up-to-date portfolio; holding HOLDING_NONE: it has no record there yet. */
CC_MUST_USE bool margin_taker_passes(struct engine *engine, uint32_t portfolio, uint32_t market,
                                     uint32_t holding, const struct margin_change *change);

/* R4's maker test of an up-to-date portfolio: a fill of `quantity` (signed) that moves the position
 * from `before` and the equity by `fill_equity`. `walked`: equity that earlier fills of the walk
 * brought and the figures do not have yet. is_worse: the price is worse than the mark for it. */
CC_MUST_USE bool margin_maker_passes(const struct engine *engine, const struct holding *holding,
                                     int64_t before, int64_t quantity, int128 walked,
                                     int128 fill_equity, bool is_worse);

/* R4, tiers of entry: by how much IM of the portfolio's markets, but `without`, is more by the tier
 * of its account than by its own. */
CC_MUST_USE int128 margin_entry_surcharge(const struct engine *engine, uint32_t portfolio,
                                          uint32_t without);

/* R4: what the portfolio's account has in the market, this holding at worst, is above the market's
 * position_limit. */
CC_MUST_USE bool margin_beyond_position_limit(const struct engine *engine, uint32_t portfolio,
                                              uint32_t market, uint32_t holding);

/* E at the marks as they are, without caches; *gross is the value of all positions. */
CC_MUST_USE int128 margin_equity_now(const struct engine *engine, uint32_t portfolio,
                                     uint128 *gross);

/* E, IM, MM and withdrawable of a portfolio, recomputed without caches. */
void margin_view(const struct engine *engine, uint32_t portfolio, struct margin_view *view);

/* E and MM alone: no order is looked at. */
void margin_standing(const struct engine *engine, uint32_t portfolio,
                     struct margin_standing *standing);

/* What a record is of its portfolio's figures, recomputed without caches. */
void margin_part(const struct engine *engine, const struct holding *holding,
                 struct margin_part *part);

/* The figures of a record that came from an image, its orders with it, enter the sums of its
 * portfolio, which has none of it yet. NULL, or why they cannot be right. */
CC_MUST_USE const char *margin_load(struct engine *engine, uint32_t holding);

static inline int128 margin_equity(const struct portfolio *portfolio)
{
    return portfolio->cash + portfolio->value;
}

static inline uint64_t margin_abs(int64_t size)
{
    return size < 0 ? (uint64_t)-size : (uint64_t)size;
}

/* Whether a fill at this price costs the order's owner against the mark. */
static inline bool margin_price_is_worse(enum order_side side, uint64_t price, uint64_t mark)
{
    return side == ORDER_LONG ? price > mark : price < mark;
}

/* The rules that figures are made by: those of an image that was made by others are out of date. */
enum { MARGIN_RULES = 1 << 16 };

/* What figures of a holding are made at: mark, tiers and rules. Never 0. */
static inline uint64_t margin_figure_mark(const struct market *market)
{
    uint64_t made_by = (uint64_t)MARGIN_RULES + 1 + market->tier_generation;

    return market->mark | made_by << 41; /* mark < 2^40 * 1.05 */
}

/* How much of a resting order may fill at this position (R3: it clips reduce-only ones). */
static inline uint64_t margin_usable(const struct order *order, int64_t position)
{
    if (CC_LIKELY((order->flags & ORDER_REDUCE_ONLY) == 0))
        return order->remaining;
    bool opposes = order->side == ORDER_LONG ? position < 0 : position > 0;
    uint64_t size = opposes ? margin_abs(position) : 0;
    return order->remaining < size ? order->remaining : size;
}

/* A fill of `quantity` at `price` against the mark: mark * q - p * q. */
static inline int128 margin_fill_equity(uint64_t mark, uint64_t price, int64_t quantity)
{
    return (int128)((int64_t)mark - (int64_t)price) * quantity;
}

/* What a position has lost since its portfolio was last solvent (R7 L3), 0 or more. The price at
 * which it was opened does not count: two friends can agree on any. */
static inline int128 margin_loss(const struct engine *engine, const struct holding *holding)
{
    uint64_t mark = engine->markets.rows[holding->market].mark;
    int128 change = margin_fill_equity(mark, holding->mark_seen, holding->size);

    return change < 0 ? -change : 0;
}

#endif
