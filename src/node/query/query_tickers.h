/* query_tickers.h - markets at a glance (json.md J6): of one, or of all by asset id.
 *
 *   engine ──> prices, open interest          the 1,440 minutes up to now, as whole hours and
 *   candle_log ──> open, high, low, sums      the minutes before the first of them
 *
 *            minutes   hours                 open
 *          ├─·─·─·─·─┼───────┼───────┼─ ... ─┼──>
 *          └──── of pieces that have ended ──┘    candle_log's days keep their sum
 *
 * All rows are of the first turn. What has ended is summed again only when another minute has begun
 * or another hour has ended, so that a read looks at two pieces a market.
 *
 * Owner. The follower's thread, between commands.
 * Bound. Each call visits QUERY_TASK_ROWS_A_TURN pieces, or *rows_left if that is less. */
#ifndef NODE_QUERY_QUERY_TICKERS_H
#define NODE_QUERY_QUERY_TICKERS_H

#include "node/query/query_task.h"

/* Writes the rows without what has ended. False: the answer is a problem. */
CC_MUST_USE bool query_tickers_begin(struct query_task *task, const struct query_sources *sources);

/* Adds what has ended. False if the rows of this turn are used up: call it again in the next. */
CC_MUST_USE bool query_tickers_step(struct query_task *task, const struct query_sources *sources,
                                    uint32_t *rows_left);

#endif
