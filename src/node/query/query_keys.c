#include "node/query/query_keys.h"

#include "engine/view/read_keys.h"

static void list_sessions(struct query_task *task, const struct query_sources *sources)
{
    const struct query *query = &task->query;
    struct row_session row;
    uint32_t cursor = 0;

    while (read_keys_session(sources->engine, query->account_id, query->pin, &cursor, &row))
        if (!query_task_put_if_fits(task, &row, sizeof row))
            return;
}

static void list_masters(struct query_task *task, const struct query_sources *sources)
{
    const struct query *query = &task->query;
    struct row_master_key row;
    uint32_t cursor = 0;

    while (read_keys_master(sources->engine, query->account_id, query->pin, &cursor, &row))
        if (!query_task_put_if_fits(task, &row, sizeof row))
            return;
}

static void list_secrets(struct query_task *task, const struct query_sources *sources)
{
    const struct query *query = &task->query;
    struct row_api_key row;
    uint32_t cursor = 0;

    while (read_keys_api_key(sources->engine, query->account_id, query->pin, &cursor, &row))
        if (!query_task_put_if_fits(task, &row, sizeof row))
            return;
    cursor = 0;
    while (read_keys_device_key(sources->engine, query->account_id, query->pin, &cursor, &row))
        if (!query_task_put_if_fits(task, &row, sizeof row))
            return;
}

void query_keys_run(struct query_task *task, const struct query_sources *sources)
{
    if (task->query.kind == QUERY_sessions)
        list_sessions(task, sources);
    else if (task->query.kind == QUERY_master_keys)
        list_masters(task, sources);
    else
        list_secrets(task, sources);
}
