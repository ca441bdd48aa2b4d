#include "engine/account/credit.h"

#include "base/rule.h"
#include "engine/account/cash.h"
#include "engine/risk/risk.h"
#include "engine/state/portfolio_row.h"
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

/* Where the amount goes. */
struct receiver {
    uint32_t account;    /* ACCOUNT_NONE: nowhere */
    uint32_t subaccount; /* its record */
    uint32_t portfolio;  /* PORTFOLIO_NONE: the named one, which gets a row again */
};

/* The named portfolio, or portfolio 0 of its subaccount when there is none, or when the table has
 * no row for it (R10). The exchange's own account takes no deposits: 1006 tops the fund up. */
static struct receiver receiver_of(const struct engine *engine, const struct credit_body *body)
{
    uint32_t account = account_find(engine, body->account_id);

    if (account == 0 || !subaccount_is_open(engine, account, body->subaccount_index))
        return (struct receiver){ ACCOUNT_NONE, SUBACCOUNT_NONE, PORTFOLIO_NONE };
    uint32_t record = subaccount_find(engine, account, body->subaccount_index);
    uint32_t portfolio =
        portfolio_find(engine, account, body->subaccount_index, body->portfolio_index);
    bool is_again =
        portfolio_row_fits(engine) &&
        portfolio_row_is_gone(engine, account, body->subaccount_index, body->portfolio_index);
    if (portfolio == PORTFOLIO_NONE && !is_again)
        portfolio = portfolio_find(engine, account, body->subaccount_index, 0);
    return (struct receiver){ account, record, portfolio };
}

/* Brings what is there up to date. False: the amount brings its cash beyond its bound (R1). */
static bool fits(struct engine *engine, uint32_t portfolio, uint64_t amount)
{
    if (portfolio == PORTFOLIO_NONE)
        return amount <= (uint64_t)PORTFOLIO_CASH_MAX;
    risk_refresh(engine, portfolio);
    return cash_fits(engine, portfolio, amount);
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
    struct receiver to = receiver_of(engine, &body);
    if (to.account == ACCOUNT_NONE) /* all subaccounts of a CLOSED account are CLOSED */
        return ROW_STATUS(portfolio);
    if (body.amount == 0)
        return ROW_STATUS(size_zero);
    if (!fits(engine, to.portfolio, body.amount))
        return STATUS_rejected_invalid_size;
    if (!deposit_fits(engine))
        return ROW_STATUS(room);
    if (to.portfolio == PORTFOLIO_NONE)
        to.portfolio = portfolio_add_again(engine, to.subaccount, body.portfolio_index);
    deposit_add(engine, body.external_ref);
    engine->deposits += (int64_t)body.amount;
    engine->accounts.rows[to.account].net_deposits += (int64_t)body.amount;
    cash_credit(engine, to.portfolio, CASH_deposit, (int64_t)body.amount);
    share_refund(engine, to.account);
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
