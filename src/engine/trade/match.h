/* match.h - matches a taker in two steps: a walk finds the makers that it meets, an act executes
 * exactly that (rules.md R3). Owned by the engine.
 *
 *   match_walk ── reads the other side once ──> struct match ── R11 decides ──> match_act
 *
 * Order.  Best price first, then arrival. The act meets the same makers in the same order and ends
 *         with the walk's quantity and notional (INVARIANT).
 * Bound.  A taker meets at most makers_most makers; dead and canceled ones count. The first meeting
 *         brings a maker's portfolio to the current marks.
 *         Otherwise the cost of a maker does not depend on its positions and orders.
 * Units.  Quantities and prices raw, amounts micro-USDC. */
#ifndef ENGINE_TRADE_MATCH_H
#define ENGINE_TRADE_MATCH_H

#include "engine/trade/fill.h"

enum match_stop {
    MATCH_BOOK,    /* no price within the limit is left */
    MATCH_DONE,    /* the taker's quantity is used up */
    MATCH_REDUCED, /* reduce-only: the position is closed */
    MATCH_SELF,    /* own maker under EXPIRE_TAKER: it stays in the book */
    MATCH_BOTH,    /* own maker under EXPIRE_BOTH: it is canceled too */
    MATCH_MAX,     /* makers_most reached */
};

enum match_stp { STP_EXPIRE_TAKER, STP_EXPIRE_MAKER, STP_EXPIRE_BOTH, STP_DECREMENT };

/* The terms of the taker. */
struct match_taker {
    uint32_t market;
    uint32_t portfolio;
    uint32_t account;
    int64_t position; /* of the portfolio in the market */
    uint64_t quantity;
    uint32_t limit_tick;  /* in the other side's ladder */
    uint32_t makers_most; /* most makers that it meets */
    uint8_t side;         /* enum order_side */
    uint8_t stp;          /* enum match_stp */
    bool reduce_only;
    struct fill_house house; /* of the engine's own orders; zero: of all others */
};

/* What the walk found. */
struct match {
    uint64_t filled;
    uint64_t notional;  /* of the fills */
    uint64_t remaining; /* of the taker, after fills and decrements */
    int128 equity;      /* E' - E of the taker, fees included */
    int64_t interest;   /* what the makers' fills add to the open interest */
    uint32_t makers;    /* met: filled, canceled or dead */
    uint32_t refused;   /* makers that failed the maker test */
    uint8_t stop;       /* enum match_stop */
    bool used_up;       /* a decrement used up the taker: it is canceled with its remainder */
    bool self_first;    /* own maker under EXPIRE_TAKER met before any fill */
    bool self;          /* own maker met */
    bool guard;         /* it breaks a bound of R1 that only the walk sees */
};

/* Walks the other side and fills *match. It refreshes the portfolios that it meets, rolls the fee
 * days of their accounts and the taker's, writes the walk's scratch fields in their holdings and
 * the path, and changes nothing else. */
void match_walk(struct engine *engine, const struct match_taker *taker, struct match *match);

/* Decides row post_only_crosses: true if a live order is at or through the limit, or if more than
 * makers_most dead orders are. match->makers is the number of dead ones that it passed, for
 * match_act. */
CC_MUST_USE bool match_crosses(struct engine *engine, const struct match_taker *taker,
                               struct match *match);

/* Returns the best raw price of a live order, for row slippage. It passes over dead orders, *passed
 * of them. 0 if there is no live one, or if engine.makers_max dead ones come first; then the walk
 * decides. */
CC_MUST_USE uint64_t match_best_live(const struct engine *engine, uint32_t market,
                                     enum order_side side, uint32_t *passed);

/* Executes a walk for the taker's `order`, which is in no book: a placement has just made it, or a
 * replacement has lifted it. Its holding exists. The caller then ends or rests it. */
void match_act(struct engine *engine, const struct match_taker *taker, const struct match *match,
               uint32_t order);

#endif
