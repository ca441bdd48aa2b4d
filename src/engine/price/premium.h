/* premium.h - how far the impact prices stand from the index, and the hourly rate made of it
 * (rules.md R5, the hour of funding). Owned by the engine.
 *
 *   first second of each 5 s ──> sample ──> sum and count of the hour ── full hour ──> rate
 *
 * Units.  Premiums and rates ppb, slots t / 5 s.
 * Bound.  A sample is clamped, so the sum of an hour's 720 fits; impact prices: see mark_impact. */
#ifndef ENGINE_PRICE_PREMIUM_H
#define ENGINE_PRICE_PREMIUM_H

#include "base/compiler.h"

enum {
    PREMIUM_SAMPLES = 720, /* slots of an hour */
    PREMIUM_SAMPLES_LEAST = 360,
    PREMIUM_INTEREST_PPB = 100000, /* of eight hours */
    PREMIUM_CLAMP_PPB = 500000,
    PREMIUM_RATE_MAX_PPB = 40000000, /* 4 % an hour */
};

#define PREMIUM_SLOT_NS    (5 * UINT64_C(1000000000))
#define PREMIUM_SAMPLE_MAX (INT64_C(1) << 52)

struct engine;

/* The hour's rate for the mean of `count` samples; none: a premium of 0. Pure. */
CC_MUST_USE int64_t premium_rate(int64_t sum, uint32_t count);

/* In a second of the market: takes the sample of a slot that has begun since the last second, when
 * the index is valid and the market neither HALTED nor CLOSED. */
void premium_sample(struct engine *engine, uint32_t market);

/* The rate if the hour ended now, by the samples so far. */
CC_MUST_USE int64_t premium_predicted(const struct engine *engine, uint32_t market);

/* Ends the samples of an hour and gives its rate: that of too few samples, or of samples that are
 * not of the hour just before `hour` (t / 1 h), is the rate of a premium of 0. */
CC_MUST_USE int64_t premium_end_hour(struct engine *engine, uint32_t market, uint64_t hour);

#endif
