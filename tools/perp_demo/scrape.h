/* scrape.h - what the demo reads from /metrics: counters by name and the histograms of stages.
 *
 * Stage histograms are found by their label `stage`, whatever the metric is called: as Prometheus
 * histograms (label `le`) or summaries (label `quantile`).
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
    double quantile_ns[2];               /* of a summary: p50, p99; below 0: not given */
};

struct scrape {
    struct scrape_stage stages[SCRAPE_STAGES_MAX];
    uint32_t stage_count;
    uint64_t journal_record_bytes, journal_written_bytes, journal_records;
    bool has_journal;
};

void scrape_read(struct scrape *scrape, const char *text, size_t count);

/* The stage of a name, NULL when there is none. */
const struct scrape_stage *scrape_find(const struct scrape *scrape, const char *name);

/* The upper end of the bucket in which the quantile (0.5, 0.99) of the values lies; below 0: no
 * values. */
double scrape_quantile(const struct scrape_stage *stage, double quantile);

/* How many values the stage counted; 0 for a summary without them. */
uint64_t scrape_count(const struct scrape_stage *stage);

#endif
