#include "store/archive_folder.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/segment.h"

enum { SWEEP_MAX = 64 }; /* names removed between two listings of the folder */

void archive_folder_path(char out[DISK_PATH_BYTES], uint64_t number, bool is_part)
{
    int used = snprintf(out, DISK_PATH_BYTES, "archive/%010" PRIu64 ".seg.zst%s", number,
                        is_part ? ".part" : "");

    INVARIANT(used > 0 && used < DISK_PATH_BYTES);
}

/* The number of a file name "NNNNNNNNNN.seg.zst". */
static bool file_number_of(const char *name, uint64_t *number)
{
    const size_t length = sizeof "NNNNNNNNNN.seg" - 1;
    char segment[sizeof "NNNNNNNNNN.seg"];

    if (strlen(name) != length + 4 || strcmp(name + length, ".zst") != 0)
        return false;
    memcpy(segment, name, length);
    segment[length] = '\0';
    return segment_number_of(segment, number);
}

/* The files of the folder held against the list. */
struct folder_check {
    const struct archive *archive;
    bool *found; /* of row i: a file of its size is there */
};

static void check_visit(void *context, const char *name, uint64_t bytes)
{
    struct folder_check *check = context;
    const struct archive_row *row;
    uint64_t number;

    if (!file_number_of(name, &number))
        return;
    row = archive_find(check->archive, number);
    if (row && row->bytes == bytes)
        check->found[row - check->archive->rows] = true;
}

int archive_folder_check(const struct archive *archive, struct disk *disk, bool by_copy,
                         uint64_t *missing)
{
    struct folder_check check = { .archive = archive };
    int error;

    if (archive->count == 0)
        return 0;
    check.found = calloc(archive->count, sizeof check.found[0]);
    if (!check.found)
        return -ENOMEM;
    error = disk_list(disk, "archive", check_visit, &check);
    if (by_copy && disk->archive_copy != NULL) /* as far as it can be read */
        (void)!disk_list(disk->archive_copy, "archive", check_visit, &check);
    for (uint64_t i = 0; error == 0 && i < archive->count; i++) {
        *missing = archive->rows[i].segment;
        if (!check.found[i])
            error = -ENOENT;
    }
    free(check.found);
    return error;
}

/* The files of the folder by number. */
struct survey {
    bool *found;      /* of segment highest - i */
    uint64_t highest; /* number */
    uint64_t count;   /* of files */
};

static void survey_highest(void *context, const char *name, uint64_t bytes)
{
    struct survey *survey = context;
    uint64_t number;

    (void)bytes;
    if (!file_number_of(name, &number))
        return;
    if (number > survey->highest)
        survey->highest = number;
    survey->count++;
}

static void survey_mark(void *context, const char *name, uint64_t bytes)
{
    struct survey *survey = context;
    uint64_t number;

    (void)bytes;
    if (file_number_of(name, &number) && number <= survey->highest &&
        survey->highest - number < survey->count)
        survey->found[survey->highest - number] = true;
}

int archive_folder_range(struct disk *disk, uint64_t *first, uint64_t *end)
{
    struct survey survey = { 0 };
    int error = disk_list(disk, "archive", survey_highest, &survey);
    uint64_t run = 0;

    *first = *end = 0;
    if (error < 0 || survey.count == 0)
        return error == -ENOENT ? 0 : error;
    survey.found = calloc(survey.count, sizeof survey.found[0]);
    if (!survey.found)
        return -ENOMEM;
    error = disk_list(disk, "archive", survey_mark, &survey);
    while (run < survey.count && survey.found[run])
        run++;
    *end = survey.highest + 1;
    *first = *end - run;
    free(survey.found);
    return error;
}

/* Files below the list: of this removal, and of one that a crash cut short. */
struct sweep {
    uint64_t first; /* the first segment listed */
    uint64_t numbers[SWEEP_MAX];
    int count;
};

static void sweep_visit(void *context, const char *name, uint64_t bytes)
{
    struct sweep *sweep = context;
    uint64_t number;

    (void)bytes;
    if (file_number_of(name, &number) && number < sweep->first && sweep->count < SWEEP_MAX)
        sweep->numbers[sweep->count++] = number;
}

int archive_folder_sweep(struct disk *disk, uint64_t first)
{
    struct sweep sweep = { .first = first };
    int error;

    do {
        sweep.count = 0;
        error = disk_list(disk, "archive", sweep_visit, &sweep);
        for (int i = 0; error == 0 && i < sweep.count; i++) {
            char path[DISK_PATH_BYTES];

            archive_folder_path(path, sweep.numbers[i], false);
            error = disk_remove(disk, path);
        }
    } while (error == 0 && sweep.count > 0);
    return error == 0 ? disk_sync_folder(disk, "archive") : error;
}
