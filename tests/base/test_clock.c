/* clock: wire.md W5 (CLOCK_MONOTONIC plus an offset that follows CLOCK_REALTIME by at most 500
 * ppm). */
#include <pthread.h>
#include <time.h>

#include "base/clock.h"
#include "check.h"

static const uint64_t second_ns = 1000 * 1000 * 1000;

static uint64_t read_ns(clockid_t id)
{
    struct timespec time;
    CHECK(clock_gettime(id, &time) == 0);
    return (uint64_t)time.tv_sec * second_ns + (uint64_t)time.tv_nsec;
}

/* The wall clock is stepped by 10 ms forwards, then 20 ms back: the node clock never jumps, moves
 * by at most 500 ppm, and arrives. */
static void test_slew(void)
{
    struct clock clock;
    CHECK(clock_init(&clock) == 0);
    uint64_t at_ns = read_ns(CLOCK_MONOTONIC) + second_ns;
    uint64_t node_ns = clock_at(&clock, at_ns);
    const int64_t step_ns = 10 * 1000 * 1000;
    clock_follow_to(&clock, at_ns, node_ns + (uint64_t)step_ns);
    CHECK(clock_difference_ns(&clock) == step_ns);
    CHECK(clock_at(&clock, at_ns) == node_ns); /* no jump */
    /* 500 ppm of 10 s are 5 ms, of 20 s all 10 ms. */
    CHECK(clock_at(&clock, at_ns + 10 * second_ns) == node_ns + 10 * second_ns + 5000000);
    CHECK(clock_at(&clock, at_ns + 20 * second_ns) == node_ns + 20 * second_ns + 10000000);
    CHECK(clock_at(&clock, at_ns + 60 * second_ns) == node_ns + 60 * second_ns + 10000000);

    uint64_t next_ns = at_ns + 10 * second_ns; /* half-way: now 5 ms, told to go back by 10 ms */
    uint64_t there_ns = clock_at(&clock, next_ns);
    clock_follow_to(&clock, next_ns, there_ns - (uint64_t)step_ns);
    CHECK(clock_difference_ns(&clock) == -step_ns);
    CHECK(clock_at(&clock, next_ns) == there_ns);
    CHECK(clock_at(&clock, next_ns + second_ns) == there_ns + second_ns - 500000);
    CHECK(clock_at(&clock, next_ns + 30 * second_ns) == there_ns + 30 * second_ns - 10000000);

    /* A reader with a time from before the update gets no step either. */
    CHECK(clock_at(&clock, next_ns - 1000) == there_ns - 1000);
}

/* Followed each 100 ms while the wall clock runs 300 ppm fast: stays within what 100 ms drift. */
static void test_drift(void)
{
    struct clock clock;
    CHECK(clock_init(&clock) == 0);
    uint64_t mono_ns = read_ns(CLOCK_MONOTONIC) + second_ns;
    uint64_t wall_ns = clock_at(&clock, mono_ns);
    uint64_t before_ns = wall_ns;
    for (unsigned i = 0; i < 1000; i++) {
        clock_follow_to(&clock, mono_ns, wall_ns);
        int64_t difference = clock_difference_ns(&clock);
        CHECK(difference >= -1 && difference <= 30001);
        mono_ns += 100000000;
        wall_ns += 100000000 + 30000;
        uint64_t now_ns = clock_at(&clock, mono_ns);
        CHECK(now_ns > before_ns);
        CHECK(now_ns - before_ns <= 100050000 && now_ns - before_ns >= 99950000);
        before_ns = now_ns;
    }
}

static void test_real(void)
{
    struct clock clock;
    CHECK(clock_init(&clock) == 0 && clock_difference_ns(&clock) == 0);
    uint64_t before_ns = read_ns(CLOCK_REALTIME);
    uint64_t now_ns = clock_now_ns(&clock);
    uint64_t after_ns = read_ns(CLOCK_REALTIME);
    CHECK(now_ns + 50000000 >= before_ns && now_ns <= after_ns + 50000000);
    clock_follow(&clock);
    CHECK(clock_now_ns(&clock) >= now_ns);
    CHECK(clock_monotonic_ns(&clock) <= read_ns(CLOCK_MONOTONIC));
}

static void test_simulated(void)
{
    struct clock clock;
    clock_init_simulated(&clock, 1000);
    CHECK(clock_now_ns(&clock) == 1000 && clock_monotonic_ns(&clock) == 1000);
    clock_advance(&clock, 5);
    CHECK(clock_now_ns(&clock) == 1005);
    clock_follow(&clock); /* no effect */
    CHECK(clock_now_ns(&clock) == 1005 && clock_difference_ns(&clock) == 0);
    clock_set(&clock, 7);
    CHECK(clock_now_ns(&clock) == 7);
}

/* A held clock stands. Released ahead of the wall clock it goes as CLOCK_MONOTONIC does, not
 * slower, until the wall clock has come within a second; then it follows at 500 ppm. */
static void test_hold(void)
{
    struct clock clock;
    CHECK(clock_init(&clock) == 0 && !clock_is_held(&clock));
    uint64_t held_ns = clock_now_ns(&clock) - 5000 * second_ns;
    clock_hold(&clock, held_ns);
    clock_follow(&clock); /* no effect */
    CHECK(clock_is_held(&clock) && clock_now_ns(&clock) == held_ns);
    uint64_t ahead_ns = clock_wall_ns(&clock) + 86400 * second_ns;
    clock_release(&clock, ahead_ns);
    CHECK(!clock_is_held(&clock));
    CHECK(clock_now_ns(&clock) >= ahead_ns && clock_now_ns(&clock) < ahead_ns + 600 * second_ns);

    uint64_t at_ns = read_ns(CLOCK_MONOTONIC) + second_ns;
    uint64_t node_ns = clock_at(&clock, at_ns);
    clock_follow_to(&clock, at_ns, node_ns - 86400 * second_ns);
    CHECK(clock_difference_ns(&clock) == -(int64_t)(86400 * second_ns));
    CHECK(clock_at(&clock, at_ns + 100 * second_ns) == node_ns + 100 * second_ns);
    clock_follow_to(&clock, at_ns, node_ns - second_ns / 2);
    CHECK(clock_at(&clock, at_ns + 100 * second_ns) == node_ns + 100 * second_ns - 50000000);
    clock_follow_to(&clock, at_ns, node_ns - 86400 * second_ns); /* a jump, as ever */
    CHECK(clock_at(&clock, at_ns + 100 * second_ns) == node_ns + 100 * second_ns - 50000000);
}

static void test_ticks(void)
{
    struct clock_rate rate = clock_calibrate();
    uint64_t start_ns = read_ns(CLOCK_MONOTONIC);
    uint64_t start_ticks = clock_ticks();
    while (read_ns(CLOCK_MONOTONIC) - start_ns < 20000000)
        continue;
    uint64_t ns = clock_ticks_to_ns(rate, clock_ticks() - start_ticks);
    uint64_t want_ns = read_ns(CLOCK_MONOTONIC) - start_ns;
    CHECK(ns > want_ns - want_ns / 10 && ns < want_ns + want_ns / 10);
    CHECK(clock_ticks_to_ns((struct clock_rate){ UINT64_C(1) << 31 }, UINT64_MAX) ==
          UINT64_MAX / 2); /* half a ns a tick, no overflow */
}

static struct clock shared;
static uint64_t shared_offset_ns;
static atomic_bool stop;

static void *follow_shared(void *argument)
{
    uint64_t mono_ns = read_ns(CLOCK_MONOTONIC);
    for (unsigned i = 0; !atomic_load(&stop); i++) {
        mono_ns += 1000;
        clock_follow_to(&shared, mono_ns, mono_ns + shared_offset_ns + i % 2 * second_ns);
    }
    return argument;
}

/* While the target jumps by a second each update, a reading far ahead is at one of the two targets,
 * and a reading of now has not moved more than the slew allows. */
static void test_threads(void)
{
    CHECK(clock_init(&shared) == 0);
    uint64_t mono_ns = read_ns(CLOCK_MONOTONIC);
    shared_offset_ns = clock_at(&shared, mono_ns) - mono_ns;
    uint64_t far_ns = mono_ns + 1000000 * second_ns;
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, follow_shared, NULL) == 0);
    for (unsigned i = 0; i < 200000; i++) {
        int64_t moved = (int64_t)(clock_at(&shared, mono_ns) - mono_ns - shared_offset_ns);
        CHECK(moved > -(int64_t)second_ns && moved < (int64_t)second_ns);
        uint64_t target_ns = clock_at(&shared, far_ns) - far_ns;
        CHECK(target_ns == shared_offset_ns || target_ns == shared_offset_ns + second_ns);
    }
    atomic_store(&stop, true);
    CHECK(pthread_join(thread, NULL) == 0);
}

int main(void)
{
    test_slew();
    test_drift();
    test_real();
    test_simulated();
    test_hold();
    test_ticks();
    test_threads();
    return 0;
}
