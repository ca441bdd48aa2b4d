/* restart_bound.h - how long a start would take to replay what lies after the newest snapshot, and
 * admission that slows while that is too long (roles.md, Bounded start).
 *
 * The estimate is the time in which this process applied the same commands: the start's replay and
 * then each turn of the follower, from the snapshot's sequence on. Above the target the writes of
 * every account are halved once a second, at most four times; at or below it they are as before.
 *
 * Owner. The follower's thread. The figures are read by any thread.
 * Bound. RESTART_BOUND_MARKS marks: when they are used up every second one is left out, so the
 *        estimate is too long by the time between two of them at most. */
#ifndef NODE_SERVE_RESTART_BOUND_H
#define NODE_SERVE_RESTART_BOUND_H

#include "base/account_rate.h"
#include "base/published.h"

enum { RESTART_BOUND_MARKS = 1024 };

struct restart_mark {
    uint64_t sequence; /* applied up to here ... */
    uint64_t spent_ns; /* ... in so much time, since the process began */
};

struct restart_bound {
    const struct published *snapshot; /* sequence of the newest one; NULL: there is no estimate */
    struct account_rate *rates;       /* NULL: nothing is slowed */
    uint64_t target_ns;
    uint64_t spent_ns;
    uint64_t look_ns; /* when to look again */
    uint64_t step;    /* sequences between two marks, at least */
    uint32_t count;
    struct restart_mark marks[RESTART_BOUND_MARKS]; /* oldest first */
    struct published estimate_ns;
    struct published halvings;
};

/* The start has replayed the commands after `from`, up to `sequence`, in that time. */
void restart_bound_begin(struct restart_bound *bound, uint64_t from, uint64_t sequence,
                         uint64_t spent_ns);

/* A turn has applied the commands up to `sequence` in that time. */
void restart_bound_add(struct restart_bound *bound, uint64_t sequence, uint64_t spent_ns);

/* Looks once a second (clock_monotonic_ns). */
void restart_bound_step(struct restart_bound *bound, uint64_t now_ns);

#endif
