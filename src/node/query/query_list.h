/* query_list.h - the paged lists: orders, fills, public trades, newest first.
 *
 *   before ──> seek ──> chain of the key's rows in memory ──> rows of the file
 *                                      └── limit reached, or the end, or a row that is lost: 503
 *   orders: query_orders.h
 *
 * A page is short only if no rows follow. It has no rows that were added after its first turn, and
 * shows each order as of the turn that visited it.
 *
 * Owner. The follower's thread, between commands.
 * Bound. Each call visits QUERY_TASK_ROWS_A_TURN rows, or *rows_left if that is less. */
#ifndef NODE_QUERY_QUERY_LIST_H
#define NODE_QUERY_QUERY_LIST_H

#include "node/query/query_task.h"

enum { QUERY_LIST_LIMIT_MAX = 1000 };

/* Checks the filters and finds the first row. False: the answer is a problem. */
CC_MUST_USE bool query_list_begin(struct query_task *task, const struct query_sources *sources);

/* Continues. False if the rows of this turn are used up: call it again in the next turn. */
CC_MUST_USE bool query_list_step(struct query_task *task, const struct query_sources *sources,
                                 uint32_t *rows_left);

#endif
