#include "engine/state/portfolio_row.h"

/* Places of the heap count from 1. */
static void set_timer(struct engine *engine, uint32_t portfolio)
{
    timer_heap_set(&engine->portfolios.releases, portfolio + 1,
                   engine->portfolios.rows[portfolio].release_ns, portfolio);
}

void portfolio_row_first_name(uint8_t name[PORTFOLIO_NAME_BYTES], uint32_t portfolio_index)
{
    static const char word[] = "Portfolio ", first[] = "Main";
    uint8_t digits[10];
    size_t at = sizeof word - 1, count = 0;

    memset(name, 0, PORTFOLIO_NAME_BYTES);
    if (portfolio_index == 0) {
        memcpy(name, first, sizeof first - 1);
        return;
    }
    memcpy(name, word, sizeof word - 1);
    for (; portfolio_index != 0; portfolio_index /= 10)
        digits[count++] = (uint8_t)('0' + portfolio_index % 10);
    while (count != 0)
        name[at++] = digits[--count];
}

bool portfolio_row_is_gone(const struct engine *engine, uint32_t account, uint32_t subaccount_index,
                           uint32_t portfolio_index)
{
    return portfolio_index < subaccount_portfolio_count(engine, account, subaccount_index) &&
           portfolio_find(engine, account, subaccount_index, portfolio_index) == PORTFOLIO_NONE;
}

bool portfolio_row_is_idle(const struct engine *engine, uint32_t index)
{
    const struct portfolio *portfolio = &engine->portfolios.rows[index];

    return portfolio->cash == 0 && portfolio->holding_count == 0 &&
           portfolio->open_order_count == 0 && portfolio->conditional_count == 0 &&
           portfolio->status != PORTFOLIO_IN_LIQUIDATION && !portfolio->changed &&
           !portfolio->cancel_queued && !portfolio->liquidation_queued &&
           !portfolio->excess_queued && engine->portfolios.withdrawals[index] == 0 &&
           engine->liquidation.owed[index] == 0;
}

bool portfolio_row_fits(const struct engine *engine)
{
    const struct portfolio_table *table = &engine->portfolios;

    return table->free.heap.count != 0 || table->count < table->limit;
}

void portfolio_row_look_later(struct engine *engine, uint32_t index)
{
    struct portfolio *portfolio = state_portfolio(engine, index);

    if (!portfolio_row_may_go(portfolio))
        return;
    portfolio->release_ns = credential_keep_until(engine);
    set_timer(engine, index);
}

void portfolio_row_load(struct engine *engine, uint32_t index)
{
    if (state_portfolio(engine, index)->release_ns != 0)
        set_timer(engine, index);
}

/* Whether nothing is set for it that its owner would miss, and nothing needs its row. */
static bool may_go(const struct engine *engine, uint32_t index)
{
    const struct portfolio *portfolio = &engine->portfolios.rows[index];
    const struct subaccount *within = &engine->subaccounts.rows[portfolio->subaccount];

    return portfolio_row_is_idle(engine, index) && portfolio->dead_man_ns == 0 &&
           leverage_first(engine, index) == LEVERAGE_NONE && !mmp_is_set(engine, index) &&
           !engine->accounts.rows[portfolio->account].cancel_queued &&
           (portfolio->portfolio_index != 0 || within->status == SUBACCOUNT_CLOSED);
}

/* Takes the portfolio out of its account's list, in which it is not the first. */
static void unlink_row(struct engine *engine, uint32_t index)
{
    struct portfolio_table *table = &engine->portfolios;
    struct account *owner = &engine->accounts.rows[table->rows[index].account];
    uint32_t prev = table->account_prev[index], next = table->rows[index].account_next;

    INVARIANT(index != owner->portfolio_head);
    INVARIANT(table->rows[prev].account_next == index);
    table->rows[prev].account_next = next;
    if (next == PORTFOLIO_NONE)
        owner->portfolio_tail = prev;
    else
        table->account_prev[next] = prev;
}

void portfolio_row_release(struct engine *engine)
{
    const struct timer_heap *releases = &engine->portfolios.releases;

    if (engine->liquidation.step == LIQUIDATION_RUN)
        return;
    for (unsigned i = 0; i < PORTFOLIO_ROW_LOOKS_MAX; i++) {
        if (timer_heap_deadline(releases) > engine->t_ns)
            break;
        uint32_t index = timer_heap_first(releases) - 1;
        INVARIANT(portfolio_row_may_go(state_portfolio(engine, index)));
        if (!may_go(engine, index)) {
            portfolio_row_look_later(engine, index);
            continue;
        }
        unlink_row(engine, index);
        portfolio_give_back(engine, index);
    }
}
