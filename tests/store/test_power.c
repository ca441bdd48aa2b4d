/* Power loss and damage: what recovery makes of every disk that a crash may leave (journal.md,
 * Recovery, and the list under "What the simulated disk must be able to do").
 *
 * A sample takes one in N of the images of 3 and 4 frames in flight, of the second crashes, of the
 * bytes flipped and of the random lives. */
#include "check.h"
#include "sample.h"
#include "store_run.h"
#include "support/sim/disk_sim.h"
#include "support/sim/sim_image.h"

static struct store_model model;
static struct test_sample sample;

static struct disk *disk_new(uint64_t seed, uint32_t latency_max)
{
    struct disk_sim_config config = { .seed = seed,
                                      .block_bytes = 512,
                                      .latency_max = latency_max };
    struct disk *disk = disk_sim_create(&config);

    CHECK(disk);
    memset(&model, 0, sizeof model);
    model.random = seed;
    return disk;
}

static void life_begin(struct store_run *run, struct disk *disk,
                       const struct store_options *options)
{
    CHECK(store_run_begin(run, disk, &model, options) == REFUSAL_none);
    CHECK(segment_pool_fill(run->pool, 0) >= 0);
}

/* A life that writes a little and stops; the next start must find all of it. */
static void life_of_one_frame(struct disk *disk, const struct store_options *options)
{
    struct store_run run;

    disk_sim_set_latency(disk, 3);
    life_begin(&run, disk, options);
    CHECK(store_run_publish(&run, 100));
    CHECK(store_run_stop(&run) == 0);
    store_run_end(&run);
    disk_sim_kill(disk, 1);
    CHECK(store_run_begin(&run, disk, &model, options) == REFUSAL_none);
    CHECK(run.recovered.clean_stop);
    disk_sim_kill(disk, 1);
    store_run_end(&run);
}

/* Frames that are submitted and not completed. */
static void in_flight_all(struct store_run *run, struct disk *disk, int frames, uint32_t payload)
{
    for (int i = 0; i < frames; i++) {
        CHECK(store_run_publish(run, payload));
        CHECK(store_run_step(run) > 0);
    }
    CHECK(disk_sim_in_flight(disk) == frames);
}

/* Every set of blocks of 1 to 4 frames in flight: every subset of the frames, each torn at every
 * block. The chain ends before the first frame that lacks one. */
static void every_image(void)
{
    for (int frames = 1; frames <= 4; frames++) {
        const int blocks = frames == 4 ? 2 : 3;
        const uint32_t payload = blocks == 2 ? 600 : 1200;
        static struct store_model before;
        struct store_options options = store_run_options();
        struct disk *disk = disk_new((uint64_t)frames, 0);
        struct store_run run;

        life_begin(&run, disk, &options);
        in_flight_all(&run, disk, 2, payload);
        disk_sim_complete(disk, 1);
        disk_sim_complete(disk, 0);
        CHECK(store_run_step(&run) > 0);
        CHECK(model.acknowledged == 2);
        in_flight_all(&run, disk, frames, payload);
        before = model;
        for (uint64_t bits = 0; bits < UINT64_C(1) << (frames * blocks); bits++) {
            if (frames > 2 && !sample_takes(&sample, bits))
                continue;
            const uint64_t full = (1U << blocks) - 1;
            struct disk *copy = disk_sim_copy(disk);
            uint64_t masks[DISK_WRITES_MAX];
            uint64_t whole = 2;
            struct store_run after;

            for (int i = 0; i < frames; i++)
                masks[i] = bits >> (i * blocks) & full;
            for (int i = 0; i < frames && masks[i] == full; i++)
                whole++;
            model = before;
            disk_sim_crash_exact(copy, masks, frames);
            CHECK(store_run_begin(&after, copy, &model, &options) == REFUSAL_none);
            CHECK(after.recovered.position.tail.number == whole);
            CHECK(after.recovered.position.offset ==
                  SEGMENT_FRAMES_OFFSET + whole * 512 * (uint64_t)blocks);
            disk_sim_kill(copy, 1);
            store_run_end(&after);
            if (bits % 7 == 0)
                life_of_one_frame(copy, &options);
            disk_sim_destroy(copy);
        }
        disk_sim_crash(disk, 1);
        store_run_end(&run);
        disk_sim_destroy(disk);
    }
}

static void zero_block(struct disk *disk, const char *path, uint64_t offset)
{
    static const uint8_t zeros[512];

    disk_sim_poke(disk, path, offset, zeros, sizeof zeros);
}

/* Writes `count` frames of one block, each durable before the next; then a crash. */
static struct disk *acknowledged_disk(int count, bool clean)
{
    struct store_options options = store_run_options();
    struct disk *disk = disk_new(99, 1);
    struct store_run run;

    life_begin(&run, disk, &options);
    for (int i = 0; i < count; i++) {
        CHECK(store_run_publish(&run, 100));
        CHECK(store_run_settle(&run, 100) == 0);
    }
    CHECK(model.acknowledged == (uint64_t)count);
    if (clean)
        CHECK(store_run_stop(&run) == 0);
    disk_sim_crash(disk, 99);
    store_run_end(&run);
    return disk;
}

/* A frame that a later durable_frame names is refused when it is missing, and nothing is written;
 * the last one, named by none, cannot be told from a torn one. A clean stop names them all. */
static void holes(void)
{
    enum { FRAMES = 8 };

    for (int clean = 0; clean <= 1; clean++) {
        struct disk *disk = acknowledged_disk(FRAMES, clean);

        for (uint64_t hole = 1; hole <= FRAMES; hole++) {
            struct store_options options = store_run_options();
            struct disk *copy = disk_sim_copy(disk);
            uint64_t digest;
            struct store_run run;
            enum refusal_kind kind;

            zero_block(copy, "journal/0000000000.seg", SEGMENT_FRAMES_OFFSET + 512 * (hole - 1));
            digest = disk_sim_digest(copy);
            model.published = FRAMES;
            model.acknowledged = hole == FRAMES && !clean ? FRAMES - 1 : FRAMES;
            kind = store_run_begin(&run, copy, &model, &options);
            if (hole < FRAMES || clean) {
                CHECK(kind == REFUSAL_frame_damaged);
                CHECK(refusal_exit_code(kind) == 3);
                CHECK(run.refusal.segment == 0);
                CHECK(run.refusal.offset == SEGMENT_FRAMES_OFFSET + 512 * (hole - 1));
                CHECK(disk_sim_digest(copy) == digest);
            } else {
                CHECK(kind == REFUSAL_none);
                CHECK(run.recovered.position.tail.number == FRAMES - 1);
                disk_sim_kill(copy, 1);
                store_run_end(&run);
            }
            disk_sim_destroy(copy);
        }
        disk_sim_destroy(disk);
    }
}

/* A tail behind a hole that reaches over two segments, so that the zeroing takes several writes. */
static struct disk *tail_disk(void)
{
    const uint64_t masks[4] = { 0, UINT64_MAX, 0xB, UINT64_MAX };
    struct store_options options = store_run_options();
    struct disk *disk = disk_new(7, 0);
    struct store_run run;

    life_begin(&run, disk, &options);
    for (int i = 0; i < 6; i++) { /* 12 blocks each: 36 KiB of 28 KiB a segment */
        in_flight_all(&run, disk, 1, 4000);
        disk_sim_complete(disk, 0);
        CHECK(store_run_step(&run) > 0);
    }
    CHECK(run.recovered.boot == 1);
    in_flight_all(&run, disk, 4, 4000);
    disk_sim_crash_exact(disk, masks, 4);
    store_run_end(&run);
    return disk;
}

/* A second and a third crash at every write of the zeroing, and between zeroing, boot number and
 * the first new frame. */
static void crashes_while_cutting(void)
{
    static struct store_model before;
    struct store_options options = store_run_options();
    struct disk *disk = tail_disk();
    int interrupted = 0;

    before = model;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        bool first_ended = false;

        for (uint64_t first = 1; !first_ended; first++) {
            bool second_ended = false;

            for (uint64_t second = 1; !second_ended; second++) {
                if (!sample_takes(&sample, first + second + seed))
                    continue;
                struct disk *copy = disk_sim_copy(disk);
                struct store_run run;
                enum refusal_kind kind;

                model = before;
                disk_sim_stop_at(copy, first);
                kind = store_run_begin(&run, copy, &model, &options);
                first_ended = kind == REFUSAL_none;
                CHECK(first_ended || kind == REFUSAL_machine);
                disk_sim_crash(copy, seed * 1000 + first);
                if (first_ended)
                    store_run_end(&run);
                disk_sim_stop_at(copy, second);
                kind = store_run_begin(&run, copy, &model, &options);
                second_ended = kind == REFUSAL_none;
                CHECK(second_ended || kind == REFUSAL_machine);
                interrupted += !first_ended && !second_ended;
                disk_sim_crash(copy, seed * 2000 + second);
                if (second_ended)
                    store_run_end(&run);
                CHECK(store_run_begin(&run, copy, &model, &options) == REFUSAL_none);
                CHECK(run.recovered.position.tail.number == 6);
                disk_sim_kill(copy, 1);
                store_run_end(&run);
                life_of_one_frame(copy, &options);
                disk_sim_destroy(copy);
            }
        }
    }
    CHECK(interrupted > 3 * 100 / (int)sample.step);
    disk_sim_destroy(disk);
}

/* A whole frame of this journal at a block of the free tail, as an unzeroed recycled segment would
 * hold it. */
static void leftover_put(struct disk *disk, const struct exchange_file *exchange, uint64_t segment,
                         uint64_t frame_segment, uint64_t boot)
{
    struct frame_header header = {
        .boot = boot,
        .segment = frame_segment,
        .number = 40,
        .first_sequence = 100,
        .last_sequence = 99,
        .durable_frame = 39,
        .length = 512,
    };
    char path[DISK_PATH_BYTES];
    uint8_t bytes[512] = { 0 };

    memcpy(header.journal_id, exchange->journal_id, sizeof header.journal_id);
    frame_seal(bytes, &header);
    segment_path(path, segment, true);
    disk_sim_poke(disk, path, SEGMENT_FRAMES_OFFSET + 512 * 20, bytes, sizeof bytes);
}

/* Frames of a lower boot or of another segment are leftovers and change nothing; the same frame of
 * the newest boot says that an acknowledged one is gone. */
static void leftovers(void)
{
    static const struct {
        int line;
        const char *name;
        uint64_t segment;       /* of the file */
        uint64_t frame_segment; /* that the frame names */
        uint64_t boot;          /* the chain's last is 2 */
        enum refusal_kind want;
    } rows[] = {
        { __LINE__, "lower boot, same segment", 0, 0, 1, REFUSAL_none },
        { __LINE__, "lower boot, prepared segment", 1, 1, 1, REFUSAL_none },
        { __LINE__, "other segment number", 1, 7, 2, REFUSAL_none },
        { __LINE__, "the chain's boot", 0, 0, 2, REFUSAL_frame_damaged },
        { __LINE__, "the chain's boot, prepared segment", 1, 1, 2, REFUSAL_frame_damaged },
        { __LINE__, "a higher boot", 1, 1, 3, REFUSAL_frame_damaged },
    };

    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        struct store_options options = store_run_options();
        struct disk *disk = acknowledged_disk(4, false);
        struct store_run run;

        life_begin(&run, disk, &options);
        CHECK(run.recovered.boot == 2);
        CHECK(store_run_publish(&run, 100));
        CHECK(store_run_settle(&run, 100) == 0);
        disk_sim_crash(disk, 1);
        leftover_put(disk, &run.exchange, rows[i].segment, rows[i].frame_segment, rows[i].boot);
        store_run_end(&run);
        CHECK_ROW(&rows[i], store_run_begin(&run, disk, &model, &options) == rows[i].want);
        if (rows[i].want == REFUSAL_none) {
            CHECK_ROW(&rows[i], run.recovered.position.tail.number == 5);
            CHECK_ROW(&rows[i], run.recovered.cut_bytes == 512);
            CHECK_ROW(&rows[i], run.recovered.boot == 3);
            disk_sim_kill(disk, 1);
            store_run_end(&run);
            life_of_one_frame(disk, &options);
        }
        disk_sim_destroy(disk);
    }
}

/* Each byte of a small journal and of `exchange`: refused, or a lawful tail cut, never another
 * state. After a clean stop every command is named durable, so none may be missing. */
static void flips_of(struct disk *disk, const char *path, uint64_t from, uint64_t to,
                     bool are_accepted)
{
    struct disk *copy = disk_sim_copy(disk);
    uint64_t accepted = 0;
    uint64_t flipped = 0;

    for (uint64_t offset = from; offset < to; offset++) {
        if (!sample_takes(&sample, offset))
            continue;
        struct store_options options = store_run_options();
        enum refusal_kind kind;
        struct store_run run;
        uint8_t byte;

        disk_sim_peek(copy, path, offset, &byte, 1);
        byte ^= (uint8_t)(1U << offset % 8);
        disk_sim_poke(copy, path, offset, &byte, 1);
        flipped++;
        model.published = 5;
        model.acknowledged = 5;
        kind = store_run_begin(&run, copy, &model, &options); /* checks what was applied */
        disk_sim_kill(copy, 1);
        if (kind == REFUSAL_none) {
            accepted++;
            store_run_end(&run);
            disk_sim_destroy(copy);
            copy = disk_sim_copy(disk);
        } else { /* it wrote nothing: the byte is all there is to mend */
            CHECK(refusal_exit_code(kind) == 3);
            byte ^= (uint8_t)(1U << offset % 8);
            disk_sim_poke(copy, path, offset, &byte, 1);
        }
    }
    CHECK(flipped >= (to - from) / sample.step && accepted == (are_accepted ? flipped : 0));
    CHECK(disk_sim_digest(copy) == disk_sim_digest(disk));
    disk_sim_destroy(copy);
}

static void flips(void)
{
    const char *first = "journal/0000000000.seg";
    const uint64_t frames_end = SEGMENT_FRAMES_OFFSET + 5 * 512;
    struct disk *disk = acknowledged_disk(5, true);
    const char *second = "journal/0000000001.seg";

    flips_of(disk, "exchange", 0, SLOT_FILE_BYTES, true); /* three slots are left */
    flips_of(disk, "witness", 0, SLOT_FILE_BYTES, true);
    flips_of(disk, first, 0, frames_end + 512, false);                /* with the closing frame */
    flips_of(disk, first, frames_end + 512, frames_end + 1536, true); /* zeros */
    /* of a prepared segment: the header is made again, free blocks are zeroed */
    flips_of(disk, second, 0, 128, true);
    flips_of(disk, second, SEGMENT_FRAMES_OFFSET - 64, SEGMENT_FRAMES_OFFSET + 64, true);
    disk_sim_destroy(disk);
}

/* Loss of power at every call of the first start and of the preparation of segments. */
static void crashes_while_preparing(void)
{
    for (uint64_t seed = 1; seed <= 8; seed++) {
        bool ended = false;

        for (uint64_t call = 1; !ended; call++) {
            if (!sample_takes(&sample, call + seed))
                continue;
            struct store_options options = store_run_options();
            struct disk *disk = disk_new(seed, 1);
            enum refusal_kind kind;
            struct store_run run;

            disk_sim_stop_at(disk, call);
            kind = store_run_begin(&run, disk, &model, &options);
            CHECK(kind == REFUSAL_none || kind == REFUSAL_machine);
            if (kind == REFUSAL_none)
                ended = segment_pool_fill(run.pool, 0) >= 0;
            disk_sim_crash(disk, seed * 100 + call);
            if (kind == REFUSAL_none)
                store_run_end(&run);
            life_of_one_frame(disk, &options);
            disk_sim_destroy(disk);
        }
    }
}

/* journal.md, Durable: a tail of `none` was promised to nobody: never refused. */
static void none_is_never_refused(void)
{
    for (uint64_t seed = 1; seed <= 150; seed++) {
        if (!sample_takes(&sample, seed))
            continue;
        struct store_options options = store_run_options();
        struct disk *disk = disk_new(seed, 1 + (uint32_t)(seed % 6));

        options.durability = JOURNAL_NONE;
        for (int life = 0; life < 3; life++) {
            struct store_run run;

            life_begin(&run, disk, &options);
            for (int i = 0; i < 20; i++) {
                CHECK(store_run_publish(&run, 8 + (uint32_t)(seed * 37 % 900)));
                CHECK(store_run_step(&run) >= 0);
            }
            disk_sim_crash(disk, seed * 10 + (uint64_t)life);
            store_run_end(&run);
        }
        disk_sim_destroy(disk);
    }
}

/* Lives that end in every way, on a disk that is as unkind as it may be. */
static void soup(void)
{
    uint64_t cut_frames = 0;
    uint64_t random = 12345 + sample.offset;

    for (uint64_t seed = 1; seed <= sample_share(&sample, 150); seed++) {
        struct store_options options = store_run_options();
        struct disk *disk = disk_new(seed, 1 + (uint32_t)(seed % 8));

        options.frames_in_flight = 1 + (uint32_t)(seed % 4);
        for (int life = 0; life < 6; life++) {
            uint64_t steps = sim_image_random(&random) % 60;
            enum refusal_kind kind;
            struct store_run run;

            if (sim_image_random(&random) % 3 == 0)
                disk_sim_stop_at(disk, 1 + sim_image_random(&random) % 90);
            kind = store_run_begin(&run, disk, &model, &options);
            CHECK(kind == REFUSAL_none || kind == REFUSAL_machine);
            if (kind == REFUSAL_none) {
                cut_frames += run.recovered.cut_frames;
                while (steps-- > 0) {
                    uint64_t payload = 8 + sim_image_random(&random) % 3000;

                    (void)store_run_publish(&run, (uint32_t)payload);
                    if (store_run_step(&run) < 0)
                        break;
                }
                if (sim_image_random(&random) % 4 == 0)
                    (void)store_run_settle(&run, 50);
            }
            if (sim_image_random(&random) % 3 == 0)
                disk_sim_kill(disk, sim_image_random(&random));
            else
                disk_sim_crash(disk, sim_image_random(&random));
            if (kind == REFUSAL_none)
                store_run_end(&run);
        }
        disk_sim_destroy(disk);
    }
    CHECK(cut_frames > 50 / sample.step); /* else the lives were too kind to show anything */
}

int main(void)
{
    sample = sample_read();
    every_image();
    holes();
    crashes_while_cutting();
    leftovers();
    flips();
    crashes_while_preparing();
    none_is_never_refused();
    soup();
    return 0;
}
