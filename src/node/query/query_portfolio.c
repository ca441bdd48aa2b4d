#include "node/query/query_portfolio.h"

#include "engine/view/read_positions.h"

static_assert(READ_POSITIONS_MAX * sizeof(struct row_position) <= REPLY_BUFFER_BYTES, "fits");

/* Quantiles of every market that the list will show, young enough. */
static bool make_quantiles(const struct query_task *task, const struct query_sources *sources,
                           const struct read_positions *cursor, uint32_t *holders)
{
    for (uint32_t i = 0; i < cursor->count; i++)
        if (!adl_rank_make(sources->ranks, sources->engine, &sources->history->names,
                           read_positions_asset(cursor, sources->engine, i), task->reply.time_ns,
                           holders))
            return false;
    return true;
}

bool query_portfolio_positions(struct query_task *task, const struct query_sources *sources,
                               uint32_t *holders, uint32_t *visited)
{
    struct read_filter filter = query_task_filter(task);
    struct read_positions cursor;
    struct row_position row;

    if (filter.market[0] != '\0' &&
        market_names_find(&sources->history->names, filter.market) == NULL) {
        query_task_refuse(task, PROBLEM_invalid_market);
        return true;
    }
    read_positions_begin(&cursor, sources->engine, &filter);
    *visited += cursor.visited;
    if (cursor.is_cut) {
        query_task_refuse(task, PROBLEM_invalid_parameter);
        return true;
    }
    if (!make_quantiles(task, sources, &cursor, holders))
        return false;
    /* All rows are of this turn, whenever the query began. */
    task->reply.applied = engine_sequence(sources->engine);
    task->reply.time_ns = engine_time(sources->engine);
    while (read_positions_next(&cursor, sources->engine, &row)) {
        row.adl_quantile = adl_rank_of(sources->ranks, cursor.asset_id, row.size, cursor.score);
        query_task_put(task, &row, sizeof row);
    }
    return true;
}

void query_portfolio_balances(struct query_task *task, const struct query_sources *sources,
                              uint32_t *visited)
{
    struct read_filter filter = query_task_filter(task);
    uint64_t account = task->query.account_id;
    uint32_t subaccount = filter.subaccount_index == QUERY_ANY_INDEX ? 0 : filter.subaccount_index;
    uint32_t portfolio = 0;
    struct row_balance row;

    for (; read_portfolio_from(sources->engine, account, &subaccount, &portfolio); portfolio++) {
        if (filter.subaccount_index != QUERY_ANY_INDEX && subaccount != filter.subaccount_index)
            return;
        if (!read_filter_admits(&filter, subaccount, portfolio)) {
            ++*visited;
            continue;
        }
        bool found = read_balance(sources->engine, account, subaccount, portfolio, &row);
        INVARIANT(found);
        ++*visited;
        if (!query_task_put_if_fits(task, &row, sizeof row))
            return;
    }
}

void query_portfolio_subaccounts(struct query_task *task, const struct query_sources *sources,
                                 uint32_t *visited)
{
    uint32_t one = query_task_filter(task).subaccount_index;
    uint32_t index = one != QUERY_ANY_INDEX ? one : 0;
    struct row_subaccount row;

    for (; read_subaccount(sources->engine, task->query.account_id, index, &row); index++) {
        *visited += read_portfolio_count(sources->engine, task->query.account_id, index);
        if (!query_task_put_if_fits(task, &row, sizeof row) || one != QUERY_ANY_INDEX)
            return;
    }
}
