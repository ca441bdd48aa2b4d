/* match.h - walk, then act: what a taker would meet, and the execution of exactly that (rules.md
 * R3). Owned by the engine.
 *
 *   match_walk ── reads the other side once ──> struct match ── R11 decides ──> match_act
 *
 * Order.  Best price first, then arrival. The execution meets the same makers in the same order and
 *         ends with the walk's quantity and notional: INVARIANT.
 * Bound.  At most engine.makers_max makers are met, filled or canceled, or as many as the taker
 *         says; a maker costs the same
 *         whatever it has (its portfolio is brought to the current marks at its first touch).
 * Units.  Quantities and prices raw, amounts micro-USDC. */
#ifndef ENGINE_TRADE_MATCH_H
#define ENGINE_TRADE_MATCH_H

#include "engine/trade/fill.h"

enum match_stop {
    MATCH_BOOK,    /* no price within the limit is left */
    MATCH_DONE,    /* the taker's quantity is used up */
    MATCH_REDUCED, /* reduce-only: the position is used up */
    MATCH_SELF,    /* own maker under EXPIRE_TAKER: it stays */
    MATCH_BOTH,    /* own maker under EXPIRE_BOTH: it is canceled too */
    MATCH_MAX,     /* makers_max or makers_most reached */
};

enum match_stp { STP_EXPIRE_TAKER, STP_EXPIRE_MAKER, STP_EXPIRE_BOTH, STP_DECREMENT };

/* The order to be matched. */
struct match_taker {
    uint32_t market;
    uint32_t portfolio;
    uint32_t account;
    int64_t position; /* of the portfolio in the market */
    uint64_t quantity;
    uint32_t limit_tick;  /* in the other side's ladder */
    uint32_t makers_most; /* it meets at most so many; 0: engine.makers_max */
    uint8_t side;         /* enum order_side */
    uint8_t stp;          /* enum match_stp */
    bool reduce_only;
    struct fill_house house; /* of the engine's own; zero: anybody's */
};

/* What the walk found. */
struct match {
    uint64_t filled;
    uint64_t notional;  /* of the fills */
    uint64_t remaining; /* of the taker: less fills and decrements */
    int128 equity;      /* E' - E of the taker, fees included */
    uint32_t makers;    /* met: filled, canceled or dead */
    uint32_t refused;   /* of them, those that fail the maker test */
    uint8_t stop;       /* enum match_stop */
    bool used_up;       /* the last of the taker went in a decrement: it is canceled as it stands */
    bool self_first;    /* own maker under EXPIRE_TAKER met before any fill */
    bool self;          /* own maker met */
    bool guard;         /* a bound of R1 that only the inside sees */
};

/* Walks; touches the portfolios it meets and leaves marks in their holdings, nothing else. */
void match_walk(struct engine *engine, const struct match_taker *taker, struct match *match);

/* Row post_only_crosses: true when a live order stands at or through the limit, or when
 * makers_max dead ones do. Else match->makers is the number of dead ones, for match_act. */
CC_MUST_USE bool match_crosses(struct engine *engine, const struct match_taker *taker,
                               struct match *match);

/* Row slippage: the best price (raw) at which a live order stands, dead ones passed over; 0 when
 * there is none, or when makers_max dead ones come first: then it is the walk that decides. */
CC_MUST_USE uint64_t match_best_live(const struct engine *engine, uint32_t market,
                                     enum order_side side);

/* Executes what was walked for an order that is in no book (its holding exists): taken by a
 * placement or lifted by a replacement. It is not ended or rested. */
void match_act(struct engine *engine, const struct match_taker *taker, const struct match *match,
               uint32_t order);

#endif
