/* withdrawal_log.h - the newest ended withdrawals, in the order of their ends, in the follower's
 * memory. The file of the store has all of them (history_keep.h).
 *
 *   2120 of code 10 ──> pending: in the engine alone ── 2120 of code 1004 ──> row ──commit──> file
 *
 * A withdrawal has its rank in the list, the (sequence, index) of its request, whenever it ends.
 *
 * Owner.  The follower's thread.
 * Bound.  `capacity` rows. */
#ifndef NODE_HISTORY_WITHDRAWAL_LOG_H
#define NODE_HISTORY_WITHDRAWAL_LOG_H

#include "base/row_history.h"
#include "engine/state/effects.h"
#include "node/history/history_ring.h"

struct withdrawal_kept {
    struct history_link link; /* (sequence, index) of its end */
    uint64_t ended_sequence;
    struct row_withdrawal row;
};

struct withdrawal_log {
    struct history_ring ring; /* one chain */
};

/* `capacity` is a power of two. 0, or -ENOMEM with nothing to free. */
CC_MUST_USE int withdrawal_log_init(struct withdrawal_log *log, uint32_t capacity);
void withdrawal_log_free(struct withdrawal_log *log);

/* Records that withdrawals that ended up to `sequence` are not kept; the log must be empty. */
void withdrawal_log_forget(struct withdrawal_log *log, uint64_t sequence);

/* Gets the effects 2120 in order. */
void withdrawal_log_append(struct withdrawal_log *log, const struct effect *effect);

#endif
