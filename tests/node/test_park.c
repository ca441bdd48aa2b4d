/* Sleeping and waking (node/run/park.h): a lost wake-up would leave a thread asleep for its whole
 * time-out, and no time-out may be reached. Two threads hand a counter back and forth; three play
 * matcher, journal and net thread, where the net thread may go on only when two things hold that
 * two threads make true. */
#include <poll.h>
#include <pthread.h>

#include "check.h"
#include "node/run/park.h"

#if defined(__SANITIZE_THREAD__)
enum { MEETINGS = 10000 }; /* it is to find races; the other builds find lost wake-ups */
#else
enum { MEETINGS = 60000 };
#endif
enum { ROUNDS = 20000, LOOKS = 20000, TIMEOUT_MS = 60000 };

static _Atomic uint32_t timeouts; /* of all; none is right */

static void sleep_on(struct park *park)
{
    struct pollfd file = { .fd = park->file, .events = POLLIN };
    if (poll(&file, 1, TIMEOUT_MS) == 0)
        atomic_fetch_add(&timeouts, 1);
}

/* ---- two threads ----------------------------------------------------------------------------- */

static struct park parks[2];
static _Atomic uint32_t turn; /* whose it is: turn & 1 */

static void play(uint32_t side)
{
    for (uint32_t round = 0; round < ROUNDS; round++) {
        uint32_t mine = 2 * round + side;
        while (atomic_load_explicit(&turn, memory_order_acquire) != mine) {
            park_begin(&parks[side], PARK_INPUT);
            if (atomic_load_explicit(&turn, memory_order_acquire) != mine)
                sleep_on(&parks[side]);
            park_end(&parks[side]);
        }
        atomic_store_explicit(&turn, mine + 1, memory_order_release);
        park_wake(&parks[1 - side], PARK_INPUT);
    }
}

static void *other(void *unused)
{
    play(1);
    return unused;
}

static void check_two(void)
{
    pthread_t thread;
    CHECK(park_init(&parks[0]) == 0 && park_init(&parks[1]) == 0);
    CHECK(pthread_create(&thread, NULL, other, NULL) == 0);
    play(0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(turn == 2 * ROUNDS);
    park_close(&parks[0]);
    park_close(&parks[1]);
}

/* ---- three threads --------------------------------------------------------------------------- */

static struct park net_park, matcher_park, journal_park;
static _Atomic uint32_t command, record, answer, durable; /* the last round each has come to */

static bool reached(const _Atomic uint32_t *word, uint32_t round)
{
    return atomic_load_explicit(word, memory_order_acquire) >= round;
}

/* A moment that differs from round to round, so that the threads meet at every place. */
static void dawdle(uint32_t round, uint32_t longest)
{
    for (volatile uint32_t wait = round * UINT32_C(2654435761) % longest; wait > 0; wait--)
        ;
}

/* Looks for a while before it sleeps: the three are awake at once in most rounds. */
static void wait_for(struct park *park, const _Atomic uint32_t *word, uint32_t round)
{
    for (uint32_t look = 0; look < LOOKS && !reached(word, round); look++)
        ;
    while (!reached(word, round)) {
        park_begin(park, PARK_INPUT);
        if (!reached(word, round))
            sleep_on(park);
        park_end(park);
    }
}

/* Record, answer, and the net thread woken only if the answer may leave at once. */
static void *play_matcher(void *unused)
{
    for (uint32_t round = 1; round <= MEETINGS; round++) {
        wait_for(&matcher_park, &command, round);
        atomic_store_explicit(&record, round, memory_order_release);
        park_wake(&journal_park, PARK_INPUT);
        dawdle(round, 200); /* the journal may come first, or second */
        atomic_store_explicit(&answer, round, memory_order_release);
        if ((park_wanted(&net_park) & PARK_INPUT) != 0 && reached(&durable, round))
            park_wake(&net_park, PARK_INPUT);
    }
    return unused;
}

static void *play_journal(void *unused)
{
    for (uint32_t round = 1; round <= MEETINGS; round++) {
        wait_for(&journal_park, &record, round);
        dawdle(round + 1, 400);
        atomic_store_explicit(&durable, round, memory_order_release);
        park_wake(&net_park, PARK_DURABLE);
    }
    return unused;
}

static void check_three(void)
{
    pthread_t matcher, journal;
    CHECK(park_init(&net_park) == 0 && park_init(&matcher_park) == 0 &&
          park_init(&journal_park) == 0);
    CHECK(pthread_create(&matcher, NULL, play_matcher, NULL) == 0);
    CHECK(pthread_create(&journal, NULL, play_journal, NULL) == 0);
    for (uint32_t round = 1; round <= MEETINGS; round++) {
        atomic_store_explicit(&command, round, memory_order_release);
        park_wake(&matcher_park, PARK_INPUT);
        dawdle(round + 2, 1000);
        while (!reached(&answer, round) || !reached(&durable, round)) {
            park_begin(&net_park, PARK_INPUT | PARK_DURABLE);
            if (!reached(&answer, round) || !reached(&durable, round))
                sleep_on(&net_park);
            park_end(&net_park);
        }
    }
    CHECK(pthread_join(matcher, NULL) == 0 && pthread_join(journal, NULL) == 0);
    park_close(&net_park);
    park_close(&matcher_park);
    park_close(&journal_park);
}

/* ---- causes ---------------------------------------------------------------------------------- */

static bool is_woken(const struct park *park)
{
    struct pollfd file = { .fd = park->file, .events = POLLIN };
    return poll(&file, 1, 0) == 1;
}

/* Only what the sleeper wants wakes it, and one write a sleep; awake, nothing is written. */
static void check_causes(void)
{
    struct park park;
    CHECK(park_init(&park) == 0);
    park_wake(&park, PARK_ALWAYS | PARK_INPUT);
    CHECK(!is_woken(&park) && park_wanted(&park) == 0);

    park_begin(&park, PARK_DURABLE);
    CHECK(park_wanted(&park) == (PARK_DURABLE | PARK_ALWAYS));
    park_wake(&park, PARK_INPUT | PARK_BULK);
    CHECK(!is_woken(&park));
    park_wake(&park, PARK_INPUT | PARK_DURABLE);
    CHECK(is_woken(&park) && park_wanted(&park) == 0);
    park_wake(&park, PARK_DURABLE);
    park_end(&park);
    CHECK(!is_woken(&park) && park.owed == 0);

    park_begin(&park, 0);
    park_wake(&park, PARK_ALWAYS);
    CHECK(is_woken(&park));
    park_end(&park);
    CHECK(!is_woken(&park));
    park_close(&park);
}

int main(void)
{
    check_causes();
    check_two();
    check_three();
    CHECK(atomic_load(&timeouts) == 0);
    return 0;
}
