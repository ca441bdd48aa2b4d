#include "engine/fill.h"

#include "engine/fee.h"
#include "engine/margin.h"
#include "engine/resting.h"
#include "engine/trigger.h"

int64_t fill_position(struct fill_position *position, int64_t quantity, uint64_t price,
                      bool *opened)
{
    int64_t raw_price = (int64_t)price;
    int64_t closed = 0, realised = 0;

    *opened = position->size == 0;
    if (position->size != 0 && (position->size < 0) != (quantity < 0)) {
        uint64_t size = margin_abs(position->size), part = margin_abs(quantity);
        *opened = part > size;
        part = part > size ? size : part;
        closed = quantity < 0 ? -(int64_t)part : (int64_t)part;
        int64_t released = money_share(position->cost, part, size);
        realised = -(raw_price * closed) - released;
        position->cost -= released;
        position->size += closed;
    }
    position->cost += raw_price * (quantity - closed);
    position->size += quantity - closed;
    return realised;
}

/* One side of the trade while it is being executed. */
struct party {
    uint32_t order;
    uint32_t holding;
    int64_t quantity; /* signed */
    int64_t realised;
    int64_t fee;
    uint32_t fill_index;
    uint8_t liquidity;
};

/* Position and its id; ends reduce-only orders when the position is gone or turned (R3). */
static void move_position(struct engine *engine, struct market *market, struct party *party,
                          uint64_t price)
{
    struct holding *holding = state_holding(engine, party->holding);
    struct fill_position position = { holding->size, holding->cost };
    bool opened;

    party->realised = fill_position(&position, party->quantity, price, &opened);
    party->fill_index = state_next_id(engine);
    if (opened) {
        holding->position_ns = engine->t_ns;
        holding->position_sequence = engine->sequence;
        holding->position_index = state_next_id(engine);
        holding->net_funding = 0;
    }
    bool ends = holding->size != 0 && (opened || position.size == 0);
    if (CC_UNLIKELY(ends && state_portfolio(engine, holding->portfolio)->conditional_count != 0))
        conditional_doom(engine, holding->portfolio, holding->market, CONDITIONAL_BOTH,
                         CONDITIONAL_REDUCE_ONLY, REASON_reduce_only);
    if (ends && (holding->sides[0].reduce_size | holding->sides[1].reduce_size) != 0) {
        holding->reduce_cancel_sequence = state_stamp(engine);
        work_queue_cancel(engine, party->holding);
    }
    holding->size = position.size;
    holding->cost = position.cost;
    holding->funding_epoch = position.size != 0 ? market->funding_epoch : 0;
    uint64_t size = margin_abs(position.size);
    market->max_abs_size = size > market->max_abs_size ? size : market->max_abs_size;
    market->scan_max = size > market->scan_max ? size : market->scan_max;
    risk_changed(engine, party->holding);
}

static void tell_fill(struct engine *engine, const struct market *market, const struct party *party,
                      uint64_t price)
{
    struct effect_fill body = {
        .price = price,
        .quantity = party->quantity,
        .fee = party->fee,
    };

    effects_put(&body, offsetof(struct effect_fill, index), party->fill_index, party->liquidity);
    memcpy(body.order_id, engine->orders.hot[party->order].id, sizeof body.order_id);
    effects_emit(engine, EFFECT_fill, party->order, market->record.asset_id, &body);
}

static void move_cash(struct engine *engine, const struct party *party)
{
    uint32_t portfolio = state_holding(engine, party->holding)->portfolio;

    portfolio_cash(engine, portfolio, CASH_trade, party->realised, party->fill_index);
    portfolio_cash(engine, portfolio, CASH_fee, -party->fee, party->fill_index);
#if defined(PLANTED_BUG) && PLANTED_BUG == 17 /* a fill loses money */
    engine->fee_account -= 1;
#endif
    engine->fee_account += party->fee;
}

/* 2103; a position that is gone gives up its id afterwards, so equal states stay equal. */
static void tell_position(struct engine *engine, const struct market *market,
                          const struct party *party)
{
    struct holding *holding = state_holding(engine, party->holding);
    const struct portfolio *portfolio = state_portfolio(engine, holding->portfolio);
    int64_t size = holding->size, cost = holding->cost;
    CC_OPAQUE(size); /* just stored one by one: a load of both would wait for all stores before */
    struct effect_position body = {
        .portfolio.account_id = portfolio->account,
        .size = size,
        .cost = cost,
        .net_funding = holding->net_funding,
    };

    effects_put(&body, offsetof(struct effect_position, portfolio.subaccount_index),
                portfolio->subaccount_index, portfolio->portfolio_index);
    effects_put(&body, offsetof(struct effect_position, asset_id), market->record.asset_id, 0);
    effects_emit(engine, EFFECT_position, party->holding, market->record.asset_id, &body);
    if (holding->size == 0) {
        holding->net_funding = 0;
        holding->position_ns = 0;
        holding->position_sequence = 0;
        holding->position_index = 0;
    }
}

static void tell_trade(struct engine *engine, struct market *market, uint32_t market_index,
                       uint64_t price, uint64_t quantity, uint8_t taker_side)
{
    struct effect_trade body = {
        .price = price,
        .size = quantity,
        .trade_seq = ++market->trade_seq,
        .book_seq = market_next_seq(market),
    };

    effects_put(&body, offsetof(struct effect_trade, asset_id), market->record.asset_id,
                taker_side);
    market->last_price = price;
    effects_emit(engine, EFFECT_trade, market_index, market->record.asset_id, &body);
}

void fill_execute(struct engine *engine, uint32_t maker_index, uint32_t taker_index,
                  uint64_t quantity)
{
    struct order *maker_order = &engine->orders.hot[maker_index];
    struct order *taker_order = &engine->orders.hot[taker_index];
    struct market *market = state_market(engine, maker_order->market);
    uint64_t price = resting_price(engine, maker_order);
    struct account *maker_account = &engine->accounts.rows[maker_order->account];
    struct account *taker_account = &engine->accounts.rows[taker_order->account];
    uint64_t notional = price * quantity;
    int64_t signed_quantity =
        taker_order->side == ORDER_LONG ? (int64_t)quantity : -(int64_t)quantity;
    struct party maker = {
        .order = maker_index,
        .holding = maker_order->holding,
        .quantity = -signed_quantity,
        .fee = fee_amount(notional, market->record.maker_ppm[maker_account->fee_tier]),
        .liquidity = LIQUIDITY_MAKER,
    };
    struct party taker = {
        .order = taker_index,
        .holding = taker_order->holding,
        .quantity = signed_quantity,
        .fee = fee_amount(notional, market->record.taker_ppm[taker_account->fee_tier]),
        .liquidity = LIQUIDITY_TAKER,
    };

    bool filled = resting_fill(engine, maker_index, quantity, price);
    taker_order->remaining -= quantity;
    order_add_fill(taker_order, &engine->orders.cold[taker_index], quantity, notional);
    move_position(engine, market, &maker, price);
    move_position(engine, market, &taker, price);
    fee_count_volume(maker_account, engine->t_ns, notional);
    fee_count_volume(taker_account, engine->t_ns, notional);

    tell_trade(engine, market, maker_order->market, price, quantity, taker_order->side);
    tell_fill(engine, market, &maker, price);
    tell_fill(engine, market, &taker, price);
    move_cash(engine, &taker);
    move_cash(engine, &maker);
    tell_position(engine, market, &maker);
    tell_position(engine, market, &taker);
    trigger_traded(engine, maker_order->market, price);
    resting_tell(engine, maker_index, BOOK_EXECUTE, quantity);
    if (filled)
        order_release(&engine->orders, maker_index);
}
