/* clock.h - the node clock (wire.md W5), handed to every role; real, or simulated in tests.
 *
 * The real clock is CLOCK_MONOTONIC plus an offset that follows CLOCK_REALTIME by at most 500 ppm:
 * a wall clock that is stepped never makes it jump. Matcher and net threads share one object.
 *
 *   owner                                     any thread
 *   clock_follow()  -- three words -->        clock_now_ns()
 *
 * Order. The three words are published under an even/odd version: a reader retries while one is
 *        being written, so it never mixes two updates.
 * Wait.  A reader retries only across an update, a few ns each 100 ms; nothing blocks.
 * Owner. One thread calls clock_follow (the real one) or clock_set (the simulated one).
 * Units. Nanoseconds since the unix epoch; ticks are TSC counts, for intervals on one machine. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include "base/cc.h"

enum {
    CLOCK_SLEW_PPM = 500,                         /* the offset moves no faster than this */
    CLOCK_FOLLOW_INTERVAL_NS = 100 * 1000 * 1000, /* the owner calls clock_follow about so often */
    CLOCK_DIFFERENCE_MAX_NS = 1000 * 1000 * 1000, /* above it: log, count, /readyz (W5) */
};

struct clock {
    bool simulated;
    CC_NO_SHARE _Atomic uint64_t version; /* odd while the owner writes the next three */
    _Atomic uint64_t base_monotonic_ns;   /* CLOCK_MONOTONIC of the last update */
    _Atomic int64_t base_offset_ns;       /* offset in force at that moment */
    _Atomic int64_t target_offset_ns;     /* offset it moves to */
    _Atomic int64_t difference_ns;        /* CLOCK_REALTIME - this clock, at the last update */
    _Atomic uint64_t simulated_ns;
};

/* The real clock, starting at CLOCK_REALTIME's time. 0 or -errno. */
CC_MUST_USE int clock_init(struct clock *clock);

/* A clock that keeps one time until it is set. */
void clock_init_simulated(struct clock *clock, uint64_t now_ns);
void clock_set(struct clock *clock, uint64_t now_ns);
void clock_advance(struct clock *clock, uint64_t step_ns);

/* The time. Calls of one thread do not go back by more than 1e-3 of the time an update takes; the
 * engine's time is strictly increasing in any case (R3). */
uint64_t clock_now_ns(const struct clock *clock);

/* Time for timeouts: CLOCK_MONOTONIC, or the simulated time. Not comparable with clock_now_ns. */
uint64_t clock_monotonic_ns(const struct clock *clock);

/* Reads CLOCK_REALTIME and aims the offset at it. Owner only; no effect on a simulated clock. */
void clock_follow(struct clock *clock);

/* CLOCK_REALTIME minus this clock at the last clock_follow; 0 for a simulated clock. Any thread. */
int64_t clock_difference_ns(const struct clock *clock);

/* The step of clock_follow with its two readings given (for tests of the slew). */
void clock_follow_to(struct clock *clock, uint64_t monotonic_ns, uint64_t realtime_ns);

/* The node clock at a given CLOCK_MONOTONIC. */
uint64_t clock_at(const struct clock *clock, uint64_t monotonic_ns);

/* Time stamps of stages: the TSC on x86-64. */
static inline uint64_t clock_ticks(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    extern uint64_t clock_ticks_slow(void);
    return clock_ticks_slow();
#endif
}

/* How long a tick is: nanoseconds times 2^32. */
struct clock_rate {
    uint64_t ns_per_tick_q32;
};

/* Measures it against CLOCK_MONOTONIC_RAW for 5 ms, busy; call it once at start. Good to 1e-4. */
struct clock_rate clock_calibrate(void);

static inline uint64_t clock_ticks_to_ns(struct clock_rate rate, uint64_t ticks)
{
    return (uint64_t)(((uint128)ticks * rate.ns_per_tick_q32) >> 32);
}

#endif
