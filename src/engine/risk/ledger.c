#include "engine/risk/ledger.h"

#include "engine/risk/ledger_post_inline.h"

void ledger_post(struct engine *engine, uint32_t index, enum effect_cash_kind kind, int64_t amount,
                 uint64_t ref)
{
    struct portfolio *portfolio = state_portfolio(engine, index);
    struct ledger_party party = {
        .portfolio = portfolio,
        .owner = state_account(engine, portfolio->account),
        .id = portfolio_effect_id(engine, index),
        .index = index,
    };

    ledger_post_inline(engine, NULL, party, kind, amount, ref);
}
