/* alarm.h - what the matcher authors when the node itself finds something wrong: HALTED for an
 * invariant that failed, CANCEL_ONLY while the machine gives no further segment.
 *
 *   follower, at a checkpoint ── alarm_raise ──> alarm_box ──┐
 *   segment pool: refused, and fewer than 2 are ready ───────┴──> alarm_step: 1002, 1008
 *
 * R2: I1, I4, I5, I6 halt their market by 1002, I2 and I3 all markets by 1008. roles.md,
 * Journal: the segments that are left pay for the 1002s and for cancels. The process lives; the
 * states stay until the operator sets others, and are set again while the cause lasts
 * (docs/decisions/0047).
 *
 * Order.  raise adds its bits, then stores `raised` with release; take clears `raised` with acquire
 *         before it takes the bits: what is raised meanwhile is taken now or raised again.
 * Wait.   Nothing blocks. Without journal room what is pending waits for the next turn.
 * Owner.  alarm_raise: the follower. The rest: the matcher. Counters are read by anyone. */
#ifndef NODE_MATCH_ALARM_H
#define NODE_MATCH_ALARM_H

#include "engine/view/audit.h"
#include "node/match/sequencer.h"
#include "store/segment_pool.h"

enum { ALARM_SEGMENTS = 2 }; /* the reserve: fewer ready ones, and a refusal, stop orders */

/* From the follower to the matcher; all zero at the beginning. */
struct alarm_box {
    CC_NO_SHARE _Atomic bool raised;
    _Atomic bool of_all;
    _Atomic uint32_t failed; /* as in struct audit_verdict */
    _Atomic uint64_t markets[AUDIT_MARKET_WORDS];
};

/* Totals since start. */
struct alarm_counters {
    _Atomic uint64_t halts;    /* 1002 and 1008 HALTED for an invariant */
    _Atomic uint64_t closings; /* 1002 CANCEL_ONLY for want of segments */
};

struct alarm {
    struct alarm_box *box;           /* NULL: nobody audits */
    const struct segment_pool *pool; /* NULL: nobody prepares */
    struct audit_verdict pending;    /* taken from the box and not yet authored */
    bool is_pending;
    bool is_short; /* of segments, as it was said last */
    struct alarm_counters counters;
};

/* A checkpoint found something wrong. */
void alarm_raise(struct alarm_box *box, const struct audit_verdict *verdict);

/* Before the matcher's first step. */
void alarm_watch(struct alarm *alarm, struct alarm_box *box, const struct segment_pool *pool);

/* No segment can be made, and too few are left. Any thread. */
static inline bool alarm_wants_segments(const struct segment_pool *pool)
{
    return CC_UNLIKELY(segment_pool_error(pool) != 0) && segment_pool_ready(pool) < ALARM_SEGMENTS;
}

/* Whether alarm_step has something to look at. */
CC_MUST_USE static inline bool alarm_is_due(const struct alarm *alarm)
{
    /* relaxed: alarm_step looks again. */
    if (alarm->is_pending || alarm->is_short ||
        (alarm->box != NULL && atomic_load_explicit(&alarm->box->raised, memory_order_relaxed)))
        return true;
    return alarm->pool != NULL && alarm_wants_segments(alarm->pool);
}

/* Authors what is due. The commands authored; *room_left becomes false when the journal had no room
 * for the next one. */
CC_MUST_USE uint32_t alarm_step(struct alarm *alarm, struct sequencer *sequencer, bool *room_left);

#endif
