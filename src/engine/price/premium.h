/* premium.h - samples of the distance of the impact prices from the index, and their hourly rate
 * (rules.md R5, the hour of funding). Owned by the engine.
 *
 *   first second of each 5 s ──> sample ──> sum and count of the hour ── full hour ──> rate
 *
 * Units.  Premiums and rates ppb; a slot is t / 5 s.
 * Bound.  A sample is clamped, so the sum of 720 fits. mark_impact bounds its own cost. */
#ifndef ENGINE_PRICE_PREMIUM_H
#define ENGINE_PRICE_PREMIUM_H

#include "base/compiler.h"

enum {
    PREMIUM_SAMPLES = 720, /* slots in an hour */
    PREMIUM_SAMPLES_LEAST = 360,
    PREMIUM_INTEREST_PPB = 100000, /* per eight hours */
    PREMIUM_CLAMP_PPB = 500000,
    PREMIUM_RATE_OF_MARGIN = 250, /* ppb an hour for each ppm of the lowest initial margin */
    PREMIUM_RATE_MAX_PPB = PREMIUM_RATE_OF_MARGIN * 1000000, /* of any market */
};

#define PREMIUM_SAMPLE_MAX (INT64_C(1) << 52) /* of any version of the rules */

struct engine;

/* Returns the hourly rate of the mean of `count` samples; without samples that of a premium of 0.
 * `imr_ppm`: the initial margin of the lowest tier; the rate is at most a quarter of it.
 * Pure. */
CC_MUST_USE int64_t premium_rate(int64_t sum, uint32_t count, uint32_t imr_ppm);

/* Takes the sample of a slot that has begun since the market's last second, if the index is valid
 * and the market neither HALTED nor CLOSED. mark_second calls it. */
void premium_sample(struct engine *engine, uint32_t market);

/* Returns the rate as if the hour ended now, from its samples so far. */
CC_MUST_USE int64_t premium_predicted(const struct engine *engine, uint32_t market);

/* Ends the samples of an hour and returns its rate. It is the rate of a premium of 0 if there are
 * too few samples, or if they are not of the hour just before `hour` (t / 1 h). */
CC_MUST_USE int64_t premium_end_hour(struct engine *engine, uint32_t market, uint64_t hour);

#endif
