#include "base/clock.h"

#include <time.h>

enum { NS_PER_S = 1000 * 1000 * 1000, SLEW_DIVISOR = 1000 * 1000 / CLOCK_SLEW_PPM };

static uint64_t read_ns(clockid_t id)
{
    struct timespec time;
    int failed = clock_gettime(id, &time);
    INVARIANT(failed == 0);
    return (uint64_t)time.tv_sec * NS_PER_S + (uint64_t)time.tv_nsec;
}

/* The three words of an update, as one reading. */
struct base {
    uint64_t monotonic_ns;
    int64_t offset_ns;
    int64_t target_ns;
};

static struct base base_read(const struct clock *clock)
{
    for (;;) {
        /* acquire (pairs: base_write): the words read next are at least as new as this version. */
        uint64_t before = atomic_load_explicit(&clock->version, memory_order_acquire);
        /* acquire (pairs: base_write): a reader that sees a newer word also sees its odd version,
         * so the second load of the version detects the change. */
        struct base base = {
            .monotonic_ns = atomic_load_explicit(&clock->base_monotonic_ns, memory_order_acquire),
            .offset_ns = atomic_load_explicit(&clock->base_offset_ns, memory_order_acquire),
            .target_ns = atomic_load_explicit(&clock->target_offset_ns, memory_order_acquire),
        };
        uint64_t after = atomic_load_explicit(&clock->version, memory_order_relaxed);
        if (CC_LIKELY(before == after && (before & 1) == 0))
            return base;
    }
}

static void base_write(struct clock *clock, struct base base)
{
    /* relaxed: only the owner writes it. */
    uint64_t version = atomic_load_explicit(&clock->version, memory_order_relaxed);
    atomic_store_explicit(&clock->version, version + 1, memory_order_relaxed);
    /* release (pairs: base_read): a reader that sees one of these words sees the odd version
     * too. */
    atomic_store_explicit(&clock->base_monotonic_ns, base.monotonic_ns, memory_order_release);
    atomic_store_explicit(&clock->base_offset_ns, base.offset_ns, memory_order_release);
    atomic_store_explicit(&clock->target_offset_ns, base.target_ns, memory_order_release);
    /* release (pairs: base_read): a reader that sees the even version sees all three words. */
    atomic_store_explicit(&clock->version, version + 2, memory_order_release);
}

/* Returns the offset at a time: it moves from the base's offset to the target and stays there. */
static int64_t offset_at(struct base base, uint64_t monotonic_ns)
{
    /* A reader may have read its time just before the update: it gets the offset at the update. */
    uint64_t elapsed_ns = monotonic_ns > base.monotonic_ns ? monotonic_ns - base.monotonic_ns : 0;
    int64_t most_ns = (int64_t)(elapsed_ns / SLEW_DIVISOR);
    int64_t wanted_ns = base.target_ns - base.offset_ns;
    if (wanted_ns > most_ns)
        wanted_ns = most_ns;
    if (wanted_ns < -most_ns)
        wanted_ns = -most_ns;
    return base.offset_ns + wanted_ns;
}

int clock_init(struct clock *clock)
{
    memset(clock, 0, sizeof *clock);
    uint64_t monotonic_ns = read_ns(CLOCK_MONOTONIC);
    int64_t offset_ns = (int64_t)(read_ns(CLOCK_REALTIME) - monotonic_ns);
    base_write(clock, (struct base){ monotonic_ns, offset_ns, offset_ns });
    return 0;
}

void clock_init_simulated(struct clock *clock, uint64_t now_ns)
{
    memset(clock, 0, sizeof *clock);
    clock->simulated = true;
    clock_set(clock, now_ns);
}

void clock_set(struct clock *clock, uint64_t now_ns)
{
    INVARIANT(clock->simulated);
    /* relaxed: one word; nothing else is published with it. */
    atomic_store_explicit(&clock->simulated_ns, now_ns, memory_order_relaxed);
}

void clock_advance(struct clock *clock, uint64_t step_ns)
{
    clock_set(clock, clock_monotonic_ns(clock) + step_ns);
}

void clock_step(struct clock *clock, int64_t step_ns)
{
    INVARIANT(clock->simulated);
    clock->simulated_step_ns = step_ns;
}

uint64_t clock_wall_ns(const struct clock *clock)
{
    return clock->simulated ? clock_monotonic_ns(clock) + (uint64_t)clock->simulated_step_ns
                            : read_ns(CLOCK_REALTIME);
}

void clock_hold(struct clock *clock, uint64_t at_ns)
{
    INVARIANT(at_ns != 0);
    /* relaxed: one word, and nothing is published with it. */
    atomic_store_explicit(&clock->held_ns, at_ns, memory_order_relaxed);
    atomic_store_explicit(&clock->difference_ns, 0, memory_order_relaxed);
}

void clock_release(struct clock *clock, uint64_t at_ns)
{
    INVARIANT(clock_is_held(clock));
    uint64_t monotonic_ns = clock_monotonic_ns(clock);
    int64_t offset_ns = (int64_t)(at_ns - monotonic_ns);

    clock->is_ahead = true; /* until clock_follow has seen otherwise */
    base_write(clock, (struct base){ monotonic_ns, offset_ns, offset_ns });
    /* release (pairs: clock_is_held, clock_now_ns): the words from which the clock goes on. */
    atomic_store_explicit(&clock->held_ns, 0, memory_order_release);
}

uint64_t clock_at(const struct clock *clock, uint64_t monotonic_ns)
{
    return monotonic_ns + (uint64_t)offset_at(base_read(clock), monotonic_ns);
}

uint64_t clock_now_ns(const struct clock *clock)
{
    /* acquire (pairs: clock_release): the words from which the clock goes on. */
    uint64_t held_ns = atomic_load_explicit(&clock->held_ns, memory_order_acquire);

    if (CC_UNLIKELY(held_ns != 0))
        return held_ns;
    return clock_at(clock, clock_monotonic_ns(clock));
}

uint64_t clock_boot_ns(const struct clock *clock)
{
    return clock->simulated ? clock_now_ns(clock) : read_ns(CLOCK_BOOTTIME);
}

uint64_t clock_monotonic_ns(const struct clock *clock)
{
    if (clock->simulated) /* relaxed: see clock_set */
        return atomic_load_explicit(&clock->simulated_ns, memory_order_relaxed);
    return read_ns(CLOCK_MONOTONIC);
}

void clock_follow_to(struct clock *clock, uint64_t monotonic_ns, uint64_t realtime_ns)
{
    INVARIANT(!clock->simulated);
    struct base base = base_read(clock);
    INVARIANT(monotonic_ns >= base.monotonic_ns);
    base.offset_ns = offset_at(base, monotonic_ns);
    base.monotonic_ns = monotonic_ns;
    base.target_ns = (int64_t)(realtime_ns - monotonic_ns);
    int64_t difference_ns = base.target_ns - base.offset_ns;
    clock->is_ahead = clock->is_ahead && difference_ns < -(int64_t)CLOCK_DIFFERENCE_MAX_NS;
    if (clock->is_ahead)
        base.target_ns = base.offset_ns;
    base_write(clock, base);
    /* relaxed: a single number for display. */
    atomic_store_explicit(&clock->difference_ns, difference_ns, memory_order_relaxed);
}

void clock_follow(struct clock *clock)
{
    if (clock->simulated || clock_is_held(clock))
        return;
    uint64_t monotonic_ns = read_ns(CLOCK_MONOTONIC);
    clock_follow_to(clock, monotonic_ns, read_ns(CLOCK_REALTIME));
}

int64_t clock_difference_ns(const struct clock *clock)
{
    return atomic_load_explicit(&clock->difference_ns, memory_order_relaxed); /* see above */
}

#if !defined(__x86_64__)
uint64_t clock_ticks_slow(void)
{
    return read_ns(CLOCK_MONOTONIC);
}
#endif

struct clock_rate clock_calibrate(void)
{
    const uint64_t measured_ns = 5 * 1000 * 1000;
    uint64_t start_ns = read_ns(CLOCK_MONOTONIC_RAW);
    uint64_t start_ticks = clock_ticks();
    uint64_t elapsed_ns;
    uint64_t ticks;
    do {
        elapsed_ns = read_ns(CLOCK_MONOTONIC_RAW) - start_ns;
        ticks = clock_ticks() - start_ticks;
    } while (elapsed_ns < measured_ns || ticks == 0);
    return (struct clock_rate){ (elapsed_ns << 32) / ticks };
}
