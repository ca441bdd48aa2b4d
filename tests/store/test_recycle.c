/* The life of a segment: written, sealed, archived, retired, used again; the power is lost at every
 * call of it, and what recovery reads from archive and journal together is all that was
 * acknowledged (journal.md, Archive; "loss of power while a segment is prepared, renamed,
 * archived").
 *
 * A sample takes one pair of call and seed in N, and one Nth of the random lives. */
#include <errno.h>

#include "archive_run.h"
#include "check.h"
#include "sample.h"
#include "support/sim/disk_sim.h"
#include "support/sim/sim_image.h"

static struct store_model model;
static struct test_sample sample;

/* The background's work of one life: archives what is sealed and retires what is archived. */
struct keeper {
    struct archive archive;
    uint64_t lowest; /* segment in journal/ that was not retired */
    uint64_t archived;
    uint64_t retired;
};

static struct disk *disk_new(uint64_t seed)
{
    struct disk_sim_config config = { .seed = seed, .block_bytes = 512, .latency_max = 2 };
    struct disk *disk = disk_sim_create(&config);

    CHECK(disk);
    memset(&model, 0, sizeof model);
    model.random = seed;
    return disk;
}

static uint64_t current_segment(const struct store_run *run)
{
    uint64_t begun = journal_counters(run->journal).segments;

    return run->recovered.position.segment + begun - (begun > 0);
}

static bool segment_stands(const struct disk *disk, uint64_t number)
{
    char path[DISK_PATH_BYTES];

    segment_path(path, number, true);
    return disk_sim_exists(disk, path);
}

static void keeper_begin(struct keeper *keeper, struct store_run *run)
{
    struct refusal refusal;

    *keeper = (struct keeper){ 0 };
    refusal_clear(&refusal);
    CHECK(archive_open(&keeper->archive, run->disk, &run->exchange, &refusal) == REFUSAL_none);
    while (!segment_stands(run->disk, keeper->lowest))
        keeper->lowest++;
    CHECK(keeper->lowest <= keeper->archive.count); /* nothing is gone that is in neither place */
}

/* 0, or what stopped it. Everything published is durable, so each segment below the current one is
 * sealed. */
static int keeper_turn(struct keeper *keeper, struct store_run *run, uint64_t sealed_end)
{
    while (keeper->archive.count < sealed_end) {
        int error = archive_store(&keeper->archive, run->disk, &run->exchange,
                                  keeper->archive.count, run->options.segment_bytes);

        if (error < 0)
            return error;
        keeper->archived++;
    }
    while (keeper->lowest < keeper->archive.count && keeper->lowest < sealed_end) {
        segment_pool_retire(run->pool, keeper->lowest++);
        keeper->retired++;
    }
    return 0;
}

/* Writes until the disk stops it or `turns` are over. Gives what was done. */
static struct keeper life(struct store_run *run, int turns)
{
    uint64_t seal_from = run->recovered.position.segment;
    struct keeper keeper;
    int error = 0;

    keeper_begin(&keeper, run);
    for (int i = 0; i < turns && error == 0; i++) {
        (void)store_run_publish(run, 8 + (uint32_t)(sim_image_random(&model.random) % 3000));
        error = store_run_step(run) < 0;
        if (error == 0 && i % 6 == 5) {
            error = store_run_settle(run, 200);
            if (error == 0 && journal_idle(run->journal))
                error = keeper_turn(&keeper, run, current_segment(run));
        }
    }
    CHECK(current_segment(run) >= seal_from);
    archive_close(&keeper.archive);
    return keeper;
}

static enum refusal_kind begin(struct store_run *run, struct disk *disk)
{
    struct store_options options = store_run_options();

    return store_run_begin(run, disk, &model, &options);
}

static void power_loss_at_every_call(void)
{
    static struct store_model before;
    struct disk *disk = disk_new(1);
    struct store_run run;
    struct keeper done = { 0 };
    uint64_t crashes = 0;
    uint64_t archived = 0;
    uint64_t recycled = 0;
    bool is_over = false;

    CHECK(begin(&run, disk) == REFUSAL_none);
    done = life(&run, 60);
    CHECK(done.archived >= 2 && done.retired >= 2);
    disk_sim_kill(disk, 1);
    store_run_end(&run);
    before = model;
    for (uint64_t call = 1; !is_over; call++) {
        for (uint64_t seed = 1; seed <= 2; seed++) {
            if (!sample_takes(&sample, call + seed))
                continue;
            struct disk *copy = disk_sim_copy(disk);
            enum refusal_kind kind;

            model = before;
            disk_sim_stop_at(copy, call);
            kind = begin(&run, copy);
            CHECK(kind == REFUSAL_none || kind == REFUSAL_machine);
            if (kind == REFUSAL_none) {
                done = life(&run, 40);
                is_over = disk_sim_calls(copy) < call;
                archived += done.archived;
                recycled += done.retired - segment_pool_retired(run.pool);
            }
            if (seed == 1)
                disk_sim_crash(copy, call);
            else
                disk_sim_kill(copy, call);
            if (kind == REFUSAL_none)
                store_run_end(&run);
            CHECK(begin(&run, copy) == REFUSAL_none); /* checks what was applied */
            done = life(&run, 12);
            CHECK(store_run_stop(&run) == 0);
            disk_sim_crash(copy, call);
            store_run_end(&run);
            CHECK(begin(&run, copy) == REFUSAL_none && run.recovered.clean_stop);
            disk_sim_kill(copy, 1);
            store_run_end(&run);
            disk_sim_destroy(copy);
            crashes++;
        }
    }
    printf("life of a segment: %llu crashes, %llu archived, %llu used again before them\n",
           (unsigned long long)crashes, (unsigned long long)archived, (unsigned long long)recycled);
    CHECK(crashes > 200 / sample.step && archived > 100 / sample.step);
    CHECK(recycled > 100 / sample.step);
    disk_sim_destroy(disk);
}

/* Many lives of one directory, on a disk that is as unkind as it may be and sometimes refuses. */
static void soup(void)
{
    uint64_t random = 77 + sample.offset;
    uint64_t recycled = 0;
    uint64_t archived = 0;

    for (uint64_t seed = 1; seed <= sample_share(&sample, 25); seed++) {
        struct disk *disk = disk_new(seed);

        for (int lives = 0; lives < 10; lives++) {
            struct store_run run;
            enum refusal_kind kind;

            if (sim_image_random(&random) % 2 == 0)
                disk_sim_stop_at(disk, 1 + sim_image_random(&random) % 400);
            else if (sim_image_random(&random) % 2 == 0)
                disk_sim_fail(disk, 1 + sim_image_random(&random) % 400,
                              (enum disk_sim_fault)(sim_image_random(&random) % 3), false);
            kind = begin(&run, disk);
            CHECK(kind == REFUSAL_none || kind == REFUSAL_machine);
            if (kind == REFUSAL_none) {
                struct keeper done = life(&run, (int)(sim_image_random(&random) % 60));

                archived += done.archived;
                recycled += done.retired - segment_pool_retired(run.pool);
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
    printf("soup: %llu archived, %llu used again\n", (unsigned long long)archived,
           (unsigned long long)recycled);
    CHECK(archived > 200 / sample.step && recycled > 100 / sample.step);
}

/* A segment used again and not zeroed: its old frames, of another segment number, change nothing,
 * in whatever state of the new frames the power is lost. */
static void not_zeroed(void)
{
    enum { BYTES = 32768 };
    static uint8_t old[BYTES];
    struct disk *disk = disk_new(3);
    struct store_run run;
    uint64_t cut_bytes = 0;
    uint64_t starts = 0;

    CHECK(begin(&run, disk) == REFUSAL_none);
    while (current_segment(&run) < 3) {
        CHECK(store_run_publish(&run, 700));
        CHECK(store_run_settle(&run, 100) == 0);
    }
    CHECK(segment_pool_fill(run.pool, 0) >= 0);
    disk_sim_crash(disk, 1);
    store_run_end(&run);
    CHECK(segment_stands(disk, 4) && segment_stands(disk, 5));
    disk_sim_peek(disk, "journal/0000000000.seg", 0, old, BYTES);
    for (int i = 0; i < 2; i++) /* the headers are right: only the zeroing did not happen */
        disk_sim_poke(disk, i == 0 ? "journal/0000000004.seg" : "journal/0000000005.seg",
                      SEGMENT_FRAMES_OFFSET, old + SEGMENT_FRAMES_OFFSET,
                      BYTES - SEGMENT_FRAMES_OFFSET);
    for (uint64_t seed = 1; seed <= 60; seed++) {
        if (!sample_takes(&sample, seed))
            continue;
        static struct store_model before;
        struct disk *copy = disk_sim_copy(disk);

        before = model;
        CHECK(begin(&run, copy) == REFUSAL_none);
        starts++;
        cut_bytes += run.recovered.cut_bytes;
        for (uint64_t i = 0; i < seed; i++) {
            (void)store_run_publish(&run, 1500);
            CHECK(store_run_step(&run) >= 0);
        }
        disk_sim_crash(copy, seed);
        store_run_end(&run);
        CHECK(begin(&run, copy) == REFUSAL_none);
        disk_sim_kill(copy, 1);
        store_run_end(&run);
        disk_sim_destroy(copy);
        model = before;
    }
    CHECK(starts > 0 && cut_bytes == starts * 2 * (uint64_t)(BYTES - SEGMENT_FRAMES_OFFSET));
    disk_sim_destroy(disk);
}

/* A process that is killed leaves the list renamed and its name unsynced; the next one reads it and
 * retires by it: the power loss that follows must not take the list back. */
static void retired_after_a_kill(void)
{
    static struct store_model before;
    struct disk *disk = disk_new(4);
    struct store_run run;
    bool is_over = false;
    int listed = 0;

    CHECK(begin(&run, disk) == REFUSAL_none);
    while (current_segment(&run) < 1) {
        CHECK(store_run_publish(&run, 700));
        CHECK(store_run_settle(&run, 100) == 0);
    }
    disk_sim_kill(disk, 1);
    store_run_end(&run);
    before = model;
    for (uint64_t call = 1; !is_over; call++) {
        for (uint64_t seed = 1; seed <= 8; seed++) {
            if (!sample_takes(&sample, call + seed))
                continue;
            struct disk *copy = disk_sim_copy(disk);
            struct keeper keeper;

            model = before;
            CHECK(begin(&run, copy) == REFUSAL_none);
            keeper_begin(&keeper, &run);
            disk_sim_stop_at(copy, call);
            is_over = keeper_turn(&keeper, &run, 1) == 0;
            archive_close(&keeper.archive);
            disk_sim_kill(copy, seed);
            store_run_end(&run);

            CHECK(begin(&run, copy) == REFUSAL_none);
            keeper_begin(&keeper, &run);
            if (keeper.archive.count == 1)
                CHECK(keeper_turn(&keeper, &run, 1) == 0);
            archive_close(&keeper.archive);
            listed += keeper.retired == 1 && !is_over;
            while (current_segment(&run) < 2) {
                CHECK(store_run_publish(&run, 700));
                CHECK(store_run_settle(&run, 100) == 0);
            }
            CHECK(segment_pool_fill(run.pool, 0) >= 0);
            CHECK(segment_pool_retired(run.pool) == 0);
            CHECK(segment_stands(copy, 0) == (keeper.retired == 0));
            disk_sim_crash(copy, seed);
            store_run_end(&run);
            CHECK(begin(&run, copy) == REFUSAL_none);
            (void)life(&run, 12);
            disk_sim_kill(copy, 1);
            store_run_end(&run);
            disk_sim_destroy(copy);
        }
    }
    CHECK(listed >= 8 / (int)sample.step);
    disk_sim_destroy(disk);
}

/* The segments that a killed process made are seen by the next one, synced or not: what it writes
 * into them, and its boot number, must not outlive their names in a power loss. */
static void names_of_a_killed_process(void)
{
    bool is_over = false;
    int used = 0;

    for (uint64_t call = 1; !is_over; call++) {
        for (uint64_t seed = 1; seed <= 16; seed++) {
            if (!sample_takes(&sample, call + seed))
                continue;
            struct disk *disk = disk_new(call);
            enum refusal_kind kind;
            struct store_run run;

            disk_sim_stop_at(disk, call);
            kind = begin(&run, disk);
            CHECK(kind == REFUSAL_none || kind == REFUSAL_machine);
            if (kind == REFUSAL_none)
                is_over = segment_pool_fill(run.pool, 0) >= 0;
            disk_sim_kill(disk, seed);
            if (kind == REFUSAL_none)
                store_run_end(&run);
            CHECK(begin(&run, disk) == REFUSAL_none);
            if (segment_stands(disk, 1)) { /* nothing is prepared until one is taken */
                CHECK(segment_pool_fill(run.pool, 0) >= 0);
                CHECK(store_run_publish(&run, 100));
                for (int i = 0; i < 4; i++)
                    CHECK(journal_step(run.journal) >= 0);
                model.acknowledged = journal_durable_seq(run.journal);
                CHECK(model.acknowledged == 1);
                used++;
            }
            disk_sim_crash(disk, seed);
            store_run_end(&run);
            CHECK(begin(&run, disk) == REFUSAL_none);
            disk_sim_kill(disk, 1);
            store_run_end(&run);
            disk_sim_destroy(disk);
        }
    }
    CHECK(used > 16 / (int)sample.step);
}

int main(void)
{
    sample = sample_read();
    not_zeroed();
    names_of_a_killed_process();
    retired_after_a_kill();
    power_loss_at_every_call();
    soup();
    return 0;
}
