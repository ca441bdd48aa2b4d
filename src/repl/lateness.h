/* lateness.h - how far this node's clock is before the leader's, by how late frames seem to come
 * (replication.md, Clocks).
 *
 * Judge.  A frame's lateness is the node clock at its arrival less the t of its first record: the
 *         difference of the clocks and the way of the frame. The way takes 0 or more, so the least
 *         of many is the nearest to the difference; the least of LATENESS_SECONDS counts, however
 *         many or few frames come in them. Those of another term begin again: they are of another
 *         clock. Until a second of them has come, what was judged before stays.
 * Pure.   No clock is read; times are parameters. */
#ifndef REPL_LATENESS_H
#define REPL_LATENESS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"

enum { LATENESS_SECONDS = 16 };

/* A candidate that is off waits without a leader: so long, and as long as it is off, of that at
 * most LATENESS_OFF_MAX_NS. */
#define LATENESS_WAIT_NS    UINT64_C(5000000000)
#define LATENESS_OFF_MAX_NS UINT64_C(15000000000)

struct lateness {
    int64_t difference_ns; /* what is judged; 0 before the first frame */
    bool has_second;       /* of frames of one term */
    uint64_t term;         /* of the frames below; 0: none yet */
    uint64_t began_ns;     /* when the first of them came */
    struct {
        uint64_t number; /* second of the monotonic clock + 1; 0: none */
        int64_t least_ns;
    } seconds[LATENESS_SECONDS];
};

/* A frame of `term` came at now_ns, CLOCK_MONOTONIC, so late. */
void lateness_add(struct lateness *lateness, uint64_t term, int64_t late_ns, uint64_t now_ns);

/* How far off a clock is: 0 or more. */
CC_MUST_USE uint64_t lateness_off(int64_t difference_ns);

/* For how long nobody must have led before a node of this clock may stand for election; 0: at once,
 * for it is at most bound_ns off. */
CC_MUST_USE uint64_t lateness_wait(int64_t difference_ns, uint64_t bound_ns);

#endif
