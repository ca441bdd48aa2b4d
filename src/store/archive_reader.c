#include "store/archive_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <zstd.h>

#include "store/archive_file.h"
#include "store/archive_folder.h"

enum { FIRST_AT = 56, LENGTH_AT = 80, RECORD_BYTES_AT = 88 /* journal.md, Frame */ };

/* An archived file that is being unpacked, and a frame of it. */
struct archive_unpacker {
    alignas(DISK_ALIGNMENT) uint8_t piece[ARCHIVE_READER_FILE_BYTES];
    alignas(DISK_ALIGNMENT) uint8_t head[SEGMENT_FRAMES_OFFSET];
    alignas(DISK_ALIGNMENT) uint8_t frame[FRAME_BYTES_MAX];
    ZSTD_DCtx *context;
    ZSTD_inBuffer in;
    struct disk *disk; /* whose the open file is */
    int file;          /* -1: none is open */
    uint64_t segment;  /* the file's */
    uint64_t file_at;  /* offset of what has not been read */
    uint32_t block_bytes;
    uint32_t held; /* bytes of head, then of the frame */
    bool has_head;
    bool has_ended; /* the zstd frame is complete */
};

int archive_reader_init(struct archive_reader *reader, struct disk *disk,
                        const struct exchange_file *exchange)
{
    struct archive_unpacker *made = aligned_alloc(DISK_ALIGNMENT, sizeof *made);

    reader->disk = disk;
    reader->exchange = exchange;
    if (made == NULL)
        return -ENOMEM;
    made->file = -1;
    made->context = ZSTD_createDCtx();
    reader->unpacker = made;
    if (made->context == NULL)
        return -ENOMEM;
    (void)ZSTD_DCtx_setParameter(made->context, ZSTD_d_windowLogMax, ARCHIVE_FILE_WINDOW_LOG);
    return 0;
}

static void file_close(struct archive_reader *reader)
{
    struct archive_unpacker *unpacker = reader->unpacker;

    if (unpacker->file >= 0)
        disk_close(unpacker->disk, unpacker->file);
    unpacker->file = -1;
}

void archive_reader_free(struct archive_reader *reader)
{
    if (reader->unpacker == NULL)
        return;
    file_close(reader);
    (void)ZSTD_freeDCtx(reader->unpacker->context);
    free(reader->unpacker);
    reader->unpacker = NULL;
}

/* ---- unpacking ------------------------------------------------------------------------------- */

/* Opens the file of a segment in one of the places. 0 or -errno. */
static int file_open_in(struct archive_reader *reader, struct disk *disk, uint64_t segment)
{
    struct archive_unpacker *unpacker = reader->unpacker;
    char path[DISK_PATH_BYTES];

    file_close(reader);
    archive_folder_path(path, segment, false);
    unpacker->disk = disk;
    unpacker->file = disk_open(disk, path, 0);
    if (unpacker->file < 0)
        return unpacker->file;
    (void)ZSTD_DCtx_reset(unpacker->context, ZSTD_reset_session_only);
    unpacker->in = (ZSTD_inBuffer){ .src = unpacker->piece };
    unpacker->segment = segment;
    unpacker->file_at = 0;
    unpacker->held = 0;
    unpacker->has_head = unpacker->has_ended = false;
    return 0;
}

/* Opens it in archive/, or where only the second place has it. 0 or -errno. */
static int file_open(struct archive_reader *reader, uint64_t segment)
{
    struct disk *copy = reader->disk->archive_copy;
    int error = file_open_in(reader, reader->disk, segment);

    if (error != 0 && copy != NULL) {
        int other = file_open_in(reader, copy, segment);
        error = other == 0 || error == -ENOENT ? other : error;
    }
    reader->has_turned = false;
    return error;
}

/* The open file cannot be read further: begins again with that of the other place, once. 0, or the
 * error if there is none. */
static int turn(struct archive_reader *reader, int error)
{
    struct archive_unpacker *unpacker = reader->unpacker;
    struct disk *copy = reader->disk->archive_copy;

    if (copy == NULL || reader->has_turned)
        return error;
    reader->has_turned = true;
    struct disk *other = unpacker->disk == copy ? reader->disk : copy;
    return file_open_in(reader, other, unpacker->segment) == 0 ? 0 : error;
}

/* Reads the next piece of the file. 0, -EBADMSG at its end, or -errno. */
static int read_piece(struct archive_reader *reader)
{
    struct archive_unpacker *unpacker = reader->unpacker;
    int64_t count = disk_read(unpacker->disk, unpacker->file, unpacker->file_at, unpacker->piece,
                              sizeof unpacker->piece);

    if (count <= 0)
        return count < 0 ? (int)count : -EBADMSG; /* cut short */
    unpacker->file_at += (uint64_t)count;
    unpacker->in = (ZSTD_inBuffer){ .src = unpacker->piece, .size = (size_t)count };
    return 0;
}

/* Unpacks until `bytes` has `count`. 1; 0: the rest is in a piece not read yet; -EBADMSG. */
static int fill(struct archive_unpacker *unpacker, uint8_t *bytes, uint32_t count)
{
    ZSTD_outBuffer out = { .dst = bytes, .size = count, .pos = unpacker->held };

    while (out.pos < out.size) {
        size_t before = out.pos;
        if (unpacker->has_ended)
            return -EBADMSG;
        size_t left = ZSTD_decompressStream(unpacker->context, &out, &unpacker->in);
        if (ZSTD_isError(left))
            return -EBADMSG;
        unpacker->has_ended = left == 0;
        unpacker->held = (uint32_t)out.pos;
        if (out.pos == before && unpacker->in.pos == unpacker->in.size && left != 0)
            return 0;
    }
    return 1;
}

/* The same with pieces of the file, at most one more. 1; 0: ask again; -errno. */
static int fill_from_file(struct archive_reader *reader, uint8_t *bytes, uint32_t count,
                          bool *has_read)
{
    for (;;) {
        int result = fill(reader->unpacker, bytes, count);
        if (result != 0 || *has_read)
            return result;
        result = read_piece(reader);
        if (result != 0)
            return result;
        *has_read = true;
    }
}

/* Brings the segment's header and then the header of a frame into memory. 1; 0: ask again; -ENOENT:
 * the file has no further frame; -errno. */
static int next_header(struct archive_reader *reader, bool *has_read)
{
    struct archive_unpacker *unpacker = reader->unpacker;
    struct segment_header header;

    if (!unpacker->has_head) {
        int result = fill_from_file(reader, unpacker->head, sizeof unpacker->head, has_read);
        if (result != 1)
            return result;
        if (segment_decode(&header, unpacker->head) != 0 ||
            !segment_belongs(&header, reader->exchange, unpacker->segment))
            return -EBADMSG;
        unpacker->block_bytes = header.block_bytes;
        unpacker->has_head = true;
        unpacker->held = 0;
    }
    if (unpacker->held >= FRAME_HEADER_BYTES)
        return 1;
    int result = fill_from_file(reader, unpacker->frame, FRAME_HEADER_BYTES, has_read);
    return result == -EBADMSG && unpacker->has_ended && unpacker->held == 0 ? -ENOENT : result;
}

/* ---- the frame ------------------------------------------------------------------------------- */

/* Brings the frame into memory whole, with zeros after its records. 1; 0: ask again; -ENOENT: there
 * is none further on; -errno. */
static int next_frame(struct archive_reader *reader, struct frame_header *header, bool *has_read)
{
    struct archive_unpacker *unpacker = reader->unpacker;
    int result = next_header(reader, has_read);

    if (result != 1)
        return result;
    uint32_t length = cc_load32(unpacker->frame + LENGTH_AT);
    uint32_t record_bytes = cc_load32(unpacker->frame + RECORD_BYTES_AT);
    if (length < FRAME_HEADER_BYTES || length > FRAME_BYTES_MAX ||
        record_bytes > length - FRAME_HEADER_BYTES)
        return -EBADMSG;
    uint32_t kept = FRAME_HEADER_BYTES + record_bytes;
    result = fill_from_file(reader, unpacker->frame, kept, has_read);
    if (result != 1)
        return result;
    memset(unpacker->frame + kept, 0, length - kept);
    bool is_whole = frame_decode(header, unpacker->frame, sizeof unpacker->frame,
                                 exchange_file_journal(reader->exchange, unpacker->segment),
                                 unpacker->segment, unpacker->block_bytes) == 0;
    return is_whole ? 1 : -EBADMSG;
}

/* ---- the file that has it -------------------------------------------------------------------- */

/* Looks into one file: at its first frame, whole, for a header may be wrong. 0: ask again;
 * -errno. */
static int narrow(struct archive_reader *reader)
{
    uint64_t middle = reader->low + (reader->high - reader->low) / 2;
    struct frame_header header;
    bool has_read = false;

    if (!reader->is_looking) {
        int error = file_open(reader, middle);
        if (error == -ENOENT) { /* it was pruned, as were all below it */
            reader->low = middle + 1;
            return reader->low < reader->high ? 0 : -ENOENT;
        }
        if (error != 0)
            return error;
        reader->is_looking = true;
    }
    int result = next_frame(reader, &header, &has_read);
    if (result < 0) /* a file without a frame is not whole */
        result = turn(reader, result == -ENOENT ? -EBADMSG : result);
    if (result != 1)
        return result;
    reader->is_looking = false;
    if (header.first_sequence <= reader->wanted)
        reader->low = middle;
    else
        reader->high = middle;
    if (reader->low == reader->high)
        return -ENOENT;
    reader->is_found = reader->high - reader->low == 1;
    if (reader->is_found && reader->unpacker->segment != reader->low)
        return file_open(reader, reader->low);
    return 0;
}

/* Begins with all files. 0 or -errno. */
static int begin_anywhere(struct archive_reader *reader)
{
    struct segment_range range;

    reader->is_near = reader->is_found = reader->is_looking = false;
    reader->low = 0;
    int error = segment_range_of(reader->disk, &range);
    reader->high = error == 0 && range.count != 0 ? range.min : 0;
    if (error == 0 && reader->high == 0)
        return -ENOENT;
    return error;
}

/* 0 or -errno. */
static int begin(struct archive_reader *reader, uint64_t sequence)
{
    const struct archive_unpacker *unpacker = reader->unpacker;

    reader->wanted = sequence;
    reader->is_near = reader->is_found && unpacker->file >= 0 &&
                      unpacker->held >= FRAME_HEADER_BYTES &&
                      cc_load64(unpacker->frame + FIRST_AT) <= sequence;
    return reader->is_near ? 0 : begin_anywhere(reader);
}

/* ---- the record ------------------------------------------------------------------------------ */

/* The record in a whole frame. 1, -EBADMSG. */
static int show(const struct archive_reader *reader, const struct frame_header *header,
                struct frame_record *found)
{
    const struct archive_unpacker *unpacker = reader->unpacker;
    struct frame_records records;
    uint64_t at = 0;

    frame_records_begin(&records, header, unpacker->frame);
    while (at != reader->wanted)
        if (frame_records_next(&records, &found->record, &at) != 1)
            return -EBADMSG;
    found->frame = header->number;
    found->segment = unpacker->segment;
    hash_blake2b256(found->frame_hash, unpacker->frame, header->length);
    return 1;
}

/* Passes frames below the one wanted. 1: the one wanted is in memory; 0: ask
 * again; -ENOENT; -errno. */
static int pass_frames(struct archive_reader *reader)
{
    struct archive_unpacker *unpacker = reader->unpacker;
    struct frame_header header;
    bool has_read = false;
    uint32_t unpacked = 0;

    while (unpacked < ARCHIVE_READER_STEP_BYTES) {
        int result = next_frame(reader, &header, &has_read);
        if (result < 0 && result != -ENOENT)
            result = turn(reader, result);
        if (result != 1)
            return result;
        if (header.first_sequence > reader->wanted)
            return -ENOENT;
        if (header.last_sequence >= reader->wanted)
            return 1;
        unpacked += header.length;
        unpacker->held = 0;
    }
    return 0;
}

int archive_reader_record(struct archive_reader *reader, uint64_t sequence,
                          struct frame_record *found)
{
    if (reader->wanted == 0)
        reader->result = begin(reader, sequence);
    if (reader->result == 0)
        reader->result = reader->is_found ? pass_frames(reader) : narrow(reader);
    if (reader->result < 0 && reader->is_near) /* it says nothing of the other files */
        reader->result = begin_anywhere(reader);
    if (reader->result == 0 || reader->wanted != sequence)
        return 0;
    struct frame_header header;
    bool has_read = true;
    int result = reader->result;
    if (result == 1)
        result = next_frame(reader, &header, &has_read); /* it is there already */
    if (result == 1)
        result = show(reader, &header, found);
    reader->wanted = 0;
    if (result != 1) {
        file_close(reader);
        reader->is_found = false;
    }
    return result;
}

void archive_reader_drop(struct archive_reader *reader, uint64_t sequence)
{
    if (reader->wanted != sequence)
        return;
    reader->wanted = 0;
    reader->is_found = false;
    file_close(reader);
}
