#include "engine/state/evidence.h"

void evidence_add_order(struct engine *engine, struct engine_result *result, uint32_t index)
{
    const struct order *order = &engine->orders.hot[index];

    result->members |= ANSWER_HAS_ORDER;
    result->order_status = order->state == ORDER_NEW ? ORDER_UNTRIGGERED : order->state;
    result->remaining = order->remaining;
    result->filled = order_filled(&engine->orders, index);
    result->filled_notional = order_filled_notional(&engine->orders, index);
    engine->applying.resting =
        order_state_is_final((enum order_state)order->state) ? ORDER_NONE : index;
    engine->applying.answer = result;
}

void evidence_add_wait(struct engine *engine, struct engine_result *result, uint32_t index)
{
    const struct conditional *row = &engine->conditionals.rows[index];

    result->members |= ANSWER_HAS_ORDER;
    result->order_status = row->state;
    result->remaining = row->quantity;
    engine->applying.untriggered = row->state == ORDER_UNTRIGGERED ? index : CONDITIONAL_NONE;
    engine->applying.answer = result;
}

void evidence_of_end(struct engine *engine, struct engine_result *result, uint32_t index,
                     enum order_state state)
{
    if (result == NULL || !evidence_is_wanted(engine->applying.command))
        return;
    evidence_of_order(engine, result, index);
    result->order_status = (uint8_t)state;
    engine->applying.resting = ORDER_NONE;
}

void evidence_of_refusal(const struct engine *engine, struct engine_result *result,
                         uint64_t quantity)
{
    if (result == NULL || !evidence_is_wanted(engine->applying.command))
        return;
    result->members |= ANSWER_HAS_ORDER;
    result->order_status = ORDER_REJECTED;
    result->remaining = quantity;
}

static void add_queue(const struct engine *engine, struct engine_result *result)
{
    uint32_t index = engine->applying.resting;
    const struct order *order = &engine->orders.hot[index];
    enum order_state state = (enum order_state)order->state;

    INVARIANT(state == ORDER_OPEN || state == ORDER_PARTIALLY_FILLED);
    INVARIANT(order->remaining == result->remaining);
    result->book_handle = engine->orders.cold[index].handle;
    if (book_ahead(&engine->markets.rows[order->market].book, index, EVIDENCE_STEPS,
                   &result->quantity_ahead))
        result->members |= ANSWER_HAS_AHEAD;
}

void evidence_end(const struct engine *engine, struct engine_result *result)
{
    uint32_t index = engine->applying.resting;

    if (index != ORDER_NONE && index != engine->conditionals.going)
        add_queue(engine, result);
    evidence_of_market(engine, engine->applying.command, result);
}

/* Where the body of a code has its asset id (W3), 0: it names no market. */
static uint32_t asset_at(uint16_t code)
{
    switch (code) {
    case REQUEST_place_limit_order:
        return 44;
    case REQUEST_order_reduction:
        return 48;
    case REQUEST_order_replacement:
        return 60;
    case REQUEST_order_cancel:
        return 32;
    case REQUEST_cancel_all_orders:
        return 16;
    case REQUEST_place_market_order:
        return 28;
    case REQUEST_place_conditional_order:
        return 52;
    case REQUEST_conditional_order_cancel:
        return 32;
    default:
        return 0;
    }
}

static uint64_t best_price(const struct market *market, enum order_side side)
{
    uint32_t tick = book_best(&market->book, side);

    return tick == BOOK_TICK_NONE
               ? 0
               : book_price(&market->book, side, tick) * market->record.tick_size;
}

void evidence_of_market(const struct engine *engine, const struct command *command,
                        struct engine_result *result)
{
    uint32_t at = asset_at(command->code);

    if (at == 0)
        return;
    uint32_t index = market_find(engine, cc_load16(command_body(command) + at));
    if (index == MARKET_NONE)
        return;
    const struct market *market = &engine->markets.rows[index];
    result->members |= ANSWER_HAS_MARKET;
    result->best_bid = best_price(market, ORDER_LONG);
    result->best_ask = best_price(market, ORDER_SHORT);
    result->book_seq = market->book_seq;
    result->price_decimals = (uint8_t)market->record.price_decimals;
}
