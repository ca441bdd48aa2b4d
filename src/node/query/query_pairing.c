#include "node/query/query_pairing.h"

static_assert(sizeof(struct row_pairing) + QUERY_PAIRING_TEXT_MAX <= REPLY_BUFFER_BYTES, "fits");

void query_pairing_run(struct query_task *task, const struct query_sources *sources)
{
    struct row_pairing row;
    char *text = (char *)task->rows + sizeof row;
    uint64_t retry_ms = 0;
    enum problem problem =
        task->query.kind == QUERY_pairing_open
            ? pairing_table_open(sources->pairings, &task->query, sources->now_ns, &row, &retry_ms)
            : pairing_table_run(sources->pairings, &task->query, sources->now_ns, &row, text);

    if (problem != PROBLEM_none) {
        query_task_refuse(task, problem);
        task->reply.lag_ms = retry_ms;
        return;
    }
    query_task_put(task, &row, sizeof row);
    task->reply.row_bytes += (row.text_bytes + 7) / 8 * 8;
}
