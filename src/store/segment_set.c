#include "store/segment_set.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

static void note_visit(void *context, const char *name, uint64_t bytes)
{
    struct segment_set *set = context;
    uint64_t number;

    if (segment_number_of(name, &number) && segment_set_has(set, number))
        segment_set_note(set, number)->bytes = bytes;
}

static enum refusal_kind set_list(struct segment_set *set)
{
    struct segment_range range;
    int error = segment_range_of(set->disk, &range);

    if (error < 0)
        return refusal_machine(set->refusal, "listing journal", error);
    if (range.count == 0)
        return REFUSAL_none;
    set->first = range.min;
    if (range.max - range.min + 1 != range.count) {
        set->refusal->segment = range.min;
        return refusal_set(set->refusal, REFUSAL_segment_missing,
                           "%" PRIu64 " segments, numbered %" PRIu64 " to %" PRIu64, range.count,
                           range.min, range.max);
    }
    set->count = range.count;
    set->notes = calloc(set->count, sizeof set->notes[0]);
    if (!set->notes)
        return refusal_machine(set->refusal, "memory for the list of segments", -ENOMEM);
    error = disk_list(set->disk, "journal", note_visit, set);
    return error < 0 ? refusal_machine(set->refusal, "listing journal", error) : REFUSAL_none;
}

static enum refusal_kind set_read(struct segment_set *set, uint64_t number, uint64_t offset,
                                  void *out, size_t count)
{
    char path[DISK_PATH_BYTES];
    int64_t got;
    int file;

    segment_path(path, number, true);
    set->refusal->segment = number;
    file = disk_open(set->disk, path, DISK_DIRECT | DISK_OWN);
    if (file == -EWOULDBLOCK)
        return refusal_set(set->refusal, REFUSAL_locked,
                           "writes to segment %" PRIu64 " are still under way", number);
    if (file < 0)
        return refusal_machine(set->refusal, "opening a segment", file);
    got = disk_read(set->disk, file, offset, out, count);
    disk_close(set->disk, file);
    if (got >= 0 && (uint64_t)got != count)
        got = -EIO;
    return got < 0 ? refusal_machine(set->refusal, "reading a segment", (int)got) : REFUSAL_none;
}

/* Notes whether no byte after the header is anything but zero: no frame was ever in it. */
static enum refusal_kind emptiness_note(struct segment_set *set, uint64_t number)
{
    enum refusal_kind kind = segment_set_load(set, number);

    segment_set_note(set, number)->blank =
        kind == REFUSAL_none &&
        cc_is_zero(set->bytes + SEGMENT_FRAMES_OFFSET, set->segment_bytes - SEGMENT_FRAMES_OFFSET);
    return kind;
}

/* The header is right, or all that follows it is zero. */
static enum refusal_kind header_check(struct segment_set *set, uint64_t number)
{
    struct segment_note *note = segment_set_note(set, number);
    struct segment_header header;
    enum refusal_kind kind;

    set->refusal->segment = number;
    note->first_frame = UINT64_MAX;
    note->block_bytes = set->disk->block_bytes;
    if (note->bytes != set->segment_bytes)
        return refusal_set(set->refusal, REFUSAL_segment_size,
                           "segment %" PRIu64 " has %" PRIu64 " bytes instead of %" PRIu32, number,
                           note->bytes, set->segment_bytes);
    kind = set_read(set, number, 0, set->frame_bytes, SEGMENT_FRAMES_OFFSET);
    if (kind != REFUSAL_none)
        return kind;
    int damaged = segment_decode(&header, set->frame_bytes);
    if (damaged < 0 || !segment_belongs(&header, set->exchange, number))
        kind = emptiness_note(set, number);
    if (kind != REFUSAL_none || note->blank)
        return kind;
    if (damaged < 0)
        return refusal_set(set->refusal, REFUSAL_segment_header,
                           "segment %" PRIu64 ", offset 0: damaged", number);
    if (!segment_belongs(&header, set->exchange, number))
        return refusal_set(set->refusal, REFUSAL_segment_header,
                           "segment %" PRIu64 ", offset 0: of another journal or number", number);
    note->block_bytes = header.block_bytes;
    set->boot_max = header.boot > set->boot_max ? header.boot : set->boot_max;
    return REFUSAL_none;
}

enum refusal_kind segment_set_open(struct segment_set *set, struct disk *disk,
                                   const struct exchange_file *exchange, uint32_t segment_bytes,
                                   struct refusal *refusal)
{
    enum refusal_kind kind;

    *set = (struct segment_set){
        .disk = disk,
        .exchange = exchange,
        .refusal = refusal,
        .segment_bytes = segment_bytes,
        .loaded = UINT64_MAX,
        .bytes = segment_memory(segment_bytes),
        .frame_bytes_max = segment_bytes - SEGMENT_FRAMES_OFFSET,
    };
    if (set->frame_bytes_max > FRAME_BYTES_MAX)
        set->frame_bytes_max = FRAME_BYTES_MAX;
    set->frame_bytes = aligned_alloc(DISK_ALIGNMENT, set->frame_bytes_max);
    if (!set->bytes || !set->frame_bytes)
        return refusal_machine(refusal, "memory for a segment", -ENOMEM);
    kind = set_list(set);
    for (uint64_t i = 0; kind == REFUSAL_none && i < set->count; i++)
        kind = header_check(set, set->first + i);
    return kind;
}

void segment_set_close(struct segment_set *set)
{
    free(set->bytes);
    free(set->frame_bytes);
    free(set->notes);
}

bool segment_set_has(const struct segment_set *set, uint64_t number)
{
    return number >= set->first && number - set->first < set->count;
}

struct segment_note *segment_set_note(struct segment_set *set, uint64_t number)
{
    INVARIANT(segment_set_has(set, number));
    return &set->notes[number - set->first];
}

enum refusal_kind segment_set_load(struct segment_set *set, uint64_t number)
{
    enum refusal_kind kind;

    if (set->loaded == number)
        return REFUSAL_none;
    set->loaded = UINT64_MAX;
    kind = set_read(set, number, 0, set->bytes, set->segment_bytes);
    if (kind == REFUSAL_none)
        set->loaded = number;
    return kind;
}

void segment_set_unload(struct segment_set *set)
{
    set->loaded = UINT64_MAX;
}

enum refusal_kind segment_set_peek(struct segment_set *set, uint64_t number, size_t *count)
{
    *count = set->frame_bytes_max;
    return set_read(set, number, SEGMENT_FRAMES_OFFSET, set->frame_bytes, *count);
}

int segment_set_edit(struct segment_set *set, uint64_t number)
{
    char path[DISK_PATH_BYTES];

    segment_path(path, number, true);
    return disk_open(set->disk, path, DISK_WRITE);
}

static int head_write(struct segment_set *set, uint64_t number, uint64_t boot)
{
    struct segment_header header =
        segment_header_of(set->exchange, number, boot, set->disk->block_bytes);
    int file = segment_set_edit(set, number);
    int error;

    if (file < 0)
        return file;
    segment_encode(set->frame_bytes, &header);
    error = disk_write(set->disk, file, 0, set->frame_bytes, SEGMENT_FRAMES_OFFSET);
    if (error == 0)
        error = disk_sync(set->disk, file);
    disk_close(set->disk, file);
    return error;
}

enum refusal_kind segment_set_head_blanks(struct segment_set *set, uint64_t boot)
{
    for (uint64_t n = set->first; segment_set_has(set, n); n++) {
        int error = segment_set_note(set, n)->blank ? head_write(set, n, boot) : 0;

        if (error < 0)
            return refusal_machine(set->refusal, "writing a segment's header", error);
    }
    return REFUSAL_none;
}
