#include "perp/bench/comparison.h"

#include <stdlib.h>

#include "perp/bench/schedule.h"

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

/* Sorts the values. */
static double median(double *values, uint32_t count)
{
    qsort(values, count, sizeof *values, by_value);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

static double median_of(const double *values, uint32_t count)
{
    double copy[COMPARISON_ROUNDS_MAX];

    memcpy(copy, values, count * sizeof *copy);
    return median(copy, count);
}

static void resample(const double *ratios, uint32_t rounds, uint64_t seed,
                     struct comparison *comparison)
{
    static double medians[COMPARISON_RESAMPLES];
    double drawn[COMPARISON_ROUNDS_MAX];

    for (uint32_t i = 0; i < COMPARISON_RESAMPLES; i++) {
        for (uint32_t j = 0; j < rounds; j++)
            drawn[j] = ratios[schedule_random(&seed) % rounds];
        medians[i] = median(drawn, rounds);
    }
    qsort(medians, COMPARISON_RESAMPLES, sizeof *medians, by_value);
    comparison->low = medians[COMPARISON_RESAMPLES / 200];
    comparison->high = medians[COMPARISON_RESAMPLES - 1 - COMPARISON_RESAMPLES / 200];
}

/* Twice the chance of at most `fewer` heads of `count` throws. */
static double sign_test(uint32_t fewer, uint32_t count)
{
    double chance = 1, sum = 0; /* of k heads, times 2^count; both are halved on the way */

    for (uint32_t i = 0; i < count; i++)
        chance /= 2;
    for (uint32_t k = 0; k <= fewer; k++) {
        sum += chance;
        chance = chance * (count - k) / (k + 1);
    }
    return 2 * sum < 1 ? 2 * sum : 1;
}

struct comparison comparison_make(const double *a, const double *b, uint32_t rounds, uint64_t seed)
{
    struct comparison comparison = { 0 };
    double ratios[COMPARISON_ROUNDS_MAX];
    uint32_t above = 0, below = 0;

    INVARIANT(rounds >= 3 && rounds <= COMPARISON_ROUNDS_MAX);
    for (uint32_t i = 0; i < rounds; i++) {
        INVARIANT(a[i] > 0 && b[i] > 0);
        ratios[i] = b[i] / a[i];
        above += ratios[i] > 1;
        below += ratios[i] < 1;
    }
    comparison.median_a = median_of(a, rounds);
    comparison.median_b = median_of(b, rounds);
    comparison.ratio = median_of(ratios, rounds);
    comparison.p_value = sign_test(above < below ? above : below, above + below);
    resample(ratios, rounds, seed, &comparison);
    return comparison;
}

bool comparison_is_worse(const struct comparison *comparison, bool more_is_better, double tolerance)
{
    return more_is_better ? comparison->high < 1 / (1 + tolerance)
                          : comparison->low > 1 + tolerance;
}

bool comparison_is_better(const struct comparison *comparison, bool more_is_better)
{
    return more_is_better ? comparison->low > 1 : comparison->high < 1;
}
