#include "node/history/withdrawal_log.h"

#include "engine/state/withdrawal.h"

enum { CHAIN = 0 };

int withdrawal_log_init(struct withdrawal_log *log, uint32_t capacity)
{
    return history_ring_init(&log->ring, capacity, sizeof(struct withdrawal_kept), 1);
}

void withdrawal_log_free(struct withdrawal_log *log)
{
    history_ring_free(&log->ring);
}

void withdrawal_log_forget(struct withdrawal_log *log, uint64_t sequence)
{
    history_ring_forget(&log->ring, CHAIN, sequence);
}

/* The row of the command `sequence`; NULL: it is not kept. */
static struct withdrawal_kept *find(struct withdrawal_log *log, uint64_t sequence)
{
    uint64_t at = history_ring_below(&log->ring, CHAIN, sequence + 1, 0);
    /* The ring is this log's own. */
    struct withdrawal_kept *kept = (void *)(uintptr_t)history_ring_at(&log->ring, at);

    return kept != NULL && kept->link.sequence == sequence ? kept : NULL;
}

void withdrawal_log_append(struct withdrawal_log *log, const struct effect *effect)
{
    struct effect_withdrawal body;
    struct row_withdrawal row;

    if (effect->code != EFFECT_withdrawal)
        return;
    memcpy(&body, effect->bytes, sizeof body);
    /* It is still in its table when it is spoken of (W3c). */
    bool is_kept =
        withdrawal_read(effect->engine, withdrawal_find(effect->engine, body.withdrawal_id), &row);
    INVARIANT(is_kept);
    struct withdrawal_kept *kept;
    if (body.outcome == WITHDRAWAL_PENDING)
        kept = history_ring_add(&log->ring, CHAIN, row.sequence, row.index);
    else
        kept = find(log, row.sequence);
    if (kept == NULL)
        return;
    kept->row = row;
    if (body.outcome == WITHDRAWAL_REVERTED)
        kept->row.outcome = ROW_WITHDRAWAL_REVERTED;
}
