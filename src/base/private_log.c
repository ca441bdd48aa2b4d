#include "base/private_log.h"

#include <errno.h>
#include <stdlib.h>

#include "base/published.h"
#include "base/region.h"

struct private_log_slot {
    _Atomic uint64_t version; /* odd: being written */
    _Atomic uint64_t words[PRIVATE_LOG_WORDS];
};

int private_log_init(struct private_log *log, uint64_t account_count)
{
    private_log_free(log);
    log->slots = calloc((size_t)PRIVATE_LOG_LANES * PRIVATE_LOG_LANE, sizeof *log->slots);
    region_name(REGION_events, log->slots,
                (size_t)PRIVATE_LOG_LANES * PRIVATE_LOG_LANE * sizeof *log->slots);
    log->newest = calloc(account_count, sizeof *log->newest);
    log->account_count = account_count;
    if (log->slots != NULL && log->newest != NULL)
        return 0;
    private_log_free(log);
    return -ENOMEM;
}

void private_log_free(struct private_log *log)
{
    region_forget(log->slots);
    free(log->slots);
    free((void *)log->newest);
    log->slots = NULL;
    log->newest = NULL;
    log->account_count = 0;
}

static size_t slot_at(uint64_t account_id, uint64_t seq)
{
    return account_id % PRIVATE_LOG_LANES * PRIVATE_LOG_LANE + seq % PRIVATE_LOG_LANE;
}

void private_log_add(struct private_log *log, const struct private_event *event)
{
    struct private_log_slot *slot = &log->slots[slot_at(event->account_id, event->seq)];
    uint64_t version = atomic_load_explicit(&slot->version, memory_order_relaxed);

    INVARIANT(account_id_slot(event->account_id) < log->account_count);
    atomic_store_explicit(&slot->version, version + 1, memory_order_relaxed);
    /* Before the words: a reader that sees one of them sees the odd version (pairs:
     * private_log_read). */
    atomic_thread_fence(memory_order_release);
    published_words_set(slot->words, event, PRIVATE_LOG_WORDS);
    atomic_store_explicit(&slot->version, version + 2, memory_order_release);
    atomic_store_explicit(&log->newest[account_id_slot(event->account_id)], event->seq,
                          memory_order_release);
    atomic_store_explicit(&log->count, atomic_load_explicit(&log->count, memory_order_relaxed) + 1,
                          memory_order_release);
}

bool private_log_read(const struct private_log *log, uint64_t account_id, uint64_t seq,
                      struct private_event *event)
{
    const struct private_log_slot *slot = &log->slots[slot_at(account_id, seq)];
    uint64_t words[PRIVATE_LOG_WORDS];
    uint64_t version = atomic_load_explicit(&slot->version, memory_order_acquire);

    if (version == 0 || version % 2 != 0)
        return false;
    published_words_get(slot->words, words, PRIVATE_LOG_WORDS);
    atomic_thread_fence(memory_order_acquire);
    if (atomic_load_explicit(&slot->version, memory_order_relaxed) != version)
        return false;
    memcpy(event, words, sizeof *event);
    return event->account_id == account_id && event->seq == seq;
}

uint64_t private_log_oldest(const struct private_log *log, uint64_t account_id, uint64_t newest)
{
    struct private_event event;
    uint64_t lost = newest < PRIVATE_LOG_LANE ? 0 : newest - PRIVATE_LOG_LANE, found = newest + 1;

    while (found - lost > 1) { /* `lost` and below are not there */
        uint64_t middle = lost + (found - lost) / 2;
        if (private_log_read(log, account_id, middle, &event))
            found = middle;
        else
            lost = middle;
    }
    return found;
}
