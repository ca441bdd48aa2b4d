/* A few seeds of the simulator (sim.h) in every build; heavy_simulator runs more.
 *
 * A sample takes one Nth of the seeds. */
#include "check.h"
#include "sample.h"
#include "sim.h"

enum { SEEDS = 16, STEPS = 4000 };

int main(void)
{
    struct test_sample sample = sample_read();
    uint64_t last = sample_share(&sample, SEEDS);
    struct sim_outcome outcome, again;
    uint64_t crashes = 0;

    for (uint64_t seed = 1; seed <= last; seed++) {
        sim_run(seed, STEPS, 0, &outcome);
        if (outcome.failed)
            fprintf(stderr, "seed %lu step %lu: %s\n", seed, outcome.steps, outcome.failure);
        CHECK(!outcome.failed);
        crashes += outcome.crashes + outcome.kills;
    }
    CHECK(crashes > 0);
    /* A run is a function of its seed. */
    sim_run(last, STEPS, 0, &again);
    CHECK(again.digest == outcome.digest && again.acknowledged == outcome.acknowledged);
    return 0;
}
