/* clock.h - the node clock (wire.md W5), which every role gets: real, or simulated in tests.
 *
 * The real clock is CLOCK_MONOTONIC plus an offset. The offset follows CLOCK_REALTIME by at most
 * 500 ppm, so a step of the wall clock never makes this clock jump. Matcher and net threads share
 * one object.
 *
 *   owner                                     any thread
 *   clock_follow()  -- three words -->        clock_now_ns()
 *
 * A start whose wall clock cannot be right holds this clock: it is stopped until clock_release.
 *
 * Order. A version publishes the three words; it is odd while they are written. A reader retries
 *        when the version was odd or has changed, so it never mixes two updates. While the clock
 *        is held nobody reads the words; clock_release writes them before it ends the hold.
 * Wait.  A reader retries only during an update, a few ns each 100 ms. Nothing blocks.
 * Owner. One thread calls clock_follow (real clock) or clock_set (simulated clock). While it is
 *        held the clock belongs to the thread that releases it.
 * Units. Nanoseconds since the unix epoch. Ticks are TSC counts, for intervals on one machine. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include "base/compiler.h"

enum {
    CLOCK_SLEW_PPM = 500,                         /* the offset changes no faster than this */
    CLOCK_FOLLOW_INTERVAL_NS = 100 * 1000 * 1000, /* how often the owner calls clock_follow */
    CLOCK_DIFFERENCE_MAX_NS = 1000 * 1000 * 1000, /* above it: log, count, /readyz (W5) */
};

struct clock {
    bool simulated;
    CC_NO_SHARE _Atomic uint64_t version; /* odd while the owner writes the next three */
    _Atomic uint64_t base_monotonic_ns;   /* CLOCK_MONOTONIC of the last update */
    _Atomic int64_t base_offset_ns;       /* the offset at that moment */
    _Atomic int64_t target_offset_ns;     /* the offset that is approached */
    _Atomic int64_t difference_ns;        /* CLOCK_REALTIME - this clock, at the last update */
    _Atomic uint64_t held_ns;             /* the time at which it is stopped; 0: it goes */
    bool is_ahead; /* released before the wall clock had come so far; of the owner */
    _Atomic uint64_t simulated_ns;
    int64_t simulated_step_ns; /* of the wall clock against simulated_ns */
};

/* Initializes a real clock to the time of CLOCK_REALTIME. Returns 0 or -errno. */
CC_MUST_USE int clock_init(struct clock *clock);

/* Initializes a simulated clock. Its time changes only by clock_set and clock_advance. */
void clock_init_simulated(struct clock *clock, uint64_t now_ns);
void clock_set(struct clock *clock, uint64_t now_ns);
void clock_advance(struct clock *clock, uint64_t step_ns);

/* Sets the wall clock of a simulated clock off by so much, as of a machine that starts with a wrong
 * clock. clock_now_ns shows it once clock_follow or a release takes it over: a start does. */
void clock_step(struct clock *clock, int64_t step_ns);

/* Returns CLOCK_REALTIME, or what a simulated clock has in its place. Any thread. */
uint64_t clock_wall_ns(const struct clock *clock);

/* Stops the clock at at_ns, not 0, until clock_release. Owner, at a start. */
void clock_hold(struct clock *clock, uint64_t at_ns);

/* Lets a clock that is held go on from at_ns. While the wall clock is more than
 * CLOCK_DIFFERENCE_MAX_NS behind it goes as CLOCK_MONOTONIC does; then it follows as ever. */
void clock_release(struct clock *clock, uint64_t at_ns);

CC_MUST_USE static inline bool clock_is_held(const struct clock *clock)
{
    /* acquire (pairs: clock_release): a reader that sees the clock go sees its three words too. */
    return atomic_load_explicit(&clock->held_ns, memory_order_acquire) != 0;
}

/* Returns the time. It may go back between two calls of one thread, by at most 1e-3 of the duration
 * of an update; the engine's time increases strictly all the same (R3). Any thread. */
uint64_t clock_now_ns(const struct clock *clock);

/* Returns the time for timeouts: CLOCK_MONOTONIC, or the simulated time. It is not comparable with
 * clock_now_ns. Any thread. */
uint64_t clock_monotonic_ns(const struct clock *clock);

/* Returns the time for deadlines that must not stop while the machine sleeps:
 * CLOCK_BOOTTIME, or the simulated time. Any thread. */
uint64_t clock_boot_ns(const struct clock *clock);

/* Reads CLOCK_REALTIME and makes it the target of the offset. Owner only. Does nothing to a
 * simulated clock, nor while the clock is held. */
void clock_follow(struct clock *clock);

/* Returns CLOCK_REALTIME minus this clock at the last clock_follow; 0 for a simulated clock. Any
 * thread. */
int64_t clock_difference_ns(const struct clock *clock);

/* clock_follow with its two readings as parameters, for tests of the slew. */
void clock_follow_to(struct clock *clock, uint64_t monotonic_ns, uint64_t realtime_ns);

/* Returns the node clock at the time `monotonic_ns` of CLOCK_MONOTONIC. */
uint64_t clock_at(const struct clock *clock, uint64_t monotonic_ns);

/* Returns the cycle counter for latency stamps: the TSC on x86-64. */
static inline uint64_t clock_ticks(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    extern uint64_t clock_ticks_slow(void);
    return clock_ticks_slow();
#endif
}

/* Returns the ticks since `since`, at most UINT32_MAX: a stamp of a command. */
static inline uint32_t clock_ticks_since(uint64_t since)
{
    uint64_t delta = clock_ticks() - since;
    return delta > UINT32_MAX ? UINT32_MAX : (uint32_t)delta;
}

/* The length of a tick in nanoseconds, times 2^32. */
struct clock_rate {
    uint64_t ns_per_tick_q32;
};

/* Measures the length of a tick against CLOCK_MONOTONIC_RAW, to 1e-4. Spins for 5 ms; call it once
 * at start. */
struct clock_rate clock_calibrate(void);

static inline uint64_t clock_ticks_to_ns(struct clock_rate rate, uint64_t ticks)
{
    return (uint64_t)(((uint128)ticks * rate.ns_per_tick_q32) >> 32);
}

#endif
