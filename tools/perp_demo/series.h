/* series.h - the values of the last minute, one a second, and their line of blocks.
 *
 * Owner. One thread. Units. The caller's. */
#ifndef PERP_DEMO_SERIES_H
#define PERP_DEMO_SERIES_H

#include "base/compiler.h"

enum { SERIES_VALUES = 60, SERIES_BLOCK_BYTES = 3 };

struct series {
    double values[SERIES_VALUES]; /* a ring */
    uint64_t count;               /* of all that were ever added */
};

void series_add(struct series *series, double value);

/* The newest value; 0 without one. */
double series_last(const struct series *series);

/* Writes `columns` blocks of height value / greatest value, the newest at the right, zero-ended;
 * spaces where no value is yet. With fewer columns than values a column is the greatest of its
 * values. `text` has room for columns * SERIES_BLOCK_BYTES + 1. */
void series_draw(const struct series *series, uint32_t columns, char *text);

#endif
