#include "store/follow.h"

#include <errno.h>
#include <stdlib.h>

struct follow {
    const struct journal *journal;
    uint64_t position; /* in the buffer, of the next record */
    uint64_t sequence; /* the last given */
    uint64_t overruns;
    uint64_t frame;   /* number of the last frame that was read from a file */
    uint64_t segment; /* where the next frame is looked for */
    uint64_t offset;
    uint32_t block_bytes; /* of `segment`; 0: file not open */
    int file;
    bool is_lost;  /* `frame` is not known: its segment was retired */
    bool in_frame; /* `records` has some left */
    struct frame_records records;
    uint8_t *frame_bytes; /* a piece of the file: `piece_bytes` from `piece_at` on */
    size_t frame_bytes_max;
    uint64_t piece_at;
    size_t piece_bytes;
    alignas(8) uint8_t record[RECORD_BYTES_MAX];
};

struct follow *follow_create(const struct journal *journal)
{
    return follow_create_at(journal, 0, &journal_config_of(journal)->position);
}

struct follow *follow_create_at(const struct journal *journal, uint64_t position,
                                const struct journal_position *from)
{
    const struct journal_config *config = journal_config_of(journal);
    struct follow *follow = aligned_alloc(alignof(max_align_t), sizeof *follow);

    if (!follow)
        return NULL;
    memset(follow, 0, sizeof *follow);
    follow->journal = journal;
    follow->position = position;
    follow->sequence = from->tail.last_sequence;
    follow->frame = from->tail.number;
    follow->segment = from->segment;
    follow->offset = from->offset;
    follow->file = -1;
    /* A frame begins on a block, a direct read on DISK_ALIGNMENT: one block more is read. */
    follow->frame_bytes_max = FRAME_BYTES_MAX + DISK_ALIGNMENT;
    if (follow->frame_bytes_max > config->segment_bytes)
        follow->frame_bytes_max = config->segment_bytes;
    follow->frame_bytes = aligned_alloc(DISK_ALIGNMENT, follow->frame_bytes_max);
    if (!follow->frame_bytes) {
        free(follow);
        return NULL;
    }
    memset(follow->frame_bytes, 0, follow->frame_bytes_max);
    return follow;
}

static void file_close(struct follow *follow)
{
    if (follow->file >= 0)
        disk_close(journal_config_of(follow->journal)->disk, follow->file);
    follow->file = -1;
    follow->piece_bytes = 0;
}

void follow_destroy(struct follow *follow)
{
    file_close(follow);
    free(follow->frame_bytes);
    free(follow);
}

static int file_open(struct follow *follow)
{
    const struct journal_config *config = journal_config_of(follow->journal);
    struct segment_header header;
    char path[DISK_PATH_BYTES];
    int64_t count;

    if (follow->file >= 0)
        return 0;
    segment_path(path, follow->segment, true);
    follow->file = disk_open(config->disk, path, DISK_DIRECT);
    if (follow->file < 0)
        return follow->file;
    count = disk_read(config->disk, follow->file, 0, follow->frame_bytes, SEGMENT_FRAMES_OFFSET);
    if (count < 0)
        return (int)count;
    if (count != SEGMENT_FRAMES_OFFSET || segment_decode(&header, follow->frame_bytes) < 0 ||
        !segment_belongs(&header, config->exchange, follow->segment))
        return -EBADMSG;
    follow->block_bytes = header.block_bytes;
    return 0;
}

/* Reads the file from the next frame on, as much as the longest has. 1: something is there;
 * 0: the segment ends; -errno. */
static int piece_read(struct follow *follow)
{
    const struct journal_config *config = journal_config_of(follow->journal);
    uint64_t from = follow->offset - follow->offset % DISK_ALIGNMENT;
    size_t count = follow->frame_bytes_max;
    int64_t got;
    int error = file_open(follow);

    if (error < 0)
        return error;
    if (count > config->segment_bytes - from)
        count = config->segment_bytes - from;
    follow->piece_bytes = 0;
    if (count <= follow->offset - from)
        return 0;
    got = disk_read(config->disk, follow->file, from, follow->frame_bytes, count);
    if (got < 0)
        return (int)got;
    follow->piece_at = from;
    follow->piece_bytes = (size_t)got;
    return (uint64_t)got > follow->offset - from;
}

/* The frame at (segment, offset). 1: `header` and *bytes; 0: none is there; -errno. */
static int frame_read(struct follow *follow, struct frame_header *header, const uint8_t **bytes)
{
    const struct journal_config *config = journal_config_of(follow->journal);

    /* A frame that is not whole in the piece runs over its end, or was written after it was read:
     * then a new piece begins with it. */
    for (bool is_fresh = false;; is_fresh = true) {
        uint64_t skip = follow->offset - follow->piece_at;
        int found;

        if (skip < follow->piece_bytes) {
            *bytes = follow->frame_bytes + skip;
            if (frame_decode(header, *bytes, follow->piece_bytes - skip,
                             exchange_file_journal(config->exchange, follow->segment),
                             follow->segment, follow->block_bytes) == 0)
                return 1;
        }
        if (is_fresh)
            return 0;
        found = piece_read(follow);
        if (found <= 0)
            return found;
    }
}

/* Goes on to the lowest segment that exists when its own was retired: 1, 0 when its own
 * exists, or -errno. */
static int retired_pass(struct follow *follow)
{
    struct segment_range range;
    int error = segment_range_of(journal_config_of(follow->journal)->disk, &range);

    if (error < 0 || range.count == 0 || range.min <= follow->segment)
        return error;
    follow->segment = range.min;
    follow->offset = SEGMENT_FRAMES_OFFSET;
    follow->is_lost = true;
    return 1;
}

/* True if the frame comes where the next one is expected. */
static bool frame_fits(const struct follow *follow, const struct frame_header *header)
{
    return follow->is_lost || header->number == follow->frame + 1;
}

static void frame_passed(struct follow *follow, uint64_t number)
{
    follow->frame = number;
    follow->is_lost = false;
}

/* Goes on to the last segment that begins at or below `wanted`: of those it passes over, which were
 * read in the buffer, only the first frame is looked at. They may be retired and used again before
 * or while it looks; the one that holds `wanted` is not (the node retires what was applied). */
static int segments_skip(struct follow *follow, uint64_t wanted)
{
    int passed = retired_pass(follow);

    while (passed >= 0) {
        uint64_t segment = follow->segment;
        uint64_t offset = follow->offset;
        struct frame_header header;
        const uint8_t *bytes = NULL;
        int found;

        follow->segment++;
        follow->offset = SEGMENT_FRAMES_OFFSET;
        found = frame_read(follow, &header, &bytes);
        file_close(follow);
        if (found > 0 && header.first_sequence <= wanted) {
            if (!follow->is_lost && header.number <= follow->frame)
                return -EBADMSG;
            frame_passed(follow, header.number - 1);
            continue;
        }
        follow->segment = segment;
        follow->offset = offset;
        passed = retired_pass(follow);
        if (passed == 0)
            return found < 0 && found != -ENOENT ? found : 0;
    }
    return passed;
}

/* Finds the frame that holds the next sequence, walking from where the last one was found. */
static int frame_find(struct follow *follow)
{
    uint64_t wanted = follow->sequence + 1;
    int found = 0;

    if (follow->file < 0) /* it comes from the buffer */
        found = segments_skip(follow, wanted);
    if (found < 0)
        return found;
    for (bool next_segment = false;;) {
        struct frame_header header;
        const uint8_t *bytes = NULL;

        found = frame_read(follow, &header, &bytes);

        if (found < 0)
            return found;
        if (found == 0 && next_segment)
            return -EBADMSG; /* durable records are in neither place */
        if (found == 0) {
            file_close(follow);
            follow->segment++;
            follow->offset = SEGMENT_FRAMES_OFFSET;
            next_segment = true;
            continue;
        }
        next_segment = false;
        if (header.first_sequence > wanted || !frame_fits(follow, &header))
            return -EBADMSG;
        frame_passed(follow, header.number);
        follow->offset += header.length;
        if (header.record_count == 0 || header.last_sequence < wanted)
            continue;
        frame_records_begin(&follow->records, &header, bytes);
        return 1;
    }
}

/* The next record of the frame in memory, beyond those given already. 1, 0 at its end, -EBADMSG. */
static int frame_next(struct follow *follow, struct record_view *out, uint64_t *sequence)
{
    int found;

    do {
        found = frame_records_next(&follow->records, out, sequence);
    } while (found > 0 && *sequence <= follow->sequence);
    return found;
}

static void given(struct follow *follow, const struct record_view *record)
{
    follow->position += record->length;
    follow->sequence++;
}

static int buffer_next(struct follow *follow, struct record_view *out, uint64_t *sequence)
{
    int length = journal_copy(follow->journal, follow->position, follow->record);

    if (length <= 0)
        return length;
    if (record_decode(out, follow->record, (size_t)length) < 0)
        return -EBADMSG;
    *sequence = follow->sequence + 1;
    given(follow, out);
    return 1;
}

int follow_next(struct follow *follow, struct record_view *out, uint64_t *sequence)
{
    int found;

    for (;;) {
        if (follow->in_frame) {
            found = frame_next(follow, out, sequence);
            if (found > 0)
                given(follow, out);
            if (found != 0)
                return found;
            follow->in_frame = false;
        }
        found = buffer_next(follow, out, sequence);
        if (found != -EOVERFLOW) {
            if (found > 0)
                file_close(follow);
            return found;
        }
        /* With durability `none` what is durable may not yet be in the file. */
        if (follow->sequence + 1 > journal_written_seq(follow->journal))
            return 0;
        follow->overruns++;
        found = frame_find(follow);
        if (found < 0)
            return found;
        follow->in_frame = true;
    }
}

uint64_t follow_sequence(const struct follow *follow)
{
    return follow->sequence;
}

uint64_t follow_overruns(const struct follow *follow)
{
    return follow->overruns;
}
