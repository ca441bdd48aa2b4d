#include "engine/account/cash.h"

#include "engine/price/mark.h"
#include "engine/risk/fund.h"
#include "engine/risk/ledger.h"
#include "engine/risk/margin.h"
#include "engine/risk/risk.h"
#include "engine/risk/stress.h"
#include "engine/state/state.h"

/* cash + min(0, sum uPnL) - IM, with IM as the figures have it. */
static int128 withdrawable(const struct portfolio *portfolio)
{
    int128 loss = portfolio->value < 0 ? portfolio->value : 0;

    return portfolio->cash + loss - portfolio->initial;
}

bool cash_is_free(struct engine *engine, uint32_t index, uint64_t amount)
{
    struct portfolio *portfolio = state_portfolio(engine, index);

    if (portfolio->status == PORTFOLIO_IN_LIQUIDATION)
        return false;
    int128 needed = (int128)amount + stress_of_portfolio(engine, index, MARKET_NONE);
    if (withdrawable(portfolio) >= needed)
        return true;
    if (withdrawable(portfolio) + portfolio->loose < needed)
        return false;
    margin_resolve(engine, portfolio); /* IM was a bound: make it exact */
    risk_refresh(engine, index);
    return withdrawable(portfolio) >= needed;
}

bool cash_fits(const struct engine *engine, uint32_t portfolio, uint64_t amount)
{
    int64_t cash = engine->portfolios.rows[portfolio].cash;

    return amount <= (uint64_t)PORTFOLIO_CASH_MAX && cash <= PORTFOLIO_CASH_MAX - (int64_t)amount;
}

void cash_debit(struct engine *engine, uint32_t portfolio, enum effect_cash_kind kind,
                int64_t amount)
{
    INVARIANT(amount > 0);
    ledger_post(engine, portfolio, kind, -amount, 0);
    recheck_portfolio(engine, portfolio);
}

void cash_credit(struct engine *engine, uint32_t portfolio, enum effect_cash_kind kind,
                 int64_t amount)
{
    INVARIANT(amount > 0);
    portfolio_wake(engine, portfolio);
    ledger_post(engine, portfolio, kind, amount, 0);
    recheck_portfolio(engine, portfolio);
}

int64_t cash_withdrawable_now(const struct engine *engine, uint32_t index, int128 withdrawable)
{
    const struct portfolio *portfolio = &engine->portfolios.rows[index];
    const struct account *owner = &engine->accounts.rows[portfolio->account];
    int128 amount = withdrawable - stress_of_portfolio(engine, index, MARKET_NONE);

    if (portfolio->status != PORTFOLIO_ACTIVE || amount <= 0)
        return 0;
    if (fund_exchange_is_short(engine) && amount > owner->net_deposits)
        amount = owner->net_deposits > 0 ? owner->net_deposits : 0;
    return money_clamp(amount);
}
