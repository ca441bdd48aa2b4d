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

/* ---- two lists ------------------------------------------------------------------------------- */

static bool is_next(const struct archive_row *before, const struct archive_row *row)
{
    return row->segment == before->segment + 1 && row->first_frame == before->last_frame + 1 &&
           row->first_sequence == before->last_sequence + 1;
}

/* How many rows of `other` lie below `own`, and lead to its first; 0 when a segment lacks between
 * the two. Neither is empty. */
static uint64_t rows_below(const struct archive *own, const struct archive *other)
{
    uint64_t first = own->rows[0].segment;
    uint64_t count = first > other->rows[0].segment ? first - other->rows[0].segment : 0;

    if (count == 0 || count > other->count || !is_next(&other->rows[count - 1], &own->rows[0]))
        return 0;
    return count;
}

/* ---- at a start ------------------------------------------------------------------------------ */

/* Whether the archive has the file, in its size; `by_hash`: and with the hash of the row. */
static bool has_file(struct disk *disk, const struct archive_row *row, bool by_hash)
{
    char path[DISK_PATH_BYTES];

    archive_folder_path(path, row->segment, false);
    int file = disk_open(disk, path, 0);
    if (file < 0)
        return false;
    int64_t size = disk_size(disk, file);
    disk_close(disk, file);
    if (size != (int64_t)row->bytes || !by_hash)
        return size == (int64_t)row->bytes;
    uint8_t *bytes = malloc(row->bytes + 1);
    bool is_right = bytes == NULL || read_proven(disk, path, row, bytes) == 0;
    free(bytes);
    return is_right;
}

/* Puts before the archive's list what the copy's has below it, down to the first segment that
 * neither folder has right. Returns how many segments these are. */
static uint64_t bring_older(const struct archive_copy *copy, const struct archive *own,
                            const struct archive *other)
{
    uint64_t count = rows_below(own, other);
    uint64_t from = count;

    while (from > 0 &&
           (has_file(copy->data, &other->rows[from - 1], true) ||
            archive_copy_bring(copy->disk, copy->data, &other->rows[from - 1], ".mend") == 0))
        from--;
    count -= from;
    if (count == 0)
        return 0;
    struct archive joined = { .count = count + own->count };
    joined.rows = malloc(joined.count * sizeof joined.rows[0]);
    if (joined.rows == NULL)
        return 0; /* files that no line names */
    memcpy(joined.rows, other->rows + from, count * sizeof joined.rows[0]);
    memcpy(joined.rows + count, own->rows, own->count * sizeof joined.rows[0]);
    int error = archive_write_list(&joined, copy->data, copy->exchange);
    free(joined.rows);
    return error == 0 ? count : 0;
}

uint64_t archive_copy_lengthen(const struct archive_copy *copy)
{
    struct refusal unheard;
    struct archive own, other;
    uint64_t count = 0;

    (void)!archive_read_list(&own, copy->data, copy->exchange, &unheard);
    (void)!archive_read_list(&other, copy->disk, copy->exchange, &unheard);
    if (own.count != 0 && other.count != 0)
        count = bring_older(copy, &own, &other);
    archive_close(&own);
    archive_close(&other);
    return count;
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
    bool has_own = kind == REFUSAL_none && own.count != 0;
    const struct archive *named = has_own ? &own : &other;
    for (uint64_t i = 0; i < named->count; i++)
        if (!has_file(copy->data, &named->rows[i], !has_own))
            *brought += archive_copy_bring(copy->disk, copy->data, &named->rows[i], ".mend") == 0;
    archive_close(&own);
    archive_close(&other);
    refusal_clear(refusal); /* what is still wrong, the start finds */
    return REFUSAL_none;
}

/* ---- while it runs --------------------------------------------------------------------------- */

/* Cuts the copy's list where it says another thing than the archive's. What it has below that one's
 * first segment stays, if it leads to it. */
static void cut(struct archive *list, const struct archive *archive)
{
    if (list->count == 0)
        return;
    uint64_t below = rows_below(archive, list);
    uint64_t same = 0;
    if (below != 0 || list->rows[0].segment == archive->rows[0].segment)
        while (below + same < list->count && same < archive->count &&
               memcmp(list->rows[below + same].file_hash, archive->rows[same].file_hash,
                      HASH_BYTES) == 0)
            same++;
    list->count = below + same;
}

static void look(struct archive_copy *copy, const struct archive *archive)
{
    struct refusal unheard;

    archive_close(&copy->list);
    if (archive_open(&copy->list, copy->disk, copy->exchange, &unheard) != REFUSAL_none)
        archive_close(&copy->list);
    cut(&copy->list, archive);
    copy->is_known = true;
}

/* Writes the copy's list with this row as its last. 0 or -errno. */
static int append(struct archive_copy *copy, const struct archive_row *row)
{
    struct archive *list = &copy->list;
    struct archive_row *rows = realloc(list->rows, (list->count + 1) * sizeof *rows);

    if (rows == NULL)
        return -ENOMEM;
    list->rows = rows;
    list->rows[list->count++] = *row;
    return archive_write_list(list, copy->disk, copy->exchange);
}

/* What was done with the folder; after an error it says itself what it has. */
static int note(struct archive_copy *copy, int result)
{
    if (result < 0)
        copy->is_known = false;
    published_set(&copy->fails, result < 0);
    published_set(&copy->segments, copy->list.count);
    return result;
}

int archive_copy_step(struct archive_copy *copy, const struct archive *archive)
{
    if (copy->disk == NULL || archive->count == 0)
        return 0;
    if (!copy->is_known)
        look(copy, archive);
    struct archive *list = &copy->list;
    uint64_t end = list->count == 0 ? 0 : list->rows[list->count - 1].segment + 1;
    if (end < archive->rows[0].segment) {
        list->count = 0; /* its files stay, unlisted */
        end = archive->rows[0].segment;
    }
    const struct archive_row *row = archive_find(archive, end);
    published_set(&copy->segments, list->count);
    if (row == NULL)
        return 0;
    int error = archive_copy_bring(copy->data, copy->disk, row, ".part");
    if (error == 0)
        error = append(copy, row);
    return note(copy, error == 0 ? 1 : error);
}

int archive_copy_prune(struct archive_copy *copy, uint64_t before_ns, uint64_t below_segment)
{
    if (copy->disk == NULL || !copy->is_known)
        return 0;
    return note(copy,
                archive_prune(&copy->list, copy->disk, copy->exchange, before_ns, below_segment));
}
