/* schedule.h - when each request of a run is due, fixed before the run begins.
 *
 * Units. ns after the begin, requests/s.
 * Owner. One thread; the times belong to the caller of schedule_make, who frees them. */
#ifndef PERP_BENCH_SCHEDULE_H
#define PERP_BENCH_SCHEDULE_H

#include "base/compiler.h"

/* clang-format off */
#define SCHEDULE_LIST(X) \
    X(constant) /* at equal distances */ \
    X(poisson)  /* distances of an exponential distribution, as of many independent clients */ \
    X(bursts)   /* `burst` requests at once, at equal distances */ \
    X(closed)   /* no time: one is due when a slot of a connection is free */
/* clang-format on */

enum schedule_kind {
#define X(name) SCHEDULE_##name,
    SCHEDULE_LIST(X)
#undef X
        SCHEDULE_COUNT
};

enum { SCHEDULE_BURST_MAX = 10000 };

struct schedule {
    enum schedule_kind kind;
    double rate_per_s;
    uint64_t length_ns;
    uint32_t burst;
    uint64_t seed;
};

/* Makes the times within the length, in order; at most `most` of them. NULL without memory, and for
 * kind closed. */
uint64_t *schedule_make(const struct schedule *schedule, uint32_t most, uint32_t *count);

const char *schedule_name(enum schedule_kind kind);

/* A step of the generator of pseudo-random numbers that schedules and workloads use. */
uint64_t schedule_random(uint64_t *state);

#endif
