#include "engine/account/leverage_set.h"

#include "base/rule.h"
#include "engine/risk/margin.h"
#include "engine/risk/risk.h"
#include "engine/risk/stress.h"
#include "engine/state/portfolio_row.h"
#include "engine/state/state.h"

/* Body of code 2001 (W3b). */
struct set_body {
    uint8_t portfolio[PORTFOLIO_HEAD_BYTES];
    uint32_t leverage;
    uint16_t asset_id;
    uint16_t pad;
};

static_assert(sizeof(struct set_body) == 40, "W3b: code 2001");

/* E - stress >= IM with this setting in the record. */
static bool is_covered(struct engine *engine, uint32_t portfolio, uint32_t holding,
                       uint32_t setting)
{
    struct holding *row = state_holding(engine, holding);
    uint32_t before = row->leverage;
    struct margin_view view;

    if (holding != HOLDING_NONE)
        row->leverage = (uint16_t)setting;
    margin_view(engine, portfolio, &view);
    row->leverage = (uint16_t)before;
    return view.equity - stress_of_portfolio(engine, portfolio, MARKET_NONE) >= view.initial;
}

/* R4: E - stress >= IM after a lower leverage. */
static enum status change(struct engine *engine, uint32_t portfolio, uint32_t market_index,
                          uint32_t leverage, struct engine_result *result)
{
    const struct market *market = state_market(engine, market_index);
    uint32_t setting = leverage == market_leverage(market) ? 0 : leverage;
    uint32_t was = leverage_setting(engine, portfolio, market_index);
    uint32_t holding = holding_find(engine, portfolio, market_index);

    if (leverage < leverage_in_force(market, was) &&
        !is_covered(engine, portfolio, holding, setting)) {
        result->reason = REASON_insufficient_free_equity;
        return STATUS_order_rejected_invalid;
    }
    if (!leverage_keep(engine, portfolio, market_index, setting)) {
        result->reason = REASON_limit_reached;
        return STATUS_order_rejected_invalid;
    }
    if (holding != HOLDING_NONE && setting != was) {
        state_holding(engine, holding)->leverage = (uint16_t)setting;
        recheck_holding(engine, holding);
    }
    return STATUS_request_completed;
}

enum status leverage_set(struct engine *engine, const struct command *command,
                         struct engine_result *result)
{
    struct set_body body;

    memcpy(&body, command_body(command), sizeof body);
    uint32_t portfolio;
    enum status status = portfolio_of_command(engine, command, &portfolio, result);
    if (status != STATUS_request_completed)
        return status;
    if (portfolio_is_closed(engine, portfolio)) {
        result->reason = REASON_portfolio_not_active;
        return STATUS_order_rejected_invalid;
    }
    risk_refresh(engine, portfolio);
    uint32_t market = market_find(engine, body.asset_id);
    if (market == MARKET_NONE)
        return ROW_STATUS(market);
    if (body.leverage == 0 || body.leverage > state_market(engine, market)->record.max_leverage) {
        result->reason = REASON_invalid_parameter;
        return STATUS_order_rejected_invalid;
    }
    return change(engine, portfolio, market, body.leverage, result);
}
