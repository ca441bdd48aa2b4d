#include "engine/risk/fund.h"

#include "engine/risk/ledger.h"
#include "engine/risk/risk.h"
#include "engine/state/state.h"

void fund_moved(struct engine *engine, int64_t amount)
{
    int64_t cash = state_portfolio(engine, FUND_PORTFOLIO)->cash;
    bool was_short = cash - amount < 0, is_short = cash < 0;

    risk_fund_moved(engine);
    if (was_short == is_short)
        return;
    struct effect_fund body = { .cash = cash, .amount = amount, .deficit = is_short };
    effects_emit(engine, EFFECT_fund, FUND_PORTFOLIO, 0, &body);
}

void fund_pay(struct engine *engine, int64_t amount)
{
    ledger_post(engine, FUND_PORTFOLIO, CASH_fund, amount, 0);
}

void fund_transfer(struct engine *engine, uint32_t portfolio, int64_t amount)
{
    const struct portfolio *fund = state_portfolio(engine, FUND_PORTFOLIO);
    const struct portfolio *other = state_portfolio(engine, portfolio);
    int128 before = (int128)fund->cash + other->cash;

    INVARIANT(portfolio != FUND_PORTFOLIO);
    ledger_post(engine, portfolio, CASH_fund, -amount, 0);
    ledger_post(engine, FUND_PORTFOLIO, CASH_fund, amount, other->account);
    INVARIANT((int128)fund->cash + other->cash == before);
}

bool fund_is_short(const struct engine *engine)
{
    return engine->portfolios.rows[FUND_PORTFOLIO].cash < 0;
}

int128 fund_solvency(const struct engine *engine)
{
    return (int128)engine->portfolios.rows[FUND_PORTFOLIO].cash + engine->fee_account -
           engine->liquidation.owed_total;
}

bool fund_exchange_is_short(const struct engine *engine)
{
    return fund_solvency(engine) < 0;
}

static void count_day(struct engine *engine)
{
    uint64_t day = engine->t_ns / ACCOUNT_DAY_NS;

    if (day == engine->fund_paid_day)
        return;
    engine->fund_paid_day = day;
    engine->fund_paid = 0;
}

void fund_pay_deficit(struct engine *engine, uint32_t portfolio)
{
    int64_t cash = state_portfolio(engine, portfolio)->cash;

    INVARIANT(cash < 0);
    count_day(engine);
    engine->fund_paid -= cash;
    fund_transfer(engine, portfolio, cash);
}

int64_t fund_allowance(struct engine *engine)
{
    int64_t cash = state_portfolio(engine, FUND_PORTFOLIO)->cash;

    count_day(engine);
    int64_t left = (cash > 0 ? cash : 0) / FUND_DAY_PART - engine->fund_paid;
    return left > 0 ? left : 0;
}
