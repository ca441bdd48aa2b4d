#include "node/query/query_list.h"

#include "engine/table/order_state.h"
#include "engine/view/read_orders.h"

static_assert(QUERY_LIST_LIMIT_MAX * sizeof(struct row_order) <= REPLY_BUFFER_BYTES, "fits");
static_assert(QUERY_LIST_LIMIT_MAX * sizeof(struct row_fill) <= REPLY_BUFFER_BYTES, "fits");
static_assert(sizeof(struct row_trades) + QUERY_LIST_LIMIT_MAX * sizeof(struct row_trade) <=
                  REPLY_BUFFER_BYTES,
              "fits");

static bool is_full(const struct query_task *task, uint32_t row_count)
{
    return row_count >= task->query.limit || row_count >= QUERY_LIST_LIMIT_MAX;
}

/* One row of those that this call may look at. */
static bool count_row(uint32_t *rows)
{
    if (*rows == 0)
        return false;
    (*rows)--;
    return true;
}

/* True: the row is one of those that the offset passes over. */
static bool pass_over(struct query_task *task)
{
    if (task->offset == 0)
        return false;
    task->offset--;
    return true;
}

static bool admits(const struct query_task *task, uint32_t subaccount_index,
                   uint32_t portfolio_index, uint16_t asset_id)
{
    const struct query *query = &task->query;

    return (query->pin < 0 || subaccount_index == (uint32_t)query->pin) &&
           (query->subaccount_index == QUERY_ANY_INDEX ||
            subaccount_index == query->subaccount_index) &&
           (query->portfolio_index == QUERY_ANY_INDEX ||
            portfolio_index == query->portfolio_index) &&
           (task->asset_id == 0 || asset_id == task->asset_id);
}

/* --- orders ----------------------------------------------------------------------------------- */

/* A status that only live orders have: those are complete whatever was dropped. */
static bool is_of_live(uint8_t status)
{
    return status == ORDER_OPEN || status == ORDER_PARTIALLY_FILLED || status == ORDER_UNTRIGGERED;
}

/* The row as it is now: of a live order the engine has it. */
static void show_order(const struct query_sources *sources, const struct order_summary *order,
                       struct row_order *row)
{
    if (order_summary_is_final(order)) {
        order_summary_show(order, &sources->history->names, row);
        return;
    }
    bool found = read_order(sources->engine, order->account_id, order->id.bytes, -1, row);
    INVARIANT(found); /* otherwise its end would have been appended */
    row->index = order->index;
}

static void look_at_order(struct query_task *task, const struct query_sources *sources,
                          const struct order_row *kept)
{
    const struct order_summary *order = &kept->order;
    uint8_t wanted = task->query.status;
    struct row_order row;

    if (!admits(task, order->subaccount_index, order->portfolio_index, order->asset_id) ||
        !order_log_is_shown(&sources->history->orders, kept))
        return;
    if (wanted != QUERY_ANY_STATUS) {
        show_order(sources, order, &row);
        if (row.status != wanted)
            return;
    }
    if (pass_over(task))
        return;
    show_order(sources, order, &row);
    query_task_put(task, &row, sizeof row);
}

/* The account's rows that are kept. False: `rows` are used up. */
static bool walk_orders(struct query_task *task, const struct query_sources *sources,
                        uint32_t *rows)
{
    const struct history_ring *ring = &sources->history->orders.ring;

    while (!is_full(task, task->reply.row_count)) {
        const struct order_row *kept = history_ring_at(ring, task->at);
        if (kept == NULL) {
            task->is_live = true;
            return true;
        }
        if (!count_row(rows))
            return false;
        look_at_order(task, sources, kept);
        task->below_sequence = kept->link.sequence;
        task->below_index = kept->link.index;
        task->at = kept->link.older;
    }
    return true;
}

/* Whether an order that can no longer be shown may lie between the last row and this one. */
static bool is_lost_before(const struct query_task *task, const struct query_sources *sources,
                           uint64_t sequence, uint32_t index)
{
    uint8_t wanted = task->query.status;
    bool any = wanted == QUERY_ANY_STATUS;
    bool rejected = any || wanted == ORDER_REJECTED;
    bool others = any || (wanted != ORDER_REJECTED && !is_of_live(wanted));

    return order_log_lost_between(&sources->history->orders, task->query.account_id, rejected,
                                  others, task->below_sequence, task->below_index, sequence, index);
}

/* Live orders older than the kept rows. False: `rows` are used up. */
static bool walk_live(struct query_task *task, const struct query_sources *sources, uint32_t *rows)
{
    struct read_filter filter = query_task_filter(task);
    struct read_orders cursor;
    struct row_order row;

    read_orders_begin(&cursor, &filter, task->below_sequence, task->below_index);
    while (!is_full(task, task->reply.row_count)) {
        if (!count_row(rows))
            return false;
        bool found = read_orders_next(&cursor, sources->engine, &row);
        if (is_lost_before(task, sources, found ? row.sequence : 0, found ? row.index : 0)) {
            query_task_refuse_dropped(
                task, history_ring_dropped_sequence(&sources->history->orders.ring));
            return true;
        }
        if (!found)
            return true;
        task->below_sequence = row.sequence;
        task->below_index = row.index;
        if (!pass_over(task))
            query_task_put(task, &row, sizeof row);
    }
    return true;
}

static bool step_orders(struct query_task *task, const struct query_sources *sources,
                        uint32_t *rows)
{
    if (!task->is_live && !walk_orders(task, sources, rows))
        return false;
    if (!task->is_live || (task->at == HISTORY_NONE && !is_of_live(task->query.status)))
        return true; /* a full page, or the account's first order */
    return walk_live(task, sources, rows);
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
        if (!count_row(rows))
            return false;
        query_task_pass(task, &fill->link);
        if (!admits(task, fill->subaccount_index, fill->portfolio_index, fill->asset_id) ||
            pass_over(task))
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
    task->reply.more = query_task_has_more(task, sources, HISTORY_TRADES, task->asset_id);
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
        if (trade == NULL)
            break;
        if (!count_row(rows))
            return false;
        query_task_pass(task, &trade->link);
        if (pass_over(task))
            continue;
        fill_log_show_trade(trade, &row);
        query_task_put(task, &row, sizeof row);
    }
    end_trades(task, sources);
    return true;
}

/* --- both ------------------------------------------------------------------------------------- */

bool query_list_begin(struct query_task *task, const struct query_sources *sources)
{
    const struct query *query = &task->query;
    const struct history *history = sources->history;
    bool is_trades = query->kind == QUERY_trades;

    if (is_trades || query->market[0] != '\0') {
        const struct market_name *market = market_names_find(&history->names, query->market);
        if (market == NULL) {
            query_task_refuse(task, is_trades ? PROBLEM_not_found : PROBLEM_invalid_market);
            return false;
        }
        task->asset_id = market->asset_id;
    }
    task->offset = query->offset;
    task->below_sequence = query->before_sequence == 0 ? UINT64_MAX : query->before_sequence;
    task->below_index = query->before_index;
    const struct history_ring *ring = is_trades                    ? &history->fills.trades
                                      : query->kind == QUERY_fills ? &history->fills.fills
                                                                   : &history->orders.ring;
    task->at = history_ring_below(ring, is_trades ? task->asset_id : query->account_id,
                                  task->below_sequence, task->below_index);
    task->is_live = query->kind == QUERY_orders && is_of_live(query->status);
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
        done = step_orders(task, sources, &rows);
        break;
    case QUERY_fills:
        done = step_fills(task, sources, &rows);
        break;
    default:
        INVARIANT(task->query.kind == QUERY_trades);
        done = step_trades(task, sources, &rows);
    }
    *rows_left -= before - rows;
    return done;
}
