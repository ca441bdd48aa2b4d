#include "node/query/query_after.h"

#include "node/history/fill_log.h"

/* A bound of rows by one of their numbers. */
struct bound {
    bool is_seq; /* of the market; else trade_seq */
    uint64_t most;
};

/* Rows below (sequence, index). */
struct location {
    uint64_t sequence;
    uint32_t index;
};

/* The market's newest row below the location, in the ring or in the file. */
static enum history_older find(const struct query_task *task, const struct query_sources *sources,
                               struct location location, struct trade_row *found)
{
    struct history_keep *keep = &sources->history->keep;
    const struct history_ring *ring = keep->rings[HISTORY_TRADES];
    uint64_t at = history_ring_below(ring, task->asset_id, location.sequence, location.index), lost;
    const struct history_link *link = history_ring_at(ring, at);

    if (link == NULL && at == HISTORY_NONE)
        return HISTORY_OLDER_END;
    if (link == NULL) {
        enum history_older older = history_keep_below(
            keep, HISTORY_TRADES, task->asset_id, location.sequence, location.index, &link, &lost);
        if (older != HISTORY_OLDER_ROW)
            return older;
    }
    memcpy(found, link, sizeof *found);
    return HISTORY_OLDER_ROW;
}

/* Whether the newest row below the location is within the bound, as is one that is not there. */
static bool is_within(const struct query_task *task, const struct query_sources *sources,
                      struct location location, struct bound bound)
{
    struct trade_row row;

    return find(task, sources, location, &row) != HISTORY_OLDER_ROW ||
           (bound.is_seq ? row.seq : row.trade_seq) <= bound.most;
}

/* The highest location below which no row is beyond the bound. What the file has lost lies below
 * keep->from, and who goes on from there meets it. */
static struct location search(const struct query_task *task, const struct query_sources *sources,
                              struct bound bound)
{
    struct location location = { UINT64_MAX, 0 };
    uint64_t end = engine_sequence(sources->engine) + 1; /* no row has it */
    uint32_t last = UINT32_MAX;                          /* no index is as high */

    if (is_within(task, sources, location, bound))
        return location;
    location.sequence = published_get(&sources->history->keep.from);
    if (!is_within(task, sources, location, bound))
        location.sequence = 0;
    while (end > location.sequence + 1) {
        struct location middle = { location.sequence + (end - location.sequence) / 2, 0 };
        if (is_within(task, sources, middle, bound))
            location = middle;
        else
            end = middle.sequence;
    }
    while (last - location.index > 1) {
        struct location middle = { location.sequence,
                                   location.index + (last - location.index) / 2 };
        if (is_within(task, sources, middle, bound))
            location = middle;
        else
            last = middle.index;
    }
    return location;
}

bool query_after_begin(struct query_task *task, const struct query_sources *sources)
{
    struct bound followed = { true, task->query.before_sequence };
    struct trade_row row = { .trade_seq = 0 }, top = row;
    enum history_older older = find(task, sources, search(task, sources, followed), &row);
    struct bound page = { false, row.trade_seq + task->query.limit };
    struct location location = search(task, sources, page);

    if (older != HISTORY_OLDER_LOST)
        older = find(task, sources, location, &top);
    if (older == HISTORY_OLDER_LOST || top.trade_seq < row.trade_seq) {
        query_task_refuse_dropped(task, location.sequence);
        return false;
    }
    task->after_seq = task->query.before_sequence;
    task->expected = top.trade_seq - row.trade_seq;
    task->is_newer = location.sequence != UINT64_MAX;
    if (task->expected == 0 && task->is_newer) { /* what would be the next is not there */
        query_task_refuse_dropped(task, location.sequence);
        return false;
    }
    task->below_sequence = location.sequence;
    task->below_index = location.index;
    task->at = history_ring_below(&sources->history->fills.trades, task->asset_id,
                                  location.sequence, location.index);
    return true;
}
