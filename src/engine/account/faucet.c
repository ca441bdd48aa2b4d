#include "engine/account/faucet.h"

#include "base/rule.h"
#include "engine/account/cash.h"
#include "engine/risk/risk.h"
#include "engine/state/portfolio_row.h"
#include "engine/state/state.h"

/* Body of code 2009 (W3b). */
struct credit_body {
    uint8_t portfolio[PORTFOLIO_HEAD_BYTES];
    uint64_t amount;
};

static_assert(sizeof(struct credit_body) == 40, "W3b: code 2009");

/* Counts the amount to the account's 24 h; false: beyond the limit, nothing is counted. */
static bool count(const struct engine *engine, struct account *account, uint64_t amount)
{
    bool is_over = account->faucet_ns == 0 || engine->t_ns - account->faucet_ns >= FAUCET_PERIOD_NS;
    int64_t given = is_over ? 0 : account->faucet_amount;

    if (amount > (uint64_t)(ACCOUNT_FAUCET_MAX - given))
        return false;
    if (is_over)
        account->faucet_ns = engine->t_ns;
    account->faucet_amount = given + (int64_t)amount;
    return true;
}

static enum status refuse(struct engine_result *result, enum reason reason)
{
    result->reason = (uint8_t)reason;
    return STATUS_order_rejected_invalid;
}

enum status faucet_credit(struct engine *engine, const struct command *command,
                          struct engine_result *result)
{
    struct credit_body body;

    memcpy(&body, command_body(command), sizeof body);
    uint32_t portfolio;
    enum status status = portfolio_of_command(engine, command, &portfolio, result);
    if (status != STATUS_request_completed)
        return status;
    if (state_option(engine, OPTION_exchange_testnet) == 0)
        return ROW_STATUS(portfolio);
    if (portfolio_is_closed(engine, portfolio))
        return refuse(result, REASON_portfolio_not_active);
    risk_refresh(engine, portfolio);
    if (body.amount == 0 || !cash_fits(engine, portfolio, body.amount))
        return refuse(result, REASON_invalid_parameter);
    uint32_t account = state_portfolio(engine, portfolio)->account;
    if (!count(engine, &engine->accounts.rows[account], body.amount))
        return refuse(result, REASON_faucet_limit_exceeded);
    engine->faucet += (int64_t)body.amount;
    engine->accounts.rows[account].net_deposits += (int64_t)body.amount;
    cash_credit(engine, portfolio, CASH_faucet, (int64_t)body.amount);
    share_refund(engine, account);
    return STATUS_request_completed;
}
