#include "engine/trade/own_order.h"

#include "base/uuid.h"
#include "engine/risk/fund.h"
#include "engine/state/private_event.h"
#include "engine/trade/match.h"
#include "engine/trade/resting.h"

uint64_t own_order_limit(const struct engine *engine)
{
    return resting_price(engine, &engine->orders.hot[state_own_order(engine, OWN_ORDER_TAKER)]);
}

static uint64_t highest_price(const struct market *market)
{
    return market->record.max_price - market->record.max_price % market->record.tick_size;
}

static uint64_t within(const struct market *market, uint64_t price)
{
    uint64_t tick = market->record.tick_size, highest = highest_price(market);

    if (price < tick)
        return tick;
    return price > highest ? highest : price;
}

uint64_t own_order_price_down(const struct engine *engine, uint32_t index, uint64_t price)
{
    const struct market *market = &engine->markets.rows[index];

    return within(market, price - price % market->record.tick_size);
}

uint64_t own_order_price_up(const struct engine *engine, uint32_t index, uint64_t price)
{
    const struct market *market = &engine->markets.rows[index];
    uint64_t tick = market->record.tick_size;

    return within(market, (price + tick - 1) / tick * tick);
}

uint32_t own_order_make(struct engine *engine, enum state_own_order which,
                        const struct own_order_terms *terms)
{
    const struct holding *holding = state_holding(engine, terms->holding);
    const struct market *market = state_market(engine, holding->market);
    uint32_t index = state_own_order(engine, which);
    struct uuid id = uuid_engine(engine->t_ns, engine->sequence, state_next_id(engine));
    struct order *order = &engine->orders.hot[index];
    uint64_t price = within(market, terms->price);
    uint64_t ticks = price / market->record.tick_size;

    INVARIANT(terms->quantity != 0);
    order_forget(&engine->orders, index);
    *order = (struct order){
        .tick = book_tick(&market->book, (enum order_side)terms->side, (uint32_t)ticks),
        .remaining = terms->quantity,
        .stamp = state_stamp(engine),
        .holding = terms->holding,
        .market = holding->market,
        .side = terms->side,
        .flags = order_flags(false, terms->reduce_only, STP_EXPIRE_MAKER, ORDER_IOC),
        .state = ORDER_NEW,
        .order_type = terms->type,
        .account = state_portfolio(engine, holding->portfolio)->account,
    };
    memcpy(order->id, id.bytes, sizeof order->id);
    engine->orders.cold[index] = (struct order_cold){ .placed_ns = engine->t_ns };
    if (order->stamp != order_stamp(engine->sequence, 0)) /* it is no order of the command's own */
        order_extra(&engine->orders, index)->placed_rank = order_stamp(engine->sequence, 0);
    return index;
}

/* Why what the walk left of the order is canceled. */
static uint8_t reason_of(const struct match *match)
{
    return match->stop == MATCH_REDUCED ? REASON_reduce_only : REASON_time_in_force;
}

bool own_order_match(struct engine *engine, enum fill_kind kind, uint32_t *units, uint8_t *reason)
{
    uint32_t index = state_own_order(engine, OWN_ORDER_TAKER);
    const struct order *order = &engine->orders.hot[index];
    const struct holding *holding = state_holding(engine, order->holding);
    const struct market *market = state_market(engine, order->market);
    int64_t fund = kind == FILL_LIQUIDATION ? state_portfolio(engine, FUND_PORTFOLIO)->cash : 0;
    struct match match;
    struct match_taker taker = {
        .market = order->market,
        .portfolio = holding->portfolio,
        .account = order->account,
        .position = holding->size,
        .quantity = order->remaining,
        .limit_tick = book_mirror(&market->book, order->tick),
        .makers_most = *units,
        .side = order->side,
        .stp = STP_EXPIRE_MAKER,
        .reduce_only = true,
        .house = { .kind = (uint8_t)kind,
                   .rebates = fund > 0 ? fund : 0,
                   .penalty_ppm = engine->liquidation.penalty_ppm },
    };

    INVARIANT(*units != 0);
    match_walk(engine, &taker, &match);
    *units -= match.makers != 0 ? match.makers : 1;
    if (match.guard) {
        *reason = STATUS_order_rejected_internal;
        return true;
    }
    match_act(engine, &taker, &match, index);
    *reason = reason_of(&match);
    return match.stop != MATCH_MAX;
}

/* Emits 2101 with the price as given: a fill of L2 or L3 may be between two ticks. */
static void emit(struct engine *engine, uint32_t index, uint64_t price)
{
    const struct order *order = &engine->orders.hot[index];
    uint16_t asset_id = engine->markets.rows[order->market].record.asset_id;
    struct effect_order_state body = {
        .remaining = order->remaining,
        .filled = order_filled(&engine->orders, index),
        .price = price,
        .status = order->state,
        .reason = order->reason,
        .side = order->side,
        .order_type = order->order_type,
        .asset_id = asset_id,
    };

    memcpy(body.order_id, order->id, sizeof body.order_id);
    private_event_of_order(engine, order);
    effects_emit(engine, EFFECT_order_state, index, asset_id, &body);
}

void own_order_end(struct engine *engine, enum state_own_order which, uint64_t price,
                   uint8_t reason)
{
    uint32_t index = state_own_order(engine, which);
    struct order *order = &engine->orders.hot[index];

    if (order->remaining != 0) {
        order_move(order, order_filled(&engine->orders, index), ORDER_CANCELED);
        order->reason = reason;
    }
    emit(engine, index, price);
}
