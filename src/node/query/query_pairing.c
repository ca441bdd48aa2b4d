#include "node/query/query_pairing.h"

static_assert(sizeof(struct row_pairing) + QUERY_PAIRING_TEXT_MAX <= REPLY_BUFFER_BYTES, "fits");

static enum problem open_one(const struct query_task *task, const struct query_sources *sources,
                             struct row_pairing *row, struct pairing_wait *wait)
{
    const struct query *query = &task->query;
    struct read_share share;

    if (!read_share(sources->engine, query->account_id, PAIRING_SLOTS, &share))
        return PROBLEM_account_not_found;
    return pairing_table_open(sources->pairings, query, &share, sources->now_ns, row, wait);
}

void query_pairing_run(struct query_task *task, const struct query_sources *sources)
{
    struct row_pairing row;
    char *text = (char *)task->rows + sizeof row;
    struct pairing_wait wait = { 0 };
    enum problem problem =
        task->query.kind == QUERY_pairing_open
            ? open_one(task, sources, &row, &wait)
            : pairing_table_run(sources->pairings, &task->query, sources->now_ns, &row, text);

    if (problem != PROBLEM_none) {
        query_task_refuse(task, problem);
        task->reply.lag_ms = wait.retry_ms;
        task->reply.cause = wait.cause;
        return;
    }
    query_task_put(task, &row, sizeof row);
    task->reply.row_bytes += (row.text_bytes + 7) / 8 * 8;
}
