/* own_order.h - the orders that the engine makes itself: LIQUIDATE and AUTO_DELEVERAGE (rules.md
 * R7, orders that the engine makes). Owned by the engine.
 *
 *   own_order_make ──> own_order_match, a slice at a time ──> own_order_end      (L1, unwinding)
 *                └───> fill_between another one           ──> own_order_end      (L2, L3)
 *
 * They have slots of their own after the table's, so that a full table refuses none of
 * them; they are in no book, map or list and never rest. Between commands at most the first lives:
 * an order that goes on with the next slice of its work.
 *
 * Units.  Prices and quantities raw. */
#ifndef ENGINE_TRADE_OWN_ORDER_H
#define ENGINE_TRADE_OWN_ORDER_H

#include "engine/trade/fill.h"

struct own_order_terms {
    uint64_t quantity;
    uint64_t price; /* limit of one that is matched, whole ticks; else that of its fill */
    uint32_t holding;
    uint8_t side; /* enum order_side */
    uint8_t type; /* ORDER_LIQUIDATE, ORDER_AUTO_DELEVERAGE */
    bool reduce_only;
};

/* Makes the order `which`, with an id of the running command. Gives its index. */
uint32_t own_order_make(struct engine *engine, enum state_own_order which,
                        const struct own_order_terms *terms);

/* Matches the taker's order against the book, meeting at most *units makers, which are taken off;
 * none costs one. True: it is done, *reason is why what is left of it is canceled. False: it goes
 * on when there are units again. */
CC_MUST_USE bool own_order_match(struct engine *engine, enum fill_kind kind, uint32_t *units,
                                 uint8_t *reason);

/* Ends it as FILLED, or as CANCELED for this reason, and emits 2101. */
void own_order_end(struct engine *engine, enum state_own_order which, uint64_t price,
                   uint8_t reason);

/* The limit of the taker's order. */
CC_MUST_USE uint64_t own_order_limit(const struct engine *engine);

/* The highest and the lowest price at which an order may rest in the market, of at most and at
 * least this one: whole ticks, and never outside the ladder. */
CC_MUST_USE uint64_t own_order_price_down(const struct engine *engine, uint32_t market,
                                          uint64_t price);
CC_MUST_USE uint64_t own_order_price_up(const struct engine *engine, uint32_t market,
                                        uint64_t price);

#endif
