#include "engine/trade/batch.h"

#include "base/rule.h"
#include "base/uuid.h"
#include "engine/risk/risk.h"
#include "engine/state/window.h"
#include "engine/trade/amend.h"
#include "engine/trade/batch_atomic.h"
#include "engine/trade/cancel.h"
#include "engine/trade/order_request.h"
#include "engine/trade/place.h"

enum { HEAD_BYTES = 24, HEAD_COUNT_AT = 16, HEAD_ATOMIC_AT = 18, HEAD_PADS_AT = 19 };

static uint32_t count_of(const struct command *command)
{
    return cc_load16(command_body(command) + HEAD_COUNT_AT);
}

bool batch_is_whole(const struct command *command)
{
    uint32_t bytes = command_body_bytes(command);

    return bytes >= HEAD_BYTES && count_of(command) <= MESSAGE_ITEMS_MAX &&
           bytes == HEAD_BYTES + count_of(command) * sizeof(struct batch_item);
}

uint32_t batch_id_count(const struct command *command)
{
    uint32_t ids = 1;

    if (!batch_is_whole(command))
        return ids;
    for (uint32_t i = 0; i < count_of(command); i++)
        ids += command_body(command)[HEAD_BYTES + i * sizeof(struct batch_item)] == BATCH_PLACE;
    return ids;
}

bool batch_enters(const struct command *command)
{
    if (!batch_is_whole(command))
        return false;
    for (uint32_t i = 0; i < count_of(command); i++) {
        uint8_t op = command_body(command)[HEAD_BYTES + i * sizeof(struct batch_item)];
        if (op == BATCH_PLACE || op == BATCH_REPLACE)
            return true;
    }
    return false;
}

void batch_decode(const struct command *command, uint32_t number, struct batch_item *item)
{
    memcpy(item, command_body(command) + HEAD_BYTES + number * sizeof *item, sizeof *item);
}

uint64_t batch_hash(const struct engine *engine, const struct batch_item *item)
{
    return mix_id(engine->key, engine->applying.account, item->order_id);
}

static void load_id(const uint8_t bytes[16], uint64_t id[2])
{
    memcpy(id, bytes, 2 * sizeof id[0]);
}

bool batch_has_v7(const struct batch_item *item)
{
    struct uuid id;

    uuid_load(&id, item->order_id);
    return uuid_is_v7(&id);
}

enum status batch_check_id(const struct engine *engine, const struct command *command,
                           const struct batch_item *item)
{
    uint64_t id[2];

    if (!batch_has_v7(item))
        return ROW_STATUS(target_id);
    load_id(item->order_id, id);
    if (!window_holds(engine, duplicate_id_ms(id), engine->t_ns))
        return ROW_STATUS(window);
    bool is_own = memcmp(item->order_id, command_request_id(command), sizeof id) == 0;
    uint64_t account_id = state_account_id(engine, engine->applying.account);
    if (is_own ||
        duplicate_find(&engine->duplicates, batch_hash(engine, item), account_id, id) != NULL)
        return ROW_STATUS(duplicate);
    return STATUS_request_completed;
}

void batch_order_request(const struct engine *engine, const struct batch_item *item,
                         struct order_request *request)
{
    *request = (struct order_request){
        .price = item->price,
        .signed_quantity = item->quantity,
        .expiry = item->expiry,
        .pads = item->pad | (item->reserved != 0),
        .portfolio = engine->applying.portfolio,
        .account = engine->applying.account,
        .replaced = ORDER_NONE,
        .asset_id = item->asset_id,
        .order_type = ORDER_LIMIT,
        .post_only = item->post_only,
        .reduce_only = item->reduce_only,
        .stp = item->stp,
    };
}

void batch_use_id(struct engine *engine, const struct batch_item *item, enum status status)
{
    struct duplicate_row request = {
        .account = state_account_id(engine, engine->applying.account),
        .processed_at_ns = engine->t_ns,
        .outcome = duplicate_outcome(engine->sequence, (uint8_t)status),
    };

    load_id(item->order_id, request.id);
    duplicate_insert(&engine->duplicates, batch_hash(engine, item), &request);
}

void batch_emit(struct engine *engine, const struct command *command, uint32_t number,
                enum status status, uint8_t reason)
{
    struct effect_answer body = {
        .account_id = state_account_id(engine, engine->applying.account),
        .status = (uint16_t)status,
        .reason = reason,
        .item = (uint8_t)number,
    };

    memcpy(body.request_id, command_request_id(command), sizeof body.request_id);
    effects_emit(engine, EFFECT_answer, EFFECT_NO_RECORD, 0, &body);
}

/* --- items one by one ------------------------------------------------------------------------- */

/* *reason: why row form has refused it, beyond the status. Evidence is of no single order
 * (NULL). */
static enum status apply_place(struct engine *engine, const struct batch_item *item,
                               uint8_t *reason)
{
    struct place_name name = {
        .id = item->order_id,
        .hash = batch_hash(engine, item),
        .account = engine->applying.account,
    };
    struct order_request request;

    batch_order_request(engine, item, &request);
    enum status status = place_rows(engine, &name, &request, NULL);
    *reason = request.reason;
    return status;
}

static enum status apply_reduce(struct engine *engine, const struct batch_item *item,
                                const struct amend_target *target)
{
    uint32_t order;
    enum status status =
        amend_reduce_decide(engine, target, (uint64_t)item->quantity, NULL, &order);

    if (status == STATUS_request_completed && batch_cut_is_negative(item))
        status = ROW_STATUS(size);
    if (status == STATUS_request_completed)
        amend_reduce_act(engine, order, (uint64_t)item->quantity, NULL);
    return status;
}

static enum status apply_replace(struct engine *engine, const struct batch_item *item,
                                 const struct amend_target *target, uint8_t *reason)
{
    struct order_request request;

    batch_order_request(engine, item, &request);
    enum status status = amend_replace_rows(engine, target, &request, NULL);
    *reason = request.reason;
    return status;
}

/* Refuses an op that does not exist, after rows target_id to form. */
static enum status refuse_op(const struct engine *engine, const struct batch_item *item)
{
    uint32_t market;

    if (!batch_has_v7(item))
        return ROW_STATUS(target_id);
    enum status status = market_of_asset(engine, item->asset_id, &market);
    return status != STATUS_request_completed ? status : ROW_STATUS(form);
}

static enum status apply_other(struct engine *engine, const struct batch_item *item,
                               uint8_t *reason)
{
    struct amend_target target = {
        .id = item->order_id,
        .hash = batch_hash(engine, item),
        .expected = item->expected_remaining,
        .pads = item->pad | (item->reserved != 0),
        .asset_id = item->asset_id,
    };
    struct cancel_target end = {
        .id = target.id,
        .hash = target.hash,
        .pads = target.pads,
        .asset_id = target.asset_id,
    };

    switch (item->op) {
    case BATCH_REDUCE:
        return apply_reduce(engine, item, &target);
    case BATCH_REPLACE:
        return apply_replace(engine, item, &target, reason);
    case BATCH_CANCEL:
        return cancel_one(engine, &end, NULL);
    default:
        return refuse_op(engine, item);
    }
}

/* Applies an item like a command, except for the deferred work that it leaves. */
static enum status apply_item(struct engine *engine, const struct command *command, uint32_t number)
{
    struct batch_item item;
    enum status status = STATUS_request_completed;
    uint8_t reason = REASON_none;
    bool is_new = false;

    batch_decode(command, number, &item);
    engine->applying.order_count = number; /* the number of the order that the item places */
    engine->applying.makers = 0;
    if (item.op == BATCH_PLACE) {
        status = batch_check_id(engine, command, &item);
        is_new = status == STATUS_request_completed;
        if (is_new)
            status = apply_place(engine, &item, &reason);
    } else {
        status = apply_other(engine, &item, &reason);
    }
    engine->applying.batch_makers += engine->applying.makers;
    risk_flush(engine);
    if (is_new)
        batch_use_id(engine, &item, status);
    batch_emit(engine, command, number, status, reason);
    return status;
}

static bool head_is_clean(const struct command *command)
{
    const uint8_t *body = command_body(command);
    uint8_t pads = 0;

    for (uint32_t i = HEAD_PADS_AT; i < HEAD_BYTES; i++)
        pads |= body[i];
    return pads == 0 && body[HEAD_ATOMIC_AT] <= 1 && count_of(command) != 0;
}

enum status batch_apply(struct engine *engine, const struct command *command,
                        struct engine_result *result)
{
    uint32_t count = count_of(command);
    enum status status = STATUS_request_completed;

    INVARIANT(batch_is_whole(command));
    if (!head_is_clean(command))
        return ROW_STATUS(form);
    result->item_count = (uint8_t)count;
    if (command_body(command)[HEAD_ATOMIC_AT] != 0)
        status = batch_atomic_apply(engine, command, count, result);
    else
        for (uint32_t i = 0; i < count; i++)
            result->results[i] = (uint8_t)apply_item(engine, command, i);
    engine->applying.order_count = count;
    engine->applying.batch_makers = 0;
    return status;
}
