/* A disk that refuses or is slow at call n, for every n, from the first call of a directory on
 * (docs/reliability.md; roles.md, Journal): no acknowledgement after a failed write or
 * sync, a clear error, and a later start that finds all that was acknowledged.
 *
 * A sample takes one call in N, of each kind of fault another one. */
#include <errno.h>

#include "archive_run.h"
#include "check.h"
#include "sample.h"
#include "store_run.h"
#include "support/sim/disk_sim.h"
#include "support/sim/sim_image.h"

enum { RECORDS = 14, TURNS_MAX = 400 };

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

/* What came of one life. */
struct outcome {
    enum refusal_kind kind; /* of the start */
    int error;              /* of the journal */
    bool is_stopped;
};

/* A start, records over two segments, a clean stop; the disk is killed in the end. */
static struct outcome life(struct disk *disk, const struct store_options *options)
{
    struct outcome outcome = { 0 };
    struct store_run run;
    uint64_t at_fault;

    outcome.kind = store_run_begin(&run, disk, &model, options);
    if (outcome.kind != REFUSAL_none)
        return outcome;
    for (int i = 0; i < RECORDS && outcome.error == 0; i++) {
        (void)store_run_publish(&run, 3000);
        for (int turn = 0; turn < 4 && outcome.error == 0; turn++)
            outcome.error = store_run_step(&run) < 0 ? journal_error(run.journal) : 0;
    }
    for (int turn = 0; turn < TURNS_MAX && outcome.error == 0; turn++) {
        if (turn == 0)
            journal_stop(run.journal);
        outcome.error = store_run_step(&run) < 0 ? journal_error(run.journal) : 0;
        if (journal_stopped(run.journal))
            break;
    }
    outcome.is_stopped = journal_stopped(run.journal);
    CHECK(!(outcome.is_stopped && outcome.error < 0));
    at_fault = model.acknowledged;
    for (int i = 0; i < 20 && outcome.error < 0; i++) {
        CHECK(store_run_step(&run) == outcome.error);
        CHECK(model.acknowledged == at_fault && !journal_stopped(run.journal));
    }
    disk_sim_kill(disk, at_fault);
    store_run_end(&run);
    return outcome;
}

static void fault_at_every_call(enum disk_sim_fault fault, bool is_sticky)
{
    const int want = fault == DISK_SIM_ENOSPC ? -ENOSPC : -EIO;
    struct store_options options = store_run_options();
    uint64_t refused = 0;
    uint64_t failed = 0;
    uint64_t stopped = 0;
    bool is_over = false;

    for (uint64_t call = 1; !is_over; call++) {
        if (!sample_takes(&sample, call + (uint64_t)fault + is_sticky))
            continue;
        struct disk *disk = disk_new(call, 2);
        struct outcome outcome;
        struct outcome after;

        disk_sim_fail(disk, call, fault, is_sticky);
        outcome = life(disk, &options);
        CHECK(outcome.kind == REFUSAL_none || outcome.kind == REFUSAL_machine);
        CHECK(refusal_exit_code(REFUSAL_machine) == 1);
        CHECK(outcome.error == 0 || outcome.error == want);
        refused += outcome.kind != REFUSAL_none;
        failed += outcome.error < 0;
        stopped += outcome.is_stopped;
        is_over = outcome.is_stopped && call > 300;
        disk_sim_crash(disk, call * 31);
        after = life(disk, &options); /* checks what is there */
        CHECK(after.kind == REFUSAL_none && after.is_stopped);
        disk_sim_destroy(disk);
    }
    printf("%s%s at every call: %llu starts refused, %llu journals failed, %llu lives ended well\n",
           fault == DISK_SIM_ENOSPC ? "ENOSPC"
           : fault == DISK_SIM_EIO  ? "EIO"
                                    : "short writes",
           is_sticky ? " from then on" : "", (unsigned long long)refused,
           (unsigned long long)failed, (unsigned long long)stopped);
    CHECK(refused >= 10 / sample.step && failed >= 20 / sample.step && stopped >= 20 / sample.step);
}

/* The n-th write takes as long as it likes: nothing behind it is acknowledged, whatever completes;
 * then everything is. The buffer fills meanwhile and says so. */
static void slow_at_every_write(void)
{
    uint64_t crashes = 0;

    for (uint64_t slow = 1; slow <= RECORDS; slow++) {
        struct store_options options = store_run_options();
        struct disk *disk = disk_new(slow, 1);
        struct store_run run;
        int refused = 0;

        CHECK(store_run_begin(&run, disk, &model, &options) == REFUSAL_none);
        CHECK(segment_pool_fill(run.pool, 0) >= 0);
        while (model.published < slow - 1) {
            CHECK(store_run_publish(&run, 3000));
            CHECK(store_run_settle(&run, 100) == 0);
        }
        disk_sim_set_latency(disk, 0);
        CHECK(store_run_publish(&run, 3000));
        CHECK(store_run_step(&run) > 0 && disk_sim_in_flight(disk) == 1);
        disk_sim_set_latency(disk, 1);
        for (int i = 0; i < 200; i++) {
            refused += !store_run_publish(&run, 3000);
            CHECK(store_run_step(&run) >= 0);
            CHECK(model.acknowledged == slow - 1);
            if (i % 20 == 7) { /* the power goes meanwhile */
                static struct store_model before;
                struct disk *copy = disk_sim_copy(disk);
                struct store_run after;

                before = model;
                disk_sim_crash(copy, slow * 1000 + (uint64_t)i);
                CHECK(store_run_begin(&after, copy, &model, &options) == REFUSAL_none);
                disk_sim_kill(copy, 1);
                store_run_end(&after);
                disk_sim_destroy(copy);
                model = before;
                crashes++;
            }
        }
        CHECK(refused > 100 && journal_error(run.journal) == 0);
        disk_sim_complete(disk, 0);
        CHECK(store_run_settle(&run, 1000) == 0);
        CHECK(model.acknowledged == model.published);
        CHECK(store_run_stop(&run) == 0);
        store_run_end(&run);
        disk_sim_destroy(disk);
    }
    printf("slow at every write: %d writes, %llu crashes meanwhile\n", RECORDS,
           (unsigned long long)crashes);
}

/* ---- reads ----------------------------------------------------------------------------------- */

static const struct disk_ops *kind_ops;
static uint64_t reads;
static uint64_t fail_read; /* the read that fails */
static bool is_short;      /* it gives less instead */

static int64_t read_failing(struct disk *disk, int file, uint64_t offset, void *bytes, size_t count)
{
    if (++reads != fail_read)
        return kind_ops->read(disk, file, offset, bytes, count);
    return is_short ? kind_ops->read(disk, file, offset, bytes, count / 2) : -EIO;
}

/* A read that fails, or gives less than the file has, at each read of a start: it is refused, never
 * a shorter journal; the next one finds everything. */
static void fault_at_every_read(void)
{
    struct store_options options = store_run_options();
    struct disk *disk = disk_new(1, 2);
    struct outcome outcome = life(disk, &options);
    struct disk_ops failing = *disk->ops;
    uint64_t published = model.published;
    uint64_t refused = 0;

    CHECK(outcome.is_stopped && published == RECORDS);
    kind_ops = disk->ops;
    failing.read = read_failing;
    for (int kind = 0; kind < 2; kind++) {
        bool is_over = false;

        is_short = kind == 1;
        for (fail_read = 1; !is_over; fail_read++) {
            struct disk *copy = disk_sim_copy(disk);
            enum refusal_kind refusal;
            struct store_run run;

            reads = 0;
            copy->ops = &failing;
            refusal = store_run_begin(&run, copy, &model, &options);
            is_over = reads < fail_read;
            CHECK(is_over == (refusal == REFUSAL_none));
            CHECK(is_over || refusal == REFUSAL_machine || is_short);
            refused += refusal != REFUSAL_none;
            disk_sim_kill(copy, 1);
            if (refusal == REFUSAL_none)
                store_run_end(&run);
            copy->ops = kind_ops;
            CHECK(store_run_begin(&run, copy, &model, &options) == REFUSAL_none);
            CHECK(model.published == published);
            disk_sim_kill(copy, 1);
            store_run_end(&run);
            disk_sim_destroy(copy);
        }
    }
    printf("reads that fail or end early: %llu starts refused\n", (unsigned long long)refused);
    CHECK(refused >= 2 * 8);
    disk_sim_destroy(disk);
}

/* The same for the archive: opening, storing and loading fail, and say nothing wrong. */
static void archive_at_every_read(void)
{
    struct store_options options = store_run_options();
    struct disk *disk = disk_new(2, 1);
    struct disk_ops failing = *disk->ops;
    struct exchange_file exchange;
    uint8_t *out = malloc(options.segment_bytes);
    uint64_t failed = 0;

    CHECK(out);
    archive_run_write(disk, &model, &options, 2, &exchange);
    kind_ops = disk->ops;
    failing.read = read_failing;
    for (int kind = 0; kind < 2; kind++) {
        bool is_over = false;

        is_short = kind == 1;
        for (fail_read = 1; !is_over; fail_read++) {
            struct disk *copy = disk_sim_copy(disk);
            struct archive archive = { 0 };
            struct refusal refusal;
            enum refusal_kind loaded;
            int stored[2];

            reads = 0;
            copy->ops = &failing;
            stored[0] = archive_store(&archive, copy, &exchange, 0, options.segment_bytes);
            CHECK(archive.count == (stored[0] == 0));
            stored[1] =
                archive_store(&archive, copy, &exchange, archive.count, options.segment_bytes);
            archive_close(&archive);
            refusal_clear(&refusal);
            loaded = archive_open(&archive, copy, &exchange, &refusal);
            CHECK(loaded == REFUSAL_none || reads >= fail_read);
            if (loaded == REFUSAL_none)
                loaded = archive_load(&archive, copy, &exchange, 0, options.segment_bytes, out,
                                      &refusal);
            is_over = reads < fail_read;
            CHECK(is_over == (stored[0] == 0 && stored[1] == 0 && loaded == REFUSAL_none));
            failed += !is_over;
            archive_close(&archive);
            copy->ops = kind_ops;
            refusal_clear(&refusal);
            CHECK(archive_open(&archive, copy, &exchange, &refusal) == REFUSAL_none);
            archive_run_store(&archive, copy, &exchange, 2, options.segment_bytes);
            archive_run_check(&archive, copy, disk, &exchange, options.segment_bytes);
            archive_close(&archive);
            disk_sim_destroy(copy);
        }
    }
    printf("reads of the archive that fail or end early: %llu\n", (unsigned long long)failed);
    CHECK(failed >= 2 * 8);
    free(out);
    disk_sim_destroy(disk);
}

int main(void)
{
    static const enum disk_sim_fault faults[] = { DISK_SIM_EIO, DISK_SIM_ENOSPC, DISK_SIM_SHORT };

    sample = sample_read();
    for (size_t i = 0; i < CC_COUNT(faults); i++) {
        fault_at_every_call(faults[i], false);
        fault_at_every_call(faults[i], true);
    }
    slow_at_every_write();
    fault_at_every_read();
    archive_at_every_read();
    return 0;
}
