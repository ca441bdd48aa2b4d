#include "base/histogram.h"

/* relaxed everywhere: independent counters (histogram.h, Order). */
static uint64_t load(const _Atomic uint64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

static void store(_Atomic uint64_t *counter, uint64_t value)
{
    atomic_store_explicit(counter, value, memory_order_relaxed);
}

uint64_t histogram_bucket_max(uint32_t bucket)
{
    INVARIANT(bucket < HISTOGRAM_BUCKETS);
    if (bucket < 2u << HISTOGRAM_SUB_BITS)
        return bucket;
    uint32_t shift = (bucket >> HISTOGRAM_SUB_BITS) - 1;
    uint64_t step = bucket - (shift << HISTOGRAM_SUB_BITS);
    return ((step + 1) << shift) - 1;
}

void histogram_clear(struct histogram *histogram)
{
    store(&histogram->count, 0);
    store(&histogram->sum, 0);
    store(&histogram->max, 0);
    for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++)
        store(&histogram->buckets[i], 0);
}

void histogram_merge(struct histogram *into, const struct histogram *from)
{
    INVARIANT(into != from);
    store(&into->count, load(&into->count) + load(&from->count));
    store(&into->sum, load(&into->sum) + load(&from->sum));
    if (load(&from->max) > load(&into->max))
        store(&into->max, load(&from->max));
    for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        uint64_t more = load(&from->buckets[i]);
        if (more != 0)
            store(&into->buckets[i], load(&into->buckets[i]) + more);
    }
}

uint64_t histogram_quantile(const struct histogram *histogram, uint32_t ppm)
{
    INVARIANT(ppm <= 1000000);
    /* The total of the buckets: `count` may differ by a few values. */
    uint64_t total = histogram_count_between(histogram, 0, HISTOGRAM_BUCKETS);
    if (total == 0)
        return 0;
    uint64_t rank = (uint64_t)(((uint128)total * ppm + 999999) / 1000000);
    if (rank == 0)
        rank = 1;
    uint64_t max = load(&histogram->max);
    uint64_t seen = 0;
    for (uint32_t i = 0; i < HISTOGRAM_BUCKETS - 1; i++) {
        seen += load(&histogram->buckets[i]);
        if (seen >= rank)
            return histogram_bucket_max(i) < max ? histogram_bucket_max(i) : max;
    }
    return max;
}

uint64_t histogram_count(const struct histogram *histogram)
{
    return load(&histogram->count);
}

uint64_t histogram_count_between(const struct histogram *histogram, uint32_t begin, uint32_t end)
{
    INVARIANT(begin <= end && end <= HISTOGRAM_BUCKETS);
    uint64_t sum = 0;

    for (uint32_t i = begin; i < end; i++)
        sum += load(&histogram->buckets[i]);
    return sum;
}

uint64_t histogram_sum(const struct histogram *histogram)
{
    return load(&histogram->sum);
}

uint64_t histogram_max(const struct histogram *histogram)
{
    return load(&histogram->max);
}
