/* query_orders.h - the list of an account's orders, live and ended, newest placing first.
 *
 *   engine: live ───────────────────────┐
 *   memory: ended, not yet in the file ─┼──> the newest below the last row ──> page
 *   file:   ended ──────────────────────┘
 *
 * An order is in one of the three at any sequence. Between two looks at memory and file a commit
 * may copy rows: what is in both is shown once.
 *
 * Owner. The follower's thread, between commands.
 * Bound. A call looks at *rows rows of file and page. A walk over what is not in the file, one in
 *        256 rows of the page, looks at all of it: twice 131,072 rows at most (history_keep.h); its
 *        rows cost an eighth each. */
#ifndef NODE_QUERY_QUERY_ORDERS_H
#define NODE_QUERY_QUERY_ORDERS_H

#include "node/query/query_task.h"

enum { QUERY_ORDERS_LIMIT_MAX = 1000 };

/* Finds the first row. */
void query_orders_begin(struct query_task *task, const struct query_sources *sources);

/* Continues. False if *rows are used up: call it again in the next turn. */
CC_MUST_USE bool query_orders_step(struct query_task *task, const struct query_sources *sources,
                                   uint32_t *rows);

#endif
