/* query_candles.h - the candles of a market (wire.md W7, json.md J6), oldest first.
 *
 *   open piece ──> pieces in memory ──> pieces of the file, from newer to older
 *                        └── pieces of one interval are merged; one without trades has no candle
 *
 * Without a start the newest candles up to the end; with one the oldest from it on: these are
 * sought in a span that has room for so many, then in one four times as long, and so on. The answer
 * is that of the first turn: pieces that end later are not in it.
 *
 * Owner. The follower's thread, between commands.
 * Bound. Each call visits QUERY_TASK_ROWS_A_TURN pieces, or *rows_left if that is less. */
#ifndef NODE_QUERY_QUERY_CANDLES_H
#define NODE_QUERY_QUERY_CANDLES_H

#include "node/query/query_task.h"

/* Finds the market and the span. False: the answer is a problem. */
CC_MUST_USE bool query_candles_begin(struct query_task *task, const struct query_sources *sources);

/* Continues. False if the rows of this turn are used up: call it again in the next turn. */
CC_MUST_USE bool query_candles_step(struct query_task *task, const struct query_sources *sources,
                                    uint32_t *rows_left);

#endif
