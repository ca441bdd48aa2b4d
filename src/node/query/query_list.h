/* query_list.h - the paged lists: orders, fills, public trades, newest first.
 *
 *   before ──> seek ──> chain of the account's kept rows ──> (orders) live ones older than those
 *                                      └── limit reached, or the end, or a dropped row: 503
 *
 * A page is short only when nothing follows. Rows that were added after its first turn are not in
 * it; what it shows of an order is the order as of the turn that came to it.
 *
 * Owner. The follower's thread, between commands.
 * Bound. QUERY_TASK_ROWS_A_TURN rows looked at for each call, or *rows_left if that is less. */
#ifndef NODE_QUERY_QUERY_LIST_H
#define NODE_QUERY_QUERY_LIST_H

#include "node/query/query_task.h"

enum { QUERY_LIST_LIMIT_MAX = 1000 };

/* Checks the filters and finds the first row. False: the answer is a problem. */
CC_MUST_USE bool query_list_begin(struct query_task *task, const struct query_sources *sources);

/* Goes on. False: the rows of this turn are used up, call it again in another. */
CC_MUST_USE bool query_list_step(struct query_task *task, const struct query_sources *sources,
                                 uint32_t *rows_left);

#endif
