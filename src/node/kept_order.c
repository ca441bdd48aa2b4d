#include "node/kept_order.h"

#include "base/message.h"
#include "engine/order_state.h"
#include "engine/read.h"
#include "node/market_names.h"

/* Bodies of the placements (wire.md W3). */
enum {
    AT_ACCOUNT = 0,
    AT_SUBACCOUNT = 8,
    AT_PORTFOLIO = 12,
    LIMIT_AT_PRICE = 16,
    LIMIT_AT_QUANTITY = 24,
    LIMIT_AT_EXPIRY = 32,
    LIMIT_AT_POST_ONLY = 40,
    LIMIT_AT_REDUCE_ONLY = 41,
    LIMIT_AT_STP = 42,
    MARKET_AT_QUANTITY = 16,
    MARKET_AT_REDUCE_ONLY = 32,
    MARKET_AT_STP = 33,
};

static void take_record(struct kept_order *order, const struct effect *effect)
{
    struct row_order row;

    read_order_record(effect->engine, effect->record, &row);
    order->account_id = row.account_id;
    order->initial = row.initial;
    order->filled_notional = (uint64_t)row.filled_notional;
    order->expiry = row.expiry;
    order->sequence = row.sequence;
    order->time_ns = row.time_ns;
    order->index = row.index;
    order->subaccount_index = row.subaccount_index;
    order->portfolio_index = row.portfolio_index;
    order->stp = row.stp;
    order->post_only = row.post_only != 0;
    order->reduce_only = row.reduce_only != 0;
}

static void take_refusal(struct kept_order *order, const struct effect *effect)
{
    const uint8_t *body = command_body(effect->command);
    bool is_market = effect->command->code == REQUEST_place_market_order;
    INVARIANT(is_market || effect->command->code == REQUEST_place_limit_order);
    int64_t quantity =
        (int64_t)cc_load64(body + (is_market ? MARKET_AT_QUANTITY : LIMIT_AT_QUANTITY));

    order->account_id = cc_load64(body + AT_ACCOUNT);
    order->subaccount_index = cc_load32(body + AT_SUBACCOUNT);
    order->portfolio_index = cc_load32(body + AT_PORTFOLIO);
    order->initial = quantity < 0 ? 0 - (uint64_t)quantity : (uint64_t)quantity;
    order->remaining = order->initial;
    order->sequence = effect->sequence;
    order->time_ns = effect->t_ns;
    if (is_market) { /* no price, and it never rests */
        order->price = 0;
        order->expiry = 0;
        order->reduce_only = body[MARKET_AT_REDUCE_ONLY] != 0;
        order->stp = body[MARKET_AT_STP];
        return;
    }
    order->price = cc_load64(body + LIMIT_AT_PRICE);
    order->expiry = cc_load64(body + LIMIT_AT_EXPIRY);
    order->post_only = body[LIMIT_AT_POST_ONLY] != 0;
    order->reduce_only = body[LIMIT_AT_REDUCE_ONLY] != 0;
    order->stp = body[LIMIT_AT_STP];
}

void kept_order_make(struct kept_order *order, const struct effect *effect,
                     const struct effect_order_state *state)
{
    *order = (struct kept_order){
        .remaining = state->remaining,
        .filled = state->filled,
        .price = state->price,
        .updated_at_ns = effect->t_ns,
        .asset_id = state->asset_id,
        .status = state->status,
        .order_type = state->order_type,
        .side = state->side,
        .reason = state->reason,
    };
    uuid_load(&order->id, state->order_id);
    if (effect->record == EFFECT_NO_RECORD)
        take_refusal(order, effect);
    else
        take_record(order, effect);
}

bool kept_order_is_final(const struct kept_order *order)
{
    return order_state_is_final((enum order_state)order->status);
}

void kept_order_show(const struct kept_order *order, const struct market_names *names,
                     struct row_order *row)
{
    const struct market_name *market = market_names_of(names, order->asset_id);

    memset(row, 0, sizeof *row);
    row->account_id = order->account_id;
    row->subaccount_index = order->subaccount_index;
    row->portfolio_index = order->portfolio_index;
    memcpy(row->id, order->id.bytes, sizeof row->id);
    memcpy(row->market, market->symbol, sizeof row->market);
    row->initial = order->initial;
    row->remaining = order->remaining;
    row->filled = order->filled;
    row->filled_notional = (int128)order->filled_notional;
    row->price = order->price;
    row->expiry = order->expiry;
    row->sequence = order->sequence;
    row->time_ns = order->time_ns;
    row->updated_at_ns = order->updated_at_ns;
    row->index = order->index;
    row->status = order->status;
    row->order_type = order->order_type;
    row->side = order->side;
    row->reason = order->reason;
    row->post_only = order->post_only;
    row->reduce_only = order->reduce_only;
    row->stp = order->stp;
    row->price_decimals = market->price_decimals;
    row->size_decimals = market->size_decimals;
}
