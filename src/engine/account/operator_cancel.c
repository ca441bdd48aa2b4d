#include "engine/account/operator_cancel.h"

#include "base/rule.h"
#include "engine/account/account_list.h"
#include "engine/risk/risk.h"
#include "engine/state/cancel_list.h"
#include "engine/state/portfolio_row.h"
#include "engine/trade/resting.h"

#define EVERY_ONE UINT32_MAX /* in the field portfolio_id */

/* The body of code 1007 (W3a). */
struct cancel_body {
    uint64_t account_id;
    uint32_t subaccount_index;
    uint32_t portfolio_index;
    uint8_t order_id[16];
    uint16_t asset_id;
    uint16_t pad;
    uint32_t pad2;
};

static_assert(sizeof(struct cancel_body) == 40, "W3a: OperatorCancel");

/* Subaccounts [first, end) that the body names; its account exists. */
struct range {
    uint32_t first;
    uint32_t end;
};

static struct range subaccounts_of(const struct engine *engine, const struct cancel_body *body)
{
    const struct account *account = &engine->accounts.rows[account_id_slot(body->account_id)];

    if (body->subaccount_index == EVERY_ONE)
        return (struct range){ 0, account->subaccount_count };
    return (struct range){ body->subaccount_index, body->subaccount_index + 1 };
}

static bool is_known(const struct engine *engine, const struct cancel_body *body)
{
    uint32_t account = account_find(engine, body->account_id);

    if (account == ACCOUNT_NONE)
        return false;
    if (body->subaccount_index == EVERY_ONE)
        return body->portfolio_index == EVERY_ONE;
    if (body->portfolio_index == EVERY_ONE)
        return subaccount_portfolio_count(engine, account, body->subaccount_index) != 0;
    return portfolio_find(engine, account, body->subaccount_index, body->portfolio_index) !=
               PORTFOLIO_NONE ||
           portfolio_row_is_gone(engine, account, body->subaccount_index, body->portfolio_index);
}

static bool is_named(const struct engine *engine, const struct cancel_body *body, uint32_t index)
{
    const struct portfolio *portfolio = &engine->portfolios.rows[index];

    return (body->subaccount_index == EVERY_ONE ||
            body->subaccount_index == portfolio->subaccount_index) &&
           (body->portfolio_index == EVERY_ONE ||
            body->portfolio_index == portfolio->portfolio_index);
}

/* --- one order -------------------------------------------------------------------------------- */

static bool end_resting(struct engine *engine, const struct cancel_body *body, uint32_t market,
                        uint64_t hash)
{
    uint64_t id[2];
    uint8_t reason;

    memcpy(id, body->order_id, sizeof id);
    uint32_t index =
        order_map_find(&engine->order_map, hash, account_id_slot(body->account_id), id);
    if (index == ORDER_NONE)
        return false;
    const struct order *order = &engine->orders.hot[index];
    uint32_t portfolio = state_holding(engine, order->holding)->portfolio;
    if (order->market != market || !is_named(engine, body, portfolio) ||
        resting_death(engine, index, &reason) != ORDER_NEW)
        return false;
    risk_refresh(engine, portfolio);
    resting_remove(engine, index, ORDER_CANCELED, REASON_operator);
    return true;
}

static bool end_waiting(struct engine *engine, const struct cancel_body *body, uint32_t market,
                        uint64_t hash)
{
    uint32_t index =
        conditional_find_live(engine, account_id_slot(body->account_id), body->order_id, hash);

    if (index == CONDITIONAL_NONE)
        return false;
    const struct conditional *row = &engine->conditionals.rows[index];
    if (row->market != market || !is_named(engine, body, row->portfolio))
        return false;
    risk_refresh(engine, row->portfolio);
    conditional_end(engine, index, ORDER_CANCELED, REASON_operator);
    return true;
}

static enum status end_one(struct engine *engine, const struct cancel_body *body, uint32_t market)
{
    uint64_t hash = mix_id(engine->key, account_id_slot(body->account_id), body->order_id);

    return end_resting(engine, body, market, hash) || end_waiting(engine, body, market, hash)
               ? STATUS_request_completed
               : ROW_STATUS(target);
}

/* --- all of them ------------------------------------------------------------------------------ */

static void end_all_of(struct engine *engine, uint32_t portfolio, uint32_t market)
{
    if (portfolio == PORTFOLIO_NONE) /* CLOSED, without a row */
        return;
    risk_refresh(engine, portfolio);
    if (market == MARKET_NONE)
        cancel_list_portfolio(engine, portfolio, REASON_operator);
    else
        cancel_list_sides(engine, portfolio, market, CANCEL_BOTH, REASON_operator);
    conditional_kill(engine, portfolio, market, CONDITIONAL_BOTH, CONDITIONAL_ALL, REASON_operator);
}

static void end_all(struct engine *engine, const struct cancel_body *body, uint32_t market)
{
    struct range range = subaccounts_of(engine, body);
    uint32_t account = account_id_slot(body->account_id);

    if (body->subaccount_index == EVERY_ONE && account_list_begin(engine, account, market))
        return;
    for (uint32_t at = range.first; at < range.end; at++) {
        uint32_t count = subaccount_portfolio_count(engine, account, at);
        for (uint32_t k = 0; k < count; k++)
            if (body->portfolio_index == EVERY_ONE || body->portfolio_index == k)
                end_all_of(engine, portfolio_find(engine, account, at, k), market);
    }
}

enum status operator_cancel(struct engine *engine, const struct command *command,
                            struct engine_result *result)
{
    static const uint8_t no_order[16];
    struct cancel_body body;
    uint32_t market = MARKET_NONE;

    (void)result;
    memcpy(&body, command_body(command), sizeof body);
    bool is_all = memcmp(body.order_id, no_order, sizeof no_order) == 0;
    if (!is_known(engine, &body))
        return ROW_STATUS(portfolio);
    if ((body.pad | body.pad2) != 0)
        return STATUS_order_rejected_invalid;
    if (!is_all || body.asset_id != MARKET_ASSET_ALL) {
        enum status status = market_of_asset(engine, body.asset_id, &market);
        if (status != STATUS_request_completed)
            return status;
    }
    if (!is_all)
        return end_one(engine, &body, market);
    end_all(engine, &body, market);
    return STATUS_request_completed;
}
