#include "node/query/query_orders.h"

#include "engine/table/order_state.h"
#include "engine/view/read_orders.h"
#include "node/query/query_waiting.h"

static_assert(QUERY_ORDERS_LIMIT_MAX * sizeof(struct row_order) <= REPLY_BUFFER_BYTES, "fits");

/* Of one call. */
struct merge {
    struct query_task *task;
    const struct query_sources *sources;
    uint32_t *rows;
    uint64_t lost_below; /* orders placed below this sequence may be missing */
    bool has_ended;      /* the list shows ended orders */
    bool has_file;
    bool live_is_there, file_is_there;
    struct row_order live;
    struct query_location in_file; /* of the row that history_keep_below has shown */
    const struct order_row *file_row;
    struct read_orders live_cursor;
    struct query_waiting waiting;
};

static struct query_location last(const struct query_task *task)
{
    return (struct query_location){ task->below_sequence, task->below_index };
}

/* A status that only live orders have. */
static bool is_of_live(uint8_t status)
{
    return status == ORDER_OPEN || status == ORDER_PARTIALLY_FILLED || status == ORDER_UNTRIGGERED;
}

static bool admits(const struct merge *merge, const struct order_row *row)
{
    const struct order_summary *order = &row->order;
    uint8_t wanted = merge->task->query.status;

    return (wanted == QUERY_ANY_STATUS || wanted == order->status) &&
           query_task_admits(merge->task, order->subaccount_index, order->portfolio_index,
                             order->asset_id) &&
           order_log_is_shown(&merge->sources->history->orders, row);
}

/* Of a row that waits for the file. */
static bool admits_waiting(const void *context, const void *waiting, struct query_location *placed)
{
    const struct order_row *row = waiting;

    *placed = (struct query_location){ row->order.sequence, row->order.index };
    return admits(context, row);
}

/* The newest that waits, or NULL. */
static const struct query_waiting_row *newest_waiting(struct merge *merge)
{
    return query_waiting_newest(&merge->waiting, last(merge->task), merge->rows);
}

/* ---- the three together ---------------------------------------------------------------------- */

static void begin(struct merge *merge, struct query_task *task, const struct query_sources *sources,
                  uint32_t *rows)
{
    struct history_keep *kept = &sources->history->keep;
    struct read_filter filter = query_task_filter(task);

    merge->task = task;
    merge->sources = sources;
    merge->rows = rows;
    merge->lost_below = 0;
    merge->has_ended = !is_of_live(task->query.status);
    merge->has_file = merge->has_ended && history_keep_is_written(kept);
    merge->file_is_there = false;
    merge->waiting.ring = &sources->history->orders.ring;
    merge->waiting.key = query_task_chain(sources, task->query.account_id);
    merge->waiting.admits = admits_waiting;
    merge->waiting.context = merge;
    merge->waiting.from = merge->has_file ? history_keep_view(kept, HISTORY_ORDERS) : 0;
    merge->waiting.count = 0;
    merge->waiting.given = 0;
    merge->waiting.is_over = !merge->has_ended;
    merge->waiting.is_dropped = false;
    read_orders_begin(&merge->live_cursor, &filter, task->below_sequence, task->below_index);
    merge->live_is_there = read_orders_next(&merge->live_cursor, sources->engine, &merge->live);
    if (merge->has_file) {
        merge->lost_below = history_keep_orders_from(kept, task->query.account_id);
    } else if (merge->has_ended) {
        (void)newest_waiting(merge);
        if (merge->waiting.is_dropped)
            merge->lost_below = history_ring_dropped_sequence(&sources->history->orders.ring) + 1;
    }
}

/* Loads the newest row of the file below the last row, unless it is loaded. */
static bool load_file(struct merge *merge)
{
    const struct history_link *link;

    if (!merge->has_file || merge->file_is_there)
        return true;
    if (!query_task_older(merge->task, merge->sources, HISTORY_ORDERS,
                          merge->task->query.account_id, &link))
        return false;
    merge->has_file = merge->file_is_there = link != NULL;
    if (link != NULL) {
        merge->in_file = (struct query_location){ link->sequence, link->index };
        merge->file_row = (const void *)link;
    }
    return true;
}

static void put_ended(struct merge *merge, const struct order_row *row)
{
    struct row_order shown;

    if (query_task_skip(merge->task))
        return;
    order_summary_show(&row->order, &merge->sources->history->names, &shown);
    query_task_put(merge->task, &shown, sizeof shown);
}

static void put_live(struct merge *merge)
{
    if (!query_task_skip(merge->task))
        query_task_put(merge->task, &merge->live, sizeof merge->live);
    merge->live_is_there =
        read_orders_next(&merge->live_cursor, merge->sources->engine, &merge->live);
}

/* Moves over the newest row of the three, and shows it if the list has it. False: there is none, or
 * it may not be the newest, and the task is refused. */
static bool pop_newest(struct merge *merge)
{
    struct query_task *task = merge->task;

    if (!load_file(merge))
        return false;
    const struct query_waiting_row *waiting = newest_waiting(merge);
    struct query_location live = { merge->live.sequence, merge->live.index }, newest = { 0, 0 };
    if (merge->live_is_there)
        newest = live;
    if (waiting != NULL && query_location_below(newest, waiting->placed))
        newest = waiting->placed;
    if (merge->file_is_there && query_location_below(newest, merge->in_file))
        newest = merge->in_file;
    bool is_of_live = merge->live_is_there && !query_location_below(live, newest);
    bool is_waiting = waiting != NULL && !query_location_below(waiting->placed, newest);
    bool is_in_file = merge->file_is_there && !query_location_below(merge->in_file, newest);
    if (newest.sequence < merge->lost_below) {
        query_task_refuse_dropped(task, merge->lost_below - 1);
        return false;
    }
    if (newest.sequence == 0)
        return false;
    task->below_sequence = newest.sequence;
    task->below_index = newest.index;
    if (is_of_live) {
        put_live(merge);
    } else if (is_waiting) {
        put_ended(merge, waiting->row);
        query_waiting_pass(&merge->waiting);
    } else if (admits(merge, merge->file_row)) {
        put_ended(merge, merge->file_row);
    }
    if (is_in_file)
        merge->file_is_there = false;
    return true;
}

void query_orders_begin(struct query_task *task, const struct query_sources *sources)
{
    if (task->query.before_sequence == 0) { /* nothing that comes after the first turn */
        task->below_sequence = engine_sequence(sources->engine) + 1;
        task->below_index = 0;
    }
}

bool query_orders_step(struct query_task *task, const struct query_sources *sources, uint32_t *rows)
{
    uint32_t most =
        task->query.limit < QUERY_ORDERS_LIMIT_MAX ? task->query.limit : QUERY_ORDERS_LIMIT_MAX;
    struct merge merge;

    begin(&merge, task, sources, rows);
    while (task->reply.row_count < most) {
        if (!query_task_count(rows))
            return false;
        if (!pop_newest(&merge)) {
            ++*rows;
            return true;
        }
    }
    return true;
}
