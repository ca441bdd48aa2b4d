#include "engine/trade/cancel.h"

#include "base/rule.h"
#include "base/uuid.h"
#include "engine/state/cancel_list.h"
#include "engine/state/evidence.h"
#include "engine/trade/resting.h"

/* The body of code 3 (W3). */
struct cancel_body {
    uint64_t account_id;
    uint32_t subaccount_index;
    uint32_t portfolio_index;
    uint8_t order_id[UUID_BYTES];
    uint16_t asset_id;
    uint16_t pad;
    uint32_t pad2;
};

/* The body of code 4. */
struct cancel_all_body {
    uint64_t account_id;
    uint32_t subaccount_index;
    uint32_t portfolio_index;
    uint16_t asset_id;
    uint16_t pad;
    uint8_t side; /* enum cancel_sides */
    uint8_t include_conditional;
    uint16_t pad2;
};

static_assert(sizeof(struct cancel_body) == 40, "W3: OrderCancel");
static_assert(sizeof(struct cancel_all_body) == 24, "W3: CancelAll");

enum status cancel_find(struct engine *engine, const struct cancel_target *target, uint32_t *order)
{
    struct uuid id;
    uint32_t market;

    uuid_load(&id, target->id);
    if (!uuid_is_v7(&id))
        return ROW_STATUS(target_id);
    enum status status = market_of_asset(engine, target->asset_id, &market);
    if (status != STATUS_request_completed)
        return status;
    if (target->pads != 0)
        return ROW_STATUS(form);
    *order = resting_find(engine, market, target->id, target->hash);
    return *order == ORDER_NONE ? ROW_STATUS(target) : STATUS_request_completed;
}

enum status cancel_one(struct engine *engine, const struct cancel_target *target,
                       struct engine_result *result)
{
    uint32_t index;
    enum status status = cancel_find(engine, target, &index);

    if (status != STATUS_request_completed)
        return status;
    evidence_of_end(engine, result, index, ORDER_CANCELED);
    resting_remove(engine, index, ORDER_CANCELED, REASON_user_cancel);
    return STATUS_request_completed;
}

enum status cancel_order(struct engine *engine, const struct command *command,
                         struct engine_result *result)
{
    struct cancel_body body;

    memcpy(&body, command_body(command), sizeof body);
    struct cancel_target target = {
        .id = body.order_id,
        .hash = command->target_hash,
        .pads = body.pad | body.pad2,
        .asset_id = body.asset_id,
    };
    return cancel_one(engine, &target, result);
}

static void cancel_portfolio(struct engine *engine, uint32_t portfolio, uint32_t market,
                             uint8_t sides, bool include_conditional)
{
    if (include_conditional)
        conditional_kill(engine, portfolio, market, (enum conditional_sides)sides, CONDITIONAL_ALL,
                         REASON_cancel_all);
    cancel_list_sides(engine, portfolio, market, (enum cancel_sides)sides, REASON_cancel_all);
}

enum status cancel_all(struct engine *engine, const struct command *command,
                       struct engine_result *result)
{
    struct cancel_all_body body;
    uint32_t market = MARKET_NONE;

    (void)result;
    memcpy(&body, command_body(command), sizeof body);
    if (body.asset_id != MARKET_ASSET_ALL) {
        enum status status = market_of_asset(engine, body.asset_id, &market);
        if (status != STATUS_request_completed)
            return status;
    }
    if ((body.pad | body.pad2) != 0 || body.side > CANCEL_SELLS)
        return ROW_STATUS(form);
    if (body.include_conditional > 1)
        return ROW_STATUS(flags);
    if (engine->applying.portfolio != PORTFOLIO_NONE) {
        cancel_portfolio(engine, engine->applying.portfolio, market, body.side,
                         body.include_conditional);
        return STATUS_request_completed;
    }
    uint32_t account = engine->applying.account;
    uint32_t record = subaccount_find(engine, account, body.subaccount_index);
    uint32_t count = engine->subaccounts.rows[record].portfolio_count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t portfolio = portfolio_find(engine, account, body.subaccount_index, i);
        if (portfolio != PORTFOLIO_NONE) /* CLOSED, without a row */
            cancel_portfolio(engine, portfolio, market, body.side, body.include_conditional);
    }
    return STATUS_request_completed;
}
