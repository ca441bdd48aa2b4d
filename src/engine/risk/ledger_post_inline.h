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

/* A portfolio whose cash moves, and what its effects name it by. */
struct ledger_party {
    struct portfolio *portfolio;
    struct account *owner;
    struct effect_portfolio_id id;
    uint32_t index;
};

/* As ledger_post (ledger.h); `rows` as of effects_emit_into, only of one that is not the fund. */
static inline __attribute__((always_inline)) void
ledger_post_inline(struct engine *engine, struct effects_rows *rows, struct ledger_party party,
                   enum effect_cash_kind kind, int64_t amount, uint64_t ref)
{
    if (amount == 0)
        return;
    bool fits = !__builtin_add_overflow(party.portfolio->cash, amount, &party.portfolio->cash);
    INVARIANT(fits);
    party.owner->cash += amount;
    struct effect_cash body = {
        .portfolio = party.id,
        .amount = amount,
        .balance_after = party.portfolio->cash,
        .ref = ref,
    };
    effects_put(&body, offsetof(struct effect_cash, kind), kind, 0);
    party.owner->private_seq += ledger_events(kind, amount);
    effects_emit_into(engine, rows, EFFECT_cash, party.index, 0, &body);
    if (rows == NULL && CC_UNLIKELY(party.index == FUND_PORTFOLIO))
        fund_moved(engine, amount);
}

#endif
