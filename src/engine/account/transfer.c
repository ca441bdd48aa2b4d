#include "engine/account/transfer.h"

#include "base/rule.h"
#include "engine/account/cash.h"
#include "engine/liquidate/liquidation.h"
#include "engine/risk/risk.h"
#include "engine/state/access.h"
#include "engine/state/state.h"

/* Body of code 9 (W3); `from` is of the signer's account. */
struct transfer_body {
    uint64_t from_account;
    uint8_t from[8]; /* subaccount, portfolio */
    uint64_t to_account;
    uint8_t to[8];
    uint64_t amount;
};

static_assert(sizeof(struct transfer_body) == 40, "W3: code 9");

enum status transfer_cash(struct engine *engine, const struct command *command,
                          struct engine_result *result)
{
    struct transfer_body body;

    (void)result;
    memcpy(&body, command_body(command), sizeof body);
    uint32_t account = engine->applying.account;
    INVARIANT(body.from_account == state_account_id(engine, account));
    uint32_t from = access_open_portfolio(engine, account, body.from);
    if (from == PORTFOLIO_NONE || body.to_account != body.from_account)
        return ROW_STATUS(portfolio);
    uint32_t to = access_open_portfolio(engine, account, body.to);
    if (to == PORTFOLIO_NONE)
        return ROW_STATUS(portfolio);
    risk_refresh(engine, from);
    risk_refresh(engine, to);
    if (body.amount == 0)
        return ROW_STATUS(size_zero);
    if (from == to)
        return STATUS_rejected_self_transfer;
    if (!cash_is_free(engine, from, body.amount) || liquidation_step_is_running(engine, to))
        return STATUS_rejected_insufficient_free_equity;
    if (!cash_fits(engine, to, body.amount))
        return STATUS_order_rejected_internal;
    int128 before = engine->accounts.rows[account].cash;
    cash_debit(engine, from, CASH_transfer, (int64_t)body.amount);
    cash_credit(engine, to, CASH_transfer, (int64_t)body.amount);
    INVARIANT(engine->accounts.rows[account].cash == before);
    return STATUS_request_completed;
}
