#include "engine/trade/amend.h"

#include "base/rule.h"
#include "base/uuid.h"
#include "engine/state/evidence.h"
#include "engine/trade/order_plan.h"
#include "engine/trade/resting.h"

/* The body of code 1 (W3). */
struct reduction_body {
    uint64_t account_id;
    uint32_t subaccount_index;
    uint32_t portfolio_index;
    uint8_t order_id[UUID_BYTES];
    uint64_t reduce_by;
    uint64_t expected_remaining;
    uint16_t asset_id;
    uint16_t pad;
    uint32_t pad2;
};

/* The body of code 2. */
struct replacement_body {
    uint64_t account_id;
    uint32_t subaccount_index;
    uint32_t portfolio_index;
    uint8_t order_id[UUID_BYTES];
    uint64_t price;
    int64_t quantity;
    uint64_t expiry;
    uint8_t post_only;
    uint8_t reduce_only;
    uint8_t stp;
    uint8_t pad;
    uint16_t asset_id;
    uint16_t pad2;
    uint64_t expected_remaining;
};

static_assert(sizeof(struct reduction_body) == 56, "W3: OrderReduction");
static_assert(sizeof(struct replacement_body) == 72, "W3: OrderReplacement");

static bool is_v7(const uint8_t *bytes)
{
    struct uuid id;

    uuid_load(&id, bytes);
    return uuid_is_v7(&id);
}

/* Finds the live order, and checks that its remaining is what its owner expects. */
static enum status find_target(struct engine *engine, uint32_t market,
                               const struct amend_target *target, struct engine_result *result,
                               uint32_t *order)
{
    *order = resting_find(engine, market, target->id, target->hash);
    if (*order == ORDER_NONE)
        return ROW_STATUS(target);
    evidence_of_order(engine, result, *order);
    if (target->expected != 0 && target->expected != engine->orders.hot[*order].remaining)
        return ROW_STATUS(expected_remaining);
    return STATUS_request_completed;
}

/* Row 21 of what a reduction leaves: every rest keeps min_notional, a reduce-only one too. */
static bool leaves_too_little(const struct engine *engine, uint32_t index, uint64_t reduce_by)
{
    const struct order *order = &engine->orders.hot[index];
    uint128 left = (uint128)(order->remaining - reduce_by) * resting_price(engine, order);

    return left < engine->markets.rows[order->market].record.min_notional;
}

enum status amend_reduce_decide(struct engine *engine, const struct amend_target *target,
                                uint64_t reduce_by, struct engine_result *result, uint32_t *order)
{
    uint32_t market;

    if (!is_v7(target->id))
        return ROW_STATUS(target_id);
    enum status status = market_of_asset(engine, target->asset_id, &market);
    if (status != STATUS_request_completed)
        return status;
    if (target->pads != 0)
        return ROW_STATUS(form);
    status = find_target(engine, market, target, result, order);
    if (status != STATUS_request_completed)
        return status;
    if (reduce_by == 0)
        return ROW_STATUS(size_zero);
    if (reduce_by < engine->orders.hot[*order].remaining &&
        (reduce_by % state_market(engine, market)->record.lot_size != 0 ||
         leaves_too_little(engine, *order, reduce_by)))
        return ROW_STATUS(size);
    return STATUS_request_completed;
}

void amend_reduce_act(struct engine *engine, uint32_t order, uint64_t reduce_by,
                      struct engine_result *result)
{
    if (reduce_by >= engine->orders.hot[order].remaining) {
        evidence_of_end(engine, result, order, ORDER_CANCELED);
        resting_remove(engine, order, ORDER_CANCELED, REASON_user_cancel);
        return;
    }
    resting_reduce(engine, order, reduce_by);
    evidence_of_order(engine, result, order);
}

enum status amend_reduce(struct engine *engine, const struct command *command,
                         struct engine_result *result)
{
    struct reduction_body body;
    uint32_t order;

    memcpy(&body, command_body(command), sizeof body);
    struct amend_target target = {
        .id = body.order_id,
        .hash = command->target_hash,
        .expected = body.expected_remaining,
        .pads = body.pad | body.pad2,
        .asset_id = body.asset_id,
    };
    enum status status = amend_reduce_decide(engine, &target, body.reduce_by, result, &order);
    if (status == STATUS_request_completed)
        amend_reduce_act(engine, order, body.reduce_by, result);
    return status;
}

enum status amend_replace_terms(struct engine *engine, const struct amend_target *target,
                                struct order_request *request, struct engine_result *result)
{
    if (!is_v7(target->id))
        return ROW_STATUS(target_id);
    enum status status = order_request_form(engine, request, true);
    if (status != STATUS_request_completed && result != NULL)
        result->reason = request->reason;
    if (status == STATUS_request_completed)
        status = find_target(engine, request->market_index, target, result, &request->replaced);
    return status != STATUS_request_completed ? status : order_request_terms(engine, request);
}

/* Lists of reduce-only and of post-only orders cover those that were such when they were made.
 * Before an older order turns into one of its rank, what the last list covers leaves, and the list
 * with it: else it would cover this one too. */
static void close_list(struct engine *engine, uint32_t head, uint8_t flag, uint64_t *list)
{
    const struct order_table *orders = &engine->orders;
    uint32_t next;

    for (uint32_t at = head; at != ORDER_NONE; at = next) {
        const struct order *order = &orders->hot[at];
        uint8_t reason;
        next = orders->cold[at].list_next;
        if ((order->flags & flag) == 0 || order->stamp >= *list)
            continue;
        enum order_state state = resting_death(engine, at, &reason);
        resting_remove(engine, at, state, reason);
    }
    *list = 0;
}

static void keep_priority(struct engine *engine, const struct order_request *request,
                          const struct resting_terms *terms)
{
    const struct order *order = &engine->orders.hot[request->replaced];
    struct holding *holding = state_holding(engine, order->holding);
    uint8_t turned = terms->flags & (uint8_t)~order->flags;

    if ((turned & ORDER_REDUCE_ONLY) != 0 && order->stamp < holding->reduce_cancel_sequence)
        close_list(engine, holding->order_head, ORDER_REDUCE_ONLY,
                   &holding->reduce_cancel_sequence);
    if ((turned & ORDER_POST_ONLY) != 0 && order->stamp < holding->post_cancel_sequence)
        close_list(engine, holding->order_head, ORDER_POST_ONLY, &holding->post_cancel_sequence);
    resting_change(engine, request->replaced, order->remaining - request->quantity, terms);
}

void amend_replace_act(struct engine *engine, const struct order_request *request,
                       const struct order_plan *plan, struct engine_result *result)
{
    struct order *order = &engine->orders.hot[request->replaced];
    struct resting_terms terms = { .expiry_ns = request->expiry,
                                   .flags = order_request_flags(request) };

    if (request->keeps_priority) {
        terms.flags |= order->flags & ORDER_WAS_REDUCING;
        if ((order->flags & ORDER_REDUCE_ONLY) != 0)
            terms.flags |= ORDER_WAS_REDUCING;
        keep_priority(engine, request, &terms);
        evidence_of_order(engine, result, request->replaced);
        return;
    }
    resting_lift(engine, request->replaced);
    resting_set_terms(engine, request->replaced, &terms);
    order->tick = request->tick;
    order->remaining = request->quantity;
    order->stamp = state_next_stamp(engine);
    order_extra(&engine->orders, request->replaced)->entered_ns = engine->t_ns;
    order_plan_act(engine, request, plan, request->replaced, 0, result);
}

enum status amend_replace_rows(struct engine *engine, const struct amend_target *target,
                               struct order_request *request, struct engine_result *result)
{
    struct order_plan plan;
    enum status status = amend_replace_terms(engine, target, request, result);

    if (status == STATUS_request_completed)
        status = order_plan_decide(engine, request, &plan);
    if (status == STATUS_request_completed)
        amend_replace_act(engine, request, &plan, result);
    return status;
}

enum status amend_replace(struct engine *engine, const struct command *command,
                          struct engine_result *result)
{
    struct replacement_body body;
    memcpy(&body, command_body(command), sizeof body);
    struct amend_target target = {
        .id = body.order_id,
        .hash = command->target_hash,
        .expected = body.expected_remaining,
    };
    struct order_request request = {
        .price = body.price,
        .signed_quantity = body.quantity,
        .expiry = body.expiry,
        .pads = body.pad | body.pad2,
        .portfolio = engine->applying.portfolio,
        .account = engine->applying.account,
        .asset_id = body.asset_id,
        .order_type = ORDER_LIMIT,
        .post_only = body.post_only,
        .reduce_only = body.reduce_only,
        .stp = body.stp,
    };
    return amend_replace_rows(engine, &target, &request, result);
}
