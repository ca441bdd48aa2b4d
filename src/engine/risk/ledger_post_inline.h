/* ledger_post_inline.h - ledger_post as an inline function, for fills, which know the rows.
 * Owned by the engine.
 *
 * Units.  Amounts micro-USDC. */
#ifndef ENGINE_RISK_LEDGER_POST_INLINE_H
#define ENGINE_RISK_LEDGER_POST_INLINE_H

#include "engine/risk/fund.h"
#include "engine/state/effects_emit_inline.h"

/* A row of the ledger is one private event, and what came from outside or goes to another portfolio
 * a second one (W9: balance, transfer). */
static inline uint32_t ledger_events(enum effect_cash_kind kind, int64_t amount)
{
    return kind == CASH_deposit || kind == CASH_faucet || (kind == CASH_transfer && amount < 0) ? 2
                                                                                                : 1;
}

/* As ledger_post (ledger.h). `portfolio` is the row of `index`, `owner` its account's. */
static inline void ledger_post_inline(struct engine *engine, uint32_t index,
                                      struct portfolio *portfolio, struct account *owner,
                                      enum effect_cash_kind kind, int64_t amount, uint64_t ref)
{
    if (amount == 0)
        return;
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
    owner->private_seq += ledger_events(kind, amount);
    effects_emit_inline(engine, EFFECT_cash, index, 0, &body);
    if (CC_UNLIKELY(index == FUND_PORTFOLIO))
        fund_moved(engine, amount);
}

#endif
