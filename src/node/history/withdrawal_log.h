/* withdrawal_log.h - the newest withdrawals, pending and ended, kept in the follower's memory.
 *
 *   2120 of code 10 ──> a row        2120 of code 1004 ──> how the row has ended
 *
 * What is pending stands in the engine's state too, whole and for as long as it is pending; how one
 * has ended stands here only.
 *
 * Owner.  The follower's thread.
 * Bound.  `capacity` rows. */
#ifndef NODE_HISTORY_WITHDRAWAL_LOG_H
#define NODE_HISTORY_WITHDRAWAL_LOG_H

#include "base/row_history.h"
#include "engine/state/effects.h"
#include "node/history/history_ring.h"

struct withdrawal_entry {
    struct history_link link;
    struct row_withdrawal row;
};

struct withdrawal_log {
    struct history_ring ring; /* one chain: a command makes at most one */
};

/* `capacity` a power of two; 0 or -ENOMEM, then there is nothing to free. */
CC_MUST_USE int withdrawal_log_init(struct withdrawal_log *log, uint32_t capacity);
void withdrawal_log_free(struct withdrawal_log *log);

/* Of an empty log: those up to `sequence` are not kept. */
void withdrawal_log_forget(struct withdrawal_log *log, uint64_t sequence);

/* Effects 2120, in order. */
void withdrawal_log_append(struct withdrawal_log *log, const struct effect *effect);

#endif
