#include "engine/risk/ledger.h"

#include "engine/risk/fund.h"
#include "engine/state/effects_emit_inline.h"
#include "engine/state/state.h"

void ledger_post(struct engine *engine, uint32_t index, enum effect_cash_kind kind, int64_t amount,
                 uint64_t ref)
{
    struct portfolio *portfolio = &engine->portfolios.rows[index];

    INVARIANT(index < engine->portfolios.count);
    if (amount == 0)
        return;
    portfolio->cash += amount;
    struct effect_cash body = {
        .portfolio.account_id = portfolio->account,
        .amount = amount,
        .balance_after = portfolio->cash,
        .ref = ref,
    };
    effects_put(&body, offsetof(struct effect_cash, portfolio.subaccount_index),
                portfolio->subaccount_index, portfolio->portfolio_index);
    effects_put(&body, offsetof(struct effect_cash, kind), kind, 0);
    effects_emit_inline(engine, EFFECT_cash, index, 0, &body);
    if (CC_UNLIKELY(index == FUND_PORTFOLIO))
        fund_moved(engine, amount);
}
