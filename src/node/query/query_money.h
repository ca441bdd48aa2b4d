/* query_money.h - the paged lists of money: funding payments and rates, the fund, the fee account.
 *
 * Owner. The follower's thread. */
#ifndef NODE_QUERY_QUERY_MONEY_H
#define NODE_QUERY_QUERY_MONEY_H

#include "node/query/query_task.h"

/* Whether the query is of these kinds. */
CC_MUST_USE bool query_money_is(const struct query *query);

/* Checks the filters and finds the first row. False: the answer is a problem. */
CC_MUST_USE bool query_money_begin(struct query_task *task, const struct query_sources *sources);

/* True when the reply is complete. Visits at most *rows_left rows and subtracts them. */
CC_MUST_USE bool query_money_step(struct query_task *task, const struct query_sources *sources,
                                  uint32_t *rows_left);

#endif
