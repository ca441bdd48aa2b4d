/* resting.h - changes a resting order everywhere at once: in the book, the id map, its holding's
 * list and sums, and the expiry timers. Owned by the engine.
 *
 *   resting_insert ──> rests ── resting_change: keeps its priority ──> resting_remove
 *                      │   ^
 *       resting_lift   v   │  resting_return       (a replacement that loses its priority, R3)
 *                      lifted ── resting_drop ──> the caller frees it
 *
 * Order.  2101, 2107, 2106 of each order that leaves or changes, emitted while it is in its table.
 *         A holding's list keeps the order of placing, also when an order enters its level again.
 * Bound.  No function walks a list. A dead order counts in every sum until its removal (R3). */
#ifndef ENGINE_TRADE_RESTING_H
#define ENGINE_TRADE_RESTING_H

#include "engine/state/cancel_list.h"

/* The terms that a replacement may change while an order keeps its priority; flags of order.h. */
struct resting_terms {
    uint64_t expiry_ns; /* as signed */
    uint8_t flags;
};

/* One in so many of the ladder's pages is for prices within the band of their market's mark. */
enum { RESTING_NEAR_PART = 4 };

/* True if the tick is within the band of its market's mark (R3). */
CC_MUST_USE bool resting_is_near(const struct engine *engine, uint32_t market, enum order_side side,
                                 uint32_t tick);

/* Returns how many more ladder pages an order at this tick and others like it may take. */
CC_MUST_USE uint32_t resting_room(const struct engine *engine, uint32_t market,
                                  enum order_side side, uint32_t tick);

/* True if an order can rest at this tick: its ladder page is in use, or another page is left. */
CC_MUST_USE bool resting_fits(const struct engine *engine, uint32_t market, enum order_side side,
                              uint32_t tick);

/* Rests a new order and emits 2101, 2107, 2106. Its id, side, sizes and holding are set, and
 * resting_fits is true. `hash` is mix_id of (account, id). */
void resting_insert(struct engine *engine, uint32_t order, uint64_t hash);

/* Ends a resting order in a final state, emits 2101, 2107, 2106 and frees its index. */
void resting_remove(struct engine *engine, uint32_t order, enum order_state state, uint8_t reason);

/* Finds the live order that a body names by (account, id). ORDER_NONE if there is none, or if it
 * is in another market or not of the portfolio of the command (R3). `id` is the UUID's 16 bytes,
 * `hash` is mix_id of (account, id). */
CC_MUST_USE uint32_t resting_find(struct engine *engine, uint32_t market, const uint8_t *id,
                                  uint64_t hash);

/* Sets the terms of a resting order and subtracts 0 <= fall < remaining from it. It keeps its
 * priority. Emits 2101 and, if fall > 0, 2107 and 2106. */
void resting_change(struct engine *engine, uint32_t order, uint64_t fall,
                    const struct resting_terms *terms);

/* Removes an order from the book and the sums; it enters again or ends in the same command. Emits
 * 2107 and 2106 of the level that it leaves. */
void resting_lift(struct engine *engine, uint32_t order);

/* Sets the terms of a lifted order. The caller sets its tick and remaining. */
void resting_set_terms(struct engine *engine, uint32_t order, const struct resting_terms *terms);

/* Rests a lifted order again, at the end of its level, and emits 2101, 2107, 2106. resting_fits is
 * true. */
void resting_return(struct engine *engine, uint32_t order);

/* Removes a lifted order from map, list and timers. The caller ends it, emits 2101 and frees it. */
void resting_drop(struct engine *engine, uint32_t order);

/* Subtracts 0 < quantity < remaining from an order without a fill (a reduction, STP DECREMENT) and
 * emits 2101, 2107, 2106. */
void resting_reduce(struct engine *engine, uint32_t order, uint64_t quantity);

/* Applies a fill to a resting order of the market: book, sums and state. True when nothing is left.
 * The caller emits it (resting_emit_inline.h) and frees an order that is filled. `unseen`: no sink
 * gets an effect of the fill, so that an order of one fill goes without extras. */
bool resting_fill(struct engine *engine, struct market *market, uint32_t order, uint64_t quantity,
                  uint64_t price, bool unseen);

/* Adds the order's remaining quantity at this raw price to the holding's sums of R4 and R1. */
void resting_add_sums(struct holding *holding, const struct order *order, uint64_t price);

/* Subtracts `quantity` at this raw price from the sums; with `all` also the order from the
 * counts. */
void resting_subtract_sums(struct holding *holding, const struct order *order, uint64_t price,
                           uint64_t quantity, bool all);

/* Emits 2101 of an order in the table. */
void resting_emit_state(struct engine *engine, uint32_t order);

/* Returns the state of a dead order at the engine's t (R3): EXPIRED, or CANCELED with *reason; NEW
 * if it lives. The oldest list that covers it gives the reason. A list counts before a dead-man
 * deadline that has come but not fired, and that before the expiry (R3, which reason counts). */
CC_MUST_USE enum order_state resting_death(const struct engine *engine, uint32_t order,
                                           uint8_t *reason);

/* Returns the raw price of an order in the table; `market`: the order's. */
static inline uint64_t resting_price_in(const struct market *market, const struct order *order)
{
    return book_price(&market->book, (enum order_side)order->side, order->tick) *
           market->record.tick_size;
}

static inline uint64_t resting_price(const struct engine *engine, const struct order *order)
{
    return resting_price_in(&engine->markets.rows[order->market], order);
}

/* True if a list or a dead-man deadline has ended the order. */
static inline bool resting_is_covered(const struct engine *engine, const struct order *order,
                                      const struct holding *holding,
                                      const struct portfolio *portfolio)
{
    const struct market *market = &engine->markets.rows[order->market];

    if (order->stamp < holding->sides[order->side].cancel_sequence ||
        order->stamp < portfolio->cancel_sequence)
        return true;
    if (cancel_list_covers(engine, order->account, order->market, order->stamp))
        return true;
    if (CC_UNLIKELY((order->flags & ORDER_REDUCE_ONLY) != 0)) {
        if (order->stamp < holding->reduce_cancel_sequence || market->state == MARKET_CLOSED)
            return true;
    } else if (order->stamp < market->cancel_sequence) {
        return true;
    }
    if ((order->flags & ORDER_POST_ONLY) != 0 && order->stamp < holding->post_cancel_sequence)
        return true;
    return CC_UNLIKELY(portfolio_dead_man_has_come(portfolio, engine->t_ns));
}

static inline bool resting_has_expired(const struct engine *engine, const struct order *order,
                                       uint32_t index)
{
    return order_tif(order) == ORDER_GTT && order_expiry(&engine->orders, index) <= engine->t_ns;
}

/* True if an order is dead: resting_death without the reason, for hot paths. */
static inline bool resting_is_dead(const struct engine *engine, const struct order *order,
                                   uint32_t index, const struct holding *holding,
                                   const struct portfolio *portfolio)
{
    return resting_is_covered(engine, order, holding, portfolio) ||
           resting_has_expired(engine, order, index);
}

#endif
