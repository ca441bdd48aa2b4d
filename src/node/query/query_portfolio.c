#include "node/query/query_portfolio.h"

#include "engine/view/read_positions.h"

static_assert(READ_POSITIONS_MAX * sizeof(struct row_position) <= REPLY_BUFFER_BYTES, "fits");

/* Whether the reply has the rows that its limit lets it have. */
static bool is_full(const struct query_task *task)
{
    return task->query.limit != QUERY_NO_LIMIT && task->reply.row_count == task->query.limit;
}

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
    read_positions_pass(&cursor, task->query.offset);
    while (!is_full(task) && read_positions_next(&cursor, sources->engine, &row)) {
        row.adl_quantile = adl_rank_of(sources->ranks, cursor.asset_id, row.size, cursor.score);
        query_task_put(task, &row, sizeof row);
    }
    return true;
}

/* Takes from *rows what a portfolio costs. False: there is none left for it. */
static bool count_portfolio(uint32_t *rows)
{
    if (*rows == 0)
        return false;
    *rows -= *rows < QUERY_PORTFOLIO_ROWS ? *rows : QUERY_PORTFOLIO_ROWS;
    return true;
}

void query_portfolio_begin(struct query_task *task)
{
    uint32_t one = query_task_filter(task).subaccount_index;

    task->subaccount_index = one != QUERY_ANY_INDEX ? one : 0;
    task->offset = task->query.offset;
}

bool query_portfolio_balances(struct query_task *task, const struct query_sources *sources,
                              uint32_t *rows)
{
    struct read_filter filter = query_task_filter(task);
    uint64_t account = task->query.account_id;
    uint32_t *subaccount = &task->subaccount_index, *portfolio = &task->portfolio_index;
    struct row_balance row;

    for (; !is_full(task) && read_portfolio_from(sources->engine, account, subaccount, portfolio);
         ++*portfolio) {
        if (filter.subaccount_index != QUERY_ANY_INDEX && *subaccount != filter.subaccount_index)
            return true;
        if (!count_portfolio(rows))
            return false;
        if (!read_filter_admits(&filter, *subaccount, *portfolio) || query_task_skip(task))
            continue;
        bool found = read_balance(sources->engine, account, *subaccount, *portfolio, &row);
        INVARIANT(found);
        if (!query_task_put_if_fits(task, &row, sizeof row))
            return true;
    }
    return true;
}

/* Adds the portfolios of the task's subaccount to its row. False: more are left than *rows pay. */
static bool add_portfolios(struct query_task *task, const struct query_sources *sources,
                           uint32_t *rows)
{
    while (count_portfolio(rows))
        if (read_subaccount_add(sources->engine, task->query.account_id, &task->portfolio_index, 1,
                                &task->subaccount) == 0)
            return true;
    return false;
}

bool query_portfolio_subaccounts(struct query_task *task, const struct query_sources *sources,
                                 uint32_t *rows)
{
    bool is_one = query_task_filter(task).subaccount_index != QUERY_ANY_INDEX;

    if (is_one ? query_task_skip(task) : task->offset > UINT16_MAX)
        return true; /* an account has no more subaccounts */
    task->subaccount_index += is_one ? 0 : (uint32_t)task->offset;
    task->offset = 0;
    while (task->portfolio_index != 0 ||
           read_subaccount_begin(sources->engine, task->query.account_id, task->subaccount_index,
                                 &task->subaccount)) {
        if (!add_portfolios(task, sources, rows))
            return false;
        task->portfolio_index = 0;
        task->subaccount_index++;
        if (!query_task_put_if_fits(task, &task->subaccount, sizeof task->subaccount) || is_one ||
            is_full(task))
            return true;
    }
    return true;
}
