/* kind_times.h - the times of commands by their kind: a histogram for each request code that came,
 * and one of all.
 *
 * Units. ns.
 * Owner. One thread.
 * Bound. KIND_TIMES_MAX kinds; a further one is counted under all only. */
#ifndef PERP_BENCH_KIND_TIMES_H
#define PERP_BENCH_KIND_TIMES_H

#include "perp/bench/hdr.h"

struct json_t; /* jansson.h */

enum { KIND_TIMES_MAX = 96, KIND_TIMES_CODES = 4096 };

struct kind_times {
    struct hdr *all;
    uint32_t kind_count;
    uint16_t codes[KIND_TIMES_MAX];
    struct hdr *kinds[KIND_TIMES_MAX];
    uint8_t kind_of[KIND_TIMES_CODES]; /* its index + 1; 0: this code did not come yet */
};

/* Makes an empty set. False without memory; then there is nothing to free. */
CC_MUST_USE bool kind_times_init(struct kind_times *times);
void kind_times_free(struct kind_times *times);

/* Forgets every time and keeps the memory. */
void kind_times_clear(struct kind_times *times);

/* Without memory for the histogram of a new kind the time is counted under all only. */
void kind_times_add(struct kind_times *times, uint16_t code, uint64_t time_ns);

/* Returns one object for each kind, in the order of their codes, and one of all: command, count,
 * mean_ns, p50_ns, p90_ns, p99_ns, p999_ns, max_ns. The caller releases it. */
CC_MUST_USE struct json_t *kind_times_rows(const struct kind_times *times);

/* Writes each kind as an interval of a histogram log, its name as the tag; `all` is the first.
 * False without memory. */
CC_MUST_USE bool kind_times_log(const struct kind_times *times, FILE *out, uint64_t begin_unix_ns,
                                uint64_t length_ns);

#endif
