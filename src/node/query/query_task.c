#include "node/query/query_task.h"

const void *query_task_row(struct query_task *task, const struct query_sources *sources,
                           enum history_table table, uint64_t key)
{
    struct history_keep *keep = &sources->history->keep;
    const struct history_link *link = history_ring_at(keep->rings[table], task->at);
    uint64_t lost = 0;

    if (link != NULL || task->at == HISTORY_NONE)
        return link;
    switch (history_keep_below(keep, table, key, task->below_sequence, task->below_index, &link,
                               &lost)) {
    case HISTORY_OLDER_ROW:
        return link;
    case HISTORY_OLDER_END:
        task->at = HISTORY_NONE;
        break;
    case HISTORY_OLDER_LOST:
        query_task_refuse_dropped(task, lost);
    }
    return NULL;
}

bool query_task_has_more(struct query_task *task, const struct query_sources *sources,
                         enum history_table table, uint64_t key)
{
    struct history_keep *keep = &sources->history->keep;
    const struct history_link *link;
    uint64_t lost;

    if (task->at == HISTORY_NONE || history_ring_at(keep->rings[table], task->at) != NULL)
        return task->at != HISTORY_NONE;
    return history_keep_below(keep, table, key, task->below_sequence, task->below_index, &link,
                              &lost) != HISTORY_OLDER_END;
}
