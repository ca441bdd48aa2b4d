#include "node/query/query.h"

#include "engine/view/audit.h"
#include "engine/view/read.h"
#include "node/history/history_find.h"
#include "node/query/query_candles.h"
#include "node/query/query_frames.h"
#include "node/query/query_keys.h"
#include "node/query/query_list.h"
#include "node/query/query_money.h"
#include "node/query/query_pairing.h"
#include "node/query/query_portfolio.h"
#include "node/query/query_private.h"
#include "node/query/query_request.h"
#include "node/query/query_tickers.h"
#include "node/query/query_withdrawals.h"

/* Rows that were written into the buffer in place. */
static void set_rows(struct query_task *task, size_t row_bytes, uint32_t row_count)
{
    INVARIANT(row_bytes <= REPLY_BUFFER_BYTES);
    task->reply.row_bytes = (uint32_t)row_bytes;
    task->reply.row_count = row_count;
}

static void run_order(struct query_task *task, const struct query_sources *sources)
{
    const struct query *query = &task->query;
    const struct order_log *orders = &sources->history->orders;
    enum history_older found = HISTORY_OLDER_ROW;
    struct row_order row;
    uint64_t lost = 0;
    struct uuid id;

    if (read_order(sources->engine, query->account_id, query->id, query->pin, &row)) {
        query_task_put(task, &row, sizeof row);
        return;
    }
    if (read_order(sources->engine, query->account_id, query->id, -1, &row)) {
        query_task_refuse(task, PROBLEM_order_not_found); /* of a subaccount that is not the pin */
        return;
    }
    uuid_load(&id, query->id);
    const struct order_row *order = order_log_find(orders, query->account_id, &id);
    if (order == NULL)
        found = order_log_may_have_dropped(orders, &id)
                    ? history_find_order(&sources->history->keep, query->account_id, query->id,
                                         &order, &lost)
                    : HISTORY_OLDER_END;
    if (found == HISTORY_OLDER_LOST) {
        query_task_refuse_dropped(task, lost);
    } else if (found == HISTORY_OLDER_END || !order_log_is_shown(orders, order) ||
               (query->pin >= 0 && order->order.subaccount_index != (uint32_t)query->pin)) {
        query_task_refuse(task, PROBLEM_order_not_found);
    } else {
        order_summary_show(&order->order, &sources->history->names, &row);
        query_task_put(task, &row, sizeof row);
    }
}

static void run_balance(struct query_task *task, const struct query_sources *sources)
{
    const struct query *query = &task->query;
    struct row_balance row;

    if (!read_balance(sources->engine, query->account_id, query->subaccount_index,
                      query->portfolio_index, &row))
        query_task_refuse(task, PROBLEM_portfolio_not_found);
    else
        query_task_put(task, &row, sizeof row);
}

static void run_account(struct query_task *task, const struct query_sources *sources)
{
    struct row_account row;

    if (!read_account(sources->engine, task->query.account_id, &row))
        query_task_refuse(task, PROBLEM_account_not_found);
    else
        query_task_put(task, &row, sizeof row);
}

static void run_heads(struct query_task *task, const struct query_sources *sources)
{
    uint32_t limit = task->query.limit;

    INVARIANT(limit * HEAD_LOG_BYTES <= REPLY_BUFFER_BYTES);
    if (sources->heads == NULL)
        return;
    task->reply.row_count = head_log_newest(sources->heads, limit, task->rows);
    task->reply.row_bytes = task->reply.row_count * HEAD_LOG_BYTES;
}

static void run_markets(struct query_task *task, const struct query_sources *sources)
{
    struct row_market row;

    for (uint32_t k = 0; k < read_market_count(sources->engine); k++) {
        read_market(sources->engine, k, &row);
        query_task_put(task, &row, sizeof row);
    }
}

static void run_market(struct query_task *task, const struct query_sources *sources)
{
    struct row_market row;

    if (!read_market_named(sources->engine, task->query.market, &row))
        query_task_refuse(task, PROBLEM_not_found);
    else
        query_task_put(task, &row, sizeof row);
}

static void run_book(struct query_task *task, const struct query_sources *sources)
{
    struct row_book row;
    uint32_t limit = task->query.limit;
    uint32_t depth = limit < QUERY_DEPTH_MAX ? limit : QUERY_DEPTH_MAX;
    /* The buffer is aligned for rows (reply_pool.h), and so is the second row. */
    static_assert(sizeof(struct row_book) % alignof(struct row_level) == 0, "levels follow it");
    struct row_level *levels = (struct row_level *)(void *)(task->rows + sizeof row);

    if (!read_book(sources->engine, task->query.market, depth, &row, levels)) {
        query_task_refuse(task, PROBLEM_not_found);
        return;
    }
    memcpy(task->rows, &row, sizeof row);
    uint32_t level_count = row.bid_count + row.ask_count;
    set_rows(task, sizeof row + level_count * sizeof *levels, 1 + level_count);
}

static void run_book_orders(struct query_task *task, const struct query_sources *sources)
{
    struct row_book row;
    uint32_t limit = task->query.limit < QUERY_DEPTH_MAX ? task->query.limit : QUERY_DEPTH_MAX;
    static_assert(sizeof(struct row_book) % alignof(struct row_book_order) == 0, "they follow it");
    struct row_book_order *orders = (struct row_book_order *)(void *)(task->rows + sizeof row);

    if (!read_book_orders(sources->engine, task->query.market, limit, &row, orders)) {
        query_task_refuse(task, PROBLEM_not_found);
        return;
    }
    memcpy(task->rows, &row, sizeof row);
    uint32_t order_count = row.bid_count + row.ask_count;
    set_rows(task, sizeof row + order_count * sizeof *orders, 1 + order_count);
}

static void run_mark(struct query_task *task, const struct query_sources *sources)
{
    struct row_mark row;

    if (!read_mark(sources->engine, task->query.market, &row))
        query_task_refuse(task, PROBLEM_not_found);
    else
        query_task_put(task, &row, sizeof row);
}

static void run_audit(struct query_task *task, const struct query_sources *sources)
{
    struct row_audit row;
    static_assert(sizeof(struct row_audit) % alignof(struct row_audit_market) == 0, "rows follow");
    struct row_audit_market *markets = (struct row_audit_market *)(void *)(task->rows + sizeof row);

    audit_read(sources->engine, &row, markets);
    row.invariants &= (uint16_t) ~(sources->invariants_failed & AUDIT_WATCHED);
    memcpy(task->rows, &row, sizeof row);
    set_rows(task, sizeof row + row.market_count * sizeof *markets, 1 + row.market_count);
}

/* Queries that finish in one step. */
static void run_at_once(struct query_task *task, const struct query_sources *sources)
{
    switch ((enum query_kind)task->query.kind) {
    case QUERY_order:
        run_order(task, sources);
        return;
    case QUERY_balance:
        run_balance(task, sources);
        return;
    case QUERY_account:
    case QUERY_limits:
        run_account(task, sources);
        return;
    case QUERY_sessions:
    case QUERY_master_keys:
    case QUERY_api_keys:
        query_keys_run(task, sources);
        return;
    case QUERY_markets:
        run_markets(task, sources);
        return;
    case QUERY_market:
        run_market(task, sources);
        return;
    case QUERY_book:
        run_book(task, sources);
        return;
    case QUERY_book_orders:
        run_book_orders(task, sources);
        return;
    case QUERY_audit:
        run_audit(task, sources);
        return;
    case QUERY_mark:
        run_mark(task, sources);
        return;
    case QUERY_heads:
        run_heads(task, sources);
        return;
    case QUERY_pairing_open:
    case QUERY_pairing_deposit:
    case QUERY_pairing:
    case QUERY_pairing_complete:
    case QUERY_pairing_result:
        query_pairing_run(task, sources);
        return;
    case QUERY_orders:
    case QUERY_fills:
    case QUERY_trades:
    case QUERY_trades_after:
    case QUERY_candles:
    case QUERY_ticker:
    case QUERY_tickers:
    case QUERY_positions:
    case QUERY_balances:
    case QUERY_subaccounts:
    case QUERY_payments:
    case QUERY_rates:
    case QUERY_cash:
    case QUERY_liquidations:
    case QUERY_fund:
    case QUERY_fees:
    case QUERY_withdrawals:
    case QUERY_request:
    case QUERY_receipt:
    case QUERY_frames:
    case QUERY_seal:
    case QUERY_private_events:
    case QUERY_KIND_COUNT:
        break;
    }
    INVARIANT(!"a query of this kind takes steps or visits portfolios");
}

static bool is_ticker(const struct query *query)
{
    return query->kind == QUERY_ticker || query->kind == QUERY_tickers;
}

static bool is_list(const struct query_task *task)
{
    return task->query.kind == QUERY_orders || task->query.kind == QUERY_fills ||
           task->query.kind == QUERY_trades || task->query.kind == QUERY_trades_after;
}

/* Rows that were visited in one step; those beyond the turn's are owed. */
static void spend(struct query_budget *budget, uint32_t rows)
{
    uint32_t covered = rows < budget->rows ? rows : budget->rows;

    budget->rows -= covered;
    budget->owed += rows - covered;
}

/* A holding costs about as much as eight rows of a list. Positions are of one moment and do not
 * continue in the next turn: what they visit beyond the turn's rows is owed. */
static bool run_positions(struct query_task *task, const struct query_sources *sources,
                          struct query_budget *budget)
{
    uint32_t visited = 0;
    bool is_done = query_portfolio_positions(task, sources, &budget->holders, &visited);

    spend(budget, visited * QUERY_PORTFOLIO_ROWS);
    return is_done;
}

static bool run(struct query_task *task, const struct query_sources *sources,
                struct query_budget *budget)
{
    if (is_list(task))
        return query_list_step(task, sources, &budget->rows);
    if (query_money_is(&task->query))
        return query_money_step(task, sources, &budget->rows);
    if (task->query.kind == QUERY_candles)
        return query_candles_step(task, sources, &budget->rows);
    if (is_ticker(&task->query))
        return query_tickers_step(task, sources, &budget->rows);
    if (task->query.kind == QUERY_withdrawals)
        return query_withdrawals_step(task, sources, &budget->rows);
    if (task->query.kind == QUERY_frames || task->query.kind == QUERY_seal)
        return query_frames_step(task, sources);
    if (task->query.kind == QUERY_request || task->query.kind == QUERY_receipt)
        return query_request_step(task, sources, &budget->rows);
    if (task->query.kind == QUERY_positions)
        return run_positions(task, sources, budget);
    if (task->query.kind == QUERY_balances)
        return query_portfolio_balances(task, sources, &budget->rows);
    if (task->query.kind == QUERY_subaccounts)
        return query_portfolio_subaccounts(task, sources, &budget->rows);
    if (task->query.kind == QUERY_private_events) {
        uint32_t visited = 0;
        query_private_run(task, sources, &visited);
        spend(budget, visited);
        return true;
    }
    run_at_once(task, sources);
    return true;
}

/* A problem carries no rows, and its buffer was never net's. */
static void complete(struct query_task *task, struct reply_pool *pool)
{
    if (task->reply.problem == PROBLEM_none)
        return;
    reply_pool_free(pool, task->reply.buffer);
    task->reply.buffer = REPLY_NO_BUFFER;
    task->reply.row_bytes = 0;
    task->reply.row_count = 0;
}

static void set_up(struct query_task *task, const struct query_sources *sources,
                   const struct query *query)
{
    memset(task, 0, sizeof *task);
    task->query = *query;
    task->reply = (struct reply){
        .token = query->token,
        .applied = engine_sequence(sources->engine),
        .time_ns = engine_time(sources->engine),
        .received_ticks = query->received_ticks,
        .buffer = REPLY_NO_BUFFER,
        .kind = query->kind,
    };
}

void query_refuse(struct query_task *task, const struct query_sources *sources,
                  const struct query *query, uint64_t lag_ns)
{
    set_up(task, sources, query);
    task->reply.problem = PROBLEM_not_ready;
    task->reply.cause = REPLY_LAG;
    task->reply.lag_ms = lag_ns / 1000000;
}

bool query_begin(struct query_task *task, const struct query_sources *sources,
                 const struct query *query, struct reply_pool *pool, struct query_budget *budget)
{
    set_up(task, sources, query);
    task->reply.buffer = reply_pool_alloc(pool);
    if (task->reply.buffer == REPLY_NO_BUFFER) {
        task->reply.problem = PROBLEM_not_ready;
        task->reply.cause = REPLY_POOL_EMPTY;
        return true;
    }
    task->rows = reply_pool_at(pool, task->reply.buffer);
    market_names_refresh(&sources->history->names, sources->engine);
    if ((is_list(task) && !query_list_begin(task, sources)) ||
        (query_money_is(query) && !query_money_begin(task, sources)) ||
        (is_ticker(query) && !query_tickers_begin(task, sources)) ||
        (query->kind == QUERY_candles && !query_candles_begin(task, sources))) {
        complete(task, pool);
        return true;
    }
    if (query->kind == QUERY_balances || query->kind == QUERY_subaccounts)
        query_portfolio_begin(task);
    if (query->kind == QUERY_withdrawals)
        query_withdrawals_begin(task, sources);
    if (query->kind == QUERY_frames || query->kind == QUERY_seal)
        query_frames_begin(task, sources);
    return query_step(task, sources, pool, budget);
}

bool query_step(struct query_task *task, const struct query_sources *sources,
                struct reply_pool *pool, struct query_budget *budget)
{
    market_names_refresh(&sources->history->names, sources->engine);
    if (!run(task, sources, budget))
        return false;
    complete(task, pool);
    return true;
}

void query_give_up(struct query_task *task, struct reply_pool *pool)
{
    task->reply.problem = PROBLEM_not_ready;
    task->reply.cause = REPLY_LONG;
    complete(task, pool);
}
