/* hdr.h - an HDR histogram of three significant digits, in the forms that the HdrHistogram tools
 * read: the percentile table (.hgrm) and an interval of a histogram log (V2).
 *
 * The layout of the counts is HdrHistogram's: 2,048 steps in the first bucket, 1,024 in each
 * further one, so that a value is known to 0.1 %. A value of an hour or more counts as an hour.
 *
 * Units. ns; the written tables are in us.
 * Owner. One thread. */
#ifndef PERP_BENCH_HDR_H
#define PERP_BENCH_HDR_H

#include <stdio.h>

#include "base/compiler.h"

enum {
    HDR_HALF_BITS = 10,
    HDR_BUCKETS = 32, /* the last one holds an hour */
    HDR_COUNTS = (HDR_BUCKETS + 1) << HDR_HALF_BITS,
};

#define HDR_MOST_NS UINT64_C(3600000000000)

struct hdr {
    uint64_t count, max; /* the maximum is exact up to HDR_MOST_NS */
    double sum;
    uint64_t counts[HDR_COUNTS];
};

void hdr_clear(struct hdr *hdr);
void hdr_add(struct hdr *hdr, uint64_t value_ns);

/* Returns the value at or below which the share 0..1 of the values are: the greatest value that is
 * equal to it in three digits, at most the maximum; 0 when there is none. */
uint64_t hdr_quantile(const struct hdr *hdr, double share);

/* Writes the table of percentiles in us, five steps for each halving of the distance to 100 %. */
void hdr_write_percentiles(const struct hdr *hdr, FILE *out);

/* Writes the head of a log that begins at a moment. */
void hdr_log_begin(FILE *out, uint64_t begin_unix_ns);

/* Writes one interval: `from_ns` after the begin, `length_ns` long. False without memory. */
CC_MUST_USE bool hdr_log_write(const struct hdr *hdr, FILE *out, const char *tag, uint64_t from_ns,
                               uint64_t length_ns);

#endif
