/* bench_journal.c - durable records of 192 bytes (a signed limit order) through the journal's step
 * on real files, in the folder $PERPD_BENCH_DIR (default: the current one).
 *
 *   journal/local/N    durability local: N records are published, then stepped until durable; one
 *                      iteration is one commit, its p50 and p99 are the counters commit_*_ns,
 *                      records_per_s is by wall time
 *   journal/none/N     the same with durability none: released when handed to the kernel
 *   journal/stream     local, published as fast as the buffer accepts them, up to four frames in
 *                      flight; amplification = bytes written / bytes of records
 *   journal/publish    reserve, encode, publish alone: the matcher's part
 *
 * Segments are 64 MiB and prepared while the clock is stopped. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "shim.h"
#include "store/disk_real.h"
#include "store/journal.h"
#include "store/recovery.h"

enum {
    RECORD = 192,
    SAMPLES_MAX = 1 << 20,
    STREAM_BATCH = 65536 /* records of one iteration of journal/stream */
};

struct bed {
    char path[256];
    struct disk *disk;
    struct exchange_file exchange;
    struct recovery_result recovered;
    struct segment_pool *pool;
    struct journal *journal;
    uint64_t published;
};

static uint8_t part[128];
static uint32_t samples[SAMPLES_MAX];

static uint64_t now_ns(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static int apply_nothing(void *context, uint64_t sequence, uint64_t frame,
                         const struct record_view *record)
{
    (void)context;
    (void)sequence;
    (void)frame;
    return record->length == RECORD ? 0 : 1;
}

static bool bed_make(struct bed *bed, enum journal_durability durability)
{
    const char *folder = getenv("PERPD_BENCH_DIR");
    struct refusal refusal;
    bool ring_refused;
    bool is_new;
    int error;

    memset(bed, 0, sizeof *bed);
    snprintf(bed->path, sizeof bed->path, "%s/bench_journal.%d", folder ? folder : ".", getpid());
    bed->disk = disk_real_open(bed->path, &error, &ring_refused);
    if (!bed->disk)
        return false;
    if (exchange_file_open(bed->disk, NULL, &bed->exchange, &is_new, &refusal) != REFUSAL_none)
        return false;
    struct recovery_config recovery = {
        .disk = bed->disk,
        .exchange = &bed->exchange,
        .segment_bytes = SEGMENT_BYTES_DEFAULT,
        .apply = apply_nothing,
    };

    if (recovery_run(&recovery, &bed->recovered, &refusal) != REFUSAL_none)
        return false;
    struct segment_pool_config pool = {
        .disk = bed->disk,
        .exchange = &bed->exchange,
        .boot = bed->recovered.boot,
        .first = bed->recovered.position.segment,
        .existing_end = bed->recovered.segment_end,
        .segment_bytes = SEGMENT_BYTES_DEFAULT,
        .ahead = 2,
    };

    bed->pool = segment_pool_create(&pool);
    if (!bed->pool || segment_pool_fill(bed->pool, 0) < 0)
        return false;
    struct journal_config journal = {
        .disk = bed->disk,
        .exchange = &bed->exchange,
        .pool = bed->pool,
        .position = bed->recovered.position,
        .witness = bed->recovered.witness_slots,
        .durability = durability,
        .boot = bed->recovered.boot,
        .buffer_bytes = JOURNAL_BUFFER_BYTES_DEFAULT,
        .segment_bytes = SEGMENT_BYTES_DEFAULT,
        .frames_in_flight = JOURNAL_FRAMES_MAX,
        .group_bytes = JOURNAL_GROUP_BYTES_DEFAULT,
    };
    bed->journal = journal_create(&journal);
    return bed->journal != NULL;
}

static void folder_empty(const char *path)
{
    DIR *entries = opendir(path);
    const struct dirent *entry;
    char name[600];

    while (entries && (entry = readdir(entries))) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        if (unlink(name) < 0)
            folder_empty(name);
    }
    if (entries)
        closedir(entries);
    rmdir(path);
}

static void bed_end(struct bed *bed)
{
    if (bed->journal)
        journal_destroy(bed->journal);
    if (bed->pool)
        segment_pool_destroy(bed->pool);
    if (bed->disk)
        disk_real_close(bed->disk);
    folder_empty(bed->path);
}

static bool publish(struct bed *bed)
{
    const struct record_view record = {
        .t_ns = bed->published,
        .code = 0,
        .kind = RECORD_SIGNED,
        .payload_bytes = 72,
        .key_bytes = 32,
        .payload = part,
        .key = part,
        .signature = part,
    };
    uint8_t *out = journal_reserve(bed->journal, RECORD);

    if (!out)
        return false;
    (void)record_encode(out, &record);
    journal_publish(bed->journal);
    bed->published++;
    return true;
}

/* Prepares segments while the clock is stopped. */
static int prepare(struct bench_run *run, struct bed *bed)
{
    int error;

    if (segment_pool_ready(bed->pool) >= 1)
        return 0;
    bench_pause(run);
    error = segment_pool_fill(bed->pool, 0);
    bench_resume(run);
    return error;
}

/* Runs one step and parks when it had nothing to do, as the journal's thread does: the kernel's
 * part of a durable write needs the processor too. */
static int turn(struct bed *bed)
{
    int work = journal_step(bed->journal);

    if (work == 0)
        work = disk_wait(bed->disk, -1, 1000000);
    return work == -ENOENT ? 0 : work;
}

static int sample_order(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left;
    uint32_t b = *(const uint32_t *)right;

    return (a > b) - (a < b);
}

/* Reports the counters. `spent_ns` is wall time without the preparation of segments: a commit
 * mostly waits. */
static void counters_report(struct bench_run *run, struct bed *bed, size_t count, uint64_t spent_ns)
{
    struct journal_counters counters = journal_counters(bed->journal);

    bench_counter(run, "records_per_s", (double)counters.records * 1e9 / (double)spent_ns);

    if (count > 0) {
        qsort(samples, count, sizeof samples[0], sample_order);
        bench_counter(run, "commit_p50_ns", samples[count / 2]);
        bench_counter(run, "commit_p99_ns", samples[count * 99 / 100]);
    }
    bench_counter(run, "amplification",
                  (double)counters.written_bytes / (double)counters.record_bytes);
    bench_counter(run, "records_per_frame", (double)counters.records / (double)counters.frames);
    bench_counter(run, "block_bytes", bed->disk->block_bytes);
}

static void commits(struct bench_run *run, enum journal_durability durability)
{
    const uint64_t batch = (uint64_t)bench_argument(run);
    struct bed bed;
    uint64_t spent_ns = 0;
    size_t count = 0;
    int error = 0;

    if (!bed_make(&bed, durability)) {
        bench_fail(run, "no data directory");
        return;
    }
    while (bench_next(run)) {
        uint64_t begun;

        error = prepare(run, &bed);
        for (uint64_t i = 0; i < batch; i++)
            (void)publish(&bed);
        begun = now_ns();
        while (error >= 0 && journal_durable_seq(bed.journal) < bed.published)
            error = turn(&bed);
        begun = now_ns() - begun;
        spent_ns += begun;
        if (count < SAMPLES_MAX)
            samples[count++] = (uint32_t)begun;
        if (error < 0)
            break;
    }
    if (error < 0)
        bench_fail(run, "the journal failed");
    bench_items(run, (int64_t)batch);
    counters_report(run, &bed, count, spent_ns);
    bed_end(&bed);
}

static void local(struct bench_run *run)
{
    commits(run, JOURNAL_LOCAL);
}

static void none(struct bench_run *run)
{
    commits(run, JOURNAL_NONE);
}

static void stream(struct bench_run *run)
{
    uint64_t spent_ns = 0;
    struct bed bed;
    int error = 0;

    if (!bed_make(&bed, JOURNAL_LOCAL)) {
        bench_fail(run, "no data directory");
        return;
    }
    while (bench_next(run) && error >= 0) {
        uint64_t target = bed.published + STREAM_BATCH;

        while (error >= 0 && journal_durable_seq(bed.journal) < target) {
            uint64_t begun;

            error = prepare(run, &bed);
            begun = now_ns();
            for (int i = 0; i < 64 && bed.published < target; i++)
                (void)publish(&bed);
            if (error >= 0)
                error = bed.published == target ? turn(&bed) : journal_step(bed.journal);
            spent_ns += now_ns() - begun;
        }
    }
    if (error < 0)
        bench_fail(run, "the journal failed");
    bench_items(run, STREAM_BATCH);
    counters_report(run, &bed, 0, spent_ns);
    bed_end(&bed);
}

static void publish_alone(struct bench_run *run)
{
    struct bed bed;

    if (!bed_make(&bed, JOURNAL_NONE)) {
        bench_fail(run, "no data directory");
        return;
    }
    while (bench_next(run)) {
        if (publish(&bed))
            continue;
        bench_pause(run);
        while (journal_step(bed.journal) > 0 || !journal_idle(bed.journal)) {
            if (segment_pool_fill(bed.pool, 0) < 0)
                break;
        }
        bench_resume(run);
    }
    bench_items(run, 1);
    bed_end(&bed);
}

void bench_register(void)
{
    static const int64_t batches[] = { 1, 16, 64, 256, 1024, 4096 };

    for (size_t i = 0; i < sizeof batches / sizeof batches[0]; i++)
        bench_add_argument("journal/local", local, batches[i]);
    for (size_t i = 0; i < sizeof batches / sizeof batches[0]; i++)
        bench_add_argument("journal/none", none, batches[i]);
    bench_add("journal/stream", stream);
    bench_add("journal/publish", publish_alone);
}
