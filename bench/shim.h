/* shim.h - Google Benchmark for C: a benchmark is a function that loops while bench_next() is true.
 *
 * Each bench_<noun>.c defines bench_register() and adds its benchmarks there; shim.cc has main().
 *
 *     static void claim_publish(struct bench_run *run)
 *     {
 *         (prepare: not timed)
 *         while (bench_next(run))
 *             (one iteration: timed)
 *         bench_items(run, 1);
 *     }
 *
 * Owner. A bench_run lives for one call of the body; keep no pointer to it.
 * Units. Times are nanoseconds per iteration; items and bytes are per iteration. */
#ifndef BENCH_SHIM_H
#define BENCH_SHIM_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct bench_run;

/* Every bench_<noun>.c defines it and calls bench_add for each of its benchmarks. */
void bench_register(void);

/* Registers `body` under `name` ("noun/case"), which is copied. */
void bench_add(const char *name, void (*body)(struct bench_run *run));

/* The same, run once per value, which the body reads with bench_argument. The report shows
 * "noun/case/value". */
void bench_add_argument(const char *name, void (*body)(struct bench_run *run), int64_t argument);

/* True while another iteration is wanted. The clock starts at the first call. */
bool bench_next(struct bench_run *run);

/* Returns the value given to bench_add_argument; 0 for bench_add. */
int64_t bench_argument(const struct bench_run *run);

/* Stop and start the clock inside an iteration. A pair costs some 200 ns: do not use it around a
 * short operation. */
void bench_pause(struct bench_run *run);
void bench_resume(struct bench_run *run);

/* Reports items (bytes) per second, given the number per iteration. Call once after the loop. */
void bench_items(struct bench_run *run, int64_t per_iteration);
void bench_bytes(struct bench_run *run, int64_t per_iteration);

/* Reports another figure, such as a percentile in ns, under `name`. */
void bench_counter(struct bench_run *run, const char *name, double value);

/* Ends the benchmark with an error in the report; the caller must return at once. */
void bench_fail(struct bench_run *run, const char *why);

/* Makes the compiler assume that the bytes at `pointer` are read and written here. */
static inline void bench_keep(const void *pointer)
{
    __asm__ __volatile__("" : : "g"(pointer) : "memory");
}

#ifdef __cplusplus
}
#endif

#endif
