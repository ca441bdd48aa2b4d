#include "perp/chain_walk.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "store/segment.h"
#include "store/segment_set.h"

enum { ROUNDS_MAX = 8 };

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

/* From walk->end (a frame's end) to where the chain ends now. *came: frames in this turn. */
static enum refusal_kind read_chain(const struct data_directory *directory, struct chain_walk *walk,
                                    chain_walk_visit *visit, void *context, uint64_t *came,
                                    struct refusal *refusal)
{
    struct chain_config config = {
        .disk = directory->disk,
        .exchange = &directory->exchange,
        .segment_bytes = directory->segment_bytes,
        .after_frame = walk->end.tail.number,
        .last_segment = UINT64_MAX,
    };
    struct chain_frame frame;
    struct chain *chain;
    int found = 0;
    *came = 0;
    memcpy(config.after_hash, walk->end.tail.hash, HASH_BYTES);
    enum refusal_kind kind = chain_open(&chain, &config, refusal);
    if (kind != REFUSAL_none)
        return kind;
    for (;;) {
        walk->before = chain_position(chain);
        if ((found = chain_next(chain, &frame)) <= 0)
            break;
        (*came)++;
        see_frame(walk, &frame);
        walk->ended = !visit(context, &frame);
        if (walk->ended)
            break;
    }
    walk->end = chain_position(chain);
    chain_close(chain);
    return found < 0 ? refusal->kind : REFUSAL_none;
}

/* ---- what stands behind it ------------------------------------------------------------------- */

static bool is_own_header(const struct data_directory *directory, const uint8_t *bytes,
                          uint64_t number, struct segment_header *header)
{
    return segment_decode(header, bytes) == 0 &&
           segment_belongs(header, &directory->exchange, number);
}

/* Every whole frame of a segment from `offset` on has its say about what is durable. */
static void scan_segment(const struct data_directory *directory, struct chain_walk *walk,
                         const uint8_t *bytes, uint64_t number, uint64_t offset)
{
    struct segment_header segment;
    struct frame_header frame;
    if (!is_own_header(directory, bytes, number, &segment))
        return;
    for (; offset < directory->segment_bytes; offset += segment.block_bytes) {
        if (segment_set_zero(bytes + offset, segment.block_bytes))
            continue;
        walk->torn_bytes += segment.block_bytes;
        if (frame_decode(&frame, bytes + offset, directory->segment_bytes - offset,
                         directory->exchange.journal_id, number, segment.block_bytes) == 0 &&
            frame.boot >= walk->end.tail.boot)
            see_boot(walk, frame.boot, frame.durable_frame);
    }
}

static enum refusal_kind scan_rest(const struct data_directory *directory, struct chain_walk *walk,
                                   struct refusal *refusal)
{
    uint64_t offset = walk->end.offset;
    uint8_t *bytes = malloc(directory->segment_bytes);
    if (bytes == NULL)
        return refusal_machine(refusal, "memory", -ENOMEM);
    walk->torn_bytes = 0;
    for (uint64_t number = walk->end.segment;; number++, offset = SEGMENT_FRAMES_OFFSET) {
        char path[DISK_PATH_BYTES];
        segment_path(path, number, true);
        int file = disk_open(directory->disk, path, 0);
        if (file < 0)
            break; /* the last one has been seen */
        int64_t count = disk_read(directory->disk, file, 0, bytes, directory->segment_bytes);
        disk_close(directory->disk, file);
        if (count == directory->segment_bytes)
            scan_segment(directory, walk, bytes, number, offset);
    }
    free(bytes);
    return REFUSAL_none;
}

static enum refusal_kind damaged(const struct chain_walk *walk, struct refusal *refusal)
{
    refusal->segment = walk->end.segment;
    refusal->offset = walk->end.offset;
    return refusal_set(refusal, REFUSAL_frame_damaged,
                       "frame %" PRIu64 ", expected in segment %" PRIu64 " at offset %" PRIu64
                       ", is missing or wrong, but frame %" PRIu64 " was durable in boot %" PRIu64,
                       walk->end.tail.number + 1, walk->end.segment, walk->end.offset,
                       walk->durable_frame, walk->newest_boot);
}

enum refusal_kind chain_walk_run(const struct data_directory *directory, struct chain_walk *walk,
                                 chain_walk_visit *visit, void *context, struct refusal *refusal)
{
    refusal_clear(refusal);
    frame_tail_start(&walk->end.tail, directory->exchange.exchange_id);
    if (walk->after_frame != 0) {
        walk->end.tail.number = walk->after_frame;
        memcpy(walk->end.tail.hash, walk->after_hash, HASH_BYTES);
    }
    for (int round = 0; round < ROUNDS_MAX; round++) {
        uint64_t came;
        enum refusal_kind kind = read_chain(directory, walk, visit, context, &came, refusal);
        if (kind != REFUSAL_none || walk->ended)
            return kind;
        /* A frame that the last scan found named is still not there: nobody is writing it. */
        if (round > 0 && came == 0 && walk->end.tail.number < walk->durable_frame)
            return damaged(walk, refusal);
        kind = scan_rest(directory, walk, refusal);
        if (kind != REFUSAL_none || walk->end.tail.number >= walk->durable_frame)
            return kind;
    }
    return REFUSAL_none; /* a busy primary: each look found the frames that the one before missed */
}

enum refusal_kind chain_walk_skip(const struct data_directory *directory, struct chain_walk *walk,
                                  uint64_t sequence, struct refusal *refusal)
{
    struct archive archive;
    enum refusal_kind kind = archive_open(&archive, directory->disk, &directory->exchange, refusal);
    if (kind != REFUSAL_none)
        return kind;
    for (uint64_t i = 0; i < archive.count && archive.entries[i].last_sequence < sequence; i++) {
        walk->after_frame = archive.entries[i].last_frame;
        memcpy(walk->after_hash, archive.entries[i].last_frame_hash, HASH_BYTES);
    }
    archive_close(&archive);
    return REFUSAL_none;
}
