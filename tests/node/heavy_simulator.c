/* 200 seeds of the simulator (sim.h). `heavy_node_simulator FIRST COUNT [STEPS]` runs others; a
 * failing seed is printed and fails again when it is run alone. `stop` as
 * a fourth argument ends the run at the first failing seed. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "sim.h"

enum { SEEDS = 200, STEPS = 8000 };

static uint64_t running; /* for the handler: which seed an invariant ended */

static void on_abort(int number)
{
    (void)number;
    printf("seed %lu: an invariant ended the process\n", running);
    fflush(stdout);
    _Exit(1);
}

int main(int argc, char **argv)
{
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 10) : SEEDS;
    uint64_t steps = argc > 3 ? strtoull(argv[3], NULL, 10) : STEPS;
    bool stop = argc > 4 && strcmp(argv[4], "stop") == 0;
    uint64_t in_flight = 0, failed = 0;
    struct sim_outcome outcome, sum = { 0 };

    signal(SIGABRT, on_abort);
    for (uint64_t seed = first; seed < first + count && !(stop && failed != 0); seed++) {
        running = seed;
        sim_run(seed, steps, &outcome);
        if (outcome.failed) {
            printf("seed %lu step %lu: %s\n", seed, outcome.steps, outcome.failure);
            failed++;
        }
        in_flight += outcome.crashes_in_flight != 0;
        sum.crashes += outcome.crashes;
        sum.restarts_clean += outcome.restarts_clean;
        sum.acknowledged += outcome.acknowledged;
        sum.checked_duplicates += outcome.checked_duplicates;
        sum.checked_hashes += outcome.checked_hashes;
        sum.checked_reads += outcome.checked_reads;
        sum.checked_fills += outcome.checked_fills;
        sum.completed += outcome.completed;
    }
    printf("seeds %lu failed %lu crashes %u seeds_crashing_with_2_or_more_in_flight %lu "
           "clean_restarts %u acknowledged %lu completed %lu duplicates %lu hashes %lu reads %lu "
           "reads_of_traded_orders %lu\n",
           count, failed, sum.crashes, in_flight, sum.restarts_clean, sum.acknowledged,
           sum.completed, sum.checked_duplicates, sum.checked_hashes, sum.checked_reads,
           sum.checked_fills);
    CHECK(failed == 0);
    /* The runs are of use only if the hard case is common: frames in flight at the crash. */
    CHECK(3 * in_flight >= count);
    CHECK(sum.checked_duplicates > 100 * count && sum.checked_hashes > count);
    CHECK(sum.checked_reads > count && sum.checked_fills > count);
    CHECK(3 * sum.completed > sum.acknowledged);
    return 0;
}
