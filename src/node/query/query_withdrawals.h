/* query_withdrawals.h - the paged list of withdrawals for the operator (json.md J7).
 *
 * Pending withdrawals are read from the engine's state, so that none is ever missing. Any other
 * list comes from the log; a page that needs rows older than the log's is refused.
 *
 * Owner. The follower's thread. */
#ifndef NODE_QUERY_QUERY_WITHDRAWALS_H
#define NODE_QUERY_QUERY_WITHDRAWALS_H

#include "node/query/query_task.h"

/* Sets where the page begins: in the engine's state or in the log. */
void query_withdrawals_begin(struct query_task *task, const struct query_sources *sources);

/* True when the reply is complete. Visits at most *rows_left rows and subtracts them. */
CC_MUST_USE bool query_withdrawals_step(struct query_task *task,
                                        const struct query_sources *sources, uint32_t *rows_left);

#endif
