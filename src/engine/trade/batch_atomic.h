/* batch_atomic.h - a batch of which all items happen or none (R11, Batch). Owned by the
 * engine.
 *
 *   check: every item on the records themselves, moved as the items would move them, and put back
 *     │    before anything is told ── one failed ──> what each alone would have answered
 *     └── none ──> act: cancels, then the others; cannot fail
 *
 * Nothing trades: what is placed or replaced is post-only and does not cross. So the check needs
 * sizes, prices and sums of the orders that are named, and one margin test at its end; the books
 * are looked at and stay as they are.
 *
 * Bound. Two looks at the portfolio's orders (margin), and for each item that enters an order the
 *        dead orders at or through its limit, at most engine.makers_max. */
#ifndef ENGINE_TRADE_BATCH_ATOMIC_H
#define ENGINE_TRADE_BATCH_ATOMIC_H

#include "engine/trade/batch.h"

/* All of the `count` items, or none: then result->reason is batch_aborted and the status that of
 * the first one that fails. Fills result->results and tells the 2100 of each item. */
CC_MUST_USE enum status batch_atomic_apply(struct engine *engine, const struct command *command,
                                           uint32_t count, struct engine_result *result);

#endif
