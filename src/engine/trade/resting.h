/* resting.h - orders that rest: in the book, the id map, their holding's list and sums, and the
 * expiry timers, all at once. Owned by the engine.
 *
 *   resting_insert ──> rests ── resting_change: keeps its place ──> resting_remove
 *                      │   ^
 *       resting_lift   v   │  resting_return       (a replacement that loses its place, R3)
 *                      lifted ── resting_drop ──> released by the caller
 *
 * Order.  2101, 2107, 2106 of each order that leaves or changes, told while it is in its table. A
 *         holding's list stays in the order of placing, whatever is entered anew.
 * Bound.  Nothing here walks a list. What is dead stays in every sum until it is removed (R3). */
#ifndef ENGINE_TRADE_RESTING_H
#define ENGINE_TRADE_RESTING_H

#include "engine/account/account_list.h"
#include "engine/state/state.h"

/* What a replacement may change of an order in its place; flags of order.h. */
struct resting_terms {
    uint64_t expiry_ns; /* as signed */
    uint8_t flags;
};

/* Whether there is room for an order at this tick: its ladder page is in use or may be. */
CC_MUST_USE bool resting_fits(const struct engine *engine, uint32_t market, enum order_side side,
                              uint32_t tick);

/* Rests a taken order (id, sides, sizes, holding set; resting_fits) and tells 2101, 2107, 2106. */
void resting_insert(struct engine *engine, uint32_t order, uint64_t hash);

/* Takes a resting order out with a final state and tells it; its index is free afterwards. */
void resting_remove(struct engine *engine, uint32_t order, enum order_state state, uint8_t reason);

/* The live order that a body names: found by (account, id) and of the turn's portfolio and of this
 * market, else ORDER_NONE (R3). `id` are the UUID's 16 bytes, `hash` is mix_id of (account, id). */
CC_MUST_USE uint32_t resting_find(struct engine *engine, uint32_t market, const uint8_t *id,
                                  uint64_t hash);

/* Gives a resting order other terms and takes 0 <= fall < remaining off it; it keeps its place.
 * Tells 2101 and, when it fell, 2107 and 2106. */
void resting_change(struct engine *engine, uint32_t order, uint64_t fall,
                    const struct resting_terms *terms);

/* Takes an order out of the book and the sums, to be entered anew in the same command: tells 2107
 * and 2106 of the level it leaves. */
void resting_lift(struct engine *engine, uint32_t order);

/* A lifted order gets its terms; its tick and its remaining are the caller's. */
void resting_set_terms(struct engine *engine, uint32_t order, const struct resting_terms *terms);

/* A lifted order rests again, at the back of its level (resting_fits); tells 2101, 2107, 2106. */
void resting_return(struct engine *engine, uint32_t order);

/* A lifted order ends: out of map, list and timers. The caller tells and releases it. */
void resting_drop(struct engine *engine, uint32_t order);

/* Takes 0 < quantity < remaining off an order without a fill (a reduction, STP DECREMENT) and tells
 * it. */
void resting_reduce(struct engine *engine, uint32_t order, uint64_t quantity);

/* Books a fill of a resting order: book, sums and state. The caller tells it (resting_tell) and
 * releases it when it is filled. True when nothing is left. */
bool resting_fill(struct engine *engine, uint32_t order, uint64_t quantity, uint64_t price);

/* The order's quantity enters the sums of R4 and R1 of its record. */
void resting_add_sums(struct holding *holding, const struct order *order, uint64_t price);

/* `quantity` leaves the sums; the order itself too when `all` of it does. */
void resting_take_sums(struct holding *holding, const struct order *order, uint64_t price,
                       uint64_t quantity, bool all);

/* 2101, 2107, 2106 of an order as it now is; `quantity` is that of the action. */
void resting_tell(struct engine *engine, uint32_t order, enum effect_book_action action,
                  uint64_t quantity);

/* 2101 of an order in the table. */
void resting_tell_state(struct engine *engine, uint32_t order);

/* What a dead order has become at the engine's t (R3): EXPIRED, or CANCELED with its reason; NEW
 * when it lives. Of the lists that cover it the oldest gives the reason; a list comes before a
 * dead-man deadline that has not fired, that before the expiry (R3, which reason counts). */
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
    const struct market *market = &engine->markets.rows[order->market];

    if (order->stamp < holding->sides[order->side].cancel_sequence ||
        order->stamp < portfolio->cancel_sequence)
        return true;
    if (account_list_covers(engine, order->account, order->market, order->stamp))
        return true;
    if (CC_UNLIKELY((order->flags & ORDER_REDUCE_ONLY) != 0)) {
        if (order->stamp < holding->reduce_cancel_sequence || market->state == MARKET_CLOSED)
            return true;
    } else if (order->stamp < market->cancel_sequence) {
        return true;
    }
    if ((order->flags & ORDER_POST_ONLY) != 0 && order->stamp < holding->post_cancel_sequence)
        return true;
    if (CC_UNLIKELY(portfolio_dead_man_has_come(portfolio, engine->t_ns)))
        return true;
    return order_tif(order) == ORDER_GTT && order_expiry(&engine->orders, index) <= engine->t_ns;
}

#endif
