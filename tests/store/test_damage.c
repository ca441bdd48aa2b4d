/* Damage to what a clean stop, or none, left behind (journal.md): any sealed block lost is refused
 * with exit 3 and nothing written; any byte flipped is refused, or is a lawful tail that is cut.
 *
 * A sample takes one byte and one lost block in N.
 * PERPD_DAMAGE_BITS: how many bits of each byte are flipped, one at a time (1; at night 8). */
#include <stdlib.h>

#include "base/crc32c.h"
#include "check.h"
#include "sample.h"
#include "store_run.h"
#include "support/sim/disk_sim.h"
#include "support/sim/sim_image.h"

enum { BLOCK = 512, FRAMES_MAX = 512 };

/* Where each frame stands: written down while it was submitted, not read from the disk. */
struct place {
    uint64_t segment;
    uint64_t offset;
    uint32_t blocks;
};

static struct store_model model;
static struct test_sample sample;
static struct place places[FRAMES_MAX];
static int place_count;

/* A disk with a journal over `segments` segments, acknowledged to its end. */
static struct disk *journal_disk(uint64_t segments, bool is_clean)
{
    struct disk_sim_config config = { .seed = 5, .block_bytes = BLOCK, .latency_max = 1 };
    struct store_options options = store_run_options();
    struct disk *disk = disk_sim_create(&config);
    uint64_t room = (options.segment_bytes - SEGMENT_FRAMES_OFFSET) / BLOCK;
    uint64_t segment = 0;
    uint64_t used = 0;
    struct store_run run;

    CHECK(disk);
    memset(&model, 0, sizeof model);
    model.random = 5;
    place_count = 0;
    CHECK(store_run_begin(&run, disk, &model, &options) == REFUSAL_none);
    while (segment + 1 < segments || used < room / 2) {
        uint32_t blocks = 1 + (uint32_t)(place_count * 5 % 4);

        if (used + blocks > room) {
            segment++;
            used = 0;
        }
        CHECK(segment < segments && place_count < FRAMES_MAX);
        places[place_count++] =
            (struct place){ segment, SEGMENT_FRAMES_OFFSET + used * BLOCK, blocks };
        used += blocks;
        CHECK(store_run_publish(&run, BLOCK * blocks - 200));
        CHECK(store_run_settle(&run, 100) == 0);
    }
    CHECK(model.acknowledged == (uint64_t)place_count);
    CHECK(journal_counters(run.journal).frames == (uint64_t)place_count);
    if (is_clean)
        CHECK(store_run_stop(&run) == 0);
    disk_sim_crash(disk, 1);
    store_run_end(&run);
    return disk;
}

static enum refusal_kind begin(struct store_run *run, struct disk *disk)
{
    struct store_options options = store_run_options();

    model.published = (uint64_t)place_count;
    return store_run_begin(run, disk, &model, &options);
}

/* Where recovery may say that a frame is missing: at its place, or, for the first of a segment, at
 * the end of what stands in the segment before. */
static bool is_place_of(const struct refusal *refusal, int index)
{
    const struct place *place = &places[index];

    if (refusal->segment == place->segment)
        return refusal->offset == place->offset;
    return index > 0 && place->offset == SEGMENT_FRAMES_OFFSET &&
           refusal->segment == place[-1].segment &&
           refusal->offset == place[-1].offset + (uint64_t)place[-1].blocks * BLOCK;
}

/* Exit 3, with the place of the frame, and nothing was written. */
static void refused(struct disk *disk, int index)
{
    uint64_t digest = disk_sim_digest(disk);
    enum refusal_kind kind;
    struct store_run run;

    kind = begin(&run, disk);
    CHECK(kind == REFUSAL_frame_damaged && refusal_exit_code(kind) == 3);
    CHECK(is_place_of(&run.refusal, index));
    CHECK(disk_sim_digest(disk) == digest);
}

/* Each block of each frame: zeros, another block, a block of noise. */
static void blocks_lost(void)
{
    struct disk *disk = journal_disk(3, true);
    uint64_t random = 1;
    uint64_t lost = 0;

    for (int i = 0; i < place_count; i++) {
        for (uint32_t block = 0; block < places[i].blocks; block++) {
            for (int kind = 0; kind < 3; kind++) {
                if (!sample_takes(&sample, (uint64_t)i + block + (uint64_t)kind))
                    continue;
                struct disk *copy = disk_sim_copy(disk);
                char path[DISK_PATH_BYTES];
                uint8_t bytes[BLOCK] = { 0 };

                segment_path(path, places[i].segment, true);
                if (kind == 1)
                    disk_sim_peek(copy, path, places[i == 0].offset, bytes, BLOCK);
                for (int k = 0; kind == 2 && k < BLOCK; k++)
                    bytes[k] = (uint8_t)sim_image_random(&random);
                disk_sim_poke(copy, path, places[i].offset + (uint64_t)block * BLOCK, bytes, BLOCK);
                /* That other block may be this one. */
                if (kind != 1 || disk_sim_digest(copy) != disk_sim_digest(disk))
                    refused(copy, i);
                disk_sim_destroy(copy);
                lost++;
            }
        }
    }
    printf("damage: %llu blocks lost after a clean stop, all refused\n", (unsigned long long)lost);
    CHECK(lost > 3 * 120 / sample.step);
    disk_sim_destroy(disk);
}

/* A sealed segment that is gone, cut short, or all zero as if it had just been prepared. */
static void segments_lost(void)
{
    for (uint64_t number = 0; number < 2; number++) {
        struct disk *disk = journal_disk(3, true);
        static const uint8_t zeros[32768];
        struct disk *copy = disk_sim_copy(disk);
        char path[DISK_PATH_BYTES];
        enum refusal_kind kind;
        struct store_run run;
        int first = 0;
        int file;

        segment_path(path, number, true);
        disk_sim_poke(copy, path, 0, zeros, sizeof zeros);
        while (places[first].segment < number)
            first++;
        refused(copy, first);
        disk_sim_destroy(copy);

        copy = disk_sim_copy(disk);
        disk_sim_remove(copy, path);
        kind = begin(&run, copy);
        CHECK(kind == REFUSAL_segment_missing && refusal_exit_code(kind) == 3);
        disk_sim_destroy(copy);

        copy = disk_sim_copy(disk);
        file = disk_open(copy, path, DISK_CREATE);
        CHECK(file >= 0 && disk_write(copy, file, 0, zeros, 4096) == 0);
        CHECK(disk_sync(copy, file) == 0);
        disk_close(copy, file);
        kind = begin(&run, copy);
        CHECK(kind == REFUSAL_segment_size && refusal_exit_code(kind) == 3);
        disk_sim_destroy(copy);
        disk_sim_destroy(disk);
    }
}

/* Each byte from the header of a segment to behind its frames. After a clean stop the witness names
 * the closing frame; without one the last frame is named by none here: damage to it cannot be told
 * from a torn write (journal.md, Durable). */
static void bytes_flipped(bool is_clean, int bits)
{
    struct disk *disk = journal_disk(1, is_clean);
    const struct place *last = &places[place_count - 1];
    const uint64_t frames_end = last->offset + (uint64_t)last->blocks * BLOCK;
    const char *path = "journal/0000000000.seg";
    struct disk *copy = disk_sim_copy(disk);
    uint64_t flips = 0;
    uint64_t cut = 0;

    for (uint64_t offset = 0; offset < frames_end + 2 * BLOCK; offset++) {
        if (!sample_takes(&sample, offset))
            continue;
        for (int i = 0; i < bits; i++, flips++) {
            uint8_t flip = (uint8_t)(1U << (offset + (uint64_t)i) % 8);
            bool is_named = offset < (is_clean ? frames_end + BLOCK : last->offset);
            enum refusal_kind kind;
            struct store_run run;
            uint8_t byte;

            disk_sim_peek(copy, path, offset, &byte, 1);
            byte ^= flip;
            disk_sim_poke(copy, path, offset, &byte, 1);
            model.acknowledged = (uint64_t)place_count - !is_named;
            kind = begin(&run, copy); /* checks what was applied */
            CHECK((kind == REFUSAL_none) == !is_named);
            CHECK(kind == REFUSAL_none || refusal_exit_code(kind) == 3);
            disk_sim_kill(copy, 1);
            if (kind == REFUSAL_none) {
                bool is_behind = offset >= frames_end;

                CHECK(run.applied == (uint64_t)place_count - !is_behind);
                cut++;
                store_run_end(&run);
                disk_sim_destroy(copy);
                copy = disk_sim_copy(disk);
            } else { /* it wrote nothing: the byte is all there is to mend */
                byte ^= flip;
                disk_sim_poke(copy, path, offset, &byte, 1);
            }
        }
    }
    CHECK(disk_sim_digest(copy) == disk_sim_digest(disk));
    printf("damage: %llu bits flipped %s a clean stop: %llu refused, %llu cut\n",
           (unsigned long long)flips, is_clean ? "after" : "without",
           (unsigned long long)(flips - cut), (unsigned long long)cut);
    disk_sim_destroy(copy);
    disk_sim_destroy(disk);
}

/* The last frame, whole and of the chain, holds one record whose parts fill the same bytes; all of
 * them are zero but the header. */
static void forge(struct disk *disk, uint8_t kind, uint16_t payload_bytes)
{
    const struct place *last = &places[place_count - 1];
    const uint32_t frame_bytes = last->blocks * BLOCK;
    uint8_t bytes[FRAME_BYTES_MAX];
    uint8_t *record = bytes + FRAME_HEADER_BYTES;
    char path[DISK_PATH_BYTES];

    segment_path(path, last->segment, true);
    disk_sim_peek(disk, path, last->offset, bytes, frame_bytes);
    uint32_t length = cc_load32(record + 8);
    CHECK(cc_load32(bytes + 84) == 1 && cc_load32(bytes + 88) == length);
    memset(record + 12, 0, length - 12);
    record[14] = kind;
    cc_store16(record + 16, payload_bytes);
    cc_store16(record + 18, 32);
    cc_store16(record + 20, (uint16_t)(length - 24 - payload_bytes - 32 - 64));
    cc_store32(bytes + 12, crc32c(bytes + 16, frame_bytes - 16));
    disk_sim_poke(disk, path, last->offset, bytes, frame_bytes);
}

/* A signed record without room for header and request id: exit 3, with frame and place. */
static void records_forged(void)
{
    struct disk *disk = journal_disk(1, false);
    const struct place *last = &places[place_count - 1];
    char where[REFUSAL_TEXT_BYTES];

    snprintf(where, sizeof where, "frame %d, segment 0, offset %llu", place_count,
             (unsigned long long)last->offset);
    for (uint8_t kind = RECORD_SIGNED; kind <= RECORD_PASSKEY; kind++) {
        for (uint16_t payload_bytes = 0; payload_bytes < 24; payload_bytes += 8) {
            struct disk *copy = disk_sim_copy(disk);
            struct store_run run;

            forge(copy, kind, payload_bytes);
            uint64_t digest = disk_sim_digest(copy);
            CHECK(digest != disk_sim_digest(disk));
            enum refusal_kind found = begin(&run, copy);
            CHECK(found == REFUSAL_record_malformed && refusal_exit_code(found) == 3);
            CHECK(run.refusal.segment == 0 && run.refusal.offset == last->offset);
            CHECK(strstr(run.refusal.text, where) != NULL);
            CHECK(disk_sim_digest(copy) == digest);
            disk_sim_destroy(copy);
        }
    }
    disk_sim_destroy(disk);
}

int main(void)
{
    const char *bits = getenv("PERPD_DAMAGE_BITS");

    sample = sample_read();
    blocks_lost();
    segments_lost();
    records_forged();
    for (int is_clean = 0; is_clean <= 1; is_clean++)
        bytes_flipped(is_clean != 0, bits ? atoi(bits) : 1);
    return 0;
}
