/* figures.h - the figures of one pass as one JSON object, from the rows of its load: what the
 * table, the pictures and the comparison are made of. What is not known is null, never 0.
 *
 * Owner. One thread. */
#ifndef PERP_BENCH_FIGURES_H
#define PERP_BENCH_FIGURES_H

#include <jansson.h>

#include "perp/bench/corpus.h"
#include "perp/bench/hdr.h"
#include "perp/bench/machine.h"
#include "perp/bench/reading.h"

enum { FIGURES_WORST = 10 };

/* What was read before and after the pass. */
struct figures_side {
    struct machine machine;
    struct reading reading; /* text NULL: the admin listener is not known */
    uint64_t process_cpu_us;
};

struct figures_pass {
    const struct load *load;
    double rate_wanted; /* 0: closed loop */
    bool is_local;      /* process_cpu_us is known */
    struct figures_side before, after;
};

/* Fills the histograms, cleared before, with every due and with every sent request. */
void figures_fill(const struct load *load, struct hdr *latency, struct hdr *service);

/* The object; the caller owns it. */
json_t *figures_make(const struct figures_pass *pass, const struct hdr *latency,
                     const struct hdr *service);

#endif
