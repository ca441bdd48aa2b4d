/* throttle.h - halves the rate of commands while etcd's database is nearly full (replication.md,
 * Quota): at most half of what was sequenced a second before that began.
 *
 * Owner. The matcher. Times are CLOCK_MONOTONIC, ns. */
#ifndef NODE_RUN_THROTTLE_H
#define NODE_RUN_THROTTLE_H

#include "base/compiler.h"

enum { THROTTLE_LEAST = 20 }; /* sequences a second: the ticks of a market that stands go on */

struct throttle {
    uint64_t seen_ns, seen; /* sequence, at the last look that counted */
    uint64_t rate;          /* sequences a second, of the last second that was whole */
    bool halves;
    int64_t tokens; /* thousandths of a sequence, at most those of 100 ms */
};

/* Whether no command may be sequenced now. `halves`: the database is that full; `sequence`: the
 * last one. */
CC_MUST_USE bool throttle_holds(struct throttle *throttle, bool halves, uint64_t sequence,
                                uint64_t now_ns);

#endif
