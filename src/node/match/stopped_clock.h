/* stopped_clock.h - a start whose wall clock is far from the last known time: the node clock stands
 * until the operator or the clock itself has put that right (rules.md R9, wire.md W5).
 *
 *   stopped_clock_judge ──> G = wall clock - last known time
 *      0 <= G <= gap_max ─────────────────────────────> 0: the clock goes
 *      else ──> 2014 with clock_step_ns = G, held ──1011──> stopped_clock_end: the clock goes
 *                  the operator signs that G ────────┤
 *                  the wall clock has come right ────┘ (the node authors it)
 *
 * The wall clock has come right when it is neither before the last known time nor later than that
 * by more than gap_max and the time that this start has waited.
 *
 * Owner.  The matcher's thread; stopped_clock_gap_ns is for any thread.
 * Units.  Nanoseconds. Intervals are of CLOCK_MONOTONIC. */
#ifndef NODE_MATCH_STOPPED_CLOCK_H
#define NODE_MATCH_STOPPED_CLOCK_H

#include "node/match/sequencer.h"

#define STOPPED_CLOCK_WAIT_NS \
    UINT64_C(5000000000) /* for a clock that is behind, before G is fixed */

struct stopped_clock {
    struct clock *clock;
    uint64_t gap_max_ns; /* store.clock_gap_max */
    uint64_t known_ns;   /* the last known time */
    uint64_t asked_ns;   /* when the clock was first looked at; 0: never */
    uint64_t judged_ns;  /* when G was fixed */
    uint64_t ticked_ns;  /* the last tick of a stopped clock */
    bool is_open;
    _Atomic int64_t gap_ns; /* G while it is open; else 0 */
};

/* The results of stopped_clock_judge. */
enum stopped_clock_verdict {
    STOPPED_CLOCK_GOES,   /* no gap */
    STOPPED_CLOCK_WAITS,  /* behind, for less than STOPPED_CLOCK_WAIT_NS: to be asked again */
    STOPPED_CLOCK_STANDS, /* stopped_clock_gap_ns is G, and the clock is held at last_t_ns */
};

/* Compares the wall clock with the last known time: the later of last_t_ns, the t of the last
 * command, not 0, and the newest witness's time. `stopped` was zeroed before the first call. */
CC_MUST_USE enum stopped_clock_verdict stopped_clock_judge(struct stopped_clock *stopped,
                                                           struct clock *clock, uint64_t gap_max_ns,
                                                           uint64_t last_t_ns, uint64_t witness_ns);

/* G while the clock is stopped; 0: it goes. Any thread. */
int64_t stopped_clock_gap_ns(const struct stopped_clock *stopped);

/* Whether the wall clock has come right by itself. */
CC_MUST_USE bool stopped_clock_is_right(const struct stopped_clock *stopped);

/* Lets the clock go, after a 1011 at t_ns: from the wall clock if it has come right; after G > 0
 * from the time that the start found, and what has passed since; after G < 0 from where it
 * stood. */
void stopped_clock_end(struct stopped_clock *stopped, uint64_t t_ns);

/* Authors a 1011 that names the gap `gap_ns`, unsigned. False when the journal has no room:
 * nothing happened. */
CC_MUST_USE bool stopped_clock_author(struct sequencer *sequencer, int64_t gap_ns);

/* Whether a tick of a stopped clock is due, by CLOCK_MONOTONIC: one each interval_ns. */
CC_MUST_USE bool stopped_clock_ticks(struct stopped_clock *stopped, uint64_t interval_ns);

#endif
