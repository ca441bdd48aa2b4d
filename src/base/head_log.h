/* head_log.h - the newest signed heads (journal.md, Heads), for those who answer with them, as rows
 * of a row_log.
 *
 * Order, Wait. row_log's.
 * Owner. The writer is one thread; any thread reads.
 * Bound. HEAD_LOG_SLOTS heads, mapped at the start. */
#ifndef BASE_HEAD_LOG_H
#define BASE_HEAD_LOG_H

#include "base/row_log.h"

enum { HEAD_LOG_SLOTS = 1024, HEAD_LOG_BYTES = 224 };

struct head_log {
    struct row_log rows;
};

/* 0 or -ENOMEM. The log must be all zeros before. */
CC_MUST_USE static inline int head_log_init(struct head_log *log)
{
    return row_log_init(&log->rows, HEAD_LOG_SLOTS, HEAD_LOG_BYTES);
}

static inline void head_log_free(struct head_log *log)
{
    row_log_free(&log->rows);
}

static inline void head_log_add(struct head_log *log, const uint8_t head[HEAD_LOG_BYTES])
{
    row_log_add(&log->rows, head);
}

/* Copies up to `limit` of the newest heads, the newest first; returns their number. */
CC_MUST_USE uint32_t head_log_newest(const struct head_log *log, uint32_t limit, uint8_t *heads);

#endif
