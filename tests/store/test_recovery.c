/* Recovery's own decisions, one by one (journal.md, Recovery); crashes are in test_power.c. */
#include <errno.h>

#include "check.h"
#include "store/recovery.h"
#include "store_run.h"
#include "support/sim/disk_sim.h"

static struct store_model model;

static struct disk *disk_new(void)
{
    struct disk_sim_config config = { .seed = 11, .block_bytes = 512, .latency_max = 2 };
    struct disk *disk = disk_sim_create(&config);

    CHECK(disk);
    memset(&model, 0, sizeof model);
    return disk;
}

/* A directory with `count` records of so many bytes, each its own frame. */
static void life(struct disk *disk, int count, uint32_t payload_bytes, bool clean)
{
    struct store_options options = store_run_options();
    struct store_run run;

    CHECK(store_run_begin(&run, disk, &model, &options) == REFUSAL_none);
    CHECK(segment_pool_fill(run.pool, 0) >= 0);
    for (int i = 0; i < count; i++) {
        CHECK(store_run_publish(&run, payload_bytes));
        CHECK(store_run_settle(&run, 100) == 0);
    }
    if (clean)
        CHECK(store_run_stop(&run) == 0);
    disk_sim_crash(disk, 11);
    store_run_end(&run);
}

static enum refusal_kind begin(struct store_run *run, struct disk *disk)
{
    struct store_options options = store_run_options();
    enum refusal_kind kind = store_run_begin(run, disk, &model, &options);

    disk_sim_crash(disk, 12);
    if (kind == REFUSAL_none)
        store_run_end(run);
    return kind;
}

static void file_put(struct disk *disk, const char *path, uint64_t bytes)
{
    int file = disk_open(disk, path, DISK_CREATE);

    CHECK(file >= 0);
    CHECK(disk_allocate(disk, file, bytes) == 0);
    CHECK(disk_sync(disk, file) == 0);
    CHECK(disk_sync_folder(disk, "journal") == 0);
    disk_close(disk, file);
}

/* New: b = 1, D = 0, the first boot is 1; each start adds one. */
static void new_directory(void)
{
    struct disk *disk = disk_new();
    struct store_run run;

    CHECK(begin(&run, disk) == REFUSAL_none);
    CHECK(run.recovered.boot == 1);
    CHECK(run.recovered.position.tail.number == 0);
    CHECK(run.recovered.position.tail.last_sequence == 0);
    CHECK(run.recovered.position.segment == 0);
    CHECK(run.recovered.position.offset == SEGMENT_FRAMES_OFFSET);
    CHECK(run.recovered.segment_end == 1); /* made before the boot number */
    CHECK(begin(&run, disk) == REFUSAL_none);
    CHECK(run.recovered.boot == 2);
    disk_sim_destroy(disk);
}

/* Positions, counts and the clock of a chain over three segments. */
static void position(void)
{
    struct disk *disk = disk_new();
    struct store_run run;

    life(disk, 30, 2000, false); /* 128 + 24 + 2,000: 5 blocks; 11 frames a segment of 56 blocks */
    CHECK(begin(&run, disk) == REFUSAL_none);
    CHECK(run.recovered.frames == 30 && run.recovered.records == 30);
    CHECK(run.recovered.position.tail.number == 30);
    CHECK(run.recovered.position.tail.boot == 1);
    CHECK(run.recovered.position.segment == 2);
    CHECK(run.recovered.position.offset == SEGMENT_FRAMES_OFFSET + 8 * 5 * 512);
    CHECK(run.recovered.segment_end >= 3);
    CHECK(run.recovered.durable_frame == 29); /* named by frame 30 */
    CHECK(run.recovered.last_t_ns == 30);
    CHECK(run.recovered.boot == 2);
    CHECK(!run.recovered.clean_stop && run.recovered.cut_bytes == 0);
    CHECK(model.acknowledged == 30);
    disk_sim_destroy(disk);
}

/* A chain that fills its segment to the last block goes on in the next. */
static void full_segment(void)
{
    struct disk *disk = disk_new();
    struct store_run run;

    life(disk, 14, 1800, false); /* 128 + 24 + 1,800: 4 blocks; 14 * 4 = 56 blocks, all there are */
    CHECK(begin(&run, disk) == REFUSAL_none);
    CHECK(run.recovered.position.segment == 1);
    CHECK(run.recovered.position.offset == SEGMENT_FRAMES_OFFSET);
    life(disk, 20, 1800, true);
    CHECK(begin(&run, disk) == REFUSAL_none);
    CHECK(run.recovered.clean_stop);
    CHECK(run.recovered.position.tail.number == 35); /* 34 and the closing frame */
    CHECK(run.recovered.records == 34);
    disk_sim_destroy(disk);
}

/* Step 1: what is wrong with the files is refused with its place, and nothing is written. */
static void files_refused(void)
{
    static const uint8_t one = 1;
    const char *second = "journal/0000000001.seg";
    uint8_t header[SEGMENT_FRAMES_OFFSET];

    for (int row = 0; row < 7; row++) {
        struct disk *disk = disk_new();
        enum refusal_kind want = REFUSAL_segment_header;
        uint64_t segment = 1;
        struct store_run run;
        uint64_t digest;

        life(disk, 30, 2000, false);
        switch (row) {
        case 0: /* a byte of a header */
            disk_sim_poke(disk, second, 90, &one, 1);
            break;
        case 1: /* the header of another number */
            disk_sim_peek(disk, "journal/0000000000.seg", 0, header, sizeof header);
            disk_sim_poke(disk, second, 0, header, sizeof header);
            break;
        case 2: /* of another journal */
            disk_sim_peek(disk, second, 0, header, sizeof header);
            {
                struct segment_header other;

                CHECK(segment_decode(&other, header) == 0);
                other.journal_id[0] ^= 1;
                segment_encode(header, &other);
            }
            disk_sim_poke(disk, second, 0, header, sizeof header);
            break;
        case 3: /* a header of zeros before frames */
            memset(header, 0, sizeof header);
            disk_sim_poke(disk, second, 0, header, sizeof header);
            break;
        case 4: /* one segment is gone */
            disk_sim_remove(disk, second);
            want = REFUSAL_segment_missing;
            segment = 0;
            break;
        case 5: /* the first is gone: retired, says its number, but there is no archive */
            disk_sim_remove(disk, "journal/0000000000.seg");
            want = REFUSAL_segment_missing;
            segment = 0;
            break;
        default: /* one is longer */
            file_put(disk, "journal/0000000005.seg", 32768 + 4096);
            want = REFUSAL_segment_size;
            segment = 5;
            break;
        }
        digest = disk_sim_digest(disk);
        CHECK(begin(&run, disk) == want);
        CHECK(refusal_exit_code(want) == 3);
        CHECK(run.refusal.segment == segment);
        CHECK(run.refusal.text[0] != '\0');
        CHECK(disk_sim_digest(disk) == digest);
        disk_sim_destroy(disk);
    }
}

/* A `.next` is skipped, whatever it holds; a segment of zeros gets its header in step 8. */
static void unfinished_segments(void)
{
    uint8_t header[SEGMENT_FRAMES_OFFSET];
    struct disk *disk = disk_new();
    struct segment_header decoded;
    struct store_run run;

    life(disk, 5, 2000, false);
    CHECK(begin(&run, disk) == REFUSAL_none);
    uint64_t blank = run.recovered.segment_end;
    char path[DISK_PATH_BYTES];

    segment_path(path, blank, true);
    file_put(disk, path, 32768);
    file_put(disk, "journal/0000000009.next", 777);
    CHECK(begin(&run, disk) == REFUSAL_none);
    CHECK(run.recovered.segment_end == blank + 1);
    disk_sim_peek(disk, path, 0, header, sizeof header);
    CHECK(segment_decode(&decoded, header) == 0);
    CHECK(segment_belongs(&decoded, &run.exchange, blank));
    CHECK(decoded.boot == run.recovered.boot);
    life(disk, 40, 2000, true); /* and it is used */
    CHECK(begin(&run, disk) == REFUSAL_none);
    CHECK(run.recovered.position.segment >= blank);
    disk_sim_destroy(disk);
}

/* boot = max(exchange's, every boot seen) + 1. */
static void boot_numbers(void)
{
    struct disk *disk = disk_new();
    struct exchange_file exchange;
    struct slot_location slots;
    struct witness witness;
    struct refusal refusal;
    struct store_run run;
    bool is_new;

    life(disk, 3, 100, false);
    life(disk, 3, 100, false);
    life(disk, 3, 100, false);
    CHECK(exchange_file_open(disk, NULL, &exchange, &is_new, &refusal) == REFUSAL_none);
    CHECK(exchange.boot == 3);
    exchange.boot = 0; /* a copy of `exchange` that is older than the journal */
    CHECK(exchange_file_write(disk, &exchange) == 0);
    disk_sim_crash(disk, 1);
    CHECK(begin(&run, disk) == REFUSAL_none);
    CHECK(run.recovered.boot == 4);
    CHECK(exchange_file_open(disk, NULL, &exchange, &is_new, &refusal) == REFUSAL_none);
    exchange.boot = 100; /* a start that ended before it had a frame: `witness` first */
    CHECK(witness_read(disk, &exchange, &witness, &slots) == 0);
    CHECK(witness_write(disk, &exchange, &witness, &slots) == 0);
    CHECK(exchange_file_write(disk, &exchange) == 0);
    disk_sim_crash(disk, 1);
    CHECK(begin(&run, disk) == REFUSAL_none);
    CHECK(run.recovered.boot == 101);
    disk_sim_destroy(disk);
}

struct refuser {
    uint64_t at;
    uint64_t applied;
    uint64_t frame;
};

static int refuse_at(void *context, uint64_t sequence, uint64_t frame,
                     const struct record_view *record)
{
    struct refuser *refuser = context;

    CHECK(record->payload_bytes == 100);
    CHECK(sequence == refuser->applied + 1);
    refuser->applied = sequence;
    refuser->frame = frame;
    return sequence == refuser->at ? 42 : 0;
}

/* The hash of the frame of one block that stands `index` frames behind the first of segment 0. */
static void frame_of(struct disk *disk, uint64_t index, uint8_t hash[HASH_BYTES])
{
    uint8_t bytes[512];

    disk_sim_peek(disk, "journal/0000000000.seg", SEGMENT_FRAMES_OFFSET + index * sizeof bytes,
                  bytes, sizeof bytes);
    hash_blake2b256(hash, bytes, sizeof bytes);
}

/* What the caller refuses ends recovery with its value; step 8 writes nothing then. */
static void record_refused(void)
{
    struct refuser refuser = { .at = 5 };
    struct disk *disk = disk_new();
    struct exchange_file exchange;
    struct recovery_result result;
    struct refusal refusal;
    uint64_t digest;
    bool is_new;

    life(disk, 8, 100, true);
    CHECK(exchange_file_open(disk, NULL, &exchange, &is_new, &refusal) == REFUSAL_none);
    struct recovery_config config = {
        .disk = disk,
        .exchange = &exchange,
        .segment_bytes = 32768,
        .apply = refuse_at,
        .context = &refuser,
    };

    digest = disk_sim_digest(disk);
    CHECK(recovery_run(&config, &result, &refusal) == REFUSAL_record_refused);
    CHECK(refusal.error == 42 && refuser.applied == 5 && refuser.frame == 5);
    CHECK(refusal.segment == 0 && refusal.offset == SEGMENT_FRAMES_OFFSET + 4 * 512);
    CHECK(disk_sim_digest(disk) == digest);

    /* A start behind the third frame, as a snapshot gives it: only what follows is applied. */
    refuser = (struct refuser){ .applied = 3 };
    frame_of(disk, 2, config.after_hash);
    config.after_frame = 3;
    CHECK(recovery_run(&config, &result, &refusal) == REFUSAL_none);
    CHECK(refuser.applied == 8 && result.records == 5 && result.clean_stop);
    CHECK(result.position.tail.last_sequence == 8);
    disk_sim_destroy(disk);
}

/* A directory that moved to a device of larger blocks: what follows is on them, the rest is read
 * as it is. */
static void larger_blocks(void)
{
    struct disk *disk = disk_new();
    struct store_run run;

    life(disk, 3, 100, false); /* 3 blocks of 512: not a multiple of 4,096 */
    disk->block_bytes = 4096;
    life(disk, 3, 100, true);
    CHECK(begin(&run, disk) == REFUSAL_none);
    CHECK(run.recovered.clean_stop && run.recovered.records == 6);
    CHECK(run.recovered.position.segment == 1);
    CHECK(run.recovered.position.offset % 4096 == 0);
    disk_sim_destroy(disk);
}

int main(void)
{
    new_directory();
    position();
    full_segment();
    files_refused();
    unfinished_segments();
    boot_numbers();
    record_refused();
    larger_blocks();
    return 0;
}
