/* Power loss in full: every image that a crash may leave of 1 to 4 frames in flight, whichever of
 * them had completed, in a segment and over its end, in a first life and behind a cut; crashes in
 * three starts one after the other; and images by chance (journal.md, the list under "What the
 * simulated disk must be able to do").
 *
 * PERPD_POWER_IMAGES: how many images by chance (10,000; at night 100,000). */
#include <malloc.h>
#include <stdlib.h>

#include "check.h"
#include "store_run.h"
#include "support/sim/disk_sim.h"
#include "support/sim/sim_image.h"

enum {
    BLOCK = 512,
    FRAMES_MAX = 4,
    BLOCKS_MAX = 3,
    FILL_BLOCKS_MAX = 8,
    SETTLE_TURNS = 3, /* after which a journal whose disk does nothing more is at rest */
    IMAGES_DEFAULT = 10000
};

static struct store_model model;
static struct store_options options;

static struct disk *disk_new(uint64_t seed, uint32_t latency_max)
{
    struct disk_sim_config config = { .seed = seed,
                                      .block_bytes = BLOCK,
                                      .latency_max = latency_max };
    struct disk *disk = disk_sim_create(&config);

    CHECK(disk);
    memset(&model, 0, sizeof model);
    model.random = seed;
    return disk;
}

static void begin(struct store_run *run, struct disk *disk)
{
    CHECK(store_run_begin(run, disk, &model, &options) == REFUSAL_none);
    CHECK(segment_pool_fill(run->pool, 0) >= 0);
}

/* The payload whose record fills a frame of so many blocks but for less than one. */
static uint32_t payload_of(uint32_t blocks)
{
    return BLOCK * blocks - 200;
}

/* Submits frames of so many blocks that stay in flight. */
static void submit(struct store_run *run, int frames, uint32_t blocks)
{
    for (int i = 0; i < frames; i++) {
        CHECK(store_run_publish(run, payload_of(blocks)));
        CHECK(store_run_step(run) > 0);
    }
    CHECK(disk_sim_in_flight(run->disk) == frames);
}

static void durable(struct store_run *run, uint32_t blocks)
{
    submit(run, 1, blocks);
    disk_sim_complete(run->disk, 0);
    CHECK(store_run_step(run) > 0);
    CHECK(model.acknowledged == model.published);
}

/* ---- every image ----------------------------------------------------------------------------- */

/* One kind of log: what is in flight, and where. */
struct shape {
    int frames;
    uint32_t blocks;  /* of each */
    bool is_over_end; /* half of them stand in the next segment */
    bool is_later;    /* in a life that began with a cut */
};

/* Writes up to the place where the frames of the shape begin. */
static void approach(struct store_run *run, struct disk *disk, const struct shape *shape)
{
    begin(run, disk);
    if (shape->is_later) { /* a hole, and whole frames behind it */
        const uint64_t masks[3] = { 0, UINT64_MAX, 5 };

        durable(run, 1);
        submit(run, 3, 3);
        disk_sim_crash_exact(disk, masks, 3);
        store_run_end(run);
        begin(run, disk);
        CHECK(run->recovered.cut_frames >= 1 && run->recovered.boot == 2);
    }
    durable(run, 1);
    durable(run, 2);
    if (!shape->is_over_end)
        return;
    uint32_t left = (options.segment_bytes - SEGMENT_FRAMES_OFFSET) / BLOCK - 3 - shape->is_later;
    uint32_t kept = (uint32_t)(shape->frames / 2) * shape->blocks;

    while (left > kept) {
        uint32_t blocks = left - kept < FILL_BLOCKS_MAX ? left - kept : FILL_BLOCKS_MAX;

        durable(run, blocks);
        left -= blocks;
    }
}

/* Completes the frames of `completed`; what is acknowledged is the contiguous prefix. Returns how
 * many frames are left in flight. A slot of the witness may be in flight after them: the first
 * durable frame of a segment is told at once. */
static int complete(struct store_run *run, const struct shape *shape, unsigned completed,
                    uint64_t base)
{
    int prefix = 0;
    int left = 0;

    for (int i = 0; i < shape->frames; i++) {
        if ((completed >> i & 1U) != 0)
            disk_sim_complete(run->disk, i);
        else
            left++;
    }
    for (int turn = 0; turn < SETTLE_TURNS; turn++)
        (void)store_run_step(run);
    CHECK(disk_sim_in_flight(run->disk) == left || disk_sim_in_flight(run->disk) == left + 1);
    while (prefix < shape->frames && (completed >> prefix & 1U) != 0)
        prefix++;
    CHECK(model.acknowledged == base + (uint64_t)prefix);
    return left;
}

/* One image: which blocks of the frames still in flight are there is in `bits`, which of a slot of
 * the witness is in `witness_bits`. */
static void image_check(struct disk *disk, const struct shape *shape, unsigned completed,
                        uint64_t bits, uint64_t witness_bits, uint64_t base_frame)
{
    const uint64_t full = (UINT64_C(1) << shape->blocks) - 1;
    uint64_t masks[FRAMES_MAX + 1];
    uint64_t whole = base_frame;
    bool is_chain = true;
    struct store_run run;
    int in_flight = 0;

    for (int i = 0; i < shape->frames; i++) {
        if ((completed >> i & 1U) == 0) {
            masks[in_flight] = bits & full;
            bits >>= shape->blocks;
            is_chain = is_chain && masks[in_flight] == full;
            in_flight++;
        }
        whole += is_chain;
    }
    masks[in_flight] = witness_bits;
    disk_sim_crash_exact(disk, masks, disk_sim_in_flight(disk));
    CHECK(store_run_begin(&run, disk, &model, &options) == REFUSAL_none);
    CHECK(run.recovered.position.tail.number == whole);
    disk_sim_kill(disk, 1);
    store_run_end(&run);
}

/* What was recovered goes on, stops, and is found again. */
static void goes_on(struct disk *disk)
{
    struct store_run run;

    disk_sim_set_latency(disk, 3);
    begin(&run, disk);
    CHECK(store_run_publish(&run, 100));
    CHECK(store_run_stop(&run) == 0);
    store_run_end(&run);
    disk_sim_crash(disk, 1);
    CHECK(store_run_begin(&run, disk, &model, &options) == REFUSAL_none);
    CHECK(run.recovered.clean_stop);
    disk_sim_kill(disk, 1);
    store_run_end(&run);
}

/* Of a slot of eight blocks: none, all, or some, in turn. */
static uint64_t witness_bits(uint64_t image)
{
    return image % 3 == 0 ? 0 : image % 3 == 1 ? UINT64_MAX : image * UINT64_C(0x9E3779B97F4A7C15);
}

static uint64_t images_of(const struct shape *shape)
{
    static struct store_model before;
    uint64_t images = 0;

    for (unsigned completed = 0; completed < 1U << shape->frames; completed++) {
        struct disk *disk = disk_new((uint64_t)shape->frames, 0);
        struct store_run run;
        uint64_t base_frame;
        uint64_t base;
        int blocks;

        approach(&run, disk, shape);
        base = model.acknowledged;
        base_frame = run.recovered.position.tail.number + journal_counters(run.journal).frames;
        submit(&run, shape->frames, shape->blocks);
        blocks = complete(&run, shape, completed, base) * (int)shape->blocks;
        before = model;
        for (uint64_t bits = 0; bits < UINT64_C(1) << blocks; bits++, images++) {
            struct disk *copy = disk_sim_copy(disk);

            model = before;
            image_check(copy, shape, completed, bits, witness_bits(images), base_frame);
            if (images % 61 == 0)
                goes_on(copy);
            disk_sim_destroy(copy);
        }
        disk_sim_crash(disk, 1);
        store_run_end(&run);
        disk_sim_destroy(disk);
    }
    return images;
}

static void every_image(void)
{
    uint64_t images = 0;

    for (int frames = 1; frames <= FRAMES_MAX; frames++) {
        for (uint32_t blocks = 1; blocks <= BLOCKS_MAX; blocks++) {
            for (int place = 0; place < 4; place++) {
                struct shape shape = { frames, blocks, place % 2 == 1, place / 2 == 1 };

                images += images_of(&shape);
            }
        }
    }
    /* (2^blocks + 1)^frames each: a frame is completed, or any set of its blocks is there. */
    CHECK(images == 4 * (3 + 9 + 27 + 81 + 5 + 25 + 125 + 625 + 9 + 81 + 729 + 6561));
    printf("every image of 1 to 4 frames in flight: %llu\n", (unsigned long long)images);
}

/* ---- three crashes --------------------------------------------------------------------------- */

/* A tail behind a hole that reaches over two segments, so that the zeroing takes several writes. */
static struct disk *tail_disk(void)
{
    const uint64_t masks[4] = { 0, UINT64_MAX, 0xB, UINT64_MAX };
    struct disk *disk = disk_new(7, 0);
    struct store_run run;

    begin(&run, disk);
    for (int i = 0; i < 6; i++)
        durable(&run, FILL_BLOCKS_MAX);
    submit(&run, 4, FILL_BLOCKS_MAX);
    disk_sim_crash_exact(disk, masks, 4);
    store_run_end(&run);
    disk_sim_set_latency(disk, 1);
    return disk;
}

/* A start that is over at the `call`-th call: in the zeroing, between it and the boot number, or
 * between that and the end of the first new frame. True if it came to its end. */
static bool start_cut_short(struct disk *disk, uint64_t call, uint64_t seed)
{
    enum refusal_kind kind;
    struct store_run run;
    bool is_whole;

    disk_sim_stop_at(disk, call);
    kind = store_run_begin(&run, disk, &model, &options);
    CHECK(kind == REFUSAL_none || kind == REFUSAL_machine);
    if (kind == REFUSAL_none) {
        CHECK(store_run_publish(&run, payload_of(1)));
        for (int i = 0; i < 6; i++)
            (void)store_run_step(&run);
    }
    is_whole = disk_sim_calls(disk) < call;
    disk_sim_crash(disk, seed);
    if (kind == REFUSAL_none)
        store_run_end(&run);
    return is_whole;
}

static void three_crashes(uint64_t seeds)
{
    static struct store_model models[3];
    struct disk *disk = tail_disk();
    uint64_t crashes = 0;
    uint64_t calls = 0;
    uint64_t ends = 0;

    models[0] = model;
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        bool is_first_whole = false;

        for (uint64_t first = 1; !is_first_whole; first++) {
            struct disk *once = disk_sim_copy(disk);
            bool is_second_whole = false;

            model = models[0];
            is_first_whole = start_cut_short(once, first, seed * 1000 + first);
            models[1] = model;
            calls = first;
            for (uint64_t second = 1; !is_second_whole; second++) {
                struct disk *twice = disk_sim_copy(once);
                bool is_third_whole = false;

                model = models[1];
                is_second_whole = start_cut_short(twice, second, seed * 2000 + second);
                models[2] = model;
                for (uint64_t third = 1; !is_third_whole; third++, crashes += 3) {
                    struct disk *thrice = disk_sim_copy(twice);
                    struct store_run run;

                    model = models[2];
                    is_third_whole = start_cut_short(thrice, third, seed * 3000 + third);
                    begin(&run, thrice); /* checks what was applied */
                    CHECK(run.recovered.position.tail.number >= 6);
                    disk_sim_kill(thrice, 1);
                    store_run_end(&run);
                    if (ends++ % 97 == 0)
                        goes_on(thrice);
                    disk_sim_destroy(thrice);
                }
                disk_sim_destroy(twice);
            }
            disk_sim_destroy(once);
        }
    }
    printf("three crashes one after the other: %llu starts, up to %llu calls each\n",
           (unsigned long long)crashes, (unsigned long long)calls);
    CHECK(calls > 15 && crashes > seeds * 3 * 15 * 15);
    disk_sim_destroy(disk);
}

/* ---- by chance ------------------------------------------------------------------------------- */

/* A life of records of all sizes that the power, or a kill, ends. */
static bool life(struct disk *disk, uint64_t *random)
{
    uint64_t steps = sim_image_random(random) % 50;
    enum refusal_kind kind;
    struct store_run run;
    bool is_dying = sim_image_random(random) % 3 == 0;
    bool is_cut = false;

    if (is_dying)
        disk_sim_stop_at(disk, 1 + sim_image_random(random) % 90);
    kind = store_run_begin(&run, disk, &model, &options);
    CHECK(kind == REFUSAL_none || kind == REFUSAL_machine);
    if (kind == REFUSAL_none) {
        is_cut = run.recovered.cut_frames > 0;
        while (steps-- > 0) {
            (void)store_run_publish(&run, 8 + (uint32_t)(sim_image_random(random) % 3000));
            if (store_run_step(&run) < 0)
                break;
        }
        if (sim_image_random(random) % 4 == 0)
            (void)store_run_settle(&run, 50);
        if (!is_dying && sim_image_random(random) % 8 == 0)
            CHECK(store_run_stop(&run) == 0);
    }
    if (sim_image_random(random) % 4 == 0)
        disk_sim_kill(disk, sim_image_random(random));
    else
        disk_sim_crash(disk, sim_image_random(random));
    if (kind == REFUSAL_none)
        store_run_end(&run);
    return is_cut;
}

static void by_chance(uint64_t images_max)
{
    uint64_t random = 4711;
    uint64_t images = 0;
    uint64_t cuts = 0;

    for (uint64_t seed = 1; images < images_max; seed++) {
        struct disk *disk = disk_new(seed, 1 + (uint32_t)(seed % 8));

        options.frames_in_flight = 1 + (uint32_t)(seed % FRAMES_MAX);
        for (int i = 0; i < 8; i++, images++)
            cuts += life(disk, &random);
        disk_sim_destroy(disk);
    }
    printf("by chance: %llu images, %llu of them cut\n", (unsigned long long)images,
           (unsigned long long)cuts);
    CHECK(cuts > images / 100);
}

int main(void)
{
    const char *images = getenv("PERPD_POWER_IMAGES");
    uint64_t images_max = images ? strtoull(images, NULL, 10) : IMAGES_DEFAULT;

    /* Disks come and go by the ten thousand: their memory is kept. */
    (void)mallopt(M_MMAP_THRESHOLD, 16 << 20);
    (void)mallopt(M_TRIM_THRESHOLD, 256 << 20);
    options = store_run_options();
    every_image();
    three_crashes(images_max > IMAGES_DEFAULT ? 4 : 1);
    by_chance(images_max);
    return 0;
}
