#include "engine/trade/place.h"

#include "base/rule.h"
#include "engine/state/evidence.h"
#include "engine/trade/entry.h"
#include "engine/trade/resting.h"

/* The body of code 0 (W3). */
struct limit_body {
    uint64_t account_id;
    uint32_t subaccount_index;
    uint32_t portfolio_index;
    uint64_t price;
    int64_t quantity;
    uint64_t expiry;
    uint8_t post_only;
    uint8_t reduce_only;
    uint8_t stp;
    uint8_t pad;
    uint16_t asset_id;
    uint16_t pad2;
};

/* The body of code 5. */
struct market_body {
    uint64_t account_id;
    uint32_t subaccount_index;
    uint32_t portfolio_index;
    int64_t quantity;
    uint32_t max_slippage_ppm;
    uint16_t asset_id;
    uint16_t pad;
    uint8_t reduce_only;
    uint8_t stp;
    uint8_t pad2[6];
};

static_assert(sizeof(struct limit_body) == 48, "W3: PlaceLimitOrder");
static_assert(sizeof(struct market_body) == 40, "W3: PlaceMarketOrder");

uint32_t place_alloc(struct engine *engine, const struct place_name *name,
                     const struct entry *entry)
{
    uint32_t index = order_alloc(&engine->orders);
    struct order *order = &engine->orders.hot[index];
    struct order_cold *cold = &engine->orders.cold[index];

    INVARIANT(index != ORDER_NONE);
    memcpy(order->id, name->id, sizeof order->id);
    order->tick = entry->tick;
    order->remaining = entry->quantity;
    order->holding = entry->holding != HOLDING_NONE
                         ? entry->holding
                         : holding_get(engine, entry->portfolio, entry->market_index);
    order->market = (uint16_t)entry->market_index;
    order->side = entry->side;
    order->flags = entry_flags(entry);
    order->account = name->account;
    order->order_type = entry->order_type;
    cold->placed_ns = engine->t_ns;
    order->stamp = state_next_stamp(engine);
    if (entry->tif == ORDER_GTT)
        order_extra(&engine->orders, index)->expiry_ns = entry->expiry;
    if (CC_UNLIKELY(name->conditional != CONDITIONAL_NONE)) {
        const struct conditional *waited = &engine->conditionals.rows[name->conditional];
        order_extra(&engine->orders, index)->placed_rank = conditional_rank(waited);
        cold->placed_ns = waited->placed_ns; /* behind it: its last change is now */
        conditional_keep_origin(engine, name->conditional, index);
    }
    return index;
}

void place_emit_refused(struct engine *engine, const struct place_name *name,
                        const struct entry *entry, enum status status, struct engine_result *result)
{
    struct effect_order_state body = {
        .remaining = entry->quantity,
        .price = order_type_is_market(entry->order_type) ? 0 : entry->price,
        .status = ORDER_REJECTED,
        .reason = (uint8_t)status,
        .side = entry->side,
        .order_type = entry->order_type,
        .asset_id = entry->asset_id,
    };

    memcpy(body.order_id, name->id, sizeof body.order_id);
    effects_emit(engine, EFFECT_order_state, EFFECT_NO_RECORD, entry->asset_id, &body);
    evidence_of_refusal(engine, result, entry->quantity);
}

enum status place_entry(struct engine *engine, const struct place_name *name, struct entry *entry,
                        struct engine_result *result)
{
    struct entry_plan plan;
    enum status status = entry_terms(engine, entry);

    if (status == STATUS_request_completed)
        status = entry_decide(engine, entry, &plan);
    if (status != STATUS_request_completed)
        return status;
    uint32_t order = place_alloc(engine, name, entry);
    entry_act(engine, entry, &plan, order, name->hash, result);
    return ROW_STATUS(completed);
}

enum status place_rows(struct engine *engine, const struct place_name *name, struct entry *entry,
                       struct engine_result *result)
{
    enum status status = entry_form(engine, entry, false);

    if (status != STATUS_request_completed) {
        if (result != NULL)
            result->reason = entry->reason;
        return status;
    }
    status = place_entry(engine, name, entry, result);
    if (status != STATUS_request_completed)
        place_emit_refused(engine, name, entry, status, result);
    return status;
}

static enum status run_rows(struct engine *engine, const struct command *command,
                            struct entry *entry, struct engine_result *result)
{
    struct place_name name = {
        .id = command_request_id(command),
        .hash = command->request_hash,
        .account = engine->applying.account,
    };

    INVARIANT(name.id != NULL); /* whoever places has signed */
    return place_rows(engine, &name, entry, result);
}

enum status place_limit(struct engine *engine, const struct command *command,
                        struct engine_result *result)
{
    struct limit_body body;
    struct entry entry;

    memcpy(&body, command_body(command), sizeof body);
    entry.price = body.price;
    entry.signed_quantity = body.quantity;
    entry.expiry = body.expiry;
    entry.slippage_ppm = 0;
    entry.pads = body.pad | body.pad2;
    entry.portfolio = engine->applying.portfolio;
    entry.account = engine->applying.account;
    entry.replaced = ORDER_NONE;
    entry.asset_id = body.asset_id;
    entry.order_type = ORDER_LIMIT;
    entry.post_only = body.post_only;
    entry.reduce_only = body.reduce_only;
    entry.stp = body.stp;
    entry.waits = false;
    return run_rows(engine, command, &entry, result);
}

enum status place_market(struct engine *engine, const struct command *command,
                         struct engine_result *result)
{
    struct market_body body;
    struct entry entry;
    uint32_t pads = 0;

    memcpy(&body, command_body(command), sizeof body);
    for (uint32_t i = 0; i < sizeof body.pad2; i++)
        pads |= body.pad2[i];
    entry.price = 0;
    entry.signed_quantity = body.quantity;
    entry.expiry = 0; /* IOC */
    entry.slippage_ppm = body.max_slippage_ppm;
    entry.pads = pads | body.pad;
    entry.portfolio = engine->applying.portfolio;
    entry.account = engine->applying.account;
    entry.replaced = ORDER_NONE;
    entry.asset_id = body.asset_id;
    entry.order_type = ORDER_MARKET;
    entry.post_only = 0;
    entry.reduce_only = body.reduce_only;
    entry.stp = body.stp;
    entry.waits = false;
    return run_rows(engine, command, &entry, result);
}
