#include "node/query/query_withdrawals.h"

#include "engine/state/withdrawal.h"
#include "node/query/query_waiting.h"

enum { LIMIT_MAX = 1000 };

static_assert(sizeof(struct row_list) + LIMIT_MAX * sizeof(struct row_withdrawal) <=
                  REPLY_BUFFER_BYTES,
              "fits");

/* Of one call. */
struct merge {
    struct query_task *task;
    const struct query_sources *sources;
    uint32_t *rows;
    uint64_t lost_below; /* those requested below this sequence may be missing */
    bool has_live, has_file;
    bool live_is_there, file_is_there;
    uint32_t live_at; /* in the engine's table */
    struct row_withdrawal live, in_file;
    struct query_waiting waiting;
};

static struct query_location last(const struct query_task *task)
{
    return (struct query_location){ task->below_sequence, task->below_index };
}

static struct query_location placed(const struct row_withdrawal *row)
{
    return (struct query_location){ row->sequence, row->index };
}

static bool admits(const struct query_task *task, const struct row_withdrawal *row)
{
    return task->query.status == QUERY_ANY_STATUS || task->query.status == row->outcome;
}

/* Of a row that waits for the file. */
static bool admits_waiting(const void *context, const void *waiting,
                           struct query_location *location)
{
    const struct merge *merge = context;
    const struct withdrawal_kept *kept = waiting;

    *location = placed(&kept->row);
    return admits(merge->task, &kept->row);
}

void query_withdrawals_begin(struct query_task *task, const struct query_sources *sources)
{
    const struct query *query = &task->query;
    struct row_list list = { 0 }; /* its count is written at the end */

    task->offset = query->offset;
    task->below_sequence = query->before_sequence;
    task->below_index = query->before_index;
    if (query->before_sequence == 0) { /* nothing that comes after the first turn */
        task->below_sequence = engine_sequence(sources->engine) + 1;
        task->below_index = 0;
    }
    task->at = WITHDRAWAL_NONE;
    query_task_put(task, &list, sizeof list);
}

/* The newest that waits, or NULL. */
static const struct query_waiting_row *newest_waiting(struct merge *merge)
{
    return query_waiting_newest(&merge->waiting, last(merge->task), merge->rows);
}

static void begin(struct merge *merge, struct query_task *task, const struct query_sources *sources,
                  uint32_t *rows)
{
    struct history_keep *kept = &sources->history->keep;
    const struct history_ring *ring = &sources->history->withdrawals.ring;
    bool has_ended = task->query.status != ROW_WITHDRAWAL_PENDING;

    merge->task = task;
    merge->sources = sources;
    merge->rows = rows;
    merge->lost_below = 0;
    merge->has_live = !has_ended || task->query.status == QUERY_ANY_STATUS;
    merge->has_file = has_ended && history_keep_is_written(kept);
    merge->live_is_there = false;
    merge->file_is_there = false;
    merge->waiting.ring = ring;
    merge->waiting.key = 0;
    merge->waiting.admits = admits_waiting;
    merge->waiting.context = merge;
    merge->waiting.from = merge->has_file ? history_keep_view(kept, HISTORY_WITHDRAWALS) : 0;
    merge->waiting.count = 0;
    merge->waiting.given = 0;
    merge->waiting.is_over = !has_ended;
    merge->waiting.is_dropped = false;
    if (merge->has_file) {
        merge->lost_below = history_keep_withdrawals_from(kept);
    } else if (has_ended) {
        (void)newest_waiting(merge);
        if (merge->waiting.is_dropped)
            merge->lost_below = history_ring_dropped_sequence(ring) + 1;
    }
}

/* Finds the newest pending one below the last row, unless it is found. The walk stands at task->at,
 * which it has passed: if that row was freed between two turns, it begins again at the newest; if a
 * newer withdrawal took its slot, it goes on from that one. False: the rows are used up. */
static bool find_live(struct merge *merge)
{
    const struct engine *engine = merge->sources->engine;
    struct query_task *task = merge->task;
    uint32_t at = (uint32_t)task->at;

    if (!merge->has_live || merge->live_is_there)
        return true;
    if (!withdrawal_read(engine, at, &merge->live))
        at = WITHDRAWAL_NONE;
    while ((at = withdrawal_older(engine, at)) != WITHDRAWAL_NONE) {
        bool is_there = withdrawal_read(engine, at, &merge->live);
        INVARIANT(is_there);
        merge->live_is_there = merge->live.outcome == ROW_WITHDRAWAL_PENDING &&
                               query_location_below(placed(&merge->live), last(task));
        merge->live_at = at;
        if (merge->live_is_there)
            return true;
        if (!query_task_count(merge->rows))
            return false;
        task->at = at;
    }
    merge->has_live = false;
    return true;
}

/* Loads the newest row of the file below the last row, unless it is loaded. */
static bool load_file(struct merge *merge)
{
    const struct history_link *link;

    if (!merge->has_file || merge->file_is_there)
        return true;
    if (!query_task_older(merge->task, merge->sources, HISTORY_WITHDRAWALS, 0, &link))
        return false;
    merge->has_file = merge->file_is_there = link != NULL;
    if (link != NULL)
        merge->in_file = ((const struct withdrawal_kept *)(const void *)link)->row;
    return true;
}

static bool is_full(const struct query_task *task)
{
    uint32_t most = task->query.limit < LIMIT_MAX ? task->query.limit : LIMIT_MAX;

    return task->reply.row_count - 1 == most;
}

static bool end(struct query_task *task, bool has_more)
{
    struct row_list list;

    memcpy(&list, task->rows, sizeof list);
    list.count = task->reply.row_count - 1;
    memcpy(task->rows, &list, sizeof list);
    task->reply.more = has_more;
    return true;
}

/* The newest row of the three, which the caller moves over; NULL: there is none. */
static const struct row_withdrawal *newest_of(struct merge *merge)
{
    const struct query_waiting_row *waiting = newest_waiting(merge);
    const struct row_withdrawal *newest = merge->live_is_there ? &merge->live : NULL;

    if (waiting != NULL) {
        const struct withdrawal_kept *kept = waiting->row;
        if (newest == NULL || query_location_below(placed(newest), placed(&kept->row)))
            newest = &kept->row;
    }
    if (merge->file_is_there &&
        (newest == NULL || query_location_below(placed(newest), placed(&merge->in_file))))
        newest = &merge->in_file;
    return newest;
}

/* Moves over `row`, wherever it is. */
static void pass(struct merge *merge, const struct row_withdrawal *row)
{
    const struct query_waiting_row *waiting = newest_waiting(merge);
    struct query_task *task = merge->task;
    struct query_location at = placed(row);

    if (merge->live_is_there && !query_location_below(placed(&merge->live), at)) {
        merge->live_is_there = false;
        task->at = merge->live_at;
    }
    if (waiting != NULL && !query_location_below(waiting->placed, at))
        query_waiting_pass(&merge->waiting);
    if (merge->file_is_there && !query_location_below(placed(&merge->in_file), at))
        merge->file_is_there = false;
    task->below_sequence = at.sequence;
    task->below_index = at.index;
}

/* One row further. True: the page is complete, or refused. */
static bool step_row(struct merge *merge)
{
    struct query_task *task = merge->task;

    if (!load_file(merge))
        return true;
    const struct row_withdrawal *newest = newest_of(merge);
    struct row_withdrawal row = { 0 };
    if (newest != NULL)
        row = *newest;
    if (row.sequence < merge->lost_below) {
        if (is_full(task))
            return end(task, true);
        query_task_refuse_dropped(task, merge->lost_below - 1);
        return true;
    }
    if (newest == NULL)
        return end(task, false);
    if (admits(task, &row) && task->offset == 0 && is_full(task))
        return end(task, true);
    pass(merge, &row);
    if (admits(task, &row) && !query_task_skip(task))
        query_task_put(task, &row, sizeof row);
    return false;
}

bool query_withdrawals_step(struct query_task *task, const struct query_sources *sources,
                            uint32_t *rows_left)
{
    uint32_t given = *rows_left < QUERY_TASK_ROWS_A_TURN ? *rows_left : QUERY_TASK_ROWS_A_TURN;
    uint32_t rows = given;
    bool is_complete = false;
    struct merge merge;

    begin(&merge, task, sources, &rows);
    while (!is_complete && find_live(&merge) && query_task_count(&rows))
        is_complete = step_row(&merge);
    *rows_left -= given - rows;
    return is_complete;
}
