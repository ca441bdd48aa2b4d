/* The follower sees every durable record once and in order, in memory or from the files. */
#include <errno.h>

#include "check.h"
#include "store/follow.h"
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

/* Takes at most `limit` records and compares them with what was published. */
static uint64_t follow_some(struct follow *follow, const struct journal *journal, uint64_t limit)
{
    uint64_t taken = 0;

    while (taken < limit) {
        struct record_view record;
        uint64_t sequence = 0;
        uint64_t before = follow_sequence(follow);
        int found = follow_next(follow, &record, &sequence);

        CHECK(found >= 0);
        if (found == 0)
            break;
        taken++;
        CHECK(sequence == before + 1);
        CHECK(sequence == follow_sequence(follow));
        CHECK(sequence <= journal_durable_seq(journal)); /* nothing that is not durable is shown */
        CHECK(record.t_ns == sequence);
        CHECK(cc_load64(record.payload) == model.words[sequence]);
    }
    return taken;
}

/* Nothing is given before it is durable. */
static void waits_for_durable(void)
{
    struct store_options options = store_run_options();
    struct disk *disk = disk_new(1, 0);
    struct follow *follow;
    struct store_run run;

    CHECK(store_run_begin(&run, disk, &model, &options) == REFUSAL_none);
    CHECK(segment_pool_fill(run.pool, 0) >= 0);
    follow = follow_create(run.journal);
    CHECK(follow);
    CHECK(store_run_publish(&run, 64));
    CHECK(store_run_publish(&run, 64));
    CHECK(follow_some(follow, run.journal, 10) == 0);
    CHECK(store_run_step(&run) > 0);
    CHECK(follow_some(follow, run.journal, 10) == 0);
    disk_sim_complete(disk, 0);
    CHECK(store_run_step(&run) > 0);
    CHECK(follow_some(follow, run.journal, 10) == 2);
    CHECK(follow_some(follow, run.journal, 10) == 0);
    CHECK(follow_overruns(follow) == 0);
    follow_destroy(follow);
    store_run_end(&run);
    disk_sim_destroy(disk);
}

/* A small buffer and a slow follower: overtaken again and again, in both durabilities, in a first
 * and in a later life. */
static void overtaken(void)
{
    uint64_t overruns = 0;

    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct store_options options = store_run_options();
        struct disk *disk = disk_new(seed, 1 + (uint32_t)(seed % 5));
        uint64_t random = seed;

        options.buffer_bytes = JOURNAL_BUFFER_BYTES_MIN;
        options.durability = seed % 4 == 0 ? JOURNAL_NONE : JOURNAL_LOCAL;
        for (int life = 0; life < 3; life++) {
            struct follow *follow;
            struct store_run run;

            CHECK(store_run_begin(&run, disk, &model, &options) == REFUSAL_none);
            follow = follow_create(run.journal);
            CHECK(follow);
            for (int i = 0; i < 150; i++) {
                for (uint64_t k = sim_image_random(&random) % 4; k > 0; k--)
                    (void)store_run_publish(&run, 8 + (uint32_t)(sim_image_random(&random) % 2500));
                CHECK(store_run_step(&run) >= 0);
                if (sim_image_random(&random) % 40 == 0)
                    (void)follow_some(follow, run.journal, sim_image_random(&random) % 200);
            }
            CHECK(store_run_stop(&run) == 0);
            (void)follow_some(follow, run.journal, UINT64_MAX);
            CHECK(follow_sequence(follow) == model.published);
            overruns += follow_overruns(follow);
            follow_destroy(follow);
            store_run_end(&run);
            model.acknowledged = model.published;
            disk_sim_kill(disk, seed);
        }
        disk_sim_destroy(disk);
    }
    CHECK(overruns > 100);
}

/* Counts what is read from a disk's files. */
static uint64_t file_reads;
static const struct disk_ops *counted_ops;

static int64_t count_read(struct disk *disk, int file, uint64_t offset, void *bytes, size_t count)
{
    file_reads++;
    return counted_ops->read(disk, file, offset, bytes, count);
}

/* Overtaken at the end of a long journal (roles.md, Flow control: the matcher never waits):
 * what it has read in the buffer is passed over by segments, and a segment is read in pieces, not
 * frame by frame. */
static void far_behind(void)
{
    struct store_options options = store_run_options();
    struct disk *disk = disk_new(7, 1);
    struct disk_ops counting = *disk->ops;
    struct follow *follow;
    struct store_run run;

    options.buffer_bytes = JOURNAL_BUFFER_BYTES_MIN;
    CHECK(store_run_begin(&run, disk, &model, &options) == REFUSAL_none);
    follow = follow_create(run.journal);
    CHECK(follow);
    for (int i = 0; i < 2600; i++) {
        CHECK(store_run_publish(&run, 40));
        CHECK(store_run_settle(&run, 100) == 0);
        CHECK(i >= 2000 || follow_some(follow, run.journal, 10) == 1);
    }
    CHECK(follow_overruns(follow) == 0);
    uint64_t segments = journal_counters(run.journal).segments;
    CHECK(journal_counters(run.journal).frames >= 2600 && segments >= 40);
    counted_ops = disk->ops;
    counting.read = count_read;
    disk->ops = &counting;
    CHECK(follow_some(follow, run.journal, UINT64_MAX) == 600);
    disk->ops = counted_ops;
    CHECK(follow_overruns(follow) > 0);
    /* The head and one piece of each; of the last ones, and at an end that was read too early, some
     * more. */
    CHECK(file_reads >= segments && file_reads <= 2 * segments + 60);
    follow_destroy(follow);
    store_run_end(&run);
    disk_sim_destroy(disk);
}

/* Removes the next segment between the opening of a file and its reading, as a recycling does, and
 * leaves zeros in what was opened. */
static uint64_t retire_next;
static uint64_t retire_end;

static void segment_retire(struct disk *disk, uint64_t number)
{
    static const uint8_t zeros[32768];
    char path[DISK_PATH_BYTES];

    segment_path(path, number, true);
    disk_sim_poke(disk, path, 0, zeros, sizeof zeros);
    CHECK(disk_remove(disk, path) == 0);
}

static int64_t retire_read(struct disk *disk, int file, uint64_t offset, void *bytes, size_t count)
{
    if (retire_next < retire_end)
        segment_retire(disk, retire_next++);
    return counted_ops->read(disk, file, offset, bytes, count);
}

/* Overtaken when the segments that it has read in the buffer are retired, or while they are: those
 * are passed over, and nothing is missed. A segment retired too early is an error. */
static void retired_behind(uint64_t before, uint64_t during, bool is_too_many)
{
    struct store_options options = store_run_options();
    struct disk *disk = disk_new(8, 1);
    struct disk_ops retiring = *disk->ops;
    struct record_view record;
    struct follow *follow;
    struct store_run run;
    uint64_t sequence;

    options.buffer_bytes = JOURNAL_BUFFER_BYTES_MIN;
    CHECK(store_run_begin(&run, disk, &model, &options) == REFUSAL_none);
    follow = follow_create(run.journal);
    CHECK(follow);
    for (int i = 0; i < 1600; i++) {
        CHECK(store_run_publish(&run, 40));
        CHECK(store_run_settle(&run, 100) == 0);
        CHECK(i >= 1000 || follow_some(follow, run.journal, 10) == 1);
    }
    /* A frame has a block of 512: 56 in a segment of 32 KiB. Sequence 1,001 is in segment 17. */
    for (uint64_t n = 0; n < before; n++)
        segment_retire(disk, n);
    retire_next = before;
    retire_end = before + during;
    counted_ops = disk->ops;
    retiring.read = retire_read;
    disk->ops = &retiring;
    if (is_too_many)
        CHECK(follow_next(follow, &record, &sequence) == -EBADMSG);
    else
        CHECK(follow_some(follow, run.journal, UINT64_MAX) == 600);
    disk->ops = counted_ops;
    follow_destroy(follow);
    store_run_end(&run);
    disk_sim_destroy(disk);
}

static void retired(void)
{
    for (uint64_t before = 0; before <= 17; before++) {
        for (uint64_t during = 0; before + during <= 17; during += 1 + before % 3)
            retired_behind(before, during, false);
    }
    retired_behind(18, 0, true);
}

/* Files that do not hold what was made durable are an error, not an end. */
static void damaged_file(void)
{
    struct store_options options = store_run_options();
    struct disk *disk = disk_new(3, 1);
    static const uint8_t zeros[512];
    struct record_view record;
    struct follow *follow;
    struct store_run run;
    uint64_t sequence;

    options.buffer_bytes = JOURNAL_BUFFER_BYTES_MIN;
    CHECK(store_run_begin(&run, disk, &model, &options) == REFUSAL_none);
    follow = follow_create(run.journal);
    CHECK(follow);
    for (int i = 0; i < 60; i++) {
        (void)store_run_publish(&run, 1000);
        CHECK(store_run_step(&run) >= 0);
    }
    CHECK(store_run_settle(&run, 100) == 0);
    disk_sim_poke(disk, "journal/0000000000.seg", SEGMENT_FRAMES_OFFSET, zeros, sizeof zeros);
    CHECK(follow_next(follow, &record, &sequence) == -EBADMSG);
    follow_destroy(follow);
    store_run_end(&run);
    disk_sim_destroy(disk);
}

int main(void)
{
    waits_for_durable();
    overtaken();
    far_behind();
    retired();
    damaged_file();
    return 0;
}
