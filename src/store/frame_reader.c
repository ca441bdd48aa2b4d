#include "store/frame_reader.h"

#include <errno.h>
#include <stdlib.h>

/* What one step looks at: a segment file and a piece of it. */
struct look {
    struct frame_reader *reader;
    const struct journal_config *config;
    uint64_t segment;
    int file;
    bool by_sequence; /* the cursor's `from` is a sequence */
    uint32_t block_bytes;
    uint64_t at;  /* offset of the piece */
    size_t count; /* its bytes */
};

int frame_reader_init(struct frame_reader *reader, const struct journal *journal)
{
    reader->journal = journal;
    reader->piece = aligned_alloc(DISK_ALIGNMENT, FRAME_READER_STEP_BYTES);
    return reader->piece == NULL ? -ENOMEM : 0;
}

void frame_reader_free(struct frame_reader *reader)
{
    free(reader->piece);
    reader->piece = NULL;
}

struct frame_cursor frame_reader_begin(const struct frame_reader *reader, uint64_t from)
{
    if (reader->next == from && from != 0)
        return (struct frame_cursor){ from, reader->segment, reader->offset };
    return (struct frame_cursor){ .from = from };
}

/* ---- the files ------------------------------------------------------------------------------- */

/* Opens a segment and reads its header into the piece. 0, -EBADMSG, -ENOENT or -errno. */
static int look_open(struct look *look, uint64_t segment)
{
    struct segment_header header;
    char path[DISK_PATH_BYTES];

    look->segment = segment;
    segment_path(path, segment, true);
    look->file = disk_open(look->config->disk, path, 0);
    if (look->file < 0)
        return look->file;
    int64_t count =
        disk_read(look->config->disk, look->file, 0, look->reader->piece, SEGMENT_FRAMES_OFFSET);
    bool is_own = count == SEGMENT_FRAMES_OFFSET &&
                  segment_decode(&header, look->reader->piece) == 0 &&
                  segment_belongs(&header, look->config->exchange, segment);
    if (is_own) {
        look->block_bytes = header.block_bytes;
        return 0;
    }
    disk_close(look->config->disk, look->file);
    return count < 0 ? (int)count : -EBADMSG;
}

/* Reads the piece that begins with `offset`. 0 or -errno. */
static int look_read(struct look *look, uint64_t offset, size_t most)
{
    look->at = offset;
    look->count = 0;
    if (offset >= look->config->segment_bytes)
        return 0;
    if (most > look->config->segment_bytes - offset)
        most = look->config->segment_bytes - offset;
    int64_t count = disk_read(look->config->disk, look->file, offset, look->reader->piece, most);
    if (count < 0)
        return (int)count;
    look->count = (size_t)count;
    return 0;
}

/* ---- the search ------------------------------------------------------------------------------ */

/* The number or the first sequence of a segment's first frame, unchecked; 0: it has none. -errno in
 * *error. */
static uint64_t first_frame(struct look *look, uint64_t segment, int *error)
{
    uint64_t number = 0;

    *error = look_open(look, segment);
    if (*error != 0)
        return 0;
    *error = look_read(look, SEGMENT_FRAMES_OFFSET, DISK_ALIGNMENT);
    if (*error == 0 && look->count >= FRAME_HEADER_BYTES)
        number = frame_claimed_number(look->reader->piece);
    if (number != 0 && look->by_sequence)
        number = frame_claimed_sequence(look->reader->piece);
    disk_close(look->config->disk, look->file);
    return number;
}

/* Sets the cursor to the last segment that begins at or below `from`. 0, -ENOENT or -errno. */
static int find_segment(struct look *look, struct frame_cursor *cursor)
{
    struct segment_range range;
    int error = segment_range_of(look->config->disk, &range);

    if (error < 0)
        return error;
    if (range.count == 0)
        return -ENOENT;
    uint64_t low = range.min, high = range.max + 1; /* it is one of [low, high), if any */
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        uint64_t number = first_frame(look, middle, &error);
        if (error != 0)
            return error;
        if (number != 0 && number <= cursor->from)
            low = middle;
        else
            high = middle;
    }
    uint64_t number = first_frame(look, low, &error);
    if (error != 0)
        return error;
    if (number > cursor->from)
        return -ENOENT;
    cursor->segment = low;
    cursor->offset = SEGMENT_FRAMES_OFFSET;
    return 0;
}

/* Whether the records of a whole frame may be shown, and its bytes are in the file for good. A
 * closing frame has none: one of an earlier start counts, this start's once it is the end, another
 * leader's once a record behind it does. */
static bool is_released(const struct look *look, const struct frame_header *header)
{
    const struct journal *journal = look->reader->journal;
    bool is_alone = look->config->durability < JOURNAL_REPLICATED; /* its boot never changes */

    if (header->record_count == 0)
        return (is_alone && header->boot < look->config->boot) || journal_stopped(journal) ||
               header->last_sequence < journal_written_seq(journal);
    return header->last_sequence <= journal_durable_seq(journal) &&
           header->last_sequence <= journal_written_seq(journal);
}

/* The whole frame at an offset of the piece. */
static bool frame_at(const struct look *look, uint64_t offset, struct frame_header *header)
{
    uint64_t skip = offset - look->at;

    return skip < look->count &&
           frame_decode(header, look->reader->piece + skip, look->count - skip,
                        exchange_file_journal(look->config->exchange, look->segment), look->segment,
                        look->block_bytes) == 0;
}

/* Passes frames below the one wanted. True: it is at the cursor. */
static bool pass_frames(const struct look *look, struct frame_cursor *cursor)
{
    struct frame_header header;

    while (frame_at(look, cursor->offset, &header)) {
        if (header.number >= cursor->from)
            return header.number == cursor->from;
        cursor->offset += header.length;
    }
    return false;
}

/* Goes to the next segment if the frame wanted is its first. 1: it is; 0; -errno. */
static int pass_segment(struct look *look, struct frame_cursor *cursor)
{
    int error;
    uint64_t number = first_frame(look, cursor->segment + 1, &error);

    if (error != 0 && error != -ENOENT)
        return error == -EBADMSG ? 0 : error; /* its header is being written */
    if (number != cursor->from)
        return 0;
    cursor->segment++;
    cursor->offset = SEGMENT_FRAMES_OFFSET;
    return 1;
}

/* ---- the answer ------------------------------------------------------------------------------ */

static void add(struct frame_stretch *found, const struct frame_header *header, uint32_t bytes)
{
    if (found->bytes == 0) {
        found->first_frame = header->number;
        found->first_length = header->length;
        found->boot = header->boot;
    }
    found->last_frame = header->number;
    found->last_sequence = header->last_sequence;
    found->bytes += bytes;
}

/* Copies the released frames of the piece from the cursor on. 1 or -ERANGE. */
static int answer(struct look *look, const struct frame_cursor *cursor, uint32_t skip, uint8_t *out,
                  uint32_t capacity, struct frame_stretch *found)
{
    struct frame_reader *reader = look->reader;
    struct frame_header header;
    uint64_t offset = cursor->offset, wanted = cursor->from;

    *found = (struct frame_stretch){ .segment = cursor->segment,
                                     .offset = cursor->offset + skip,
                                     .block_bytes = look->block_bytes };
    while (frame_at(look, offset, &header) && header.number == wanted &&
           is_released(look, &header)) {
        uint32_t left = header.length - skip;
        if (skip >= header.length)
            return -ERANGE;
        if (found->bytes != 0 && left > capacity - found->bytes)
            break;
        uint32_t bytes = left < capacity ? left : capacity;
        memcpy(out + found->bytes, reader->piece + (offset - look->at) + skip, bytes);
        add(found, &header, bytes);
        offset += header.length;
        wanted++;
        if (skip != 0 || bytes < left)
            break;
    }
    bool is_whole = found->bytes != 0 && found->bytes + skip >= found->first_length;
    if (is_whole) {
        reader->next = found->last_frame + 1;
        reader->segment = cursor->segment;
        reader->offset = offset;
    }
    return 1;
}

/* Looks at the piece where the cursor is. 1: answered; 0: the cursor has moved; -EAGAIN: the frame
 * is not there, or not yet; or another -errno. */
static int look_at(struct look *look, struct frame_cursor *cursor, uint32_t skip, uint8_t *out,
                   uint32_t capacity, struct frame_stretch *found)
{
    uint64_t begin = cursor->offset - cursor->offset % DISK_ALIGNMENT;
    int error = look_read(look, begin, FRAME_READER_STEP_BYTES);

    if (error != 0)
        return error;
    bool is_there = pass_frames(look, cursor);
    if (cursor->offset - begin >= DISK_ALIGNMENT)
        return 0; /* a new piece begins with the frame: it is whole there */
    return is_there ? answer(look, cursor, skip, out, capacity, found) : -EAGAIN;
}

int frame_reader_step(struct frame_reader *reader, struct frame_cursor *cursor, uint32_t skip,
                      uint8_t *out, uint32_t capacity, struct frame_stretch *found)
{
    struct look look = { .reader = reader, .config = journal_config_of(reader->journal) };
    bool was_found = cursor->offset != 0;
    int result = was_found ? 0 : find_segment(&look, cursor);

    if (result == 0)
        result = look_open(&look, cursor->segment);
    if (was_found && (result == -ENOENT || result == -EBADMSG)) {
        cursor->offset = 0; /* it was retired: the frame may be in the next one */
        return 0;
    }
    if (result != 0)
        return result;
    result = look_at(&look, cursor, skip, out, capacity, found);
    disk_close(look.config->disk, look.file);
    if (result != -EAGAIN)
        return result;
    result = pass_segment(&look, cursor);
    if (result != 0)
        return result < 0 ? result : 0;
    *found = (struct frame_stretch){ 0 };
    return 1;
}

/* ---- one record ------------------------------------------------------------------------------ */

/* The record in a whole frame at `bytes`. 1, -ENOENT: it is not released; -EBADMSG. */
static int check_record(const struct look *look, const struct frame_header *header,
                        const uint8_t *bytes, uint64_t sequence, struct frame_record *found)
{
    struct frame_records records;
    uint64_t at = 0;

    if (!is_released(look, header))
        return -ENOENT;
    frame_records_begin(&records, header, bytes);
    while (at != sequence)
        if (frame_records_next(&records, &found->record, &at) != 1)
            return -EBADMSG;
    found->frame = header->number;
    found->segment = look->segment;
    hash_blake2b256(found->frame_hash, bytes, header->length);
    return 1;
}

/* Passes frames of the piece that end below the record. 1: it is found; 0: the cursor has moved to
 * another piece; -ENOENT: there is no frame further on; -errno. */
static int look_for_record(struct look *look, struct frame_cursor *cursor,
                           struct frame_record *found)
{
    uint64_t begin = cursor->offset - cursor->offset % DISK_ALIGNMENT;
    struct frame_header header;
    int error = look_read(look, begin, FRAME_READER_STEP_BYTES);

    if (error != 0)
        return error;
    while (frame_at(look, cursor->offset, &header)) {
        if (header.record_count != 0 && header.last_sequence >= cursor->from)
            return header.first_sequence > cursor->from
                       ? -ENOENT
                       : check_record(look, &header, look->reader->piece + (cursor->offset - begin),
                                      cursor->from, found);
        cursor->offset += header.length;
    }
    return cursor->offset - begin >= DISK_ALIGNMENT ? 0 : -ENOENT;
}

int frame_reader_record(struct frame_reader *reader, struct frame_cursor *cursor,
                        struct frame_record *found)
{
    struct look look = { .reader = reader,
                         .config = journal_config_of(reader->journal),
                         .by_sequence = true };
    bool was_found = cursor->offset != 0;

    if (cursor->from > journal_written_seq(reader->journal) &&
        cursor->from <= journal_durable_seq(reader->journal))
        return 0; /* it counts before this disk has it */
    int result = was_found ? 0 : find_segment(&look, cursor);

    if (!was_found && result == 0 && cursor->segment == reader->record_segment &&
        reader->record_sequence != 0 && reader->record_sequence <= cursor->from)
        cursor->offset = reader->record_offset;
    if (result == 0)
        result = look_open(&look, cursor->segment);
    if (was_found && result == -EBADMSG)
        result = -ENOENT; /* it was retired */
    if (result != 0)
        return result;
    result = look_for_record(&look, cursor, found);
    disk_close(look.config->disk, look.file);
    if (result == 1) {
        reader->record_sequence = cursor->from;
        reader->record_segment = cursor->segment;
        reader->record_offset = cursor->offset;
    }
    return result;
}
