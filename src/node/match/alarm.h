/* alarm.h - commands that the matcher authors when the node finds a fault: HALTED after a failed
 * invariant, CANCEL_ONLY while the disk gives no further segment, or the log of a cluster is full.
 *
 *   follower, at a checkpoint ── alarm_raise ──> alarm_box ──┐
 *   segment pool: refused, and fewer than 2 are ready ───────┴──> alarm_step: 1002, 1008
 *
 * R2: a failure of I1, I4 to I7 or I10 halts its market by 1002, one of I2, I3, I8 or I9 halts all
 * markets by 1008. A full disk puts every market on CANCEL_ONLY while two prepared segments are
 * left to pay for these commands and for cancels (roles.md, Journal). The process goes on. The
 * states stay until the operator sets others, and are set again while the cause lasts
 * (docs/decisions/0047).
 *
 * Order.  raise adds its bits, then stores `raised` with release; collect clears `raised` with
 *         acquire before it takes the bits. A bit raised in between is taken now or raised again.
 * Wait.   Nothing blocks. Without journal room, pending commands wait for the next turn.
 * Owner.  alarm_raise: the follower. The rest: the matcher. Counters are read by any thread. */
#ifndef NODE_MATCH_ALARM_H
#define NODE_MATCH_ALARM_H

#include "base/published.h"
#include "engine/view/audit.h"
#include "node/match/sequencer.h"
#include "store/segment_pool.h"

enum { ALARM_SEGMENTS = 2 }; /* reserve: with fewer ready ones and a refusal, orders stop */

/* From the follower to the matcher. All zero at the beginning. */
struct alarm_box {
    CC_NO_SHARE _Atomic bool raised;
    _Atomic bool of_all;
    _Atomic uint32_t failed; /* as in struct audit_verdict */
    _Atomic uint64_t markets[AUDIT_MARKET_WORDS];
};

/* Totals since start. */
struct alarm_counters {
    struct published halts;    /* 1002 and 1008 HALTED for an invariant */
    struct published closings; /* 1002 CANCEL_ONLY without segments or room in the log */
};

struct alarm {
    struct alarm_box *box;           /* NULL: no audits run */
    const struct segment_pool *pool; /* NULL: no segments are prepared */
    struct audit_verdict pending;    /* collected from the box, not yet authored */
    bool is_pending;
    const _Atomic bool *is_full; /* the log of the cluster has no room; NULL: there is none */
    bool is_short;               /* of segments, as last logged */
    bool is_closed;              /* the same of is_full */
    struct alarm_counters counters;
};

/* Passes on the verdict of an audit that failed. */
void alarm_raise(struct alarm_box *box, const struct audit_verdict *verdict);

/* Before the matcher's first step. */
void alarm_watch(struct alarm *alarm, struct alarm_box *box, const struct segment_pool *pool);

/* Before its first step as a leader: another thread says whether the cluster's log has no room. */
void alarm_watch_log(struct alarm *alarm, const _Atomic bool *is_full);

/* True while no segment can be made and too few are left. Any thread. */
static inline bool alarm_wants_segments(const struct segment_pool *pool)
{
    return CC_UNLIKELY(segment_pool_error(pool) != 0) && segment_pool_ready(pool) < ALARM_SEGMENTS;
}

/* Whether alarm_step may have something to do. */
CC_MUST_USE static inline bool alarm_is_due(const struct alarm *alarm)
{
    /* relaxed: alarm_step reads it again, with acquire. */
    if (alarm->is_pending || alarm->is_short || alarm->is_closed ||
        (alarm->is_full != NULL && atomic_load_explicit(alarm->is_full, memory_order_relaxed)) ||
        (alarm->box != NULL && atomic_load_explicit(&alarm->box->raised, memory_order_relaxed)))
        return true;
    return alarm->pool != NULL && alarm_wants_segments(alarm->pool);
}

/* Authors the commands that are due and returns their number. *room_left becomes false when the
 * journal has no room for the next one. */
CC_MUST_USE uint32_t alarm_step(struct alarm *alarm, struct sequencer *sequencer, bool *room_left);

#endif
