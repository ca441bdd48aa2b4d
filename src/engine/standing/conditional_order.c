#include "engine/standing/conditional_order.h"

#include "base/rule.h"
#include "base/uuid.h"
#include "engine/state/evidence.h"
#include "engine/state/trigger.h"
#include "engine/trade/order_request.h"
#include "engine/trade/place.h"
#include "engine/trade/resting.h"

/* The body of code 6 (W3). */
struct conditional_body {
    uint64_t account_id;
    uint32_t subaccount_index;
    uint32_t portfolio_index;
    uint64_t trigger_price;
    uint64_t price;
    int64_t quantity;
    uint64_t expiry;
    uint8_t post_only;
    uint8_t reduce_only;
    uint8_t stp;
    uint8_t order_type;
    uint16_t asset_id;
    uint16_t pad;
    uint32_t max_slippage_ppm;
    uint8_t trigger_source;
    uint8_t live_tif;
    uint16_t pad2;
    uint8_t oco_group[UUID_BYTES];
};

/* The body of code 7. */
struct cancel_body {
    uint64_t account_id;
    uint32_t subaccount_index;
    uint32_t portfolio_index;
    uint8_t order_id[UUID_BYTES];
    uint16_t asset_id;
    uint16_t pad;
    uint32_t pad2;
};

static_assert(sizeof(struct conditional_body) == 80, "W3: PlaceConditionalOrder");
static_assert(sizeof(struct cancel_body) == 40, "W3: ConditionalOrderCancel");

/* Rows market_id to expiry. An order of another kind does not wait for anything. */
static enum status check_form(struct engine *engine, const struct conditional_body *body,
                              struct order_request *request)
{
    bool is_kind = conditional_is_kind(body->order_type);
    enum status status;

    request->pads = (uint32_t)body->pad | body->pad2 | (is_kind ? 0 : 1);
    status = order_request_market(engine, request);
    return status != STATUS_request_completed
               ? status
               : order_request_flags_of_wait(engine, request, body->live_tif);
}

static enum status check_trigger(const struct conditional_body *body,
                                 const struct order_request *request)
{
    const struct market_record *record = &request->market->record;
    uint64_t price = body->trigger_price;
    bool has_limit = !order_type_is_market(body->order_type);

    if (price == 0 || price > record->max_price || price % record->tick_size != 0)
        return ROW_STATUS(trigger);
    if (body->trigger_source >= SOURCE_COUNT || has_limit != (body->price != 0))
        return ROW_STATUS(trigger);
    return STATUS_request_completed;
}

/* What it will be in the table. */
static struct conditional row_of(const struct engine *engine, const struct command *command,
                                 const struct conditional_body *body,
                                 const struct order_request *request)
{
    enum order_tif tif = body->expiry == UINT64_MAX ? ORDER_GTC : ORDER_GTT;
    struct conditional row = {
        .trigger_price = body->trigger_price,
        .price = body->price,
        .quantity = request->quantity,
        .expiry_ns = body->expiry,
        .placed_sequence = engine->sequence,
        .placed_ns = engine->t_ns,
        .hash = command->request_hash,
        .account = request->account,
        .portfolio = request->portfolio,
        .slippage_ppm = body->max_slippage_ppm,
        .market = (uint16_t)request->market_index,
        .side = request->side,
        .order_type = body->order_type,
        .flags = order_flags(body->post_only, body->reduce_only, body->stp, tif),
        .source = body->trigger_source,
        .live_tif = body->live_tif,
        .state = ORDER_UNTRIGGERED,
    };

    memcpy(row.id, command_request_id(command), sizeof row.id);
    memcpy(row.oco, body->oco_group, sizeof row.oco);
    return row;
}

/* Rows size_zero to room; *row gets the order. */
static enum status check_terms(struct engine *engine, const struct command *command,
                               const struct conditional_body *body, struct order_request *request,
                               struct conditional *row)
{
    enum status status = order_request_amount_of_wait(engine, request);

    if (status == STATUS_request_completed)
        status = check_trigger(body, request);
    if (status == STATUS_request_completed)
        status = order_request_state_of_wait(engine, request);
    if (status != STATUS_request_completed)
        return status;
    *row = row_of(engine, command, body, request);
    return trigger_is_met(engine, row) ? ROW_STATUS(trigger_is_met)
                                       : order_request_count_of_wait(engine, request);
}

enum status conditional_order_place(struct engine *engine, const struct command *command,
                                    struct engine_result *result)
{
    struct conditional_body body;
    struct conditional row;
    struct place_name name = {
        .id = command_request_id(command),
        .hash = command->request_hash,
        .account = engine->applying.account,
    };

    memcpy(&body, command_body(command), sizeof body);
    struct order_request request = {
        .price = body.price,
        .signed_quantity = body.quantity,
        .expiry = body.expiry,
        .slippage_ppm = body.max_slippage_ppm,
        .portfolio = engine->applying.portfolio,
        .account = engine->applying.account,
        .replaced = ORDER_NONE,
        .asset_id = body.asset_id,
        .order_type = body.order_type,
        .post_only = body.post_only,
        .reduce_only = body.reduce_only,
        .stp = body.stp,
        .waits = true,
    };
    enum status status = check_form(engine, &body, &request);
    if (status != STATUS_request_completed)
        return status;
    status = check_terms(engine, command, &body, &request, &row);
    if (status != STATUS_request_completed) {
        request.price = body.price;
        place_emit_refused(engine, &name, &request, status, result);
        return status;
    }
    uint32_t index = conditional_alloc(&engine->conditionals);
    INVARIANT(index != CONDITIONAL_NONE);
    engine->conditionals.rows[index] = row;
    conditional_enter(engine, index);
    conditional_emit(engine, index);
    evidence_of_wait(engine, result, index);
    return STATUS_request_completed;
}

/* The order rests after it has fired, and is this portfolio's in this market. */
static bool is_on_books(struct engine *engine, uint32_t market, const struct cancel_body *body,
                        uint64_t hash)
{
    uint32_t order = resting_find(engine, market, body->order_id, hash);

    return order != ORDER_NONE && conditional_is_kind(engine->orders.hot[order].order_type);
}

enum status conditional_order_cancel(struct engine *engine, const struct command *command,
                                     struct engine_result *result)
{
    struct cancel_body body;
    struct uuid id;
    uint32_t market;

    memcpy(&body, command_body(command), sizeof body);
    uuid_load(&id, body.order_id);
    if (!uuid_is_v7(&id))
        return ROW_STATUS(target_id);
    enum status status = market_of_asset(engine, body.asset_id, &market);
    if (status != STATUS_request_completed)
        return status;
    if ((body.pad | body.pad2) != 0)
        return ROW_STATUS(form);
    uint32_t index = conditional_find_live(engine, engine->applying.account, body.order_id,
                                           command->target_hash);
    const struct conditional *row = &engine->conditionals.rows[index];
    if (index == CONDITIONAL_NONE || row->portfolio != engine->applying.portfolio ||
        row->market != market)
        return is_on_books(engine, market, &body, command->target_hash)
                   ? STATUS_conditional_order_on_books
                   : STATUS_conditional_order_not_found;
    evidence_of_wait(engine, result, index);
    conditional_end(engine, index, ORDER_CANCELED, REASON_user_cancel);
    return STATUS_request_completed;
}
