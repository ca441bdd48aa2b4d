/* head_log.h - the newest signed heads (journal.md, Heads), for those who answer with them: one
 * writer, any number of readers that it never waits for.
 *
 * Order. The writer marks a slot as begun before it overwrites it and counts it afterwards, so a
 *        reader knows that what it copied was whole.
 * Wait.  Nothing blocks or retries.
 * Owner. The writer is one thread; any thread reads.
 * Bound. HEAD_LOG_SLOTS heads, mapped at the start. */
#ifndef BASE_HEAD_LOG_H
#define BASE_HEAD_LOG_H

#include "base/published.h"

enum { HEAD_LOG_SLOTS = 1024, HEAD_LOG_BYTES = 224, HEAD_LOG_WORDS = HEAD_LOG_BYTES / 8 };

struct head_log {
    struct head_log_slot *slots; /* NULL: before head_log_init */
    CC_NO_SHARE _Atomic uint64_t begun;
    _Atomic uint64_t count;
};

/* 0 or -ENOMEM. The log must be all zeros before. */
CC_MUST_USE int head_log_init(struct head_log *log);
void head_log_free(struct head_log *log);

void head_log_add(struct head_log *log, const uint8_t head[HEAD_LOG_BYTES]);

/* Copies up to `limit` of the newest heads, the newest first; returns their number. */
CC_MUST_USE uint32_t head_log_newest(const struct head_log *log, uint32_t limit, uint8_t *heads);

#endif
