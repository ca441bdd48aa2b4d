#include "engine/trade/place.h"

#include "base/rule.h"
#include "engine/state/evidence.h"
#include "engine/trade/order_plan.h"
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
                     const struct order_request *request)
{
    uint32_t index = order_alloc(&engine->orders);
    struct order *order = &engine->orders.hot[index];
    struct order_cold *cold = &engine->orders.cold[index];

    INVARIANT(index != ORDER_NONE);
    memcpy(order->id, name->id, sizeof order->id);
    order->tick = request->tick;
    order->remaining = request->quantity;
    order->holding = request->holding != HOLDING_NONE
                         ? request->holding
                         : holding_get(engine, request->portfolio, request->market_index);
    order->market = (uint16_t)request->market_index;
    order->side = request->side;
    order->flags = order_request_flags(request);
    order->account = name->account;
    order->order_type = request->order_type;
    cold->placed_ns = engine->t_ns;
    cold->handle = 0;
    order->stamp = state_next_stamp(engine);
    if (request->tif == ORDER_GTT)
        order_extra(&engine->orders, index)->expiry_ns = request->expiry;
    if (CC_UNLIKELY(name->conditional != CONDITIONAL_NONE)) {
        const struct conditional *waited = &engine->conditionals.rows[name->conditional];
        order_extra(&engine->orders, index)->placed_rank = conditional_rank(waited);
        cold->placed_ns = waited->placed_ns; /* its last change is now */
        conditional_keep_origin(engine, name->conditional, index);
    }
    return index;
}

void place_emit_refused(struct engine *engine, const struct place_name *name,
                        const struct order_request *request, enum status status,
                        struct engine_result *result)
{
    struct effect_order_state body = {
        .remaining = request->quantity,
        .price = order_type_is_market(request->order_type) ? 0 : request->price,
        .status = ORDER_REJECTED,
        .reason = (uint8_t)status,
        .side = request->side,
        .order_type = request->order_type,
        .asset_id = request->asset_id,
    };

    memcpy(body.order_id, name->id, sizeof body.order_id);
    engine->accounts.rows[engine->applying.account].private_seq++; /* its signer's */
    effects_emit(engine, EFFECT_order_state, EFFECT_NO_RECORD, request->asset_id, &body);
    evidence_of_refusal(engine, result, request->quantity);
}

enum status place_request(struct engine *engine, const struct place_name *name,
                          struct order_request *request, struct engine_result *result)
{
    struct order_plan plan;
    enum status status = order_request_terms(engine, request);

    if (status == STATUS_request_completed)
        status = order_plan_decide(engine, request, &plan);
    if (status != STATUS_request_completed) {
        engine->applying.unpaid += request->passed;
        return status;
    }
    uint32_t order = place_alloc(engine, name, request);
    order_plan_act(engine, request, &plan, order, name->hash, result);
    return ROW_STATUS(completed);
}

enum status place_rows(struct engine *engine, const struct place_name *name,
                       struct order_request *request, struct engine_result *result)
{
    enum status status = order_request_form(engine, request, false);

    if (status != STATUS_request_completed) {
        if (result != NULL)
            result->reason = request->reason;
        return status;
    }
    status = place_request(engine, name, request, result);
    if (status != STATUS_request_completed)
        place_emit_refused(engine, name, request, status, result);
    return status;
}

static enum status run_rows(struct engine *engine, const struct command *command,
                            struct order_request *request, struct engine_result *result)
{
    struct place_name name = {
        .id = command_request_id(command),
        .hash = command->request_hash,
        .account = engine->applying.account,
    };

    INVARIANT(name.id != NULL); /* a client that places has signed */
    return place_rows(engine, &name, request, result);
}

enum status place_limit(struct engine *engine, const struct command *command,
                        struct engine_result *result)
{
    struct limit_body body;
    struct order_request request;

    memcpy(&body, command_body(command), sizeof body);
    request.price = body.price;
    request.signed_quantity = body.quantity;
    request.expiry = body.expiry;
    request.slippage_ppm = 0;
    request.pads = body.pad | body.pad2;
    request.portfolio = engine->applying.portfolio;
    request.account = engine->applying.account;
    request.replaced = ORDER_NONE;
    request.asset_id = body.asset_id;
    request.order_type = ORDER_LIMIT;
    request.post_only = body.post_only;
    request.reduce_only = body.reduce_only;
    request.stp = body.stp;
    request.waits = false;
    request.fires = false;
    request.goes_on = false;
    return run_rows(engine, command, &request, result);
}

enum status place_market(struct engine *engine, const struct command *command,
                         struct engine_result *result)
{
    struct market_body body;
    struct order_request request;
    uint32_t pads = 0;

    memcpy(&body, command_body(command), sizeof body);
    for (uint32_t i = 0; i < sizeof body.pad2; i++)
        pads |= body.pad2[i];
    request.price = 0;
    request.signed_quantity = body.quantity;
    request.expiry = 0; /* IOC */
    request.slippage_ppm = body.max_slippage_ppm;
    request.pads = pads | body.pad;
    request.portfolio = engine->applying.portfolio;
    request.account = engine->applying.account;
    request.replaced = ORDER_NONE;
    request.asset_id = body.asset_id;
    request.order_type = ORDER_MARKET;
    request.post_only = 0;
    request.reduce_only = body.reduce_only;
    request.stp = body.stp;
    request.waits = false;
    request.fires = false;
    request.goes_on = false;
    return run_rows(engine, command, &request, result);
}
