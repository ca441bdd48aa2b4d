/* withdrawal_log.h - the newest withdrawals, pending and ended, in the follower's memory.
 *
 *   2120 of code 10 ──> a row        2120 of code 1004 ──> the outcome of the row
 *
 * Pending withdrawals are also in the engine's state, all of them, while they are pending. The
 * outcome of an ended one is only here.
 *
 * Owner.  The follower's thread.
 * Bound.  `capacity` rows. */
#ifndef NODE_HISTORY_WITHDRAWAL_LOG_H
#define NODE_HISTORY_WITHDRAWAL_LOG_H

#include "base/row_history.h"
#include "engine/state/effects.h"
#include "node/history/history_ring.h"

struct withdrawal_kept {
    struct history_link link;
    struct row_withdrawal row;
};

struct withdrawal_log {
    struct history_ring ring; /* one chain: a command creates at most one */
};

/* `capacity` is a power of two. 0, or -ENOMEM with nothing to free. */
CC_MUST_USE int withdrawal_log_init(struct withdrawal_log *log, uint32_t capacity);
void withdrawal_log_free(struct withdrawal_log *log);

/* Records that withdrawals up to `sequence` are not kept; the log must be empty. */
void withdrawal_log_forget(struct withdrawal_log *log, uint64_t sequence);

/* Gets the effects 2120 in order. */
void withdrawal_log_append(struct withdrawal_log *log, const struct effect *effect);

#endif
