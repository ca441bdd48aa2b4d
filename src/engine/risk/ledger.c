#include "engine/risk/ledger.h"

#include "engine/risk/fund.h"
#include "engine/state/effects_emit_inline.h"
#include "engine/state/state.h"

/* A row of the ledger is one private event, and what came from outside or goes to another portfolio
 * a second one (W9: balance, transfer). */
static uint32_t events_of(enum effect_cash_kind kind, int64_t amount)
{
    return kind == CASH_deposit || kind == CASH_faucet || (kind == CASH_transfer && amount < 0) ? 2
                                                                                                : 1;
}

void ledger_post(struct engine *engine, uint32_t index, enum effect_cash_kind kind, int64_t amount,
                 uint64_t ref)
{
    struct portfolio *portfolio = state_portfolio(engine, index);

    if (amount == 0)
        return;
    struct account *owner = state_account(engine, portfolio->account);
    bool fits = !__builtin_add_overflow(portfolio->cash, amount, &portfolio->cash);
    INVARIANT(fits);
    owner->cash += amount;
    struct effect_cash body = {
        .portfolio.account_id = account_id_of(portfolio->account, owner->generation),
        .amount = amount,
        .balance_after = portfolio->cash,
        .ref = ref,
    };
    effects_put(&body, offsetof(struct effect_cash, portfolio.subaccount_index),
                portfolio->subaccount_index, portfolio->portfolio_index);
    effects_put(&body, offsetof(struct effect_cash, kind), kind, 0);
    owner->private_seq += events_of(kind, amount);
    effects_emit_inline(engine, EFFECT_cash, index, 0, &body);
    if (CC_UNLIKELY(index == FUND_PORTFOLIO))
        fund_moved(engine, amount);
}
