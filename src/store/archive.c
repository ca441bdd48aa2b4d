#include "store/archive.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/archive_file.h"
#include "store/archive_folder.h"
#include "store/archive_index.h"
#include "store/segment.h"

enum {
    CHUNK_BYTES = 1 << 20,
    OPEN_TRIES = 3, /* the list may be replaced while its files are looked for */
    SWEEP_MAX = 64  /* names removed between two listings of the folder */
};

static const char index_path[] = "archive/index";
static const char index_next_path[] = "archive/index.next";

/* ---- files ----------------------------------------------------------------------------------- */

static int part_read(struct disk *disk, const char *path, unsigned flags, uint64_t offset,
                     uint8_t *out, size_t count)
{
    int file = disk_open(disk, path, flags);
    int64_t got;

    if (file < 0)
        return file;
    got = disk_read(disk, file, offset, out, count);
    disk_close(disk, file);
    if (got < 0)
        return (int)got;
    return (size_t)got == count ? 0 : -EIO;
}

/* Reads the first `count` bytes; past the page cache as far as DISK_ALIGNMENT allows, so that what
 * comes is what the medium holds. `out` is aligned. */
static int file_read(struct disk *disk, const char *path, uint8_t *out, size_t count)
{
    size_t direct = count - count % DISK_ALIGNMENT;
    int error = direct > 0 ? part_read(disk, path, DISK_DIRECT, 0, out, direct) : 0;

    if (error == 0 && direct < count)
        error = part_read(disk, path, 0, direct, out + direct, count - direct);
    return error;
}

/* Writes a new file of these bytes and syncs it; its name is not durable yet. */
static int file_write(struct disk *disk, const char *path, const void *bytes, size_t count)
{
    int file = disk_open(disk, path, DISK_CREATE);
    int error = 0;

    if (file < 0)
        return file;
    for (size_t at = 0; error == 0 && at < count; at += CHUNK_BYTES) {
        size_t piece = count - at < CHUNK_BYTES ? count - at : CHUNK_BYTES;

        error = disk_write(disk, file, at, (const uint8_t *)bytes + at, piece);
    }
    if (error == 0)
        error = disk_sync(disk, file);
    disk_close(disk, file);
    return error;
}

static uint8_t *buffer_new(uint64_t bytes)
{
    return aligned_alloc(DISK_ALIGNMENT, (bytes / DISK_ALIGNMENT + 1) * DISK_ALIGNMENT);
}

/* ---- the list -------------------------------------------------------------------------------- */

int archive_write_list(const struct archive *archive, struct disk *disk,
                       const struct exchange_file *exchange)
{
    size_t bytes;
    char *text;
    int error = archive_index_encode(&text, &bytes, archive, exchange);

    if (error < 0)
        return error;
    error = file_write(disk, index_next_path, text, bytes);
    free(text);
    if (error == 0)
        error = disk_rename(disk, index_next_path, index_path);
    return error == 0 ? disk_sync_folder(disk, "archive") : error;
}

/* The text of archive/index; *text is NULL without one. 0 or -errno. */
static int index_read(struct disk *disk, char **text, size_t *bytes)
{
    int file = disk_open(disk, index_path, 0);
    int64_t size;
    int64_t got;

    *text = NULL;
    *bytes = 0;
    if (file < 0)
        return file == -ENOENT ? 0 : file;
    size = disk_size(disk, file);
    if (size >= 0 && size <= ARCHIVE_INDEX_BYTES_MAX)
        *text = malloc((size_t)size + 1);
    got = *text ? disk_read(disk, file, 0, *text, (size_t)size) : -ENOMEM;
    disk_close(disk, file);
    if (size < 0 || size > ARCHIVE_INDEX_BYTES_MAX)
        return size < 0 ? (int)size : -EFBIG;
    if (got != size) {
        free(*text);
        *text = NULL;
        return got < 0 ? (int)got : -EIO;
    }
    *bytes = (size_t)size;
    return 0;
}

static enum refusal_kind index_refuse(struct refusal *refusal, int error, uint64_t line)
{
    if (error == -EXDEV)
        return refusal_set(refusal, REFUSAL_archive_foreign, "its index");
    if (error == -EBADMSG)
        return refusal_set(refusal, REFUSAL_archive_list, "archive/index, line %" PRIu64, line);
    return refusal_machine(refusal, "reading archive/index", error);
}

enum refusal_kind archive_read_list(struct archive *archive, struct disk *disk,
                                    const struct exchange_file *exchange, struct refusal *refusal)
{
    uint64_t line = 0;
    size_t bytes;
    char *text;

    *archive = (struct archive){ 0 };
    int error = index_read(disk, &text, &bytes);
    if (error == 0 && !text)
        return REFUSAL_none;
    if (error == 0)
        error = archive_index_decode(archive, text, bytes, exchange, &line);
    free(text);
    return error < 0 ? index_refuse(refusal, error, line) : REFUSAL_none;
}

enum refusal_kind archive_open(struct archive *archive, struct disk *disk,
                               const struct exchange_file *exchange, struct refusal *refusal)
{
    uint64_t missing = 0;

    for (int i = 0; i < OPEN_TRIES; i++) {
        enum refusal_kind kind = archive_read_list(archive, disk, exchange, refusal);
        if (kind != REFUSAL_none)
            return kind;
        int error = archive_folder_check(archive, disk, true, &missing);
        if (error == 0)
            return REFUSAL_none;
        archive_close(archive);
        if (error != -ENOENT)
            return refusal_machine(refusal, "listing archive", error);
    }
    refusal->segment = missing;
    return refusal_set(refusal, REFUSAL_archive_damaged,
                       "the file of segment %" PRIu64 " is missing or of another size", missing);
}

void archive_close(struct archive *archive)
{
    free(archive->rows);
    *archive = (struct archive){ 0 };
}

const struct archive_row *archive_find(const struct archive *archive, uint64_t segment)
{
    if (archive->count == 0 || segment < archive->rows[0].segment ||
        segment - archive->rows[0].segment >= archive->count)
        return NULL;
    return &archive->rows[segment - archive->rows[0].segment];
}

/* ---- storing --------------------------------------------------------------------------------- */

/* What the first frame of a segment must follow, when the list says it or it is the very first. */
static bool tail_before(struct frame_tail *tail, const struct archive *archive,
                        const struct exchange_file *exchange, uint64_t segment)
{
    const struct archive_row *before = segment > 0 ? archive_find(archive, segment - 1) : NULL;

    frame_tail_start(tail, exchange->exchange_id);
    if (!before)
        return segment == 0;
    tail->number = before->last_frame;
    tail->last_sequence = before->last_sequence;
    memcpy(tail->hash, before->last_frame_hash, sizeof tail->hash);
    return true;
}

/* Holds `want` against the segment's own file, read again. */
static int segment_compare(struct disk *disk, uint64_t number, const uint8_t *want,
                           uint32_t segment_bytes)
{
    char path[DISK_PATH_BYTES];
    uint8_t *piece = buffer_new(CHUNK_BYTES);
    int error = 0;

    if (!piece)
        return -ENOMEM;
    segment_path(path, number, true);
    for (uint32_t at = 0; error == 0 && at < segment_bytes; at += CHUNK_BYTES) {
        uint32_t count = segment_bytes - at < CHUNK_BYTES ? segment_bytes - at : CHUNK_BYTES;

        error = part_read(disk, path, DISK_DIRECT, at, piece, count);
        if (error == 0 && memcmp(piece, want + at, count) != 0)
            error = -EBADMSG;
    }
    free(piece);
    return error;
}

/* Reads the file back and makes the segment of it again, in `segment`. */
static int file_verify(struct disk *disk, const char *path, const struct archive_row *row,
                       uint8_t *segment, uint32_t segment_bytes)
{
    uint8_t hash[HASH_BYTES];
    uint8_t *file = buffer_new(row->bytes);
    int error;

    if (!file)
        return -ENOMEM;
    error = file_read(disk, path, file, row->bytes);
    if (error == 0) {
        hash_blake2b256(hash, file, row->bytes);
        if (memcmp(hash, row->file_hash, sizeof hash) != 0)
            error = -EBADMSG;
    }
    if (error == 0)
        error = archive_file_unpack(segment, segment_bytes, file, row->bytes);
    free(file);
    return error == 0 ? segment_compare(disk, row->segment, segment, segment_bytes) : error;
}

/* Packs the segment in `segment` into a file that is whole, durable and proven, but not listed.
 * A file of that name may be there: of a store whose list was not known durable. It is replaced at
 * once by one that says the same, so that a list that names it stays right. */
static int file_store(struct disk *disk, struct archive_row *row, uint8_t *segment,
                      uint32_t segment_bytes)
{
    char part[DISK_PATH_BYTES];
    char path[DISK_PATH_BYTES];
    size_t file_bytes;
    uint8_t *file;
    int error = archive_file_pack(&file, &file_bytes, segment, segment_bytes);

    if (error < 0)
        return error;
    row->bytes = file_bytes;
    hash_blake2b256(row->file_hash, file, file_bytes);
    archive_folder_path(part, row->segment, true);
    archive_folder_path(path, row->segment, false);
    error = file_write(disk, part, file, file_bytes);
    free(file);
    if (error == 0)
        error = file_verify(disk, part, row, segment, segment_bytes);
    if (error == 0)
        error = disk_rename(disk, part, path);
    else if (disk_remove(disk, part) < 0)
        return error; /* a `.part` never counts: it only takes space until the next try */
    return error == 0 ? disk_sync_folder(disk, "archive") : error;
}

/* Lists one more segment, in the file and then in memory. */
static int row_add(struct archive *archive, struct disk *disk, const struct exchange_file *exchange,
                   const struct archive_row *row)
{
    struct archive more = { .count = archive->count + 1 };
    int error;

    more.rows = realloc(archive->rows, more.count * sizeof more.rows[0]);
    if (!more.rows)
        return -ENOMEM;
    archive->rows = more.rows;
    more.rows[archive->count] = *row;
    error = archive_write_list(&more, disk, exchange);
    if (error == 0)
        archive->count = more.count;
    return error;
}

int archive_store(struct archive *archive, struct disk *disk, const struct exchange_file *exchange,
                  uint64_t segment, uint32_t segment_bytes)
{
    struct archive_row row;
    struct frame_tail before;
    char path[DISK_PATH_BYTES];
    uint8_t *bytes;
    int error;

    if (archive->count > 0 && segment != archive->rows[archive->count - 1].segment + 1)
        return -EBADMSG;
    if (!tail_before(&before, archive, exchange, segment))
        return -EBADMSG;
    bytes = buffer_new(segment_bytes);
    if (!bytes)
        return -ENOMEM;
    segment_path(path, segment, true);
    error = part_read(disk, path, DISK_DIRECT, 0, bytes, segment_bytes);
    if (error == 0)
        error = archive_file_survey(&row, bytes, segment_bytes, exchange, segment, &before);
    if (error == 0)
        error = file_store(disk, &row, bytes, segment_bytes);
    free(bytes);
    return error == 0 ? row_add(archive, disk, exchange, &row) : error;
}

/* ---- loading --------------------------------------------------------------------------------- */

static bool rows_equal(const struct archive_row *a, const struct archive_row *b)
{
    return a->segment == b->segment && a->first_frame == b->first_frame &&
           a->last_frame == b->last_frame && a->first_sequence == b->first_sequence &&
           a->last_sequence == b->last_sequence && a->last_t_ns == b->last_t_ns &&
           a->bytes == b->bytes && memcmp(a->file_hash, b->file_hash, sizeof a->file_hash) == 0 &&
           memcmp(a->last_frame_hash, b->last_frame_hash, sizeof a->last_frame_hash) == 0;
}

/* Unpacks a file to `bytes` and makes its row: it is a whole segment of this exchange, and chains
 * to the one before it if `archive` lists that. 0, -EBADMSG, or -errno. */
static int row_of_file(struct archive_row *row, const struct archive *archive, struct disk *disk,
                       const struct exchange_file *exchange, uint64_t segment, uint8_t *bytes,
                       uint32_t segment_bytes)
{
    struct frame_tail before;
    char path[DISK_PATH_BYTES];
    bool is_behind = tail_before(&before, archive, exchange, segment);
    int64_t size;
    uint8_t *packed;

    archive_folder_path(path, segment, false);
    int file = disk_open(disk, path, 0);
    if (file < 0)
        return file;
    size = disk_size(disk, file);
    disk_close(disk, file);
    if (size < 0)
        return (int)size;
    if ((uint64_t)size > archive_file_bytes_max(segment_bytes))
        return -EBADMSG;
    packed = buffer_new((uint64_t)size);
    if (!packed)
        return -ENOMEM;
    int error = part_read(disk, path, 0, 0, packed, (size_t)size);
    if (error == 0)
        error = archive_file_unpack(bytes, segment_bytes, packed, (size_t)size);
    if (error == 0)
        error = archive_file_survey(row, bytes, segment_bytes, exchange, segment,
                                    is_behind ? &before : NULL);
    row->bytes = (uint64_t)size;
    hash_blake2b256(row->file_hash, packed, (size_t)size);
    free(packed);
    return error;
}

/* 0, -EBADMSG when anything differs from what the list says, or -errno. */
static int file_load(const struct archive *archive, struct disk *disk,
                     const struct exchange_file *exchange, const struct archive_row *row,
                     uint32_t segment_bytes, uint8_t *out)
{
    struct archive_row found;
    int error = row_of_file(&found, archive, disk, exchange, row->segment, out, segment_bytes);

    return error == 0 && !rows_equal(&found, row) ? -EBADMSG : error;
}

enum refusal_kind archive_load(const struct archive *archive, struct disk *disk,
                               const struct exchange_file *exchange, uint64_t segment,
                               uint32_t segment_bytes, uint8_t *out, struct refusal *refusal)
{
    const struct archive_row *row = archive_find(archive, segment);
    int error;

    refusal->segment = segment;
    if (!row)
        return refusal_set(refusal, REFUSAL_segment_missing,
                           "segment %" PRIu64 " is not in archive/index", segment);
    error = file_load(archive, disk, exchange, row, segment_bytes, out);
    if ((error == -EBADMSG || error == -ENOENT || error == -EIO) && disk->archive_copy != NULL &&
        file_load(archive, disk->archive_copy, exchange, row, segment_bytes, out) == 0)
        error = 0;
    if (error == -EBADMSG || error == -ENOENT)
        return refusal_set(refusal, REFUSAL_archive_damaged,
                           "the file of segment %" PRIu64 " is not what archive/index says of it",
                           segment);
    return error < 0 ? refusal_machine(refusal, "reading an archived segment", error)
                     : REFUSAL_none;
}

/* ---- the list made again --------------------------------------------------------------------- */

static enum refusal_kind remake(struct archive *archive, struct disk *disk,
                                const struct exchange_file *exchange, uint32_t segment_bytes,
                                struct refusal *refusal)
{
    uint64_t first, end;
    int error = archive_folder_range(disk, &first, &end);
    uint8_t *bytes = buffer_new(segment_bytes);

    *archive = (struct archive){ 0 };
    if (error == 0 && end > first) {
        archive->rows = calloc(end - first, sizeof archive->rows[0]);
        error = archive->rows && bytes ? 0 : -ENOMEM;
    }
    for (uint64_t segment = first; error == 0 && segment < end; segment++) {
        refusal->segment = segment;
        error = row_of_file(&archive->rows[archive->count], archive, disk, exchange, segment, bytes,
                            segment_bytes);
        archive->count += error == 0;
    }
    free(bytes);
    if (error == 0 && archive->count > 0)
        error = archive_write_list(archive, disk, exchange);
    if (error == 0)
        return REFUSAL_none;
    archive_close(archive);
    if (error == -EBADMSG)
        return refusal_set(refusal, REFUSAL_archive_damaged,
                           "archive/index is missing, damaged or too short, and the file of "
                           "segment %" PRIu64 " cannot help to make it again: put back the file "
                           "or the list from a backup",
                           refusal->segment);
    return refusal_machine(refusal, "making archive/index again", error);
}

enum refusal_kind archive_mend(struct archive *archive, struct disk *disk,
                               const struct exchange_file *exchange, uint32_t segment_bytes,
                               uint64_t journal_first, uint64_t *relisted, struct refusal *refusal)
{
    enum refusal_kind kind = archive_open(archive, disk, exchange, refusal);
    uint64_t end = archive->count > 0 ? archive->rows[archive->count - 1].segment + 1 : 0;

    *relisted = 0;
    if (kind != REFUSAL_archive_list && (kind != REFUSAL_none || end >= journal_first))
        return kind;
    archive_close(archive);
    refusal_clear(refusal);
    kind = remake(archive, disk, exchange, segment_bytes, refusal);
    *relisted = archive->count;
    return kind;
}

/* ---- pruning --------------------------------------------------------------------------------- */

int archive_prune(struct archive *archive, struct disk *disk, const struct exchange_file *exchange,
                  uint64_t before_ns, uint64_t below_segment)
{
    struct archive less = { 0 };
    uint64_t gone = 0;
    int error;

    while (gone + 1 < archive->count && gone < INT32_MAX &&
           archive->rows[gone].last_t_ns < before_ns && archive->rows[gone].segment < below_segment)
        gone++;
    if (gone == 0)
        return 0; /* files that no line names may be the only ones of their records */
    less.rows = archive->rows + gone;
    less.count = archive->count - gone;
    error = archive_write_list(&less, disk, exchange);
    if (error < 0)
        return error;
    memmove(archive->rows, less.rows, less.count * sizeof less.rows[0]);
    archive->count = less.count;
    error = archive_folder_sweep(disk, archive->rows[0].segment);
    return error < 0 ? error : (int)gone;
}
