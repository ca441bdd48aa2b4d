#include "perp/data/data_directory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/option.h"
#include "perp/invocation/arguments.h"
#include "perp/invocation/exit_code.h"
#include "store/disk_real.h"
#include "store/segment.h"

struct first_segment {
    uint64_t number, bytes;
};

static void see_segment(void *context, const char *name, uint64_t bytes)
{
    struct first_segment *first = context;
    uint64_t number;
    if (segment_number_of(name, &number) && number < first->number)
        *first = (struct first_segment){ number, bytes };
}

static bool read_exchange(struct context *context, struct data_directory *directory)
{
    int failed = exchange_file_read(directory->disk, &directory->exchange);
    explicit_bzero(directory->exchange.secret_key, sizeof directory->exchange.secret_key);
    if (failed == -EBADMSG)
        return context_fail(context, EXIT_CODE_problem, "%s/exchange is damaged", directory->path);
    if (failed != 0)
        return context_fail(context, EXIT_CODE_problem, "%s/exchange: %s", directory->path,
                            strerror(-failed));
    return true;
}

static bool read_segment_bytes(struct context *context, struct data_directory *directory)
{
    struct first_segment first = { UINT64_MAX, SEGMENT_BYTES_DEFAULT };
    int failed = disk_list(directory->disk, "journal", see_segment, &first);
    if (failed != 0 && failed != -ENOENT)
        return context_fail(context, EXIT_CODE_problem, "%s/journal: %s", directory->path,
                            strerror(-failed));
    if (first.bytes < SEGMENT_BYTES_MIN || first.bytes % SEGMENT_FRAMES_OFFSET != 0 ||
        first.bytes > UINT32_C(1) << 30)
        return context_fail(context, EXIT_CODE_problem,
                            "%s/journal: segment %llu has %llu bytes, which is no segment's size",
                            directory->path, (unsigned long long)first.number,
                            (unsigned long long)first.bytes);
    directory->segment_bytes = (uint32_t)first.bytes;
    return true;
}

const char *data_directory_path(const struct context *context)
{
    const char *path = context->arguments->values[FLAG_data];

    if (path == NULL)
        path = getenv("PERPD_STORE_DATA");
    return path == NULL || path[0] == '\0' ? option_row(OPTION_store_data)->initial : path;
}

/* The archive's second place, if one is named. */
static bool open_archive_copy(struct context *context, struct data_directory *directory)
{
    const char *path = context->arguments->values[FLAG_archive_copy];
    char name[SETTINGS_VALUE_MAX];
    struct stat status;
    bool ring_refused;
    int failed = 0;

    if (path == NULL)
        return true;
    int length = snprintf(name, sizeof name, "%s/archive", path);
    if (length < 0 || (size_t)length >= sizeof name || stat(name, &status) != 0)
        return context_fail(context, EXIT_CODE_problem, "%s is no second place of an archive: %s",
                            path, strerror(errno));
    directory->archive_copy = disk_real_open(path, &failed, &ring_refused);
    directory->disk->archive_copy = directory->archive_copy;
    return directory->archive_copy != NULL ||
           context_fail(context, EXIT_CODE_problem, "%s: %s", path, strerror(-failed));
}

bool data_directory_open(struct context *context, const char *path,
                         struct data_directory *directory)
{
    char name[SETTINGS_VALUE_MAX];
    struct stat status;
    bool ring_refused;
    int failed = 0;
    *directory =
        (struct data_directory){ .path = path == NULL ? data_directory_path(context) : path };
    /* Looked for first: opening the disk would make the folder. */
    int length = snprintf(name, sizeof name, "%s/exchange", directory->path);
    if (length < 0 || (size_t)length >= sizeof name || stat(name, &status) != 0)
        return context_fail(context, EXIT_CODE_problem, "%s is no data directory: %s",
                            directory->path, strerror(errno));
    directory->disk = disk_real_open(directory->path, &failed, &ring_refused);
    if (directory->disk == NULL)
        return context_fail(context, EXIT_CODE_problem, "%s: %s", directory->path,
                            strerror(-failed));
    if (read_exchange(context, directory) && read_segment_bytes(context, directory) &&
        open_archive_copy(context, directory))
        return true;
    data_directory_close(directory);
    return false;
}

void data_directory_close(struct data_directory *directory)
{
    if (directory->disk != NULL)
        disk_real_close(directory->disk);
    if (directory->archive_copy != NULL)
        disk_real_close(directory->archive_copy);
    directory->disk = directory->archive_copy = NULL;
}

bool data_directory_refused(struct context *context, const struct data_directory *directory,
                            const struct refusal *refusal)
{
    bool is_other = refusal->kind == REFUSAL_exchange_missing ||
                    refusal->kind == REFUSAL_exchange_damaged ||
                    refusal->kind == REFUSAL_exchange_id;
    return context_fail(context, is_other ? EXIT_CODE_problem : EXIT_CODE_rejected, "%s: %s",
                        directory->path, refusal->text);
}
