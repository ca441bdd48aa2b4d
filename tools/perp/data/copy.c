#include "perp/data/copy.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "crypto/attest.h"
#include "perp/invocation/exit_code.h"
#include "store/archive_copy.h"
#include "store/archive_folder.h"
#include "store/archive_index.h"
#include "store/disk_real.h"
#include "store/small_file.h"

enum { PIECE_BYTES = 1 << 20 };

static const char *const folders[] = { "", "journal", "snapshot", "archive" };

bool copy_failed(struct context *context, const char *path, const char *what, int error)
{
    return context_fail(context, EXIT_CODE_problem, "%s/%s: %s", path, what, strerror(-error));
}

/* Whether the folder has a name besides `.` and `..`, or cannot be read. */
static bool holds_names(const char *path)
{
    DIR *entries = opendir(path);
    const struct dirent *found = NULL;

    if (entries == NULL)
        return true;
    do
        found = readdir(entries);
    while (found != NULL && (strcmp(found->d_name, ".") == 0 || strcmp(found->d_name, "..") == 0));
    closedir(entries);
    return found != NULL;
}

bool copy_claim(struct context *context, const char *path)
{
    struct stat status;
    const char *why = NULL;

    if (mkdir(path, 0700) == 0)
        return true;
    if (errno != EEXIST || lstat(path, &status) != 0)
        why = strerror(errno);
    else if (!S_ISDIR(status.st_mode))
        why = "it is no folder, or a link to one";
    else if (status.st_uid != geteuid() || (status.st_mode & (S_IRWXG | S_IRWXO)) != 0)
        why = "others may use the folder: name a new one, or make it your own with mode 0700";
    else if (holds_names(path))
        why = "it holds files already: name a new directory";
    return why == NULL || context_fail(context, EXIT_CODE_problem, "%s: %s", path, why);
}

static void see_name(void *context, const char *name, uint64_t bytes)
{
    uint64_t *files = context;

    (void)bytes;
    *files += strcmp(name, "lock") != 0;
}

static int make_folders(struct disk *disk, uint64_t *files)
{
    int error = 0;

    for (size_t i = 0; i < CC_COUNT(folders) && error == 0; i++) {
        error = disk_make_folder(disk, folders[i]);
        if (error == 0)
            error = disk_list(disk, folders[i], see_name, files);
    }
    return error;
}

struct disk *copy_make_directory(struct context *context, const char *path)
{
    uint64_t files = 0;
    bool ring_refused;
    int error;
    struct disk *disk = disk_real_open(path, &error, &ring_refused);

    if (disk == NULL) {
        (void)context_fail(context, EXIT_CODE_problem, "%s: %s", path, strerror(-error));
        return NULL;
    }
    error = make_folders(disk, &files);
    if (error == 0 && files == 0)
        return disk;
    if (error != 0)
        (void)copy_failed(context, path, "", error);
    else
        (void)context_fail(context, EXIT_CODE_problem,
                           "%s holds files already: name a new directory", path);
    disk_real_close(disk);
    return NULL;
}

/* Copies between open files. 0 or -errno. */
static int copy_bytes(const struct copy *copy, int from, int to, uint64_t most)
{
    uint8_t *piece = malloc(PIECE_BYTES);
    uint64_t at = 0;
    int error = piece == NULL ? -ENOMEM : 0;

    while (error == 0 && at < most) {
        size_t wanted = most - at < PIECE_BYTES ? (size_t)(most - at) : PIECE_BYTES;
        int64_t count = disk_read(copy->from, from, at, piece, wanted);
        if (count <= 0) {
            error = (int)count;
            break;
        }
        error = disk_write(copy->to, to, at, piece, (size_t)count);
        at += (uint64_t)count;
    }
    free(piece);
    return error == 0 ? disk_sync(copy->to, to) : error;
}

bool copy_file(const struct copy *copy, const char *path, uint64_t most, bool *found)
{
    int from = disk_open(copy->from, path, DISK_NOFOLLOW);

    if (found != NULL)
        *found = from >= 0;
    if (from == -ENOENT && found != NULL)
        return true;
    if (from < 0)
        return copy_failed(copy->context, copy->from_path, path, from);
    int64_t size = disk_size(copy->from, from);
    if (size < 0 || (uint64_t)size > most) {
        disk_close(copy->from, from);
        return copy_failed(copy->context, copy->from_path, path, size < 0 ? (int)size : -EFBIG);
    }
    int to = disk_open(copy->to, path, DISK_CREATE);
    int error = to < 0 ? to : copy_bytes(copy, from, to, most);
    if (to >= 0)
        disk_close(copy->to, to);
    disk_close(copy->from, from);
    return error == 0 || copy_failed(copy->context, copy->to_path, path, error);
}

static bool write_index(const struct copy *copy, const struct archive *archive,
                        const struct exchange_file *exchange)
{
    char *text;
    size_t count;
    int error = archive_index_encode(&text, &count, archive, exchange);

    if (error != 0)
        return copy_failed(copy->context, copy->to_path, "archive/index", error);
    error = small_file_replace(copy->to, "archive/index", text, count);
    if (error == 0)
        error = disk_sync_folder(copy->to, "archive");
    free(text);
    return error == 0 || copy_failed(copy->context, copy->to_path, "archive/index", error);
}

/* A file that is not what the list says is taken from the archive's second place. */
static bool copy_archived(const struct copy *copy, const struct archive_row *row)
{
    char path[DISK_PATH_BYTES];
    int error = archive_copy_bring(copy->from, copy->to, row, ".part");

    if (error != 0 && copy->from->archive_copy != NULL &&
        archive_copy_bring(copy->from->archive_copy, copy->to, row, ".part") == 0)
        return true;
    archive_folder_path(path, row->segment, false);
    if (error == -EBADMSG)
        return context_fail(copy->context, EXIT_CODE_rejected,
                            "%s/%s is not what archive/index says of it: give the exchange's "
                            "second place by --archive-copy, or put the file back from a backup",
                            copy->from_path, path);
    return error == 0 || copy_failed(copy->context, copy->from_path, path, error);
}

bool copy_archive(const struct copy *copy, const struct archive *archive,
                  const struct exchange_file *exchange, uint64_t first)
{
    if (first == archive->count)
        return true;
    for (uint64_t i = first; i < archive->count; i++) {
        if (!copy_archived(copy, &archive->rows[i]))
            return false;
    }
    return write_index(copy, archive, exchange);
}

/* ---- heads ----------------------------------------------------------------------------------- */

/* Writes the rows that name frames up to `last`. 0 or -errno. */
static int copy_rows(const struct copy *copy, int from, int to, uint64_t last,
                     struct attest_head *kept, bool *beyond)
{
    uint8_t row[ATTEST_HEAD_BYTES];
    struct attest_head head;
    uint64_t at = 0, written = 0;
    int error = 0;

    for (;;) {
        int64_t count = disk_read(copy->from, from, at, row, sizeof row);
        if (count < 0)
            error = (int)count;
        if (error != 0 || count != (int64_t)sizeof row)
            break;
        at += sizeof row;
        if (!attest_head_read(&head, row))
            continue;
        *beyond = *beyond || head.frame > last;
        if (head.frame > last)
            continue;
        error = disk_write(copy->to, to, written, row, sizeof row);
        written += sizeof row;
        *kept = head;
    }
    return error == 0 ? disk_sync(copy->to, to) : error;
}

bool copy_heads(const struct copy *copy, uint64_t last, struct attest_head *kept, bool *beyond)
{
    int from = disk_open(copy->from, "heads", 0);

    *kept = (struct attest_head){ 0 };
    *beyond = false;
    if (from == -ENOENT)
        return true;
    if (from < 0)
        return copy_failed(copy->context, copy->from_path, "heads", from);
    int to = disk_open(copy->to, "heads", DISK_CREATE);
    int error = to < 0 ? to : copy_rows(copy, from, to, last, kept, beyond);
    if (to >= 0)
        disk_close(copy->to, to);
    disk_close(copy->from, from);
    return error == 0 || copy_failed(copy->context, copy->to_path, "heads", error);
}
