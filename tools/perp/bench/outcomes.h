/* outcomes.h - the words by which answers are told apart, each with a number: the statuses of an
 * acknowledgement, then the codes of problems in the order in which they came.
 *
 * Owner. One thread.
 * Bound. OUTCOMES_MAX words; every further one is counted as "other". */
#ifndef PERP_BENCH_OUTCOMES_H
#define PERP_BENCH_OUTCOMES_H

#include "base/status.h"

enum { OUTCOMES_MAX = 256, OUTCOMES_WORD_BYTES = 64 };

struct outcomes {
    char words[OUTCOMES_MAX][OUTCOMES_WORD_BYTES];
    uint32_t count;
    uint16_t other, unreadable; /* the numbers of these words */
};

void outcomes_init(struct outcomes *outcomes);

/* The number of a word of `count` characters, which gets one if it has none. */
uint16_t outcomes_number(struct outcomes *outcomes, const char *word, size_t count);

#endif
