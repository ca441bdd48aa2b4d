#include "store/discarded.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define FOLDER "discarded"

struct discarded_tails {
    uint64_t count; /* noted since the beginning; the slot of the next is count modulo the size */
    struct discarded_end ends[RECOVERY_TAILS_MAX];
};

struct discarded_tails *discarded_tails_make(void)
{
    return calloc(1, sizeof(struct discarded_tails));
}

void discarded_tails_free(struct discarded_tails *tails)
{
    free(tails);
}

void discarded_note(struct discarded_tails *tails, const struct frame_tail *tail, uint64_t segment,
                    uint64_t offset, bool is_closed)
{
    tails->ends[tails->count++ % RECOVERY_TAILS_MAX] =
        (struct discarded_end){ *tail, segment, offset, is_closed };
}

enum refusal_kind discarded_agree(const struct discarded_tails *tails,
                                  const struct recovery_config *config,
                                  const struct frame_tail *last, uint64_t least,
                                  struct discarded_end *end, struct refusal *refusal)
{
    uint32_t count =
        tails->count < RECOVERY_TAILS_MAX ? (uint32_t)tails->count : (uint32_t)RECOVERY_TAILS_MAX;
    struct frame_tail *ends = malloc((count + 1) * sizeof *ends);
    uint64_t keep = last->number;

    if (ends == NULL)
        return refusal_machine(refusal, "memory for the ends of frames", -ENOMEM);
    for (uint32_t i = 0; i < count; i++)
        ends[i] = tails->ends[(tails->count - count + i) % RECOVERY_TAILS_MAX].tail;
    if (count == 0)
        ends[0] = *last;
    enum refusal_kind kind =
        config->agree(config->context, ends, count == 0 ? 1 : count, least, &keep, refusal);
    free(ends);
    *end = (struct discarded_end){ .tail = *last };
    if (kind != REFUSAL_none || keep == last->number)
        return kind;
    INVARIANT(keep < last->number && last->number - keep < count);
    *end = tails->ends[(tails->count - 1 - (last->number - keep)) % RECOVERY_TAILS_MAX];
    INVARIANT(end->tail.number == keep);
    return REFUSAL_none;
}

/* ---- the file -------------------------------------------------------------------------------- */

/* One file under way. */
struct keeping {
    struct segment_set *set;
    int file;
    uint64_t offset; /* in the file */
    uint64_t number; /* of the last frame written */
    struct recovery_result *result;
};

/* Writes one frame and reads it back. */
static int frame_keep(struct keeping *keeping, const struct frame_header *header,
                      const uint8_t *bytes)
{
    struct disk *disk = keeping->set->disk;
    int error = disk_write(disk, keeping->file, keeping->offset, bytes, header->length);

    if (error < 0)
        return error;
    keeping->offset += header->length;
    keeping->number = header->number;
    if (header->record_count == 0)
        return 0;
    if (keeping->result->discarded_first == 0)
        keeping->result->discarded_first = header->first_sequence;
    keeping->result->discarded_last = header->last_sequence;
    return 0;
}

/* Every frame of the chain after `end`, in order. */
static enum refusal_kind frames_keep(struct keeping *keeping, const struct discarded_end *end,
                                     uint64_t last, struct refusal *refusal)
{
    struct segment_set *set = keeping->set;
    uint64_t segment = end->segment;
    uint64_t offset = end->offset;

    while (keeping->number < last) {
        enum refusal_kind kind = segment_set_load(set, segment);
        const uint8_t *bytes = set->bytes + offset;
        struct frame_header header;

        if (kind != REFUSAL_none)
            return kind;
        if (offset < set->segment_bytes &&
            frame_decode(&header, bytes, set->segment_bytes - offset,
                         exchange_file_journal(set->exchange, segment), segment,
                         segment_set_note(set, segment)->block_bytes) == 0 &&
            header.number == keeping->number + 1) {
            int error = frame_keep(keeping, &header, bytes);
            if (error < 0)
                return refusal_machine(refusal, "writing discarded frames", error);
            offset += header.length;
            continue;
        }
        segment++;
        offset = SEGMENT_FRAMES_OFFSET;
        if (!segment_set_has(set, segment))
            return refusal_machine(refusal, "reading the chain again", -EIO);
    }
    return REFUSAL_none;
}

enum refusal_kind discarded_keep(struct segment_set *set, const struct discarded_end *end,
                                 const struct frame_tail *last, struct recovery_result *result)
{
    struct keeping keeping = { .set = set, .number = end->tail.number, .result = result };
    struct refusal *refusal = set->refusal;
    char path[DISK_PATH_BYTES];
    int error = disk_make_folder(set->disk, FOLDER);

    snprintf(path, sizeof path, FOLDER "/%" PRIu64 "-%" PRIu64 "-%" PRIu64 ".frames", last->boot,
             end->tail.number + 1, last->number);
    if (error == 0)
        error = disk_sync_folder(set->disk, "");
    if (error < 0)
        return refusal_machine(refusal, "making discarded", error);
    keeping.file = disk_open(set->disk, path, DISK_CREATE | DISK_SECRET);
    if (keeping.file < 0)
        return refusal_machine(refusal, "making a file of discarded frames", keeping.file);
    enum refusal_kind kind = frames_keep(&keeping, end, last->number, refusal);
    error = kind == REFUSAL_none ? disk_sync(set->disk, keeping.file) : 0;
    if (error == 0 && disk_size(set->disk, keeping.file) != (int64_t)keeping.offset)
        error = -EIO;
    disk_close(set->disk, keeping.file);
    if (error == 0 && kind == REFUSAL_none)
        error = disk_sync_folder(set->disk, FOLDER);
    if (error < 0)
        return refusal_machine(refusal, "writing discarded frames", error);
    result->discarded_frames = last->number - end->tail.number;
    result->frames -= result->discarded_frames;
    return kind;
}
