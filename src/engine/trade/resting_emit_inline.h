/* resting_emit_inline.h - the effects of a resting order as inline functions, for a fill, which
 * emits them with its own. Owned by the engine.
 *
 * `rows` as of effects_emit_into. `market` and the raw `price` are the order's.
 * Units.  Prices and quantities raw. */
#ifndef ENGINE_TRADE_RESTING_EMIT_INLINE_H
#define ENGINE_TRADE_RESTING_EMIT_INLINE_H

#include "engine/state/effects_emit_inline.h"
#include "engine/state/evidence.h"
#include "engine/state/private_event.h"
#include "engine/trade/resting.h"

/* 2101 of an order whose price is this raw one, and of which this quantity is filled. */
static inline __attribute__((always_inline)) void
resting_emit_state_into(struct engine *engine, struct effects_rows *rows,
                        const struct market *market, uint32_t index, uint64_t price,
                        uint64_t filled)
{
    const struct order *order = &engine->orders.hot[index];
    uint16_t asset_id = market->record.asset_id;
    struct effect_order_state body = {
        .remaining = order->remaining,
        .filled = filled,
        .price = order_type_is_market(order->order_type) ? 0 : price,
    };
    uint32_t codes = (uint32_t)order->state | (uint32_t)order->reason << 8 |
                     (uint32_t)order->side << 16 | (uint32_t)order->order_type << 24;

    effects_put(&body, offsetof(struct effect_order_state, status), codes, asset_id);
    cc_store64(body.order_id, order->id[0]);
    cc_store64(body.order_id + 8, order->id[1]);
    private_event_of_order(engine, order);
    effects_emit_into(engine, rows, EFFECT_order_state, index, asset_id, &body);
    if (CC_UNLIKELY(index == engine->applying.resting))
        evidence_add_order(engine, engine->applying.answer, index);
}

/* 2107, the change of the order in its level, and 2106, the level after it. */
static inline __attribute__((always_inline)) void
resting_emit_book_into(struct engine *engine, struct effects_rows *rows, struct market *market,
                       uint32_t index, uint64_t price, enum effect_book_action action,
                       uint64_t quantity)
{
    const struct order *order = &engine->orders.hot[index];
    enum order_side side = (enum order_side)order->side;
    uint16_t asset_id = market->record.asset_id;
    struct effect_book_order change = {
        .price = price,
        .quantity = quantity,
    };
    struct effect_book_level level = {
        .price = price,
        .size = book_quantity(&market->book, side, order->tick),
    };

    effects_put(&change, offsetof(struct effect_book_order, asset_id), asset_id,
                (uint32_t)order->side | (uint32_t)action << 8);
    effects_put(&level, offsetof(struct effect_book_level, orders),
                book_order_count(&market->book, side, order->tick), order->side);
    effects_put(&level, offsetof(struct effect_book_level, asset_id), asset_id, 0);
    cc_store64(change.order_id, order->id[0]);
    cc_store64(change.order_id + 8, order->id[1]);
    change.book_seq = market_next_seq(market);
    effects_emit_into(engine, rows, EFFECT_book_order, index, asset_id, &change);
    level.book_seq = market_next_seq(market);
    effects_emit_into(engine, rows, EFFECT_book_level, order->market, asset_id, &level);
}

#endif
