/* query_after.h - the trades of a market that follow one of its sequences, the oldest of them
 * first, for a stream that goes on (wire.md W9, resume).
 *
 *   rows of the market   .. seq <= after | the page: at most `limit` trades | newer ones ..
 *
 * A market numbers its trades without a hole (trade_seq), so that both ends are found by bisection,
 * and the page is known to be whole.
 *
 * Owner. The follower's thread. */
#ifndef NODE_QUERY_QUERY_AFTER_H
#define NODE_QUERY_QUERY_AFTER_H

#include "node/query/query_task.h"

/* Begins a list of trades at the newest row of the page, with how many it has; the market is known.
 * False: the trades that follow are not kept, and the task is refused. */
CC_MUST_USE bool query_after_begin(struct query_task *task, const struct query_sources *sources);

#endif
