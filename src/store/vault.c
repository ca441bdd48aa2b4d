#include "store/vault.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/archive_file.h"
#include "store/segment.h"

enum {
    PIECE_BYTES = 1 << 20,
    BLOCK_BYTES_MIN = 512 /* a frame of a larger block is a frame of this too */
};

static const char folder[] = "segment", snapshots[] = "snapshot";

static void name_of(char out[DISK_PATH_BYTES], uint64_t segment, const uint8_t hash[HASH_BYTES])
{
    int used = snprintf(out, DISK_PATH_BYTES, "%s/%010" PRIu64 "-%016" PRIx64 ".zst", folder,
                        segment, cc_load64(hash));

    INVARIANT(used > 0 && used < DISK_PATH_BYTES);
}

int vault_begin(struct vault *vault)
{
    int error = disk_make_folder(vault->disk, "");

    if (error == 0)
        error = disk_make_folder(vault->disk, folder);
    if (error == 0)
        error = disk_make_folder(vault->disk, snapshots);
    return error == 0 ? disk_sync_folder(vault->disk, "") : error;
}

/* ---- files ----------------------------------------------------------------------------------- */

static int read_part(struct disk *disk, const char *path, uint64_t offset, uint8_t *out,
                     size_t count)
{
    int file = disk_open(disk, path, 0);

    if (file < 0)
        return file;
    int64_t got = disk_read(disk, file, offset, out, count);
    disk_close(disk, file);
    if (got < 0)
        return (int)got;
    return (size_t)got == count ? 0 : -EBADMSG;
}

static int write_file(struct disk *disk, const char *path, const uint8_t *bytes, size_t count)
{
    int file = disk_open(disk, path, DISK_CREATE);
    int error = 0;

    if (file < 0)
        return file;
    for (size_t at = 0; error == 0 && at < count; at += PIECE_BYTES)
        error = disk_write(disk, file, at, bytes + at,
                           count - at < PIECE_BYTES ? count - at : PIECE_BYTES);
    if (error == 0)
        error = disk_sync(disk, file);
    disk_close(disk, file);
    return error;
}

int vault_load(const struct vault *vault, uint64_t segment, uint64_t file_bytes,
               const uint8_t file_hash[HASH_BYTES], uint8_t *out)
{
    char path[DISK_PATH_BYTES];
    uint8_t hash[HASH_BYTES];

    if (file_bytes == 0 || file_bytes > archive_file_bytes_max(vault->segment_bytes))
        return -EBADMSG;
    uint8_t *file = malloc(file_bytes);
    if (file == NULL)
        return -ENOMEM;
    name_of(path, segment, file_hash);
    int error = read_part(vault->disk, path, 0, file, file_bytes);
    if (error == 0) {
        hash_blake2b256(hash, file, file_bytes);
        error = memcmp(hash, file_hash, sizeof hash) == 0 ? 0 : -EBADMSG;
    }
    if (error == 0)
        error = archive_file_unpack(out, vault->segment_bytes, file, file_bytes);
    free(file);
    return error;
}

/* ---- a segment of the journal ---------------------------------------------------------------- */

/* The first frame of a segment of the journal: 0, -ENOENT: no such segment; -EAGAIN: none is in it
 * yet; or -errno. */
static int read_first(const struct vault *vault, struct disk *journal, uint64_t segment,
                      struct frame_header *header)
{
    char path[DISK_PATH_BYTES];
    uint64_t left = vault->segment_bytes - SEGMENT_FRAMES_OFFSET;
    size_t most = left < FRAME_BYTES_MAX ? (size_t)left : (size_t)FRAME_BYTES_MAX;
    uint8_t *bytes = malloc(most);

    if (bytes == NULL)
        return -ENOMEM;
    segment_path(path, segment, true);
    int error = read_part(journal, path, SEGMENT_FRAMES_OFFSET, bytes, most);
    if (error == 0 &&
        frame_decode(header, bytes, most, exchange_file_journal(vault->exchange, segment), segment,
                     BLOCK_BYTES_MIN) != 0)
        error = -EAGAIN;
    free(bytes);
    return error;
}

int vault_first(const struct vault *vault, struct disk *journal, uint64_t *segment)
{
    struct segment_range range;
    struct archive archive;
    struct refusal refusal;
    int error = segment_range_of(journal, &range);

    if (error != 0)
        return error;
    refusal_clear(&refusal);
    if (archive_open(&archive, journal, vault->exchange, &refusal) != REFUSAL_none)
        return -EBADMSG;
    *segment = archive.count != 0 ? archive.rows[0].segment : range.min;
    bool has_any = archive.count != 0 || range.count != 0;
    archive_close(&archive);
    return has_any ? 0 : -ENOENT;
}

int vault_ends_with(const struct vault *vault, struct disk *journal, uint64_t frame,
                    const uint8_t frame_hash[HASH_BYTES], uint64_t *segment)
{
    struct segment_range range;
    int error = segment_range_of(journal, &range);

    if (error != 0 || range.count == 0)
        return error;
    for (uint64_t n = range.max; n > range.min; n--) {
        struct frame_header header;
        error = read_first(vault, journal, n, &header);
        if (error == -EAGAIN) /* prepared */
            continue;
        if (error != 0)
            return error;
        if (header.number <= frame)
            return 0; /* it lies within this segment or a later one */
        if (header.number != frame + 1)
            continue;
        *segment = n - 1;
        return memcmp(header.previous_hash, frame_hash, HASH_BYTES) == 0 ? 1 : -EBADMSG;
    }
    return 0;
}

/* Reads a retired segment from the archive. */
static int read_archived(const struct vault *vault, struct disk *journal, uint64_t segment,
                         uint8_t *out)
{
    struct archive archive;
    struct refusal refusal;

    if (archive_open(&archive, journal, vault->exchange, &refusal) != REFUSAL_none)
        return -EBADMSG;
    enum refusal_kind kind = archive_load(&archive, journal, vault->exchange, segment,
                                          vault->segment_bytes, out, &refusal);
    archive_close(&archive);
    return kind == REFUSAL_none ? 0 : -EBADMSG;
}

/* Reads a sealed segment whole and surveys it: 1, 0: it is not sealed, or -errno. */
static int read_sealed(const struct vault *vault, struct disk *journal, uint64_t segment,
                       uint64_t released, uint8_t *out, struct archive_row *row)
{
    struct frame_header next;
    char path[DISK_PATH_BYTES];
    int error = read_first(vault, journal, segment + 1, &next);
    bool has_next = error == 0;

    if (error == -EAGAIN || (has_next && next.last_sequence > released))
        return 0;
    if (!has_next && error != -ENOENT)
        return error;
    segment_path(path, segment, true);
    error = read_part(journal, path, 0, out, vault->segment_bytes);
    if (error == 0 && !has_next)
        return 0; /* the next one is not prepared */
    bool is_retired = error == -ENOENT;
    if (is_retired)
        error = read_archived(vault, journal, segment, out);
    if (error == 0)
        error = archive_file_survey(row, out, vault->segment_bytes, vault->exchange, segment, NULL);
    if (error != 0)
        return error;
    /* A write may still be under way: the segment must end where the next one begins. */
    if (!is_retired && (next.number != row->last_frame + 1 ||
                        memcmp(next.previous_hash, row->last_frame_hash, HASH_BYTES) != 0))
        return 0;
    return 1;
}

const uint8_t *vault_next(const struct vault *vault, uint64_t segment, const uint8_t *bytes,
                          uint32_t *offset, struct frame_header *header)
{
    if (*offset == 0)
        *offset = SEGMENT_FRAMES_OFFSET;
    if (vault->segment_bytes - *offset < FRAME_HEADER_BYTES ||
        frame_decode(header, bytes + *offset, vault->segment_bytes - *offset,
                     exchange_file_journal(vault->exchange, segment), segment,
                     BLOCK_BYTES_MIN) != 0)
        return NULL;
    *offset += header->length;
    return bytes + *offset - header->length;
}

static uint64_t log_bytes_of(const struct vault *vault, uint64_t segment, const uint8_t *bytes)
{
    struct frame_header header;
    uint32_t offset = 0;
    uint64_t total = 0;

    while (vault_next(vault, segment, bytes, &offset, &header) != NULL)
        total += FRAME_HEADER_BYTES + header.record_bytes;
    return total;
}

/* ---- putting --------------------------------------------------------------------------------- */

/* Writes the file aside, reads it back, compares it with the segment, and gives it its name. */
static int write_proven(const struct vault *vault, uint64_t segment, const uint8_t *bytes,
                        uint8_t *again, const uint8_t *file, struct archive_row *row)
{
    char part[DISK_PATH_BYTES], path[DISK_PATH_BYTES];
    int used = snprintf(part, sizeof part, "%s/part-%.16s", folder, vault->node);

    INVARIANT(used > 0 && (size_t)used < sizeof part);
    hash_blake2b256(row->file_hash, file, row->bytes);
    name_of(path, segment, row->file_hash);
    int error = write_file(vault->disk, part, file, row->bytes);
    if (error == 0)
        error = disk_rename(vault->disk, part, path);
    if (error == 0)
        error = disk_sync_folder(vault->disk, folder);
    if (error == 0)
        error = vault_load(vault, segment, row->bytes, row->file_hash, again);
    if (error == 0 && memcmp(bytes, again, vault->segment_bytes) != 0)
        error = -EBADMSG;
    return error;
}

int vault_put(struct vault *vault, struct disk *journal, uint64_t segment, uint64_t released,
              struct archive_row *row, uint64_t *log_bytes)
{
    uint8_t *bytes = segment_memory(vault->segment_bytes);
    uint8_t *again = segment_memory(vault->segment_bytes);
    uint8_t *file = NULL;
    size_t file_bytes;
    int done = bytes != NULL && again != NULL ? 0 : -ENOMEM;

    if (done == 0)
        done = read_sealed(vault, journal, segment, released, bytes, row);
    if (done > 0) {
        int error = archive_file_pack(&file, &file_bytes, bytes, vault->segment_bytes);
        if (error == 0) {
            row->bytes = file_bytes;
            error = write_proven(vault, segment, bytes, again, file, row);
            free(file);
        }
        *log_bytes = log_bytes_of(vault, segment, bytes);
        done = error == 0 ? 1 : error;
    }
    free(bytes);
    free(again);
    return done;
}
