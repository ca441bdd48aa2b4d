#include "node/query/query_list.h"

#include "engine/view/read.h"
#include "node/query/query_after.h"
#include "node/query/query_orders.h"

static_assert(QUERY_LIST_LIMIT_MAX * sizeof(struct row_fill) <= REPLY_BUFFER_BYTES, "fits");
static_assert(sizeof(struct row_trades) + QUERY_LIST_LIMIT_MAX * sizeof(struct row_trade) <=
                  REPLY_BUFFER_BYTES,
              "fits");

static bool is_full(const struct query_task *task, uint32_t row_count)
{
    return row_count >= task->query.limit || row_count >= QUERY_LIST_LIMIT_MAX;
}

/* --- fills and trades ------------------------------------------------------------------------- */

static bool step_fills(struct query_task *task, const struct query_sources *sources, uint32_t *rows)
{
    struct row_fill row;

    while (!is_full(task, task->reply.row_count)) {
        const struct fill_row *fill =
            query_task_row(task, sources, HISTORY_FILLS, task->query.account_id);
        if (fill == NULL)
            return true;
        if (!query_task_count(rows))
            return false;
        query_task_pass(task, &fill->link);
        if (!query_task_admits(task, fill->subaccount_index, fill->portfolio_index,
                               fill->asset_id) ||
            query_task_skip(task))
            continue;
        fill_log_show_fill(fill, &sources->history->names, &row);
        query_task_put(task, &row, sizeof row);
    }
    return true;
}

/* The list's own row, which its count and book sequence are written into at the end. */
static void end_trades(struct query_task *task, const struct query_sources *sources)
{
    const struct market_name *market = market_names_of(&sources->history->names, task->asset_id);
    struct row_trades list = {
        .trade_count = task->reply.row_count - 1,
        .price_decimals = market->price_decimals,
        .size_decimals = market->size_decimals,
    };
    struct row_book book;

    bool found = read_book(sources->engine, market->symbol, 0, &book, NULL);
    INVARIANT(found);
    list.book_seq = book.book_seq;
    memcpy(list.market, market->symbol, sizeof list.market);
    memcpy(task->rows, &list, sizeof list);
    task->reply.more = task->query.kind == QUERY_trades_after
                           ? task->is_newer
                           : query_task_has_more(task, sources, HISTORY_TRADES, task->asset_id);
}

static bool step_trades(struct query_task *task, const struct query_sources *sources,
                        uint32_t *rows)
{
    static const struct row_trades to_be_written;
    struct row_trade row;

    if (task->reply.row_count == 0)
        query_task_put(task, &to_be_written, sizeof to_be_written);
    while (!is_full(task, task->reply.row_count - 1)) {
        const struct trade_row *trade =
            query_task_row(task, sources, HISTORY_TRADES, task->asset_id);
        if (trade == NULL && task->reply.problem != PROBLEM_none)
            return true;
        if (trade == NULL || trade->seq <= task->after_seq)
            break;
        if (!query_task_count(rows))
            return false;
        query_task_pass(task, &trade->link);
        if (query_task_skip(task))
            continue;
        fill_log_show_trade(trade, &row);
        query_task_put(task, &row, sizeof row);
    }
    if (task->query.kind == QUERY_trades_after && task->reply.row_count - 1 != task->expected)
        query_task_refuse_dropped(task, task->below_sequence);
    else
        end_trades(task, sources);
    return true;
}

/* --- both ------------------------------------------------------------------------------------- */

bool query_list_begin(struct query_task *task, const struct query_sources *sources)
{
    const struct query *query = &task->query;
    const struct history *history = sources->history;
    bool is_trades = query->kind == QUERY_trades || query->kind == QUERY_trades_after;

    if (is_trades || query->market[0] != '\0') {
        const struct market_name *market = market_names_find(&history->names, query->market);
        if (market == NULL) {
            query_task_refuse(task, is_trades ? PROBLEM_not_found : PROBLEM_invalid_market);
            return false;
        }
        task->asset_id = market->asset_id;
    }
    if (query->kind == QUERY_trades_after)
        return query_after_begin(task, sources);
    task->offset = query->offset;
    task->below_sequence = query->before_sequence == 0 ? UINT64_MAX : query->before_sequence;
    task->below_index = query->before_index;
    if (query->kind == QUERY_orders) {
        query_orders_begin(task, sources);
        return true;
    }
    task->at = history_ring_below(is_trades ? &history->fills.trades : &history->fills.fills,
                                  is_trades ? task->asset_id
                                            : query_task_chain(sources, query->account_id),
                                  task->below_sequence, task->below_index);
    return true;
}

bool query_list_step(struct query_task *task, const struct query_sources *sources,
                     uint32_t *rows_left)
{
    uint32_t rows = *rows_left < QUERY_TASK_ROWS_A_TURN ? *rows_left : QUERY_TASK_ROWS_A_TURN;
    uint32_t before = rows;
    bool done;

    switch ((enum query_kind)task->query.kind) {
    case QUERY_orders:
        done = query_orders_step(task, sources, &rows);
        break;
    case QUERY_fills:
        done = step_fills(task, sources, &rows);
        break;
    default:
        INVARIANT(task->query.kind == QUERY_trades || task->query.kind == QUERY_trades_after);
        done = step_trades(task, sources, &rows);
    }
    *rows_left -= before - rows;
    return done;
}
