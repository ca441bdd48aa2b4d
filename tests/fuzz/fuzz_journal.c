/* A small journal segment from arbitrary bytes: recovery takes a chain, cuts above it or refuses it
 * (journal.md, Recovery); a start that was accepted is accepted again and comes to the same. */
#include <errno.h>
#include <stdlib.h>

#include "base/crc32c.h"
#include "store/chain.h"
#include "store/recovery.h"
#include "support/sim/disk_sim.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SEGMENT = SEGMENT_BYTES_MIN, BLOCK = 512, SEGMENTS = 2 };

static void must(bool condition)
{
    if (!condition)
        abort();
}

static int count_record(void *context, uint64_t sequence, uint64_t frame,
                        const struct record_view *record)
{
    uint64_t *last = context;

    must(sequence == *last + 1 && frame > 0 && record->length <= RECORD_BYTES_MAX);
    *last = sequence;
    return 0;
}

/* Each block that says so becomes a frame with the right head; with `chained` each follows the one
 * before, so that what they hold and say is all that is left to mutate. */
static void make_frames(uint8_t *bytes, uint64_t segment, bool chained, struct frame_tail *tail)
{
    for (uint32_t at = SEGMENT_FRAMES_OFFSET; at < SEGMENT; at += BLOCK) {
        uint8_t *frame = bytes + at;
        uint32_t length = cc_load32(frame + 80);
        struct frame_header header;

        if (frame[0] != 'p' || length > SEGMENT - at || length < FRAME_HEADER_BYTES)
            continue;
        memcpy(frame, "perpdFRM", 8);
        cc_store16(frame + 8, FRAME_VERSION);
        cc_store16(frame + 10, FRAME_HEADER_BYTES);
        memset(frame + 16, 0, FRAME_JOURNAL_ID_BYTES);
        cc_store64(frame + 40, segment);
        if (chained) {
            cc_store64(frame + 48, tail->number + 1);
            cc_store64(frame + 56, tail->last_sequence + 1);
            cc_store64(frame + 64, tail->last_sequence + cc_load32(frame + 84));
            memcpy(frame + 96, tail->hash, HASH_BYTES);
        }
        cc_store32(frame + 12, crc32c(frame + 16, length - 16));
        if (chained &&
            frame_decode(&header, frame, SEGMENT - at, frame + 16, segment, BLOCK) == 0) {
            frame_tail_advance(tail, &header, frame);
            at += length - BLOCK;
        }
    }
}

static enum refusal_kind start(struct disk *disk, struct recovery_result *result, uint64_t *last)
{
    struct exchange_file exchange;
    struct refusal refusal;
    bool is_new;

    *last = 0;
    must(exchange_file_open(disk, NULL, &exchange, &is_new, &refusal) == REFUSAL_none);
    const struct recovery_config config = { .disk = disk,
                                            .exchange = &exchange,
                                            .segment_bytes = SEGMENT,
                                            .apply = count_record,
                                            .context = last };
    enum refusal_kind kind = recovery_run(&config, result, &refusal);

    disk_sim_crash(disk, 3);
    return kind;
}

/* What the chain's reader makes of the same bytes. */
static uint64_t frames_read(struct disk *disk, const struct exchange_file *exchange, int *end)
{
    const struct chain_config config = {
        .disk = disk, .exchange = exchange, .segment_bytes = SEGMENT, .last_segment = UINT64_MAX
    };
    struct chain_frame frame;
    struct refusal refusal;
    struct chain *chain;
    uint64_t frames = 0;

    must(chain_open(&chain, &config, &refusal) == REFUSAL_none);
    while ((*end = chain_next(chain, &frame)) > 0)
        frames++;
    chain_close(chain);
    return frames;
}

static void segments_put(struct disk *disk, const struct exchange_file *exchange,
                         const uint8_t *data, size_t size, unsigned how)
{
    struct frame_tail tail;

    frame_tail_start(&tail, exchange->exchange_id);
    for (uint64_t n = 0; n < SEGMENTS; n++) {
        struct segment_header header = segment_header_of(exchange, n, 1, BLOCK);
        uint8_t bytes[SEGMENT] = { 0 };
        char path[DISK_PATH_BYTES];
        size_t room = SEGMENT - SEGMENT_FRAMES_OFFSET;
        size_t count = size < room ? size : room;
        int file;

        memcpy(bytes + SEGMENT_FRAMES_OFFSET, data, count);
        data += count;
        size -= count;
        if (how & 1)
            make_frames(bytes, n, how & 2, &tail);
        segment_encode(bytes, &header);
        segment_path(path, n, true);
        file = disk_open(disk, path, DISK_CREATE);
        must(file >= 0 && disk_write(disk, file, 0, bytes, sizeof bytes) == 0);
        must(disk_sync(disk, file) == 0);
        disk_close(disk, file);
    }
    must(disk_sync_folder(disk, "journal") == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct disk_sim_config config = { .seed = 1, .block_bytes = BLOCK };
    struct exchange_file exchange = { .boot = 1, .is_former = true };
    struct recovery_result first = { 0 };
    struct recovery_result second = { 0 };
    struct disk *disk = disk_sim_create(&config);
    struct frame_tail start_of_chain;
    struct witness witness = { 0 }; /* of no frame yet: every end of a chain is allowed */
    uint64_t last;
    uint64_t again;
    uint64_t read;
    int end;

    if (size == 0) {
        disk_sim_destroy(disk);
        return 0;
    }
    must(disk && disk_make_folder(disk, "") == 0 && disk_make_folder(disk, "journal") == 0);
    must(exchange_file_write(disk, &exchange) == 0);
    frame_tail_start(&start_of_chain, exchange.exchange_id);
    memcpy(witness.hash, start_of_chain.hash, sizeof witness.hash);
    must(witness_write(disk, &exchange, &witness, &(struct slot_location){ 0 }) == 0);
    segments_put(disk, &exchange, data + 1, size - 1, data[0]);
    read = frames_read(disk, &exchange, &end);
    enum refusal_kind kind = start(disk, &first, &last);

    must(kind == REFUSAL_none || kind == REFUSAL_frame_damaged || kind == REFUSAL_record_malformed);
    must((kind == REFUSAL_frame_damaged) == (end < 0));
    must(kind != REFUSAL_none || read == first.frames);
    if (kind == REFUSAL_none) {
        must(first.position.tail.last_sequence == last);
        must(start(disk, &second, &again) == REFUSAL_none);
        must(again == last && second.frames == first.frames && second.cut_bytes == 0);
        must(second.boot == first.boot + 1);
    }
    disk_sim_destroy(disk);
    return 0;
}
