/* comparison.h - whether one figure differs between two sides that were measured in turns.
 *
 * Each round has a value of both sides, measured one after the other, so that what changes slowly
 * on the machine is in both. The ratio of each round is looked at, never that of the means.
 *
 * Owner. Pure functions. */
#ifndef PERP_BENCH_COMPARISON_H
#define PERP_BENCH_COMPARISON_H

#include "base/compiler.h"

enum { COMPARISON_ROUNDS_MAX = 1000, COMPARISON_RESAMPLES = 10000 };

struct comparison {
    double median_a, median_b;
    double ratio;     /* median of b / a */
    double low, high; /* of the ratio: 99 % of the medians of resampled rounds (bootstrap) */
    double p_value;   /* sign test, both sides: so rarely do equal sides split so unevenly */
};

/* Compares `rounds` pairs of values above 0; 3 rounds at least. The same seed, the same result. */
struct comparison comparison_make(const double *a, const double *b, uint32_t rounds, uint64_t seed);

/* Whether the whole interval lies on the bad side of the tolerance (0.05: 5 %). */
bool comparison_is_worse(const struct comparison *comparison, bool more_is_better,
                         double tolerance);

/* Whether the whole interval lies on the good side of 1. */
bool comparison_is_better(const struct comparison *comparison, bool more_is_better);

#endif
