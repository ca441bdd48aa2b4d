#include "engine/account/account_list.h"

#include "engine/risk/risk.h"
#include "engine/state/cancel_list.h"
#include "engine/state/trigger.h"
#include "engine/table/image_read.h"
#include "engine/table/image_sink.h"

static bool has_many_portfolios(const struct engine *engine, const struct account *account)
{
    uint32_t at = account->portfolio_head, count = 0;

    for (; at != PORTFOLIO_NONE && count <= CANCEL_LIST_AT_ONCE; count++)
        at = engine->portfolios.rows[at].account_next;
    return count > CANCEL_LIST_AT_ONCE;
}

bool account_list_begin(struct engine *engine, uint32_t index, uint32_t market)
{
    struct account *account = &engine->accounts.rows[index];
    uint16_t scope = market == MARKET_NONE ? ACCOUNT_MARKETS_ALL : (uint16_t)market;

    if (!has_many_portfolios(engine, account) ||
        (account->cancel_queued && account->cancel_market != scope))
        return false;
    account->cancel_sequence = state_stamp(engine);
    account->cancel_market = scope;
    account->cancel_subaccount = 0;
    account->cancel_portfolio = 0;
    if (account->cancel_queued) /* it begins again, at its rank in the queue */
        return true;
    account->cancel_queued = true;
    engine->work.account_lists++;
    work_queue_push(engine, WORK_ACCOUNT_LIST, index);
    return true;
}

/* What waits for a price and is covered goes on the portfolio's list. */
static void kill_waiting(struct engine *engine, uint32_t portfolio)
{
    uint32_t at = state_portfolio(engine, portfolio)->conditional_head;
    bool any = false;

    for (; at != CONDITIONAL_NONE; at = engine->conditionals.rows[at].list_next) {
        struct conditional *row = &engine->conditionals.rows[at];
        if (row->kill_reason != REASON_none ||
            !cancel_list_covers(engine, row->account, row->market, conditional_rank(row)))
            continue;
        trigger_forget(engine, at);
        row->kill_reason = REASON_operator;
        any = true;
    }
    if (any)
        work_queue_release(engine, portfolio);
}

/* Sets *portfolio to the one that the list has come to, PORTFOLIO_NONE: CLOSED, without a row.
 * False: there is none after the last. */
static bool next_portfolio(struct engine *engine, uint32_t index, uint32_t *portfolio)
{
    struct account *account = &engine->accounts.rows[index];

    while (account->cancel_subaccount < account->subaccount_count) {
        if (account->cancel_portfolio <
            subaccount_portfolio_count(engine, index, account->cancel_subaccount)) {
            *portfolio = portfolio_find(engine, index, account->cancel_subaccount,
                                        account->cancel_portfolio++);
            return true;
        }
        account->cancel_subaccount++;
        account->cancel_portfolio = 0;
    }
    return false;
}

bool account_list_unit(struct engine *engine, uint32_t index, uint32_t *units)
{
    const struct account *account = &engine->accounts.rows[index];
    bool is_for_all = account->cancel_market == ACCOUNT_MARKETS_ALL;
    uint32_t portfolio;

    if (!next_portfolio(engine, index, &portfolio))
        return false;
    *units -= 1;
    if (portfolio == PORTFOLIO_NONE)
        return true;
    risk_refresh(engine, portfolio);
    cancel_list_older(engine, portfolio, is_for_all ? MARKET_NONE : account->cancel_market,
                      account->cancel_sequence, REASON_operator);
    kill_waiting(engine, portfolio);
    return true;
}

/* The lists of the portfolios cover all that it did. */
void account_list_finish(struct engine *engine, uint32_t index)
{
    struct account *account = &engine->accounts.rows[index];

    account->cancel_queued = false;
    account->cancel_market = 0;
    account->cancel_sequence = 0;
    account->cancel_subaccount = 0;
    account->cancel_portfolio = 0;
    INVARIANT(engine->work.account_lists > 0);
    engine->work.account_lists--;
}

void account_list_image(const struct engine *engine, uint32_t index, struct image_sink *sink)
{
    const struct account *account = &engine->accounts.rows[index];

    image_u64(sink, account->cancel_sequence);
    image_u64(sink, account->cancel_market);
    image_u64(sink, account->cancel_subaccount);
    image_u64(sink, account->cancel_portfolio);
}

/* Whether the list may be there. */
static bool is_cursor(const struct engine *engine, uint32_t index, uint64_t subaccount,
                      uint64_t portfolio)
{
    uint32_t count = engine->accounts.rows[index].subaccount_count;

    if (subaccount >= count)
        return subaccount == count && portfolio == 0;
    return portfolio <= subaccount_portfolio_count(engine, index, (uint32_t)subaccount);
}

bool account_list_load(struct engine *engine, uint32_t index, struct image_read *read)
{
    uint64_t stamp, market, subaccount, portfolio;

    if (index >= engine->accounts.count || engine->accounts.rows[index].cancel_queued)
        return image_read_refuse(read, "a list of no account, or one that is queued twice");
    if (!image_read_u64(read, &stamp) || !image_read_u64(read, &market) ||
        !image_read_u64(read, &subaccount) || !image_read_u64(read, &portfolio))
        return false;
    struct account *account = &engine->accounts.rows[index];
    if (stamp == 0 || stamp >> ORDER_STAMP_BITS > engine->sequence ||
        (market >= engine->markets.count && market != ACCOUNT_MARKETS_ALL) ||
        !has_many_portfolios(engine, account) || !is_cursor(engine, index, subaccount, portfolio))
        return image_read_refuse(read, "a list of an account that cannot be");
    account->cancel_queued = true;
    account->cancel_sequence = stamp;
    account->cancel_market = (uint16_t)market;
    account->cancel_subaccount = (uint32_t)subaccount;
    account->cancel_portfolio = (uint32_t)portfolio;
    engine->work.account_lists++;
    return true;
}
