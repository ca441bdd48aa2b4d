/* reading.h - one reading of /metrics, and what changed between two of them.
 *
 * Owner. One thread; the text is freed by reading_free. */
#ifndef PERP_BENCH_READING_H
#define PERP_BENCH_READING_H

#include "perp/request/client.h"

enum { READING_NAME_MAX = 128 };

struct reading {
    char *text; /* NULL: there is none */
};

/* Reads /metrics over a connection to the admin listener. False without an answer 200. */
CC_MUST_USE bool reading_fetch(struct reading *reading, struct client *admin);
void reading_free(struct reading *reading);

/* The value of a series as the page writes its name, labels included. False: it is not there. */
CC_MUST_USE bool reading_value(const struct reading *reading, const char *series, double *value);

/* The label of the one series of a name: perpd_build_info, "commit". False: it is not there. */
CC_MUST_USE bool reading_label(const struct reading *reading, const char *name, const char *label,
                               char *text, size_t room);

/* The labels of the series of a name, in order: "" after the last. `text` is thread="net". */
CC_MUST_USE bool reading_next(const struct reading *reading, const char *name, uint32_t index,
                              char labels[READING_NAME_MAX]);

/* The quantile of what a histogram took in from `before` to `after`: the bound of its bucket, in
 * the unit of the buckets. `labels` without le. Below 0: nothing came, or it is beyond the last
 * bucket. *count is what came. */
double reading_quantile(const struct reading *before, const struct reading *after, const char *name,
                        const char *labels, double share, uint64_t *count);

#endif
