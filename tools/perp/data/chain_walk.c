#include "perp/data/chain_walk.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "store/segment.h"
#include "store/segment_set.h"
#include "store/snapshot.h"

enum { SNAPSHOTS_LOOKED_AT = 16 };

/* ---- the chain ------------------------------------------------------------------------------- */

static void see_boot(struct chain_walk *walk, uint64_t boot, uint64_t durable_frame)
{
    if (boot > walk->newest_boot) {
        walk->newest_boot = boot;
        walk->durable_frame = durable_frame;
    } else if (boot == walk->newest_boot && durable_frame > walk->durable_frame) {
        walk->durable_frame = durable_frame;
    }
}

static void see_frame(struct chain_walk *walk, const struct chain_frame *frame)
{
    const struct frame_header *header = &frame->header;
    walk->frames++;
    walk->records += header->record_count;
    walk->bytes += header->length;
    walk->record_bytes += header->record_bytes;
    walk->archived_frames += frame->archived;
    walk->clean_stop = header->record_count == 0;
    see_boot(walk, header->boot, header->durable_frame);
}

static enum refusal_kind read_chain(const struct data_directory *directory, struct chain_walk *walk,
                                    chain_walk_visit *visit, void *context, struct refusal *refusal)
{
    struct chain_config config = {
        .disk = directory->disk,
        .exchange = &directory->exchange,
        .segment_bytes = directory->segment_bytes,
        .after_frame = walk->after_frame,
        .last_segment = UINT64_MAX,
    };
    struct chain_frame frame;
    struct chain *chain;
    int found = 0;
    memcpy(config.after_hash, walk->after_hash, HASH_BYTES);
    enum refusal_kind kind = chain_open(&chain, &config, refusal);
    if (kind != REFUSAL_none)
        return kind;
    while (!walk->ended) {
        walk->before = chain_position(chain);
        found = chain_next(chain, &frame);
        if (found <= 0)
            break;
        see_frame(walk, &frame);
        walk->ended = !visit(context, &frame);
    }
    walk->end = chain_position(chain);
    chain_close(chain);
    return found < 0 ? refusal->kind : REFUSAL_none;
}

/* ---- after the end --------------------------------------------------------------------------- */

static bool is_own_header(const struct data_directory *directory, const uint8_t *bytes,
                          uint64_t number, struct segment_header *header)
{
    return segment_decode(header, bytes) == 0 &&
           segment_belongs(header, &directory->exchange, number);
}

static void count_torn(const struct data_directory *directory, struct chain_walk *walk,
                       const uint8_t *bytes, uint64_t number, uint64_t offset)
{
    struct segment_header segment;
    if (!is_own_header(directory, bytes, number, &segment))
        return;
    for (; offset < directory->segment_bytes; offset += segment.block_bytes)
        if (!cc_is_zero(bytes + offset, segment.block_bytes))
            walk->torn_bytes += segment.block_bytes;
}

static enum refusal_kind read_rest(const struct data_directory *directory, struct chain_walk *walk,
                                   struct refusal *refusal)
{
    uint64_t offset = walk->end.offset;
    uint8_t *bytes = segment_memory(directory->segment_bytes);
    if (bytes == NULL)
        return refusal_machine(refusal, "memory", -ENOMEM);
    for (uint64_t number = walk->end.segment;; number++, offset = SEGMENT_FRAMES_OFFSET) {
        char path[DISK_PATH_BYTES];
        segment_path(path, number, true);
        int file = disk_open(directory->disk, path, 0);
        if (file < 0)
            break; /* the last one has been seen */
        int64_t count = disk_read(directory->disk, file, 0, bytes, directory->segment_bytes);
        disk_close(directory->disk, file);
        if (count == directory->segment_bytes)
            count_torn(directory, walk, bytes, number, offset);
    }
    free(bytes);
    return REFUSAL_none;
}

/* ---- snapshots ------------------------------------------------------------------------------- */

/* The newest snapshot with a valid header; sequence 0: none. */
static void newest_snapshot(const struct data_directory *directory, struct snapshot_head *head)
{
    uint64_t sequences[SNAPSHOTS_LOOKED_AT];
    int count = snapshot_list(directory->disk, sequences, SNAPSHOTS_LOOKED_AT);
    *head = (struct snapshot_head){ 0 };
    for (int i = 0; i < count && head->sequence == 0; i++)
        if (snapshot_read_head(directory->disk, &directory->exchange, sequences[i], head, NULL) !=
            0)
            head->sequence = 0;
}

/* docs/decisions/0041: a snapshot proves that its frame was durable. */
static enum refusal_kind before_snapshot(const struct chain_walk *walk,
                                         const struct snapshot_head *head, struct refusal *refusal)
{
    if (head->sequence == 0 || walk->end.tail.number >= head->frame)
        return REFUSAL_none;
    refusal->segment = walk->end.segment;
    refusal->offset = walk->end.offset;
    return refusal_set(refusal, REFUSAL_frame_damaged,
                       "frame %" PRIu64 ", expected in segment %" PRIu64 " at offset %" PRIu64
                       ", is missing, but snapshot %" PRIu64 " was made behind frame %" PRIu64,
                       walk->end.tail.number + 1, walk->end.segment, walk->end.offset,
                       head->sequence, head->frame);
}

enum refusal_kind chain_walk_run(const struct data_directory *directory, struct chain_walk *walk,
                                 chain_walk_visit *visit, void *context, struct refusal *refusal)
{
    struct snapshot_head head;
    refusal_clear(refusal);
    newest_snapshot(directory, &head); /* first: a primary may write one during the walk */
    enum refusal_kind kind = read_chain(directory, walk, visit, context, refusal);
    if (kind == REFUSAL_none && !walk->ended)
        kind = before_snapshot(walk, &head, refusal);
    if (kind == REFUSAL_none && !walk->ended)
        kind = read_rest(directory, walk, refusal);
    return kind;
}

enum refusal_kind chain_walk_skip(const struct data_directory *directory, struct chain_walk *walk,
                                  uint64_t sequence, struct refusal *refusal)
{
    struct archive archive;
    enum refusal_kind kind = archive_open(&archive, directory->disk, &directory->exchange, refusal);
    if (kind != REFUSAL_none)
        return kind;
    for (uint64_t i = 0; i < archive.count && archive.rows[i].last_sequence < sequence; i++) {
        walk->after_frame = archive.rows[i].last_frame;
        memcpy(walk->after_hash, archive.rows[i].last_frame_hash, HASH_BYTES);
    }
    archive_close(&archive);
    return REFUSAL_none;
}
