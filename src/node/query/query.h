/* query.h - answers a query from the replica: rows, written into a buffer of the pool.
 *
 *   query_begin ── false ──> query_step, once a turn, until it is true ──> task->reply is complete
 *        └── true: complete already
 *
 * Owner. The follower's thread, between commands. */
#ifndef NODE_QUERY_QUERY_H
#define NODE_QUERY_QUERY_H

#include "node/query/query_task.h"

enum {
    QUERY_DEPTH_MAX = 1000,       /* levels a side (wire.md W7) */
    QUERY_INVARIANTS_ALL = 0x3FF, /* I1..I10 */
};

/* What all queries of a turn may still visit. */
struct query_budget {
    uint32_t rows;
    uint32_t holders;
    uint32_t spare; /* rows for queries that begin after `rows` are used up; the follower's */
    uint32_t owed;  /* rows visited beyond `rows` by lists that are made in one turn */
};

/* Begins a query and does its first step. The reply has a buffer of `pool`, or is a problem: a 404,
 * or not_ready if the pool is empty or the rows are not kept. */
CC_MUST_USE bool query_begin(struct query_task *task, const struct query_sources *sources,
                             const struct query *query, struct reply_pool *pool,
                             struct query_budget *budget);

/* Does the next step of a query that is not complete. */
CC_MUST_USE bool query_step(struct query_task *task, const struct query_sources *sources,
                            struct reply_pool *pool, struct query_budget *budget);

/* Answers a query without running it: not_ready, because the follower lags by lag_ns. */
void query_refuse(struct query_task *task, const struct query_sources *sources,
                  const struct query *query, uint64_t lag_ns);

/* Ends a query that is not complete: not_ready, too many of its address take so long. */
void query_give_up(struct query_task *task, struct reply_pool *pool);

#endif
