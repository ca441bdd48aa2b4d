/* cycles.h - the cycle counter, for the time of one command: begin, end, what an empty measurement
 * costs, and the counter's rate. Shared by the bench programs. */
#ifndef BENCH_CYCLES_H
#define BENCH_CYCLES_H

#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <x86intrin.h>

/* Order of samples, for qsort. */
static inline int cycles_by_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

static inline uint64_t cycles_begin(void)
{
    _mm_lfence();
    uint64_t now = __rdtsc();
    _mm_lfence();
    return now;
}

static inline uint64_t cycles_end(void)
{
    unsigned processor;
    uint64_t now = __rdtscp(&processor);
    _mm_lfence();
    return now;
}

/* Measures the median cost of an empty measurement, in cycles; overwrites the samples. */
static inline uint32_t cycles_overhead(uint32_t *samples, uint32_t sample_count)
{
    for (uint32_t i = 0; i < sample_count; i++) {
        uint64_t begin = cycles_begin();
        samples[i] = (uint32_t)(cycles_end() - begin);
    }
    qsort(samples, sample_count, sizeof samples[0], cycles_by_value);
    return samples[sample_count / 2];
}

static inline double cycles_per_ns(void)
{
    struct timespec begin, end;
    double ns;

    clock_gettime(CLOCK_MONOTONIC, &begin);
    uint64_t cycles = __rdtsc();
    do {
        clock_gettime(CLOCK_MONOTONIC, &end);
        ns = (double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec);
    } while (ns < 2e7);
    return (double)(__rdtsc() - cycles) / ns;
}

#endif
