/* instant.h - a point in time as people write it: 2030-01-31T12:00:00[.123]Z or unix seconds. */
#ifndef PERP_REQUEST_INSTANT_H
#define PERP_REQUEST_INSTANT_H

#include "base/compiler.h"

/* Unix nanoseconds of the text; false when it is no such time. */
CC_MUST_USE bool instant_parse(const char *text, uint64_t *ns);

/* The node's wall clock. */
uint64_t instant_now_ns(void);

/* CLOCK_MONOTONIC, for intervals. */
uint64_t instant_monotonic_ns(void);

#endif
