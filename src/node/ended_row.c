#include "node/ended_row.h"

#include "base/message.h"
#include "engine/read.h"

/* PlaceLimitOrder (wire.md W3, code 0). */
enum {
    AT_ACCOUNT = 0,
    AT_SUBACCOUNT = 8,
    AT_PORTFOLIO = 12,
    AT_PRICE = 16,
    AT_QUANTITY = 24,
    AT_EXPIRY = 32,
    AT_POST_ONLY = 40,
    AT_REDUCE_ONLY = 41,
    AT_STP = 42,
    ORDER_TYPE_LIMIT = 1,
};

void ended_row_of_record(struct ended_order *order, const struct effect *effect,
                         const struct effect_order_state *state)
{
    struct row_order row;
    read_order_record(effect->engine, effect->record, &row);
    *order = (struct ended_order){
        .account_id = row.account_id,
        .initial = row.initial,
        .remaining = state->remaining,
        .filled = state->filled,
        .filled_notional = (uint64_t)row.filled_notional,
        .price = row.price,
        .expiry = row.expiry,
        .sequence = row.sequence,
        .time_ns = row.time_ns,
        .updated_at_ns = effect->t_ns,
        .index = row.index,
        .subaccount_index = row.subaccount_index,
        .portfolio_index = row.portfolio_index,
        .asset_id = state->asset_id,
        .status = state->status,
        .order_type = state->order_type,
        .side = state->side,
        .reason = state->reason,
        .stp = row.stp,
        .post_only = row.post_only != 0,
        .reduce_only = row.reduce_only != 0,
    };
    uuid_load(&order->id, state->order_id);
}

void ended_row_of_refusal(struct ended_order *order, const struct effect *effect,
                          const struct effect_order_state *state)
{
    const uint8_t *body = command_body(effect->command);
    INVARIANT(effect->command->code == REQUEST_place_limit_order);
    int64_t quantity = (int64_t)cc_load64(body + AT_QUANTITY);
    uint64_t size = quantity < 0 ? 0 - (uint64_t)quantity : (uint64_t)quantity;

    *order = (struct ended_order){
        .account_id = cc_load64(body + AT_ACCOUNT),
        .initial = size,
        .remaining = size,
        .price = cc_load64(body + AT_PRICE),
        .expiry = cc_load64(body + AT_EXPIRY),
        .sequence = effect->sequence,
        .time_ns = effect->t_ns,
        .updated_at_ns = effect->t_ns,
        .subaccount_index = cc_load32(body + AT_SUBACCOUNT),
        .portfolio_index = cc_load32(body + AT_PORTFOLIO),
        .asset_id = state->asset_id,
        .status = state->status,
        .order_type = ORDER_TYPE_LIMIT,
        .side = state->side,
        .reason = state->reason,
        .stp = body[AT_STP],
        .post_only = body[AT_POST_ONLY] != 0,
        .reduce_only = body[AT_REDUCE_ONLY] != 0,
    };
    uuid_load(&order->id, state->order_id);
}

void ended_row_show(struct row_order *row, const struct ended_order *order,
                    const struct engine *engine)
{
    memset(row, 0, sizeof *row);
    row->account_id = order->account_id;
    row->subaccount_index = order->subaccount_index;
    row->portfolio_index = order->portfolio_index;
    memcpy(row->id, order->id.bytes, sizeof row->id);
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

    struct row_market market;
    for (uint32_t k = 0; k < read_market_count(engine); k++) {
        read_market(engine, k, &market);
        if (market.asset_id == order->asset_id) {
            memcpy(row->market, market.market, sizeof row->market);
            row->price_decimals = market.price_decimals;
            row->size_decimals = market.size_decimals;
            return;
        }
    }
    INVARIANT(false); /* markets are never taken out */
}
