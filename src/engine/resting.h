/* resting.h - orders that rest: in the book, the id map, their holding's list and sums, and the
 * expiry timers, all at once. Owned by the engine.
 *
 * Order.  2101, 2107, 2106 of each order that leaves or changes, told while it is in its table.
 * Bound.  Nothing here walks a list. What is dead stays in every sum until it is removed (R3). */
#ifndef ENGINE_RESTING_H
#define ENGINE_RESTING_H

#include "engine/state.h"

/* Whether there is room for an order at this tick: its ladder page is in use or may be. */
CC_MUST_USE bool resting_fits(const struct engine *engine, uint32_t market, enum order_side side,
                              uint32_t tick);

/* Rests a taken order (id, sides, sizes, holding set; resting_fits) and tells 2101, 2107, 2106. */
void resting_insert(struct engine *engine, uint32_t order, uint64_t hash);

/* Takes a resting order out with a final state and tells it; its index is free afterwards. */
void resting_remove(struct engine *engine, uint32_t order, enum order_state state, uint8_t reason);

/* Takes 0 < quantity < remaining off an order without a fill (STP DECREMENT) and tells it. */
void resting_reduce(struct engine *engine, uint32_t order, uint64_t quantity);

/* Books a fill of a resting order: book, sums and state. The caller tells it (resting_tell) and
 * releases it when it is filled. True when nothing is left. */
bool resting_fill(struct engine *engine, uint32_t order, uint64_t quantity, uint64_t price);

/* 2101, 2107, 2106 of an order as it now is; `quantity` is that of the action. */
void resting_tell(struct engine *engine, uint32_t order, enum effect_book_action action,
                  uint64_t quantity);

/* 2101 of an order in the table. */
void resting_tell_state(struct engine *engine, uint32_t order);

/* What a dead order has become at the engine's t (R3): EXPIRED, or CANCELED with its reason; NEW
 * when it lives. The cancellation list that covers it comes before its expiry. */
CC_MUST_USE enum order_state resting_death(const struct engine *engine, uint32_t order,
                                           uint8_t *reason);

/* Raw price of an order in the table. */
static inline uint64_t resting_price(const struct engine *engine, const struct order *order)
{
    const struct market *market = &engine->markets.rows[order->market];
    return book_price(&market->book, (enum order_side)order->side, order->tick) *
           market->record.tick_size;
}

/* Whether an order is dead: the hot form of resting_death. */
static inline bool resting_is_dead(const struct engine *engine, const struct order *order,
                                   uint32_t index, const struct holding *holding,
                                   const struct portfolio *portfolio)
{
    if (order->sequence <= holding->sides[order->side].cancel_sequence ||
        order->sequence <= portfolio->cancel_sequence)
        return true;
    if ((order->flags & ORDER_REDUCE_ONLY) && order->sequence <= holding->reduce_cancel_sequence)
        return true;
    return order_tif(order) == ORDER_GTT && engine->orders.cold[index].expiry_ns <= engine->t_ns;
}

#endif
