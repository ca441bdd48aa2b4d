/* gcra.h - a bucket of tokens that is one time: when it will be full again.
 *
 * One token costs the interval; a bucket that is empty is full again after the depth, the interval
 * times the tokens that it holds.
 *
 * Order. A bucket is advanced by compare-and-swap. No other memory is read through it: relaxed.
 * Wait.  A swap is repeated only when another thread has just charged the same bucket.
 * Units. ns of one clock; 0 is a full bucket. */
#ifndef BASE_GCRA_H
#define BASE_GCRA_H

#include "base/compiler.h"

#define GCRA_MS_NS UINT64_C(1000000)

/* Charges the bucket. Returns 0, or the ms until it has so much; then it is not charged. */
CC_MUST_USE static inline uint64_t gcra_charge(_Atomic uint64_t *bucket, uint64_t cost_ns,
                                               uint64_t depth_ns, uint64_t now_ns)
{
    uint64_t full_ns = atomic_load_explicit(bucket, memory_order_relaxed);
    uint64_t next_ns;

    do {
        next_ns = (full_ns > now_ns ? full_ns : now_ns) + cost_ns;
        if (next_ns > now_ns + depth_ns)
            return (next_ns - now_ns - depth_ns + GCRA_MS_NS - 1) / GCRA_MS_NS;
    } while (!atomic_compare_exchange_weak_explicit(bucket, &full_ns, next_ns, memory_order_relaxed,
                                                    memory_order_relaxed));
    return 0;
}

/* Charges what was used, also more than the bucket has: it then owes. */
static inline void gcra_owe(_Atomic uint64_t *bucket, uint64_t cost_ns, uint64_t now_ns)
{
    uint64_t full_ns = atomic_load_explicit(bucket, memory_order_relaxed);

    while (!atomic_compare_exchange_weak_explicit(bucket, &full_ns,
                                                  (full_ns > now_ns ? full_ns : now_ns) + cost_ns,
                                                  memory_order_relaxed, memory_order_relaxed))
        ;
}

/* The tokens of a bucket. More is missing than the depth of one that owes, or that was charged at a
 * later time: it has none. */
CC_MUST_USE static inline uint32_t gcra_remaining(uint64_t full_ns, uint64_t interval_ns,
                                                  uint64_t depth_ns, uint64_t now_ns)
{
    uint64_t missing_ns = full_ns > now_ns ? full_ns - now_ns : 0;

    return missing_ns < depth_ns ? (uint32_t)((depth_ns - missing_ns) / interval_ns) : 0;
}

#endif
