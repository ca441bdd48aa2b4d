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

void withdrawal_log_append(struct withdrawal_log *log, const struct effect *effect)
{
    struct effect_withdrawal body;
    struct row_withdrawal row;

    if (effect->code != EFFECT_withdrawal)
        return;
    memcpy(&body, effect->bytes, sizeof body);
    if (body.outcome == WITHDRAWAL_PENDING)
        return;
    /* It is still in its table when it is spoken of (W3c). */
    bool is_kept =
        withdrawal_read(effect->engine, withdrawal_find(effect->engine, body.withdrawal_id), &row);
    INVARIANT(is_kept);
    struct withdrawal_kept *kept =
        history_ring_add(&log->ring, CHAIN, effect->sequence,
                         history_ring_next_index(&log->ring, CHAIN, effect->sequence));
    kept->ended_sequence = effect->sequence;
    kept->row = row;
    if (body.outcome == WITHDRAWAL_REVERTED)
        kept->row.outcome = ROW_WITHDRAWAL_REVERTED;
}
