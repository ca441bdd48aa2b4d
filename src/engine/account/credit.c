#include "engine/account/credit.h"

#include "base/rule.h"
#include "engine/account/cash.h"
#include "engine/risk/risk.h"
#include "engine/state/state.h"

/* Body of code 1003 (W3a). */
struct credit_body {
    uint64_t account_id;
    uint32_t subaccount_index;
    uint32_t portfolio_index;
    uint64_t amount;
    uint8_t external_ref[DEPOSIT_REF_BYTES];
};

static_assert(sizeof(struct credit_body) == 56, "W3a: code 1003");

/* The named portfolio, or portfolio 0 of its subaccount when there is none (R10). The exchange's
 * own account takes no deposits: 1006 tops the fund up. */
static uint32_t receiver(const struct engine *engine, const struct credit_body *body)
{
    uint32_t account = account_find(engine, body->account_id);

    if (account == 0 || !subaccount_is_open(engine, account, body->subaccount_index))
        return PORTFOLIO_NONE; /* all subaccounts of a CLOSED account are CLOSED */
    uint32_t portfolio =
        portfolio_find(engine, account, body->subaccount_index, body->portfolio_index);
    if (portfolio == PORTFOLIO_NONE)
        portfolio = portfolio_find(engine, account, body->subaccount_index, 0);
    return portfolio;
}

enum status credit_deposit(struct engine *engine, const struct command *command,
                           struct engine_result *result)
{
    struct credit_body body;

    memcpy(&body, command_body(command), sizeof body);
    if (deposit_is_known(engine, body.external_ref)) {
        result->reason = REASON_already_credited;
        return STATUS_request_completed;
    }
    uint32_t portfolio = receiver(engine, &body);
    if (portfolio == PORTFOLIO_NONE)
        return ROW_STATUS(portfolio);
    if (body.amount == 0)
        return ROW_STATUS(size_zero);
    risk_refresh(engine, portfolio);
    if (!cash_fits(engine, portfolio, body.amount))
        return STATUS_rejected_invalid_size;
    if (!deposit_fits(engine))
        return ROW_STATUS(room);
    uint32_t account = state_portfolio(engine, portfolio)->account;
    deposit_add(engine, body.external_ref);
    engine->deposits += (int64_t)body.amount;
    engine->accounts.rows[account].net_deposits += (int64_t)body.amount;
    cash_credit(engine, portfolio, CASH_deposit, (int64_t)body.amount);
    share_refund(engine, account);
    return STATUS_request_completed;
}

enum status credit_fund(struct engine *engine, const struct command *command,
                        struct engine_result *result)
{
    uint64_t amount = cc_load64(command_body(command));

    (void)result;
    if (amount == 0)
        return ROW_STATUS(size_zero);
    risk_refresh(engine, 0);
    int64_t cash = engine->portfolios.rows[0].cash;
    if (amount > (uint64_t)DEPOSIT_FUND_MAX || cash > DEPOSIT_FUND_MAX - (int64_t)amount)
        return STATUS_rejected_invalid_size;
    engine->top_ups += (int64_t)amount;
    cash_credit(engine, 0, CASH_fund, (int64_t)amount);
    return STATUS_request_completed;
}
