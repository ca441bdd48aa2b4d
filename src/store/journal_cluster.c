#include "store/journal_cluster.h"

#include <errno.h>

#include "store/journal_state.h"

enum { LENGTH_AT = 80, SEGMENT_AT = 40 }; /* journal.md, Frame */

uint32_t journal_cluster_join(struct journal *journal)
{
    journal->slot_count = JOURNAL_SLOTS_MAX;
    journal->block_min = DISK_BLOCK_BYTES_MAX; /* offsets are the same on every node */
    journal->leads = false;
    journal->released_frame = journal->config.position.tail.number;
    journal->replicated = journal->released_frame;
    journal->lent = journal->released_frame;
    return FRAME_BYTES_MAX; /* another leader's frames may be longer than this one's */
}

bool journal_cluster_has_slot(struct journal *journal)
{
    uint32_t writing = 1; /* the witness's */

    for (uint32_t i = 0; i < journal->flight_count; i++)
        writing += !flight_at(journal, i)->done;
    return journal->flight_count < journal->slot_count && writing < DISK_WRITES_MAX;
}

int journal_cluster_release(struct journal *journal)
{
    int work = 0;

    while (journal->released < journal->flight_count) {
        struct flight *flight = flight_at(journal, journal->released);
        bool waits_for_disk =
            journal->leads && journal->config.durability == JOURNAL_REPLICATED_LOCAL;

        if (flight->header.number > journal->replicated || (waits_for_disk && !flight->done))
            break;
        journal_release(journal, flight);
        journal->released++;
        journal->released_frame = flight->header.number;
        work++;
    }
    return work;
}

/* ---- standby --------------------------------------------------------------------------------- */

/* Its records parse: readers of the buffer take that as given. */
static bool records_are_whole(const struct frame_header *header, const uint8_t *bytes)
{
    uint64_t last_t_ns;

    return frame_records_survey(header, bytes, &last_t_ns) == 0;
}

/* Copies the frame into the next flight and makes its padding again. False if it is no frame. */
static bool frame_adopt(struct journal *journal, const uint8_t *bytes, size_t count,
                        struct frame_header *header)
{
    uint8_t *copy = flight_at(journal, journal->flight_count)->bytes;
    uint32_t length;

    if (count < FRAME_HEADER_BYTES)
        return false;
    length = cc_load32(bytes + LENGTH_AT);
    if (length > FRAME_BYTES_MAX || length < count || length - count >= DISK_BLOCK_BYTES_MAX)
        return false;
    memcpy(copy, bytes, count);
    memset(copy + count, 0, length - count);
    return frame_decode(
               header, copy, length,
               exchange_file_journal(journal->config.exchange, cc_load64(bytes + SEGMENT_AT)),
               cc_load64(bytes + SEGMENT_AT), DISK_BLOCK_BYTES_MAX) == 0 &&
           FRAME_HEADER_BYTES + header->record_bytes == count && records_are_whole(header, copy);
}

/* The records go where a matcher would have published them. */
static void records_publish(struct journal *journal, const uint8_t *records, uint32_t count)
{
    uint64_t tail = LOAD(journal->tail, relaxed); /* relaxed: no matcher publishes beside it */

    STORE(journal->claimed, tail + count, relaxed); /* as journal_publish */
    record_buffer_put(&journal->buffer, tail, records, count);
    STORE(journal->tail, tail + count, release);
}

int journal_cluster_adopt(struct journal *journal, const uint8_t *bytes, size_t count)
{
    struct frame_header header;
    int error;

    INVARIANT(!journal->leads);
    if (LOAD(journal->error, relaxed) != 0)
        return LOAD(journal->error, relaxed);
    if (!journal_cluster_has_slot(journal))
        return 0;
    if (!frame_adopt(journal, bytes, count, &header) ||
        !frame_chains(&journal->tail_frame, &header))
        return -EBADMSG;
    /* The leader may have sealed a segment that has room (journal_seal). */
    bool seals = header.segment == journal->segment + 1;
    STORE(journal->seal_wanted, seals, relaxed);
    error = journal_provide_segment(journal, header.record_bytes);
    if (error == 0 || (error > 0 && seals && header.segment != journal->segment))
        return 0;
    if (error > 0 && header.segment != journal->segment)
        return -EBADMSG;
    if (error > 0) {
        const struct flight *flight = flight_at(journal, journal->flight_count);

        records_publish(journal, flight->bytes + FRAME_HEADER_BYTES, header.record_bytes);
        error = journal_launch(journal, &header, LOAD(journal->tail, relaxed));
    }
    if (error < 0) {
        STORE(journal->error, error, release);
        return error;
    }
    journal->replicated = header.number;
    journal->lent = header.number;
    (void)journal_cluster_release(journal);
    return 1;
}

/* ---- leader ---------------------------------------------------------------------------------- */

void journal_cluster_lead(struct journal *journal, uint64_t term)
{
    INVARIANT(journal_is_clustered(journal) && !journal->leads);
    INVARIANT(term > journal->tail_frame.boot);
    journal->config.boot = term;
    journal->leads = true;
}

bool journal_cluster_is_quiet(const struct journal *journal)
{
    return LOAD(journal->tail, acquire) == LOAD(journal->gathered, relaxed) &&
           journal->released_frame == journal->tail_frame.number;
}

void journal_cluster_follow(struct journal *journal)
{
    INVARIANT(journal->leads && journal_cluster_is_quiet(journal));
    journal->leads = false;
    journal->replicated = journal->released_frame;
    journal->lent = journal->released_frame;
    STORE(journal->seal_wanted, false, relaxed);
}

struct journal_position journal_cluster_end(const struct journal *journal, uint64_t *position)
{
    *position = LOAD(journal->gathered, relaxed); /* relaxed: only this thread writes it */
    return (struct journal_position){
        .tail = journal->tail_frame,
        .segment = journal->segment,
        .offset = journal->offset,
    };
}

const uint8_t *journal_cluster_next_frame(struct journal *journal, size_t *count, uint64_t *number)
{
    const struct flight *flight;
    uint64_t oldest;

    if (!journal->leads || journal->lent >= journal->tail_frame.number)
        return NULL;
    oldest = flight_at(journal, 0)->header.number;
    flight = flight_at(journal, (uint32_t)(journal->lent + 1 - oldest));
    journal->lent++;
    *count = FRAME_HEADER_BYTES + flight->header.record_bytes;
    *number = journal->lent;
    return flight->bytes;
}

void journal_cluster_replicated(struct journal *journal, uint64_t number)
{
    INVARIANT(number <= journal->lent);
    if (number > journal->replicated)
        journal->replicated = number;
}

struct frame_tail journal_cluster_last_frame(const struct journal *journal)
{
    return journal->tail_frame;
}

uint64_t journal_cluster_released_frame(const struct journal *journal)
{
    return journal->released_frame;
}

uint64_t journal_cluster_segment(const struct journal *journal)
{
    return journal->segment;
}

uint64_t journal_cluster_durable_frame(const struct journal *journal)
{
    return journal->durable.number;
}

uint64_t journal_cluster_unreleased_bytes(const struct journal *journal)
{
    uint64_t shown = LOAD(journal->durable_position, acquire); /* first: it is the lower one */

    return LOAD(journal->tail, acquire) - shown;
}
