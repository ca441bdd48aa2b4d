/* batch_atomic.h - an atomic batch: either all its items act or none does (R11, Batch). Owned by
 * the engine.
 *
 *   check: moves the records as the items would, and restores them before any effect is emitted
 *     │    ── an item fails ──> the answer that each item alone would have got
 *     └── none fails ──> act: cancels, then the others; cannot fail
 *
 * An atomic batch does not trade: its placements and replacements are post-only and do not cross.
 * So the check needs only sizes, prices and sums of the named orders, and one margin test at its
 * end. It reads the books and does not change them.
 *
 * Bound. Two walks over the portfolio's orders (margin), and for each item that enters an order one
 *        over the dead orders at or through its limit. The items share one engine.makers_max in the
 *        check, and one more where each is judged alone. */
#ifndef ENGINE_TRADE_BATCH_ATOMIC_H
#define ENGINE_TRADE_BATCH_ATOMIC_H

#include "engine/trade/batch.h"

/* Applies all `count` items, or none: then result->reason is batch_aborted, the status is that of
 * the first item that fails, and no order, sum or book changes. Fills result->results and emits
 * 2100 of each item. */
CC_MUST_USE enum status batch_atomic_apply(struct engine *engine, const struct command *command,
                                           uint32_t count, struct engine_result *result);

#endif
