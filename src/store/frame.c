#include "store/frame.h"

#include <errno.h>

#include "store/file_head.h"

/* The header as it is in the journal. */
struct frame_image {
    struct file_head head;
    uint8_t journal_id[16];
    uint64_t boot;
    uint64_t segment;
    uint64_t number;
    uint64_t first_sequence;
    uint64_t last_sequence;
    uint64_t durable_frame;
    uint32_t length;
    uint32_t record_count;
    uint32_t record_bytes;
    uint32_t zero;
    uint8_t previous_hash[32];
};

static_assert(sizeof(struct frame_image) == FRAME_HEADER_BYTES, "journal.md, Frame");
static_assert(offsetof(struct frame_image, journal_id) == 16, "journal.md, Frame");
static_assert(offsetof(struct frame_image, boot) == 32, "journal.md, Frame");
static_assert(offsetof(struct frame_image, segment) == 40, "journal.md, Frame");
static_assert(offsetof(struct frame_image, number) == 48, "journal.md, Frame");
static_assert(offsetof(struct frame_image, first_sequence) == 56, "journal.md, Frame");
static_assert(offsetof(struct frame_image, last_sequence) == 64, "journal.md, Frame");
static_assert(offsetof(struct frame_image, durable_frame) == 72, "journal.md, Frame");
static_assert(offsetof(struct frame_image, length) == 80, "journal.md, Frame");
static_assert(offsetof(struct frame_image, record_count) == 84, "journal.md, Frame");
static_assert(offsetof(struct frame_image, record_bytes) == 88, "journal.md, Frame");
static_assert(offsetof(struct frame_image, zero) == 92, "journal.md, Frame");
static_assert(offsetof(struct frame_image, previous_hash) == 96, "journal.md, Frame");

static const struct file_kind head_kind = {
    .magic = { 'p', 'e', 'r', 'p', 'd', 'F', 'R', 'M' },
    .format_version = FRAME_VERSION,
    .header_bytes = FRAME_HEADER_BYTES,
};

/* Unsigned on purpose: the closing frame of an empty journal has first 1, count 0 and last 0. */
static bool counts_agree(const struct frame_header *header)
{
    return header->last_sequence == header->first_sequence + header->record_count - 1 &&
           header->first_sequence > 0 && header->first_sequence <= UINT64_MAX - UINT32_MAX;
}

void frame_seal(uint8_t *bytes, const struct frame_header *header)
{
    struct frame_image image = {
        .boot = header->boot,
        .segment = header->segment,
        .number = header->number,
        .first_sequence = header->first_sequence,
        .last_sequence = header->last_sequence,
        .durable_frame = header->durable_frame,
        .length = header->length,
        .record_count = header->record_count,
        .record_bytes = header->record_bytes,
    };

    INVARIANT(counts_agree(header));
    INVARIANT(header->durable_frame < header->number);
    INVARIANT(header->length <= FRAME_BYTES_MAX &&
              header->length >= FRAME_HEADER_BYTES + header->record_bytes);
    memcpy(image.journal_id, header->journal_id, sizeof image.journal_id);
    memcpy(image.previous_hash, header->previous_hash, sizeof image.previous_hash);
    memcpy(bytes, &image, sizeof image);
    file_head_seal(bytes, header->length, &head_kind);
}

int frame_decode(struct frame_header *out, const uint8_t *bytes, size_t available,
                 const uint8_t journal_id[FRAME_JOURNAL_ID_BYTES], uint64_t segment,
                 uint32_t block_bytes)
{
    struct frame_image image;

    if (available < sizeof image || !file_head_is(bytes, &head_kind))
        return -EBADMSG;
    memcpy(&image, bytes, sizeof image);
    if (memcmp(image.journal_id, journal_id, sizeof image.journal_id) != 0 ||
        image.segment != segment || image.number == 0 || image.zero != 0)
        return -EBADMSG;
    if (image.length > available || image.length > FRAME_BYTES_MAX ||
        image.length < FRAME_HEADER_BYTES || image.length % block_bytes != 0 ||
        image.record_bytes > image.length - FRAME_HEADER_BYTES)
        return -EBADMSG;
    if (!file_head_is_intact(bytes, image.length))
        return -EBADMSG;
    memcpy(out->journal_id, image.journal_id, sizeof out->journal_id);
    out->boot = image.boot;
    out->segment = image.segment;
    out->number = image.number;
    out->first_sequence = image.first_sequence;
    out->last_sequence = image.last_sequence;
    out->durable_frame = image.durable_frame;
    out->length = image.length;
    out->record_count = image.record_count;
    out->record_bytes = image.record_bytes;
    memcpy(out->previous_hash, image.previous_hash, sizeof out->previous_hash);
    return counts_agree(out) && (out->record_count == 0) == (out->record_bytes == 0) ? 0 : -EBADMSG;
}

uint64_t frame_claimed_number(const uint8_t bytes[FRAME_HEADER_BYTES])
{
    if (memcmp(bytes, head_kind.magic, sizeof head_kind.magic) != 0)
        return 0;
    return cc_load64(bytes + offsetof(struct frame_image, number));
}

uint64_t frame_claimed_sequence(const uint8_t bytes[FRAME_HEADER_BYTES])
{
    return cc_load64(bytes + offsetof(struct frame_image, first_sequence));
}

void frame_tail_start(struct frame_tail *tail, const uint8_t exchange_id[32])
{
    memset(tail, 0, sizeof *tail);
    hash_blake2b256(tail->hash, exchange_id, 32);
}

bool frame_chains(const struct frame_tail *tail, const struct frame_header *header)
{
    return header->number == tail->number + 1 &&
           header->first_sequence == tail->last_sequence + 1 && header->boot >= tail->boot &&
           memcmp(header->previous_hash, tail->hash, sizeof tail->hash) == 0;
}

void frame_tail_advance(struct frame_tail *tail, const struct frame_header *header,
                        const uint8_t *bytes)
{
    tail->number = header->number;
    tail->last_sequence = header->last_sequence;
    tail->boot = header->boot;
    hash_blake2b256(tail->hash, bytes, header->length);
}

void frame_records_begin(struct frame_records *records, const struct frame_header *header,
                         const uint8_t *bytes)
{
    records->at = bytes + FRAME_HEADER_BYTES;
    records->end = records->at + header->record_bytes;
    records->sequence = header->first_sequence;
    records->left = header->record_count;
}

int frame_records_next(struct frame_records *records, struct record_view *out, uint64_t *sequence)
{
    int error;

    if (records->left == 0)
        return records->at == records->end ? 0 : -EBADMSG;
    error = record_decode(out, records->at, (size_t)(records->end - records->at));
    if (error < 0)
        return error;
    *sequence = records->sequence;
    records->at += out->length;
    records->sequence++;
    records->left--;
    return 1;
}

int frame_records_survey(const struct frame_header *header, const uint8_t *bytes,
                         uint64_t *last_t_ns)
{
    struct frame_records records;
    struct record_view record;
    uint64_t sequence;
    int found;

    frame_records_begin(&records, header, bytes);
    while ((found = frame_records_next(&records, &record, &sequence)) > 0)
        *last_t_ns = record.t_ns;
    return found;
}
