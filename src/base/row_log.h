/* row_log.h - the newest rows of one kind: one writer, any number of readers that it never waits
 * for. event_log, head_log and frame_board are row logs of their kinds.
 *
 *   writer ── row_log_add ──> the newest `slots` rows ── row_log_read ──> readers
 *
 * Order. Rows are numbered from 0. The writer marks a slot as begun before it overwrites it and
 *        counts it afterwards, so a reader knows that what it copied was whole, or that it has been
 *        overrun.
 * Wait.  Nothing blocks or retries. A reader that is too slow loses rows, never the writer.
 * Owner. The writer is one thread; any thread reads.
 * Bound. `slots` rows, allocated at the start; pages are touched as rows come. */
#ifndef BASE_ROW_LOG_H
#define BASE_ROW_LOG_H

#include "base/compiler.h"

struct row_log {
    _Atomic uint64_t *words; /* [slots * row_words]; NULL: before row_log_init */
    uint64_t slots;
    uint64_t row_words;
    CC_NO_SHARE _Atomic uint64_t begun;
    CC_NO_SHARE _Atomic uint64_t count;
};

/* Makes room for `slots` rows, a power of two, of row_bytes, a multiple of 8. 0 or -ENOMEM. The log
 * must be all zeros before. */
CC_MUST_USE int row_log_init(struct row_log *log, uint64_t slots, size_t row_bytes);
void row_log_free(struct row_log *log);

/* Adds a row of row_bytes in place of the oldest. */
void row_log_add(struct row_log *log, const void *row);

/* How many rows were ever added; the next one has this number. */
CC_MUST_USE static inline uint64_t row_log_count(const struct row_log *log)
{
    return atomic_load_explicit(&log->count, memory_order_acquire); /* pairs: row_log_add */
}

/* Copies the row of that number, which was added. False: it has been overwritten, and what `row`
 * then holds means nothing. */
CC_MUST_USE bool row_log_read(const struct row_log *log, uint64_t number, void *row);

#endif
