#include "engine/portfolio.h"

#include "engine/state.h"

#define COVERED(field) +sizeof(((struct portfolio *)0)->field)
static_assert(sizeof(struct portfolio) == 0 PORTFOLIO_FIELDS(COVERED) PORTFOLIO_CACHES(COVERED),
              "every byte of a portfolio is in one of its field lists");
#undef COVERED

uint32_t portfolio_find(const struct engine *engine, uint64_t account_id, uint32_t subaccount_index,
                        uint32_t portfolio_index)
{
    const struct account *account = account_find(engine, account_id);

    if (account == NULL)
        return PORTFOLIO_NONE;
    uint32_t index = account->portfolio_head;
    while (index != PORTFOLIO_NONE) {
        const struct portfolio *portfolio = &engine->portfolios.rows[index];
        if (portfolio->subaccount_index == subaccount_index &&
            portfolio->portfolio_index == portfolio_index)
            break;
        index = portfolio->account_next;
    }
    return index;
}

uint32_t portfolio_add(struct engine *engine, uint32_t account, uint32_t subaccount_index,
                       uint32_t portfolio_index, const char *name)
{
    struct portfolio_table *table = &engine->portfolios;
    struct account *owner = &engine->accounts.rows[account];

    INVARIANT(table->count < table->slots);
    uint32_t index = table->count++;
    struct portfolio *portfolio = &table->rows[index];
    *portfolio = (struct portfolio){
        .account = account,
        .subaccount_index = subaccount_index,
        .portfolio_index = portfolio_index,
        .holding_head = HOLDING_NONE,
        .account_next = PORTFOLIO_NONE,
        .status = PORTFOLIO_ACTIVE,
    };
    for (size_t i = 0; i < sizeof portfolio->name && name[i] != '\0'; i++)
        portfolio->name[i] = (uint8_t)name[i];
    if (owner->portfolio_head == PORTFOLIO_NONE)
        owner->portfolio_head = index;
    else
        table->rows[owner->portfolio_tail].account_next = index;
    owner->portfolio_tail = index;
    return index;
}

void portfolio_cash(struct engine *engine, uint32_t index, enum effect_cash_kind kind,
                    int64_t amount, uint64_t ref)
{
    struct portfolio *portfolio = &engine->portfolios.rows[index];

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
    effects_emit(engine, EFFECT_cash, index, 0, &body);
}
