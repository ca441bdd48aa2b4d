/* sample.h - which of a test's many cases a run takes.
 *
 * PERPD_SAMPLE=N: one case in N, from an offset that PERPD_SAMPLE_SEED moves (tools/test passes the
 * commit) and PERPD_SAMPLE_TURN (the build, so that builds take different cases); none: every case.
 * tests/CMakeLists.txt says how many each registered test takes in which build; tools/nightly and a
 * program that is started by hand take all. tests/sample.py is the same for scripts. */
#ifndef TESTS_SAMPLE_H
#define TESTS_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "check.h"

struct test_sample {
    uint64_t step;
    uint64_t offset;
};

/* Reads the environment and prints the sample, so that a failure can be repeated. */
static inline struct test_sample sample_read(void)
{
    const char *step = getenv("PERPD_SAMPLE");
    const char *seed = getenv("PERPD_SAMPLE_SEED");
    const char *turn = getenv("PERPD_SAMPLE_TURN");
    struct test_sample sample = { .step = 1 };

    if (step != NULL) {
        sample.step = strtoull(step, NULL, 10);
        CHECK(sample.step > 0);
        sample.offset = seed == NULL ? 0 : strtoull(seed, NULL, 16);
        sample.offset =
            (sample.offset + (turn == NULL ? 0 : strtoull(turn, NULL, 10))) % sample.step;
        printf("sample: PERPD_SAMPLE=%llu PERPD_SAMPLE_SEED=%llx\n",
               (unsigned long long)sample.step, (unsigned long long)sample.offset);
    }
    return sample;
}

static inline bool sample_takes(const struct test_sample *sample, uint64_t number)
{
    return number % sample->step == sample->offset;
}

/* The share of `count` cases that the run takes, at least one. */
static inline uint64_t sample_share(const struct test_sample *sample, uint64_t count)
{
    return count < sample->step ? 1 : count / sample->step;
}

#endif
