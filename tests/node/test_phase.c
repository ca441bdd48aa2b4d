/* A start, a stop and a failure may meet: a failure is final and the first one gives the exit code
 * (roles.md: exit codes); no move by another thread can undo it. */
#include <pthread.h>

#include "aborts.h"
#include "check.h"
#include "node/run/phase.h"

enum { ROUNDS = 20000, CODE_FAILED = 1 };

static struct phase phase;
static _Atomic uint32_t round_begun; /* both threads wait for it */
static _Atomic uint32_t round_ended; /* threads that are through with it */

/* In the order of a life without a failure. */
static void check_moves(void)
{
    static const enum phase_name life[] = { PHASE_RECOVERING, PHASE_RECOVERED, PHASE_OPEN,
                                            PHASE_DRAINING,   PHASE_STOPPING,  PHASE_STOPPED };

    phase_init(&phase);
    for (uint32_t i = 0; i + 1 < CC_COUNT(life); i++) {
        CHECK(phase_now(&phase) == life[i]);
        CHECK(phase_advance(&phase, life[i], life[i + 1]));
    }
    CHECK(phase_now(&phase) == PHASE_STOPPED);
    CHECK(phase_exit_code(&phase) == 0);
}

/* One attempt at a move, in a life that has come to `from`. */
struct attempt {
    enum phase_name from, to;
};

/* HANDING comes before OPEN by number, and after it in a life. */
static uint32_t skip_handing(void)
{
    CHECK(phase_advance(&phase, PHASE_TAKING, PHASE_OPEN));
    return PHASE_HANDING;
}

static void come_to(enum phase_name name)
{
    phase_init(&phase);
    if (name == PHASE_FAILED)
        phase_fail(&phase, CODE_FAILED);
    for (uint32_t at = PHASE_RECOVERING; name != PHASE_FAILED && at < (uint32_t)name; at++) {
        if (at == PHASE_TAKING && name != PHASE_HANDING)
            at = skip_handing();
        else if (at == PHASE_TAKING)
            CHECK(phase_advance(&phase, PHASE_TAKING, PHASE_OPEN) &&
                  phase_advance(&phase, PHASE_OPEN, PHASE_HANDING));
        else
            CHECK(phase_advance(&phase, (enum phase_name)at, (enum phase_name)(at + 1)));
    }
}

static void advance(void *context)
{
    const struct attempt *attempt = context;
    bool moved = phase_advance(&phase, attempt->from, attempt->to);
    CHECK(moved);
}

/* A life goes forward by one phase at a time, and a node alone past those of a cluster; a leader
 * that hands over goes back to a standby; every other move is a broken node. */
static bool is_move(uint32_t from, uint32_t to)
{
    if (from == PHASE_TAKING || to == PHASE_HANDING)
        return to == (from == PHASE_TAKING ? PHASE_OPEN : PHASE_HANDING) &&
               (from == PHASE_TAKING || from == PHASE_OPEN);
    if (from == PHASE_HANDING)
        return to == PHASE_STANDBY;
    return (to == from + 1 && to <= PHASE_STOPPED) || (from == PHASE_RECOVERED && to == PHASE_OPEN);
}

static void check_every_move(void)
{
    for (uint32_t from = 0; from < PHASE_COUNT; from++)
        for (uint32_t to = 0; to < PHASE_COUNT; to++) {
            struct attempt attempt = { (enum phase_name)from, (enum phase_name)to };
            bool is_next = is_move(from, to);
            come_to(attempt.from);
            CHECK(aborts(advance, &attempt) == !is_next);
            if (!is_next)
                continue;
            CHECK(phase_advance(&phase, attempt.from, attempt.to));
            CHECK(phase_now(&phase) == attempt.to);
        }
}

static void check_failure_is_final(void)
{
    for (uint32_t from = PHASE_RECOVERING; from <= PHASE_STOPPED; from++) {
        come_to((enum phase_name)from);
        phase_fail(&phase, CODE_FAILED);
        CHECK(phase_now(&phase) == PHASE_FAILED);
        if (from != PHASE_STOPPED && from != PHASE_TAKING && from != PHASE_HANDING)
            CHECK(!phase_advance(&phase, (enum phase_name)from, (enum phase_name)(from + 1)));
        phase_fail(&phase, 0); /* later ones change nothing */
        CHECK(phase_now(&phase) == PHASE_FAILED);
        CHECK(phase_exit_code(&phase) == CODE_FAILED);
    }
}

static void meet(uint32_t round)
{
    while (atomic_load_explicit(&round_begun, memory_order_acquire) < round)
        ;
}

static void *fail_each_round(void *context)
{
    (void)context;
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        meet(round);
        phase_fail(&phase, CODE_FAILED);
        atomic_fetch_add_explicit(&round_ended, 1, memory_order_release);
    }
    return NULL;
}

static void check_race(void)
{
    pthread_t thread;
    uint32_t moved = 0;

    CHECK(pthread_create(&thread, NULL, fail_each_round, NULL) == 0);
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        phase_init(&phase);
        CHECK(phase_advance(&phase, PHASE_RECOVERING, PHASE_RECOVERED));
        atomic_store_explicit(&round_begun, round, memory_order_release);
        for (volatile uint32_t wait = 0; wait < round % 64; wait++)
            ;
        moved += phase_advance(&phase, PHASE_RECOVERED, PHASE_OPEN);
        while (atomic_load_explicit(&round_ended, memory_order_acquire) < round)
            ;
        CHECK(phase_now(&phase) == PHASE_FAILED);
        CHECK(phase_exit_code(&phase) == CODE_FAILED);
    }
    CHECK(pthread_join(thread, NULL) == 0);
    printf("rounds %d, moved before the failure %u\n", ROUNDS, moved);
}

int main(void)
{
    check_moves();
    check_every_move();
    check_failure_is_final();
    check_race();
    return 0;
}
