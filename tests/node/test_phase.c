/* A start, a stop and a failure may meet: a failure is final and the first one gives the exit code
 * (roles.md: exit codes); no move by another thread can undo it. */
#include <pthread.h>

#include "check.h"
#include "node/run/phase.h"

enum { ROUNDS = 20000, CODE_FAILED = 1 };

static struct phase phase;
static _Atomic uint32_t round_begun; /* both threads wait for it */
static _Atomic uint32_t round_ended; /* threads that are through with it */

/* In the order of a life without a failure. */
static void check_moves(void)
{
    static const enum node_phase life[] = { NODE_RECOVERING, NODE_RECOVERED, NODE_OPEN,
                                            NODE_DRAINING,   NODE_STOPPING,  NODE_STOPPED };

    phase_init(&phase);
    for (uint32_t i = 0; i + 1 < CC_COUNT(life); i++) {
        CHECK(phase_now(&phase) == life[i]);
        CHECK(phase_advance(&phase, life[i], life[i + 1]));
    }
    CHECK(phase_now(&phase) == NODE_STOPPED);
    CHECK(phase_exit_code(&phase) == 0);
}

static void check_failure_is_final(void)
{
    for (uint32_t from = NODE_RECOVERING; from < NODE_STOPPED; from++) {
        phase_init(&phase);
        for (uint32_t at = NODE_RECOVERING; at < from; at++)
            CHECK(phase_advance(&phase, (enum node_phase)at, (enum node_phase)(at + 1)));
        phase_fail(&phase, CODE_FAILED);
        CHECK(phase_now(&phase) == NODE_FAILED);
        CHECK(!phase_advance(&phase, (enum node_phase)from, (enum node_phase)(from + 1)));
        phase_fail(&phase, 0); /* later ones change nothing */
        CHECK(phase_now(&phase) == NODE_FAILED);
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
        CHECK(phase_advance(&phase, NODE_RECOVERING, NODE_RECOVERED));
        atomic_store_explicit(&round_begun, round, memory_order_release);
        for (volatile uint32_t wait = 0; wait < round % 64; wait++)
            ;
        moved += phase_advance(&phase, NODE_RECOVERED, NODE_OPEN);
        while (atomic_load_explicit(&round_ended, memory_order_acquire) < round)
            ;
        CHECK(phase_now(&phase) == NODE_FAILED);
        CHECK(phase_exit_code(&phase) == CODE_FAILED);
    }
    CHECK(pthread_join(thread, NULL) == 0);
    printf("rounds %d, moved before the failure %u\n", ROUNDS, moved);
}

int main(void)
{
    check_moves();
    check_failure_is_final();
    check_race();
    return 0;
}
