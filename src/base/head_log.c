#include "base/head_log.h"

#include <errno.h>
#include <stdlib.h>

struct head_log_slot {
    _Atomic uint64_t words[HEAD_LOG_WORDS];
};

int head_log_init(struct head_log *log)
{
    log->slots = calloc(HEAD_LOG_SLOTS, sizeof *log->slots);
    return log->slots == NULL ? -ENOMEM : 0;
}

void head_log_free(struct head_log *log)
{
    free(log->slots);
    log->slots = NULL;
}

void head_log_add(struct head_log *log, const uint8_t head[HEAD_LOG_BYTES])
{
    /* relaxed: the writer's own. */
    uint64_t number = atomic_load_explicit(&log->count, memory_order_relaxed);
    struct head_log_slot *slot = &log->slots[number % HEAD_LOG_SLOTS];

    /* relaxed: each word below is a release, so a reader that saw one sees this. */
    atomic_store_explicit(&log->begun, number + 1, memory_order_relaxed);
    for (size_t i = 0; i < HEAD_LOG_WORDS; i++) /* release (pairs: read) */
        atomic_store_explicit(&slot->words[i], cc_load64(head + 8 * i), memory_order_release);
    atomic_store_explicit(&log->count, number + 1, memory_order_release); /* pairs: newest */
}

/* False: it was overwritten meanwhile. */
static bool read(const struct head_log *log, uint64_t number, uint8_t head[HEAD_LOG_BYTES])
{
    const struct head_log_slot *slot = &log->slots[number % HEAD_LOG_SLOTS];

    for (size_t i = 0; i < HEAD_LOG_WORDS; i++) /* acquire (pairs: head_log_add) */
        cc_store64(head + 8 * i, atomic_load_explicit(&slot->words[i], memory_order_acquire));
    return atomic_load_explicit(&log->begun, memory_order_relaxed) <= number + HEAD_LOG_SLOTS;
}

uint32_t head_log_newest(const struct head_log *log, uint32_t limit, uint8_t *heads)
{
    /* acquire (pairs: head_log_add): the words of what was counted. */
    uint64_t count = atomic_load_explicit(&log->count, memory_order_acquire);
    uint32_t copied = 0;

    while (copied < limit && copied < count && copied < HEAD_LOG_SLOTS &&
           read(log, count - 1 - copied, heads + (size_t)copied * HEAD_LOG_BYTES))
        copied++;
    return copied;
}
