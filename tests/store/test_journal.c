/* The writer: group commit, the contiguous durable prefix, rollover, stops and faults. */
#include <errno.h>

#include "check.h"
#include "store_run.h"
#include "support/sim/disk_sim.h"
#include "support/sim/sim_image.h"

static struct store_model model;

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

/* The pool makes one piece a step: enough turns for the first two segments. */
static void pool_ready(struct store_run *run)
{
    CHECK(segment_pool_fill(run->pool, 0) >= 0);
    CHECK(segment_pool_ready(run->pool) == 2);
}

/* journal.md, Durable: durable_seq advances only over the contiguous prefix. */
static void completions_in_any_order(void)
{
    static const int orders[24][4] = {
        { 0, 1, 2, 3 }, { 0, 1, 3, 2 }, { 0, 2, 1, 3 }, { 0, 2, 3, 1 }, { 0, 3, 1, 2 },
        { 0, 3, 2, 1 }, { 1, 0, 2, 3 }, { 1, 0, 3, 2 }, { 1, 2, 0, 3 }, { 1, 2, 3, 0 },
        { 1, 3, 0, 2 }, { 1, 3, 2, 0 }, { 2, 0, 1, 3 }, { 2, 0, 3, 1 }, { 2, 1, 0, 3 },
        { 2, 1, 3, 0 }, { 2, 3, 0, 1 }, { 2, 3, 1, 0 }, { 3, 0, 1, 2 }, { 3, 0, 2, 1 },
        { 3, 1, 0, 2 }, { 3, 1, 2, 0 }, { 3, 2, 0, 1 }, { 3, 2, 1, 0 },
    };

    for (int o = 0; o < 24; o++) {
        struct store_options options = store_run_options();
        struct disk *disk = disk_new(1, 0);
        struct store_run run;
        bool done[4] = { false };

        CHECK(store_run_begin(&run, disk, &model, &options) == REFUSAL_none);
        pool_ready(&run);
        for (int i = 0; i < 4; i++) {
            CHECK(store_run_publish(&run, 8));
            CHECK(store_run_step(&run) > 0); /* group_bytes 0: a frame for each */
        }
        CHECK(disk_sim_in_flight(disk) == 4);
        CHECK(store_run_publish(&run, 8));
        CHECK(store_run_step(&run) == 0); /* a fifth never flies */
        CHECK(disk_sim_in_flight(disk) == 4);
        for (int i = 0; i < 4; i++) {
            uint64_t prefix = 0;
            int index = 0;

            for (int k = 0; k < orders[o][i]; k++)
                index += !done[k];
            done[orders[o][i]] = true;
            while (prefix < 4 && done[prefix])
                prefix++;
            disk_sim_complete(disk, index);
            CHECK(store_run_step(&run) > 0);
            CHECK(journal_durable_seq(run.journal) == prefix);
            /* Frame 5 flies as soon as the oldest is retired; keep it out of the order. */
            CHECK(disk_sim_in_flight(disk) == 3 - i + (prefix > 0));
        }
        disk_sim_crash(disk, 1);
        store_run_end(&run);
        disk_sim_destroy(disk);
    }
}

/* What accumulated while a commit was in flight goes into the next one. */
static void groups_without_timers(void)
{
    struct store_options options = store_run_options();
    struct disk *disk = disk_new(2, 0);
    struct store_run run;

    options.frames_in_flight = 1;
    CHECK(store_run_begin(&run, disk, &model, &options) == REFUSAL_none);
    pool_ready(&run);
    CHECK(store_run_publish(&run, 8));
    CHECK(store_run_step(&run) > 0);
    for (int i = 0; i < 20; i++)
        CHECK(store_run_publish(&run, 8));
    CHECK(store_run_step(&run) == 0);
    CHECK(journal_counters(run.journal).in_flight == 1);
    disk_sim_complete(disk, 0);
    CHECK(store_run_step(&run) > 0);
    CHECK(journal_durable_seq(run.journal) == 1);
    CHECK(journal_counters(run.journal).frames == 2);
    CHECK(journal_counters(run.journal).records == 21);
    /* 128 + 20 * (24 + 8) = 768 bytes: two blocks of 512; the first frame one block. */
    CHECK(journal_counters(run.journal).written_bytes == 512 + 1024);
    disk_sim_complete(disk, 0);
    CHECK(store_run_step(&run) > 0);
    CHECK(journal_durable_seq(run.journal) == 21);
    CHECK(journal_idle(run.journal));
    CHECK(store_run_step(&run) == 0);
    store_run_end(&run);
    disk_sim_destroy(disk);
}

/* group_bytes holds back a second frame, never the first; what a publish must bring to be of use is
 * told, so that a sleeping journal thread is woken for no less. */
static void small_groups_wait(void)
{
    struct store_options options = store_run_options();
    struct disk *disk = disk_new(3, 0);
    struct store_run run;

    options.group_bytes = 64;
    options.frames_in_flight = 2;
    CHECK(store_run_begin(&run, disk, &model, &options) == REFUSAL_none);
    pool_ready(&run);
    CHECK(journal_wanted_bytes(run.journal) == 1 && journal_waiting_bytes(run.journal) == 0);
    CHECK(store_run_publish(&run, 8));
    CHECK(journal_waiting_bytes(run.journal) == 32);
    CHECK(store_run_step(&run) > 0);
    CHECK(journal_wanted_bytes(run.journal) == 64 && journal_waiting_bytes(run.journal) == 0);
    CHECK(store_run_publish(&run, 8)); /* 32 bytes */
    CHECK(store_run_step(&run) == 0);
    CHECK(store_run_publish(&run, 8)); /* 64 */
    CHECK(journal_waiting_bytes(run.journal) == 64);
    CHECK(store_run_step(&run) > 0);
    CHECK(journal_counters(run.journal).in_flight == 2);
    CHECK(journal_wanted_bytes(run.journal) == UINT64_MAX); /* only a completion helps */
    disk_sim_crash(disk, 3);
    store_run_end(&run);
    disk_sim_destroy(disk);
}

static void random_lives(void)
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct store_options options = store_run_options();
        struct disk *disk = disk_new(seed, 1 + (uint32_t)(seed % 9));
        uint64_t random = seed;

        options.frames_in_flight = 1 + (uint32_t)(seed % 4);
        options.durability = seed % 5 == 0 ? JOURNAL_NONE : JOURNAL_LOCAL;
        for (int life = 0; life < 4; life++) {
            struct store_run run;

            CHECK(store_run_begin(&run, disk, &model, &options) == REFUSAL_none);
            CHECK(run.recovered.clean_stop == (life > 0));
            CHECK(run.recovered.cut_bytes == 0);
            CHECK(run.recovered.boot == (uint64_t)life + 1);
            for (int i = 0; i < 150; i++) {
                (void)store_run_publish(&run, 8 + (uint32_t)(sim_image_random(&random) % 2000));
                CHECK(store_run_step(&run) >= 0);
            }
            CHECK(store_run_stop(&run) == 0);
            CHECK(journal_durable_seq(run.journal) == model.published);
            CHECK(store_run_step(&run) == 0);
            store_run_end(&run);
            model.acknowledged = model.published;
            disk_sim_kill(disk, seed); /* the lock goes with the process */
        }
        disk_sim_destroy(disk);
    }
}

/* roles.md, Flow control: buffer full -> no room, until the journal has gathered. */
static void full_buffer(void)
{
    struct store_options options = store_run_options();
    struct disk *disk = disk_new(5, 0);
    struct store_run run;
    int published = 0;

    options.buffer_bytes = JOURNAL_BUFFER_BYTES_MIN;
    CHECK(store_run_begin(&run, disk, &model, &options) == REFUSAL_none);
    while (store_run_publish(&run, 1000))
        published++;
    CHECK(published == 16); /* 16 * 1,024 = 16,384 */
    CHECK(journal_counters(run.journal).full == 1);
    CHECK(journal_step(run.journal) >= 0); /* no segment yet: nothing is gathered */
    CHECK(journal_counters(run.journal).starved == 1);
    CHECK(!store_run_publish(&run, 1000));
    pool_ready(&run);
    CHECK(store_run_step(&run) > 0);
    CHECK(store_run_publish(&run, 1000));
    disk_sim_crash(disk, 5);
    store_run_end(&run);
    disk_sim_destroy(disk);
}

/* journal.md, Durable: `none` releases at the hand-over, and names no later frame durable. */
static void none_names_nothing(void)
{
    struct store_options options = store_run_options();
    struct disk *disk = disk_new(6, 0);
    uint8_t header[FRAME_HEADER_BYTES];
    struct store_run run;

    options.durability = JOURNAL_NONE;
    CHECK(store_run_begin(&run, disk, &model, &options) == REFUSAL_none);
    pool_ready(&run);
    for (uint64_t i = 1; i <= 3; i++) {
        CHECK(store_run_publish(&run, 8));
        CHECK(store_run_step(&run) > 0);
        CHECK(journal_durable_seq(run.journal) == i);
        CHECK(journal_written_seq(run.journal) == 0);
    }
    for (int i = 0; i < 3; i++) {
        disk_sim_complete(disk, 0);
        CHECK(store_run_step(&run) >= 0);
    }
    CHECK(journal_written_seq(run.journal) == 3);
    CHECK(store_run_publish(&run, 8));
    CHECK(store_run_step(&run) > 0);
    disk_sim_complete(disk, 0);
    CHECK(store_run_step(&run) > 0);
    for (uint64_t i = 0; i < 4; i++) {
        disk_sim_peek(disk, "journal/0000000000.seg", SEGMENT_FRAMES_OFFSET + 512 * i, header,
                      sizeof header);
        CHECK(cc_load64(header + 48) == i + 1); /* frame number */
        CHECK(cc_load64(header + 72) == 0);     /* durable_frame */
    }
    disk_sim_crash(disk, 6);
    store_run_end(&run);
    disk_sim_destroy(disk);
}

/* No acknowledgement after a failed write, sync or a short write; recovery loses nothing that was
 * acknowledged. Every call of a short run fails in turn, in each way. */
static void faults_at_every_call(void)
{
    static const enum disk_sim_fault faults[] = { DISK_SIM_EIO, DISK_SIM_ENOSPC, DISK_SIM_SHORT };
    int failed_runs = 0;

    for (size_t f = 0; f < CC_COUNT(faults); f++) {
        for (uint64_t call = 1;; call++) {
            struct store_options options = store_run_options();
            struct disk *disk = disk_new(call, 3);
            struct store_run run;
            uint64_t at_fault;
            int error = 0;

            CHECK(store_run_begin(&run, disk, &model, &options) == REFUSAL_none);
            pool_ready(&run);
            disk_sim_fail(disk, call, faults[f], false);
            for (int i = 0; i < 30 && error == 0; i++) {
                (void)store_run_publish(&run, 1500);
                error = store_run_step(&run) < 0 ? journal_error(run.journal) : 0;
            }
            if (error == 0)
                error = store_run_stop(&run);
            at_fault = model.acknowledged;
            if (error < 0) {
                failed_runs++;
                CHECK(error == (faults[f] == DISK_SIM_ENOSPC ? -ENOSPC : -EIO));
                CHECK(journal_error(run.journal) == error);
                CHECK(!journal_stopped(run.journal));
                for (int i = 0; i < 20; i++)
                    CHECK(store_run_step(&run) == error);
                CHECK(model.acknowledged == at_fault);
            }
            disk_sim_crash(disk, call * 31 + f);
            store_run_end(&run);
            CHECK(store_run_begin(&run, disk, &model, &options) == REFUSAL_none);
            disk_sim_crash(disk, 1);
            store_run_end(&run);
            if (error == 0 && call > 120) {
                disk_sim_destroy(disk);
                break;
            }
            disk_sim_destroy(disk);
        }
    }
    CHECK(failed_runs > 3 * 40); /* submissions and completions of some thirty frames */
}

/* A disk that is full: the pool says so and tries again, the journal waits and is not at fault. */
static void full_disk(void)
{
    struct disk_sim_config config = {
        .seed = 7, .block_bytes = 512, .latency_max = 1, .bytes_max = 3 * 32768
    };
    struct store_options options = store_run_options();
    struct disk *disk = disk_sim_create(&config);
    struct store_run run;
    int refused = 0;

    memset(&model, 0, sizeof model);
    CHECK(store_run_begin(&run, disk, &model, &options) == REFUSAL_none);
    for (int i = 0; i < 400; i++) {
        (void)store_run_publish(&run, 1000);
        CHECK(journal_step(run.journal) >= 0);
        refused += segment_pool_step(run.pool, (uint64_t)i * 10000000) == -ENOSPC;
    }
    CHECK(refused > 1 && refused < 5); /* 4 s, and a second between two attempts */
    CHECK(segment_pool_error(run.pool) == -ENOSPC);
    CHECK(segment_pool_ready(run.pool) == 0);
    CHECK(journal_error(run.journal) == 0);
    CHECK(journal_counters(run.journal).starved > 0);
    CHECK(journal_durable_seq(run.journal) > 20);
    model.acknowledged = journal_durable_seq(run.journal);
    disk_sim_crash(disk, 7);
    store_run_end(&run);
    CHECK(store_run_begin(&run, disk, &model, &options) == REFUSAL_none);
    disk_sim_crash(disk, 7);
    store_run_end(&run);
    disk_sim_destroy(disk);
}

int main(void)
{
    completions_in_any_order();
    groups_without_timers();
    small_groups_wait();
    random_lives();
    full_buffer();
    none_names_nothing();
    faults_at_every_call();
    full_disk();
    return 0;
}
