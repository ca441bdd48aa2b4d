#include "node/query/query_withdrawals.h"

#include "engine/state/withdrawal.h"

enum { LIMIT_MAX = 1000 };

static_assert(sizeof(struct row_list) + LIMIT_MAX * sizeof(struct row_withdrawal) <=
                  REPLY_BUFFER_BYTES,
              "fits");

static bool is_live(const struct query_task *task)
{
    return task->query.status == ROW_WITHDRAWAL_PENDING;
}

void query_withdrawals_begin(struct query_task *task, const struct query_sources *sources)
{
    const struct query *query = &task->query;
    struct row_list list = { 0 }; /* its count is written at the end */

    task->offset = query->offset;
    task->below_sequence = query->before_sequence == 0 ? UINT64_MAX : query->before_sequence;
    if (is_live(task)) {
        /* A command makes at most one row: a page that showed its index 0 continues below its
         * sequence. */
        task->below_sequence += query->before_sequence != 0 && query->before_index != 0;
        task->at = WITHDRAWAL_NONE;
    } else {
        task->at = history_ring_below(&sources->history->withdrawals.ring, 0, task->below_sequence,
                                      query->before_index);
    }
    query_task_put(task, &list, sizeof list);
}

static bool is_full(const struct query_task *task)
{
    uint32_t most = task->query.limit < LIMIT_MAX ? task->query.limit : LIMIT_MAX;

    return task->reply.row_count - 1 == most;
}

/* Shows the row, or counts it as passed over. True: the page is full, and this row is the first of
 * the next. */
static bool is_beyond(struct query_task *task, const struct row_withdrawal *row)
{
    const struct query *query = &task->query;

    if (query->status != QUERY_ANY_STATUS && row->outcome != query->status)
        return false;
    if (task->offset != 0) {
        task->offset--;
        return false;
    }
    if (is_full(task))
        return true;
    query_task_put(task, row, sizeof *row);
    return false;
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

/* Walks from the newest to the oldest withdrawal that the engine keeps. If the current row was
 * freed between two turns, the walk starts again at the newest; if a newer withdrawal reused its
 * slot, the walk continues from that one. Rows already shown are skipped in both cases. */
static bool step_live(struct query_task *task, const struct query_sources *sources, uint32_t *rows)
{
    const struct engine *engine = sources->engine;
    uint32_t at = (uint32_t)task->at;
    struct row_withdrawal row;

    if (!withdrawal_read(engine, at, &row))
        at = WITHDRAWAL_NONE;
    while ((at = withdrawal_older(engine, at)) != WITHDRAWAL_NONE) {
        if (*rows == 0)
            return false;
        *rows -= 1;
        bool is_there = withdrawal_read(engine, at, &row);
        INVARIANT(is_there);
        task->at = at;
        if (row.sequence >= task->below_sequence)
            continue;
        if (is_beyond(task, &row))
            return end(task, true);
        task->below_sequence = row.sequence;
    }
    return end(task, false);
}

static bool step_log(struct query_task *task, const struct query_sources *sources, uint32_t *rows)
{
    const struct history_ring *ring = &sources->history->withdrawals.ring;

    while (task->at != HISTORY_NONE) {
        const struct withdrawal_kept *kept = history_ring_at(ring, task->at);
        if (kept == NULL && is_full(task))
            return end(task, true);
        if (kept == NULL) {
            query_task_refuse_dropped(task, history_ring_dropped_sequence(ring));
            return true;
        }
        if (*rows == 0)
            return false;
        *rows -= 1;
        if (is_beyond(task, &kept->row))
            return end(task, true);
        task->at = kept->link.older;
    }
    return end(task, false);
}

bool query_withdrawals_step(struct query_task *task, const struct query_sources *sources,
                            uint32_t *rows_left)
{
    uint32_t given = *rows_left < QUERY_TASK_ROWS_A_TURN ? *rows_left : QUERY_TASK_ROWS_A_TURN;
    uint32_t rows = given;
    bool is_complete =
        is_live(task) ? step_live(task, sources, &rows) : step_log(task, sources, &rows);

    *rows_left -= given - rows;
    return is_complete;
}
