#include "perp/data/segment_list.h"

#include <errno.h>
#include <stdlib.h>

#include "store/archive.h"
#include "store/frame.h"
#include "store/segment.h"
#include "store/segment_set.h"

/* The row of a number, made if it is not there; NULL without memory. */
static struct segment_row *row_of(struct segment_list *list, uint64_t number)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->rows[i].number == number)
            return &list->rows[i];
    struct segment_row *rows =
        reallocarray(list->rows, list->count + 1, sizeof(struct segment_row));
    if (rows == NULL)
        return NULL;
    list->rows = rows;
    rows[list->count] = (struct segment_row){ .number = number, .first_sequence = 1 };
    return &rows[list->count++];
}

static void see_file(void *context, const char *name, uint64_t bytes)
{
    struct segment_list *list = context;
    uint64_t number;
    if (!segment_number_of(name, &number))
        return;
    struct segment_row *row = row_of(list, number);
    INVARIANT(row != NULL);
    row->in_journal = true;
    row->file_bytes = bytes;
}

static enum refusal_kind read_archive(const struct data_directory *directory,
                                      struct segment_list *list, struct refusal *refusal)
{
    struct archive archive;
    enum refusal_kind kind = archive_open(&archive, directory->disk, &directory->exchange, refusal);
    if (kind != REFUSAL_none)
        return kind;
    for (uint64_t i = 0; i < archive.count; i++) {
        const struct archive_row *archived = &archive.rows[i];
        struct segment_row *row = row_of(list, archived->segment);
        INVARIANT(row != NULL);
        row->state = SEGMENT_SEALED;
        row->frames = archived->last_frame - archived->first_frame + 1;
        row->first_frame = archived->first_frame;
        row->last_frame = archived->last_frame;
        row->first_sequence = archived->first_sequence;
        row->last_sequence = archived->last_sequence;
        row->archive_bytes = archived->bytes;
    }
    archive_close(&archive);
    return REFUSAL_none;
}

static void add_frame(struct segment_row *row, const struct frame_header *frame)
{
    if (row->frames == 0) {
        row->first_frame = frame->number;
        row->first_boot = frame->boot;
        row->first_sequence = frame->first_sequence;
    }
    row->frames++;
    row->last_frame = frame->number;
    row->last_boot = frame->boot;
    row->last_sequence = frame->last_sequence;
    row->frame_bytes += frame->length;
}

/* The frames of a segment in memory. */
static void read_frames(const struct data_directory *directory, struct segment_row *row,
                        const uint8_t *bytes, uint64_t count)
{
    struct segment_header segment;
    struct frame_header frame;
    if (count < SEGMENT_FRAMES_OFFSET || segment_decode(&segment, bytes) != 0 ||
        !segment_belongs(&segment, &directory->exchange, row->number)) {
        row->bad_header = count < SEGMENT_FRAMES_OFFSET || !cc_is_zero(bytes, count);
        return;
    }
    uint64_t offset = SEGMENT_FRAMES_OFFSET;
    row->frames = 0;
    while (offset < count && frame_decode(&frame, bytes + offset, count - offset,
                                          exchange_file_journal(&directory->exchange, row->number),
                                          row->number, segment.block_bytes) == 0) {
        add_frame(row, &frame);
        offset += frame.length;
    }
    for (; offset < count && row->stray_offset == 0; offset += segment.block_bytes)
        if (!cc_is_zero(bytes + offset, segment.block_bytes))
            row->stray_offset = offset;
}

static enum refusal_kind read_segments(const struct data_directory *directory,
                                       struct segment_list *list, struct refusal *refusal)
{
    uint8_t *bytes = segment_memory(directory->segment_bytes);
    if (bytes == NULL)
        return refusal_machine(refusal, "memory", -ENOMEM);
    for (size_t i = 0; i < list->count; i++) {
        char path[DISK_PATH_BYTES];
        if (!list->rows[i].in_journal)
            continue;
        segment_path(path, list->rows[i].number, true);
        int file = disk_open(directory->disk, path, 0);
        if (file < 0) { /* archived and recycled in between */
            list->rows[i].in_journal = false;
            continue;
        }
        int64_t count = disk_read(directory->disk, file, 0, bytes, directory->segment_bytes);
        disk_close(directory->disk, file);
        if (count < 0) {
            free(bytes);
            return refusal_machine(refusal, path, (int)count);
        }
        read_frames(directory, &list->rows[i], bytes, (uint64_t)count);
    }
    free(bytes);
    return REFUSAL_none;
}

static int by_number(const void *left, const void *right)
{
    uint64_t a = ((const struct segment_row *)left)->number;
    uint64_t b = ((const struct segment_row *)right)->number;
    return (a > b) - (a < b);
}

/* A segment is sealed if a later one has frames; the last one with frames is open. */
static void seal(struct segment_list *list)
{
    bool later = false;
    for (size_t i = list->count; i-- > 0;) {
        struct segment_row *row = &list->rows[i];
        if (row->frames == 0)
            continue;
        row->state = later || row->archive_bytes > 0 ? SEGMENT_SEALED : SEGMENT_OPEN;
        later = true;
    }
}

enum refusal_kind segment_list_read(const struct data_directory *directory,
                                    struct segment_list *list, struct refusal *refusal)
{
    *list = (struct segment_list){ 0 };
    refusal_clear(refusal);
    enum refusal_kind kind = read_archive(directory, list, refusal);
    int failed = disk_list(directory->disk, "journal", see_file, list);
    if (kind == REFUSAL_none && failed != 0 && failed != -ENOENT)
        kind = refusal_machine(refusal, "listing journal/", failed);
    if (kind == REFUSAL_none)
        kind = read_segments(directory, list, refusal);
    if (list->count > 0)
        qsort(list->rows, list->count, sizeof list->rows[0], by_number);
    seal(list);
    if (kind != REFUSAL_none)
        segment_list_free(list);
    return kind;
}

void segment_list_free(struct segment_list *list)
{
    free(list->rows);
    *list = (struct segment_list){ 0 };
}
