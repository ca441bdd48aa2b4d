#include "node/query/query_private.h"

#include "base/log.h"
#include "base/private_log.h"

enum { LIMIT_MAX = 256 };

static_assert(LIMIT_MAX * sizeof(struct private_event) <= REPLY_BUFFER_BYTES, "fits");

/* What a walk from newer rows to older ones has put in place: events [low, high) of the account,
 * that with seq s at number s - first of the reply's rows. */
struct span {
    uint64_t first, end; /* wanted */
    uint64_t low, high;
    bool is_beyond; /* the file has an event that is wanted or later */
};

/* Puts those of a row's events that are wanted. */
static void place(struct query_task *task, struct span *span, const struct private_event *events,
                  uint32_t count)
{
    uint64_t begin = events[0].seq, end = begin + count;

    span->is_beyond = span->is_beyond || end > span->first;
    if (end < span->low) /* a hole: what lies above it does not follow */
        span->low = span->end;
    if (span->low == span->end) {
        span->high = end < span->end ? end : span->end;
        span->low = span->high;
    }
    for (uint64_t seq = span->low; seq > begin && seq > span->first; seq--) {
        memcpy(task->rows + (seq - 1 - span->first) * sizeof *events, &events[seq - 1 - begin],
               sizeof *events);
        span->low = seq - 1;
    }
}

/* Whether a row of the file was looked at: the newest that begins below *location. */
static bool step(struct query_task *task, const struct query_sources *sources,
                 struct history_location *location, struct span *span, uint32_t *visited)
{
    struct private_event events[PRIVATE_BLOCK_EVENTS];
    struct history_keep *keep = &sources->history->keep;
    size_t bytes = 0;
    uint64_t lost;

    if (history_keep_load(keep, location, &bytes, &lost) != HISTORY_OLDER_ROW)
        return false;
    int count = private_block_read(task->query.account_id, location->sequence, keep->found.bytes,
                                   bytes, events);
    *visited += 1;
    if (count < 0) {
        log_line(LOG_ERROR, "history", "a row of private events cannot be read");
        return false;
    }
    *visited += (uint32_t)count;
    place(task, span, events, (uint32_t)count);
    location->index = 0;
    return location->sequence > span->first;
}

/* Whether the first event may still be on its way to the file: those of an account come there in
 * their order. */
static bool is_coming(struct query_task *task, const struct query_sources *sources,
                      struct span *span, uint32_t *visited)
{
    const struct history_keep *keep = &sources->history->keep;
    struct history_location newest = { .table = HISTORY_PRIVATE,
                                       .key = task->query.account_id,
                                       .sequence = UINT64_MAX };

    if (!history_keep_is_written(keep) || keep->seen_sequence >= task->query.offset ||
        keep->seen[HISTORY_PRIVATE] == keep->privates->added)
        return false;
    (void)step(task, sources, &newest, span, visited);
    return !span->is_beyond;
}

void query_private_run(struct query_task *task, const struct query_sources *sources,
                       uint32_t *visited)
{
    const struct query *query = &task->query;
    struct history_keep *keep = &sources->history->keep;
    uint32_t limit = query->limit < LIMIT_MAX ? query->limit : LIMIT_MAX;
    struct span span = { .first = query->before_sequence + 1 };

    span.end = span.low = span.high = span.first + limit;
    struct history_location location = { .table = HISTORY_PRIVATE,
                                         .key = query->account_id,
                                         .sequence = span.end };
    (void)history_keep_view(keep, HISTORY_PRIVATE);
    while (step(task, sources, &location, &span, visited))
        continue;
    if (span.low == span.first && span.high > span.first) {
        task->reply.row_count = (uint32_t)(span.high - span.first);
        task->reply.row_bytes = task->reply.row_count * (uint32_t)sizeof(struct private_event);
        return;
    }
    if (!is_coming(task, sources, &span, visited))
        query_task_refuse_dropped(task, engine_sequence(sources->engine));
}
