#include "store/witness_check.h"

#include <errno.h>
#include <inttypes.h>

enum refusal_kind witness_check_begin(struct witness_check *check, struct disk *disk,
                                      const struct exchange_file *exchange, struct refusal *refusal)
{
    memset(check, 0, sizeof *check);
    int error = witness_read(disk, exchange, &check->named, &check->slots);

    if (error < 0 && error != -ENOENT && error != -EBADMSG)
        return refusal_machine(refusal, "reading witness", error);
    check->is_there = error == 0;
    check->start = exchange->boot;
    return REFUSAL_none;
}

void witness_check_pass(struct witness_check *check, const struct frame_tail *tail)
{
    for (uint32_t i = 0; i < check->mark_count && check->unlike == NULL; i++)
        if (check->marks[i].frame == tail->number &&
            memcmp(check->marks[i].hash, tail->hash, HASH_BYTES) != 0)
            check->unlike = &check->marks[i];
    if (!check->is_there || tail->number != check->named.frame)
        return;
    memcpy(check->hash, tail->hash, sizeof check->hash);
    check->is_met = true;
}

bool witness_check_is_older(const struct witness_check *check, const struct frame_tail *end)
{
    return check->is_there && !check->is_logged && check->slots.damaged == 0 &&
           check->named.start != 0 && check->named.start < check->start && end->boot < check->start;
}

enum refusal_kind witness_check_judge(const struct witness_check *check,
                                      const struct frame_tail *end, bool is_needed,
                                      struct refusal *refusal)
{
    const struct witness *named = &check->named;

    if (check->unlike != NULL)
        return refusal_set(refusal, REFUSAL_snapshot_ahead,
                           "snapshot %" PRIu64 " names frame %" PRIu64
                           ", which has another hash in the journal",
                           check->unlike->snapshot, check->unlike->frame);
    if (!check->is_there) {
        if (!is_needed)
            return REFUSAL_none;
        return refusal_set(refusal, REFUSAL_witness_damaged,
                           "the journal ends with frame %" PRIu64 ", sequence %" PRIu64,
                           end->number, end->last_sequence);
    }
    if (end->number < named->frame)
        return refusal_set(refusal, REFUSAL_witness_ahead,
                           "the journal ends with frame %" PRIu64 ", sequence %" PRIu64
                           ", the witness names frame %" PRIu64 ", sequence %" PRIu64,
                           end->number, end->last_sequence, named->frame, named->sequence);
    if (check->is_met && memcmp(check->hash, named->hash, sizeof check->hash) != 0)
        return refusal_set(refusal, REFUSAL_witness_differs,
                           "frame %" PRIu64 ", sequence %" PRIu64 ", has another hash",
                           named->frame, named->sequence);
    if (witness_check_is_older(check, end))
        return refusal_set(refusal, REFUSAL_witness_older,
                           "the witness is of start %" PRIu64 ", `exchange` of start %" PRIu64
                           ", the journal ends with frame %" PRIu64 ", sequence %" PRIu64,
                           named->start, check->start, end->number, end->last_sequence);
    return REFUSAL_none;
}
