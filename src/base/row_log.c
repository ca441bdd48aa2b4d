#include "base/row_log.h"

#include <errno.h>
#include <stdlib.h>

#include "base/published.h"
#include "base/region.h"

int row_log_init(struct row_log *log, uint64_t slots, size_t row_bytes)
{
    INVARIANT(slots != 0 && (slots & (slots - 1)) == 0);
    INVARIANT(row_bytes != 0 && row_bytes % sizeof *log->words == 0);
    log->slots = slots;
    log->row_words = row_bytes / sizeof *log->words;
    log->words = calloc(slots, row_bytes);
    region_name(REGION_events, (void *)log->words, slots * row_bytes);
    return log->words == NULL ? -ENOMEM : 0;
}

void row_log_free(struct row_log *log)
{
    region_forget((void *)log->words);
    free((void *)log->words);
    log->words = NULL;
}

static _Atomic uint64_t *words_of(const struct row_log *log, uint64_t number)
{
    return &log->words[(number & (log->slots - 1)) * log->row_words];
}

void row_log_add(struct row_log *log, const void *row)
{
    /* relaxed: the writer's own. */
    uint64_t number = atomic_load_explicit(&log->count, memory_order_relaxed);

    atomic_store_explicit(&log->begun, number + 1, memory_order_relaxed);
    /* Before the words: a reader that sees one of them sees `begun` (pairs: row_log_read). */
    atomic_thread_fence(memory_order_release);
    published_words_set(words_of(log, number), row, log->row_words);
    atomic_store_explicit(&log->count, number + 1, memory_order_release); /* pairs: row_log_count */
}

bool row_log_read(const struct row_log *log, uint64_t number, void *row)
{
    published_words_get(words_of(log, number), row, log->row_words);
    atomic_thread_fence(memory_order_acquire); /* pairs: row_log_add */
    return atomic_load_explicit(&log->begun, memory_order_relaxed) - number <= log->slots;
}
