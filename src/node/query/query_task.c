#include "node/query/query_task.h"

bool query_task_older(struct query_task *task, const struct query_sources *sources,
                      enum history_table table, uint64_t key, const struct history_link **row)
{
    const struct history_link *found = NULL;
    uint64_t lost = 0;
    enum history_older older =
        history_keep_below(&sources->history->keep, table, key, task->below_sequence,
                           task->below_index, &found, &lost);

    *row = older == HISTORY_OLDER_ROW ? found : NULL;
    if (older == HISTORY_OLDER_LOST)
        query_task_refuse_dropped(task, lost);
    return older != HISTORY_OLDER_LOST;
}

const void *query_task_row(struct query_task *task, const struct query_sources *sources,
                           enum history_table table, uint64_t key)
{
    const struct history_link *link =
        history_ring_at(sources->history->keep.rings[table], task->at);

    if (link != NULL || task->at == HISTORY_NONE)
        return link;
    if (query_task_older(task, sources, table, key, &link) && link == NULL)
        task->at = HISTORY_NONE;
    return link;
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

bool query_task_admits(const struct query_task *task, uint32_t subaccount_index,
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
