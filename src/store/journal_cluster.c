#include "store/journal_cluster.h"

#include <errno.h>

#include "store/journal_state.h"

enum { LENGTH_AT = 80, SEGMENT_AT = 40 }; /* journal.md, Frame */

/* Of a standby, at a time: what comes meanwhile is written together. */
enum { ADOPTED_WRITES_MAX = 2 };

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

/* The length of a frame with its padding; 0: it is none. */
static uint32_t whole_length(const uint8_t *bytes, size_t count)
{
    if (count < FRAME_HEADER_BYTES)
        return 0;
    uint32_t length = cc_load32(bytes + LENGTH_AT);
    bool is_frame =
        length <= FRAME_BYTES_MAX && length >= count && length - count < DISK_BLOCK_BYTES_MAX;
    return is_frame ? length : 0;
}

/* Copies the frame and makes its padding again. False if it is no frame. */
static bool frame_adopt(struct journal *journal, uint8_t *copy, const uint8_t *bytes, size_t count,
                        uint32_t length, struct frame_header *header)
{
    uint64_t segment = cc_load64(bytes + SEGMENT_AT);

    memcpy(copy, bytes, count);
    memset(copy + count, 0, length - count);
    return frame_decode(header, copy, length,
                        exchange_file_journal(journal->config.exchange, segment), segment,
                        DISK_BLOCK_BYTES_MAX) == 0 &&
           FRAME_HEADER_BYTES + header->record_bytes == count && records_are_whole(header, copy);
}

/* The flight that takes a frame of so many bytes of that segment: the last one, if it waits and has
 * room, or a new one, which has no `length`. NULL: none is free. */
static struct flight *flight_for(struct journal *journal, uint64_t segment, uint32_t length)
{
    if (journal->flight_count > 0) {
        struct flight *last = flight_at(journal, journal->flight_count - 1);
        if (last->is_waiting && last->header.segment == segment &&
            last->length + length <= FRAME_BYTES_MAX)
            return last;
    }
    if (journal->flight_count == journal->slot_count)
        return NULL;
    struct flight *next = flight_at(journal, journal->flight_count);
    next->length = 0;
    return next;
}

/* The records go where a matcher would have published them. */
static void records_publish(struct journal *journal, const uint8_t *records, uint32_t count)
{
    uint64_t tail = LOAD(journal->tail, relaxed); /* relaxed: no matcher publishes beside it */

    STORE(journal->claimed, tail + count, relaxed); /* as journal_publish */
    record_buffer_put(&journal->buffer, tail, records, count);
    STORE(journal->tail, tail + count, release);
}

/* The frame, which is in the flight behind what that has, is the chain's next one and counts. */
static void flight_add(struct journal *journal, struct flight *flight,
                       const struct frame_header *header)
{
    const uint8_t *bytes = flight->bytes + flight->length;

    INVARIANT(journal->released == journal->flight_count); /* all before it count */
    records_publish(journal, bytes + FRAME_HEADER_BYTES, header->record_bytes);
    if (flight->length == 0) {
        flight->offset = journal->offset;
        flight->file = journal->file;
        flight->closes_file = false;
        flight->is_waiting = true;
        flight->done = false;
        journal->flight_count++;
        journal->released++;
    }
    flight->length += header->length;
    journal_chain(journal, flight, header, bytes, LOAD(journal->tail, relaxed));
    journal->replicated = header->number;
    journal->lent = header->number;
    journal->released_frame = header->number;
    journal_release(journal, flight);
}

/* Whether the open segment is the frame's, or becomes it: 1; 0: there is none yet; -errno. */
static int segment_for(struct journal *journal, const struct frame_header *header)
{
    /* The leader may have sealed a segment that has room (journal_seal). */
    bool seals = header->segment == journal->segment + 1;

    STORE(journal->seal_wanted, seals, relaxed);
    int error = journal_provide_segment(journal, header->record_bytes);
    if (error <= 0 || header->segment == journal->segment)
        return error;
    return seals ? 0 : -EBADMSG;
}

int journal_cluster_adopt(struct journal *journal, const uint8_t *bytes, size_t count)
{
    struct frame_header header;
    uint32_t length = whole_length(bytes, count);

    INVARIANT(!journal->leads);
    if (LOAD(journal->error, relaxed) != 0)
        return LOAD(journal->error, relaxed);
    if (length == 0)
        return -EBADMSG;
    struct flight *flight = flight_for(journal, cc_load64(bytes + SEGMENT_AT), length);
    if (flight == NULL)
        return 0;
    if (!frame_adopt(journal, flight->bytes + flight->length, bytes, count, length, &header) ||
        !frame_chains(&journal->tail_frame, &header))
        return -EBADMSG;
    int ready = segment_for(journal, &header);
    if (ready == 0 || ready == -EBADMSG)
        return ready;
    if (ready < 0)
        return journal_fault(journal, ready);
    flight_add(journal, flight, &header);
    int error = journal_cluster_write(journal);
    return error < 0 ? journal_fault(journal, error) : 1;
}

int journal_cluster_write(struct journal *journal)
{
    uint32_t most = journal->leads ? DISK_WRITES_MAX - 1 : ADOPTED_WRITES_MAX; /* and the witness */
    uint32_t writing = 0;
    int work = 0;

    for (uint32_t i = 0; i < journal->flight_count; i++) {
        const struct flight *flight = flight_at(journal, i);
        writing += !flight->done && !flight->is_waiting;
    }
    for (uint32_t i = 0; i < journal->flight_count && writing < most; i++) {
        struct flight *flight = flight_at(journal, i);
        if (!flight->is_waiting)
            continue;
        int error = journal_write(journal, flight);
        if (error < 0)
            return error;
        flight->is_waiting = false;
        writing++;
        work++;
    }
    return work;
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

    if (!journal->leads || journal->lent >= journal->tail_frame.number)
        return NULL;
    /* Those that it formed are the last ones, of a frame each. */
    flight = flight_at(journal, journal->flight_count -
                                    (uint32_t)(journal->tail_frame.number - journal->lent));
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
