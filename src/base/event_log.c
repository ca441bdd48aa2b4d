#include "base/event_log.h"

#include <errno.h>
#include <stdlib.h>

#include "base/published.h"

struct event_log_slot {
    _Atomic uint64_t words[EVENT_LOG_WORDS];
};

int event_log_init(struct event_log *log)
{
    log->slots = calloc(EVENT_LOG_SLOTS, sizeof *log->slots);
    return log->slots == NULL ? -ENOMEM : 0;
}

void event_log_free(struct event_log *log)
{
    free(log->slots);
    log->slots = NULL;
}

void event_log_add(struct event_log *log, const struct event_log_event *event)
{
    uint64_t number = atomic_load_explicit(&log->count, memory_order_relaxed);
    struct event_log_slot *slot = &log->slots[number % EVENT_LOG_SLOTS];

    atomic_store_explicit(&log->begun, number + 1, memory_order_relaxed);
    /* Before the words: a reader that sees one of them sees `begun` (pairs: event_log_read). */
    atomic_thread_fence(memory_order_release);
    published_words_set(slot->words, event, EVENT_LOG_WORDS);
    atomic_store_explicit(&log->count, number + 1, memory_order_release);
}

bool event_log_read(const struct event_log *log, uint64_t number, struct event_log_event *event)
{
    const struct event_log_slot *slot = &log->slots[number % EVENT_LOG_SLOTS];
    uint64_t words[EVENT_LOG_WORDS];

    published_words_get(slot->words, words, EVENT_LOG_WORDS);
    atomic_thread_fence(memory_order_acquire);
    if (atomic_load_explicit(&log->begun, memory_order_relaxed) - number > EVENT_LOG_SLOTS)
        return false;
    memcpy(event, words, sizeof *event);
    return true;
}
