#include "store/archive_copy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/archive_folder.h"

/* ---- one file -------------------------------------------------------------------------------- */

/* Whether the file's bytes, read into `bytes`, are those of the row. 0, -EBADMSG, or -errno. */
static int read_proven(struct disk *disk, const char *path, const struct archive_row *row,
                       uint8_t *bytes)
{
    uint8_t hash[HASH_BYTES];
    int file = disk_open(disk, path, 0);

    if (file < 0)
        return file;
    int64_t size = disk_size(disk, file);
    int64_t got = size == (int64_t)row->bytes ? disk_read(disk, file, 0, bytes, row->bytes) : size;
    disk_close(disk, file);
    if (got < 0)
        return (int)got;
    if (got != (int64_t)row->bytes)
        return -EBADMSG;
    hash_blake2b256(hash, bytes, row->bytes);
    return memcmp(hash, row->file_hash, sizeof hash) == 0 ? 0 : -EBADMSG;
}

/* Writes the bytes under `part`, and reads them back into the same memory. */
static int write_proven(struct disk *disk, const char *part, const struct archive_row *row,
                        uint8_t *bytes)
{
    int file = disk_open(disk, part, DISK_CREATE);

    if (file < 0)
        return file;
    int error = disk_write(disk, file, 0, bytes, row->bytes);
    if (error == 0)
        error = disk_sync(disk, file);
    disk_close(disk, file);
    memset(bytes, 0, row->bytes);
    return error == 0 ? read_proven(disk, part, row, bytes) : error;
}

int archive_copy_bring(struct disk *from, struct disk *to, const struct archive_row *row,
                       const char *suffix)
{
    char path[DISK_PATH_BYTES], part[DISK_PATH_BYTES];
    uint8_t *bytes = malloc(row->bytes + 1);

    if (bytes == NULL)
        return -ENOMEM;
    archive_folder_path(path, row->segment, false);
    int used = snprintf(part, sizeof part, "%s%s", path, suffix);
    INVARIANT(used > 0 && used < (int)sizeof part);
    int error = read_proven(from, path, row, bytes);
    if (error == 0) {
        error = write_proven(to, part, row, bytes);
        if (error == 0)
            error = disk_rename(to, part, path);
        else
            (void)!disk_remove(to, part); /* its name does not count */
    }
    free(bytes);
    return error == 0 ? disk_sync_folder(to, "archive") : error;
}

/* ---- at a start ------------------------------------------------------------------------------ */

static bool has_size(struct disk *disk, const struct archive_row *row)
{
    char path[DISK_PATH_BYTES];

    archive_folder_path(path, row->segment, false);
    int file = disk_open(disk, path, 0);
    if (file < 0)
        return false;
    int64_t size = disk_size(disk, file);
    disk_close(disk, file);
    return size == (int64_t)row->bytes;
}

enum refusal_kind archive_copy_mend(const struct archive_copy *copy, uint64_t *brought,
                                    struct refusal *refusal)
{
    struct archive own, other;

    *brought = 0;
    enum refusal_kind kind = archive_read_list(&other, copy->disk, copy->exchange, refusal);
    if (kind == REFUSAL_archive_foreign)
        return kind;
    kind = archive_read_list(&own, copy->data, copy->exchange, refusal);
    const struct archive *named = kind == REFUSAL_none && own.count != 0 ? &own : &other;
    for (uint64_t i = 0; i < named->count; i++)
        if (!has_size(copy->data, &named->rows[i]))
            *brought += archive_copy_bring(copy->disk, copy->data, &named->rows[i], ".mend") == 0;
    archive_close(&own);
    archive_close(&other);
    refusal_clear(refusal); /* what is still wrong, the start finds */
    return REFUSAL_none;
}

/* ---- while it runs --------------------------------------------------------------------------- */

/* As far as the copy's list names what the archive's does. */
static void look(struct archive_copy *copy, const struct archive *archive)
{
    struct archive other;
    struct refusal unheard;
    enum refusal_kind kind = archive_open(&other, copy->disk, copy->exchange, &unheard);

    copy->first = copy->end = archive->rows[0].segment;
    if (kind == REFUSAL_none && other.count != 0) {
        const struct archive_row *row = archive_find(&other, copy->end);
        copy->first = other.rows[0].segment;
        while (row != NULL && archive_find(archive, copy->end) != NULL &&
               memcmp(row->file_hash, archive_find(archive, copy->end)->file_hash, HASH_BYTES) == 0)
            row = archive_find(&other, ++copy->end);
    }
    archive_close(&other);
    copy->is_known = true;
}

/* Its list is the archive's, up to `end`. */
static int write_list(struct archive_copy *copy, const struct archive *archive)
{
    uint64_t first = archive->rows[0].segment;
    const struct archive part = { .rows = archive->rows, .count = copy->end - first };
    int error = archive_write_list(&part, copy->disk, copy->exchange);

    if (error == 0 && copy->first < first)
        error = archive_folder_sweep(copy->disk, first);
    if (error == 0)
        copy->first = first;
    published_set(&copy->segments, part.count);
    return error;
}

int archive_copy_step(struct archive_copy *copy, const struct archive *archive)
{
    if (copy->disk == NULL || archive->count == 0)
        return 0;
    if (!copy->is_known)
        look(copy, archive);
    uint64_t first = archive->rows[0].segment;
    if (copy->end < first)
        copy->end = first;
    const struct archive_row *row = archive_find(archive, copy->end);
    published_set(&copy->segments, copy->end - first);
    if (row == NULL && copy->first == first)
        return 0;
    int error = row == NULL ? 0 : archive_copy_bring(copy->data, copy->disk, row, ".part");
    copy->end += row != NULL && error == 0;
    if (error == 0)
        error = write_list(copy, archive);
    if (error != 0)
        copy->is_known = false; /* what the folder has, it says itself */
    published_set(&copy->fails, error != 0);
    return error == 0 ? 1 : error;
}
