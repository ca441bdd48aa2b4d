#include "node/history/order_summary.h"

#include "base/message.h"
#include "engine/state/conditional.h"
#include "engine/table/order.h"
#include "engine/view/read.h"
#include "node/history/market_names.h"

/* Bodies of the placements (wire.md W3). */
enum { AT_ACCOUNT = 0, AT_SUBACCOUNT = 8, AT_PORTFOLIO = 12 };

/* Where the fields of a placement are; NO_FIELD: it has none, the value is 0. */
enum { NO_FIELD = 255 };

struct placement {
    uint8_t price, quantity, expiry, post_only, reduce_only, stp;
};

static const struct placement limit_places = { 16, 24, 32, 40, 41, 42 };
static const struct placement market_places = { NO_FIELD, 16, NO_FIELD, NO_FIELD, 32, 33 };
static const struct placement conditional_places = { 24, 32, 40, 48, 49, 50 };
static const struct placement item_places = { 8, 16, 24, 1, 2, 3 };

enum {
    CONDITIONAL_AT_TRIGGER = 16,
    CONDITIONAL_AT_SOURCE = 60,
    CONDITIONAL_AT_LIVE_TIF = 61,
    CONDITIONAL_AT_OCO = 64,
    BATCH_AT_COUNT = 16,
    BATCH_AT_ITEMS = 24,
    ITEM_BYTES = 64,
    ITEM_AT_OP = 0,
    ITEM_AT_ID = 32,
    ITEM_OP_PLACE = 0,
};

static void apply_record(struct order_summary *order, const struct effect *effect)
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
    order->trigger_price = row.trigger_price;
    memcpy(order->oco_group, row.oco_group, sizeof order->oco_group);
    order->trigger_source = row.trigger_source;
    order->live_tif = row.live_tif;
    bool is_engines =
        order->order_type == ORDER_LIQUIDATE || order->order_type == ORDER_AUTO_DELEVERAGE;
    if (is_engines && order->sequence != effect->sequence) {
        order->sequence = effect->sequence;
        order->time_ns = effect->t_ns;
    }
}

static uint64_t field64(const uint8_t *from, uint8_t at)
{
    return at == NO_FIELD ? 0 : cc_load64(from + at);
}

static uint8_t field8(const uint8_t *from, uint8_t at)
{
    return at == NO_FIELD ? 0 : from[at];
}

static void decode_placement(struct order_summary *order, const uint8_t *from,
                             const struct placement *places)
{
    int64_t quantity = (int64_t)field64(from, places->quantity);

    order->initial = quantity < 0 ? 0 - (uint64_t)quantity : (uint64_t)quantity;
    order->remaining = order->initial;
    order->price = field64(from, places->price);
    order->expiry = field64(from, places->expiry);
    order->post_only = field8(from, places->post_only) != 0;
    order->reduce_only = field8(from, places->reduce_only) != 0;
    order->stp = field8(from, places->stp);
}

static void decode_conditional(struct order_summary *order, const uint8_t *body)
{
    decode_placement(order, body, &conditional_places);
    order->trigger_price = cc_load64(body + CONDITIONAL_AT_TRIGGER);
    order->trigger_source = body[CONDITIONAL_AT_SOURCE];
    order->live_tif = body[CONDITIONAL_AT_LIVE_TIF];
    memcpy(order->oco_group, body + CONDITIONAL_AT_OCO, sizeof order->oco_group);
}

/* The item of a batch that places the order. */
static void decode_item(struct order_summary *order, const uint8_t *body)
{
    const uint8_t *item = body + BATCH_AT_ITEMS;

    for (uint32_t k = 0; k < cc_load16(body + BATCH_AT_COUNT); k++, item += ITEM_BYTES) {
        if (item[ITEM_AT_OP] != ITEM_OP_PLACE ||
            memcmp(item + ITEM_AT_ID, order->id.bytes, sizeof order->id.bytes) != 0)
            continue;
        decode_placement(order, item, &item_places);
        order->index = ORDER_SUMMARY_REFUSED + k;
        return;
    }
    INVARIANT(!"a batch refuses an order that it does not place");
}

static void apply_refusal(struct order_summary *order, const struct effect *effect)
{
    const uint8_t *body = command_body(effect->command);

    order->account_id = cc_load64(body + AT_ACCOUNT);
    order->subaccount_index = cc_load32(body + AT_SUBACCOUNT);
    order->portfolio_index = cc_load32(body + AT_PORTFOLIO);
    order->sequence = effect->sequence;
    order->time_ns = effect->t_ns;
    switch (effect->command->code) {
    case REQUEST_place_market_order: /* no price, and it never rests */
        decode_placement(order, body, &market_places);
        return;
    case REQUEST_place_conditional_order:
        decode_conditional(order, body);
        return;
    case REQUEST_order_batch:
        decode_item(order, body);
        return;
    default:
        INVARIANT(effect->command->code == REQUEST_place_limit_order);
        decode_placement(order, body, &limit_places);
    }
}

void order_summary_make(struct order_summary *order, const struct effect *effect,
                        const struct effect_order_state *state)
{
    *order = (struct order_summary){
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
        apply_refusal(order, effect);
    else
        apply_record(order, effect);
    /* A conditional order that has a record was placed; it was refused when it fired. */
    order->is_refusal =
        order->status == ORDER_REJECTED && order->sequence == effect->sequence &&
        (effect->record == EFFECT_NO_RECORD || !conditional_is_kind(order->order_type));
}

bool order_summary_is_final(const struct order_summary *order)
{
    return order_state_is_final((enum order_state)order->status);
}

void order_summary_show(const struct order_summary *order, const struct market_names *names,
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
    row->trigger_price = order->trigger_price;
    memcpy(row->oco_group, order->oco_group, sizeof row->oco_group);
    row->trigger_source = order->trigger_source;
    row->live_tif = order->live_tif;
    row->price_decimals = market->price_decimals;
    row->size_decimals = market->size_decimals;
}
