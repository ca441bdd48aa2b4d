/* scrape.h - what the demo reads from /metrics: counters by name and the histograms of stages.
 *
 * Stages are found by their label `stage`, whatever the metric is called: Prometheus histograms
 * (label `le`) and summaries (label `quantile`).
 *
 * Owner. One thread. Units. ns. */
#ifndef PERP_DEMO_SCRAPE_H
#define PERP_DEMO_SCRAPE_H

#include "base/compiler.h"

enum { SCRAPE_STAGES_MAX = 16, SCRAPE_BUCKETS_MAX = 256, SCRAPE_NAME_MAX = 32 };

struct scrape_stage {
    char name[SCRAPE_NAME_MAX];
    uint32_t bucket_count;
    double bound_ns[SCRAPE_BUCKETS_MAX]; /* upper ends, ascending; the last may be infinite */
    uint64_t below[SCRAPE_BUCKETS_MAX];  /* values at or below the bound, since start */
    double quantile_ns[2];               /* of the summary: p50, p99; below 0: not given */
};

struct scrape {
    struct scrape_stage stages[SCRAPE_STAGES_MAX];
    uint32_t stage_count;
    uint64_t journal_record_bytes, journal_written_bytes, journal_records;
    bool has_journal;
    uint64_t accounts; /* rows of the table of accounts, of every class */
};

void scrape_read(struct scrape *scrape, const char *text, size_t count);

/* The stage of a name, NULL when there is none. */
const struct scrape_stage *scrape_find(const struct scrape *scrape, const char *name);

/* The quantile (0.5, 0.99) of all values since the start; below 0: not given. */
double scrape_quantile(const struct scrape_stage *stage, double quantile);

/* The quantile of the values that came between two readings, from the buckets, within which values
 * lie evenly; below 0: none came, or there are no buckets. Counters that fell are of a new process:
 * all of `now` came since. */
double scrape_quantile_between(const struct scrape_stage *before, const struct scrape_stage *now,
                               double quantile);

#endif
