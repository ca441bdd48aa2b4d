/* query_withdrawals.h - the paged list of withdrawals for the operator (json.md J7), newest request
 * first.
 *
 *   engine: what is pending      ring: what has ended and waits for the file      file: the rest
 *                 └────────────────────── merged by the rank of the request ───────────┘
 *
 * What is pending is in the engine's state, so that none is ever missing. A page of others is
 * refused if it needs rows of a gap of the file, or, without a file, rows that the ring dropped.
 *
 * Owner. The follower's thread. */
#ifndef NODE_QUERY_QUERY_WITHDRAWALS_H
#define NODE_QUERY_QUERY_WITHDRAWALS_H

#include "node/query/query_task.h"

/* Sets where the page begins. */
void query_withdrawals_begin(struct query_task *task, const struct query_sources *sources);

/* True when the reply is complete. Visits at most *rows_left rows and subtracts them. */
CC_MUST_USE bool query_withdrawals_step(struct query_task *task,
                                        const struct query_sources *sources, uint32_t *rows_left);

#endif
