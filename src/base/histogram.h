/* histogram.h - log-linear histogram of one thread's stage times, readable by any other thread.
 *
 * Values below 64 are counted exactly. Above, each octave has 32 equal buckets, so a percentile is
 * at most 1/32 (3.1 %) above the true value and never below it. Values from 2^40 up (18 minutes in
 * ns) are counted in the last bucket. The maximum is exact.
 *
 * Order. Counters are relaxed, because no other memory is read through them. `count`, `sum` and the
 *        buckets may differ by the few values that are being added.
 * Owner. One writer. A reader merges into a histogram of its own (histogram_merge).
 * Units. The caller's (ns or ticks). */
#ifndef BASE_HISTOGRAM_H
#define BASE_HISTOGRAM_H

#include "base/compiler.h"

enum {
    HISTOGRAM_SUB_BITS = 5,    /* 32 buckets an octave */
    HISTOGRAM_VALUE_BITS = 40, /* values from 2^40 up are the last bucket */
    HISTOGRAM_BUCKETS = (HISTOGRAM_VALUE_BITS - HISTOGRAM_SUB_BITS + 1) << HISTOGRAM_SUB_BITS,
};

struct histogram {
    _Atomic uint64_t count;
    _Atomic uint64_t sum;
    _Atomic uint64_t max;
    _Atomic uint64_t buckets[HISTOGRAM_BUCKETS];
};

/* The bucket of a value, and the greatest value of a bucket. */
static inline uint32_t histogram_bucket(uint64_t value)
{
    if (value >> HISTOGRAM_VALUE_BITS)
        return HISTOGRAM_BUCKETS - 1;
    if (value >> (HISTOGRAM_SUB_BITS + 1) == 0)
        return (uint32_t)value;
    uint32_t shift = (uint32_t)(63 - __builtin_clzll(value)) - HISTOGRAM_SUB_BITS;
    return (shift << HISTOGRAM_SUB_BITS) + (uint32_t)(value >> shift);
}

uint64_t histogram_bucket_max(uint32_t bucket);

/* Adds one value. Writer only: loads and stores, no locked instruction. */
static inline void histogram_add(struct histogram *histogram, uint64_t value)
{
    _Atomic uint64_t *bucket = &histogram->buckets[histogram_bucket(value)];
    /* relaxed: one writer, so no increment is lost; readers only sum (pairs: histogram_merge). */
    atomic_store_explicit(bucket, atomic_load_explicit(bucket, memory_order_relaxed) + 1,
                          memory_order_relaxed);
    atomic_store_explicit(&histogram->count,
                          atomic_load_explicit(&histogram->count, memory_order_relaxed) + 1,
                          memory_order_relaxed);
    atomic_store_explicit(&histogram->sum,
                          atomic_load_explicit(&histogram->sum, memory_order_relaxed) + value,
                          memory_order_relaxed);
    if (value > atomic_load_explicit(&histogram->max, memory_order_relaxed))
        atomic_store_explicit(&histogram->max, value, memory_order_relaxed);
}

void histogram_clear(struct histogram *histogram);

/* Adds the counts of `from` to `into`. The caller owns `into`; `from` may be in use by its
 * writer. */
void histogram_merge(struct histogram *into, const struct histogram *from);

/* Returns the value at or below which `ppm` millionths of the values are (500000: median; 999900:
 * p99.99). It is the upper end of a bucket, at most the maximum; 0 when the histogram is empty. */
uint64_t histogram_quantile(const struct histogram *histogram, uint32_t ppm);

uint64_t histogram_count(const struct histogram *histogram);

/* How many values the buckets from `begin` up to, without, `end` hold. */
uint64_t histogram_count_between(const struct histogram *histogram, uint32_t begin, uint32_t end);
uint64_t histogram_sum(const struct histogram *histogram);
uint64_t histogram_max(const struct histogram *histogram);

#endif
