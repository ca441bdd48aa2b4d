/* The journal of a cluster's nodes (replication.md): the leader's frames are released when they
 * count, a standby's journal is the same byte for byte, and what the log does not have is cut. */
#include <errno.h>
#include <stdio.h>

#include "base/crc32c.h"
#include "check.h"
#include "store/journal_cluster.h"
#include "store/segment.h"
#include "store_run.h"
#include "support/sim/disk_sim.h"

enum { FRAMES_MAX = 64, BYTES_MAX = 8192, TURNS = 200, TERM = 10 };

/* A frame as it went to the log. */
struct sent {
    uint8_t bytes[BYTES_MAX];
    size_t count;
    uint64_t number;
};

static struct store_model model, other_model;
static struct sent sent[FRAMES_MAX];
static uint32_t sent_count;

static struct store_options options_of(enum journal_durability durability)
{
    struct store_options options = store_run_options();
    options.durability = durability;
    return options;
}

/* A directory that was started and stopped once, with three records. */
static struct disk *origin(void)
{
    struct disk_sim_config config = { .seed = 1, .block_bytes = 512, .latency_max = 2 };
    struct disk *disk = disk_sim_create(&config);
    struct store_options options = options_of(JOURNAL_LOCAL);
    struct store_run run;

    CHECK(disk != NULL);
    memset(&model, 0, sizeof model);
    sent_count = 0;
    CHECK(store_run_begin(&run, disk, &model, &options) == REFUSAL_none);
    CHECK(segment_pool_fill(run.pool, 0) >= 0);
    for (int i = 0; i < 3; i++)
        CHECK(store_run_publish(&run, 8));
    CHECK(store_run_settle(&run, TURNS) >= 0);
    CHECK(store_run_stop(&run) == 0);
    store_run_end(&run);
    disk_sim_crash(disk, 1);
    return disk;
}

static void begin(struct store_run *run, struct disk *disk, struct store_model *of,
                  enum journal_durability durability)
{
    struct store_options options = options_of(durability);

    CHECK(store_run_begin(run, disk, of, &options) == REFUSAL_none);
    CHECK(segment_pool_fill(run->pool, 0) >= 0);
}

static void settle(struct store_run *run)
{
    for (int i = 0; i < TURNS; i++)
        CHECK(store_run_step(run) >= 0);
}

/* Takes what the journal lends. */
static void take(struct store_run *run)
{
    const uint8_t *bytes;
    size_t count;
    uint64_t number;

    while ((bytes = journal_cluster_next_frame(run->journal, &count, &number)) != NULL) {
        CHECK(sent_count < FRAMES_MAX && count <= BYTES_MAX);
        memcpy(sent[sent_count].bytes, bytes, count);
        sent[sent_count].count = count;
        sent[sent_count++].number = number;
    }
}

/* Section 3: released = the contiguous frames that count; the window holds back, the disk does
 * not. */
static void leader_releases(void)
{
    struct disk *disk = origin();
    struct store_run run;

    begin(&run, disk, &model, JOURNAL_REPLICATED);
    uint64_t first = run.recovered.position.tail.number + 1;
    uint64_t shown = run.recovered.position.tail.last_sequence;
    CHECK(store_run_publish(&run, 8));
    settle(&run);
    CHECK(journal_cluster_next_frame(run.journal, &(size_t){ 0 }, &(uint64_t){ 0 }) == NULL);
    journal_cluster_lead(run.journal, TERM);
    settle(&run);
    for (int i = 1; i < 6; i++) /* group_bytes 0: a frame each, at most 4 in flight */
        CHECK(store_run_publish(&run, 8) && store_run_step(&run) >= 0);
    settle(&run);
    take(&run);
    CHECK(sent_count == 4 && sent[0].number == first && sent[3].number == first + 3);
    CHECK(journal_durable_seq(run.journal) == shown); /* on the disk, but none counts */
    CHECK(journal_cluster_durable_frame(run.journal) == first - 1);
    CHECK(journal_cluster_unreleased_bytes(run.journal) == 6 * 32);
    journal_cluster_replicated(run.journal, first);
    settle(&run);
    CHECK(journal_durable_seq(run.journal) == shown + 1);
    take(&run);
    CHECK(sent_count == 5); /* a place in the window is free: the two that waited, as one */
    journal_cluster_replicated(run.journal, first + 4);
    settle(&run);
    CHECK(journal_durable_seq(run.journal) == shown + 6);
    CHECK(journal_cluster_released_frame(run.journal) == first + 4);
    CHECK(journal_cluster_durable_frame(run.journal) == first + 4);
    CHECK(journal_cluster_unreleased_bytes(run.journal) == 0);
    for (uint32_t i = 0; i < sent_count; i++) {
        CHECK(cc_load64(sent[i].bytes + 32) == TERM);          /* boot */
        CHECK(cc_load64(sent[i].bytes + 72) < sent[i].number); /* durable_frame: released */
        CHECK(cc_load32(sent[i].bytes + 80) % 4096 == 0);      /* the block is 4,096 */
    }
    disk_sim_crash(disk, 1);
    store_run_end(&run);
    disk_sim_destroy(disk);
}

/* `replicated+local`: both are waited for, in either order. */
static void both_are_waited_for(void)
{
    struct disk *disk = origin();
    struct store_run run;

    begin(&run, disk, &model, JOURNAL_REPLICATED_LOCAL);
    uint64_t shown = run.recovered.position.tail.last_sequence;
    journal_cluster_lead(run.journal, TERM);
    disk_sim_set_latency(disk, 0); /* by hand */
    CHECK(store_run_publish(&run, 8) && store_run_step(&run) > 0);
    take(&run);
    journal_cluster_replicated(run.journal, sent[0].number);
    CHECK(store_run_step(&run) >= 0);
    CHECK(journal_durable_seq(run.journal) == shown); /* it counts, and is not here yet */
    while (disk_sim_in_flight(disk) > 0) {
        disk_sim_complete(disk, 0);
        CHECK(store_run_step(&run) >= 0);
    }
    CHECK(journal_durable_seq(run.journal) == shown + 1);
    disk_sim_crash(disk, 1);
    store_run_end(&run);
    disk_sim_destroy(disk);
}

/* The segments below `end`. */
static void same_journals(struct disk *a, struct disk *b, uint64_t end)
{
    static uint8_t left[32768], right[32768];
    char path[DISK_PATH_BYTES];

    for (uint64_t n = 0; n < end; n++) {
        segment_path(path, n, true);
        if (!disk_sim_exists(a, path) || !disk_sim_exists(b, path))
            continue;
        disk_sim_peek(a, path, 0, left, sizeof left);
        disk_sim_peek(b, path, 0, right, sizeof right);
        CHECK(memcmp(left + SEGMENT_FRAMES_OFFSET, right + SEGMENT_FRAMES_OFFSET,
                     sizeof left - SEGMENT_FRAMES_OFFSET) == 0);
    }
}

/* What is no next frame of the log is refused. */
static void adopts_nothing_else(struct store_run *standby)
{
    uint8_t bytes[BYTES_MAX];

    memcpy(bytes, sent[0].bytes, sent[0].count);
    CHECK(journal_cluster_adopt(standby->journal, bytes, 100) == -EBADMSG);
    CHECK(journal_cluster_adopt(standby->journal, bytes, sent[0].count - 8) == -EBADMSG);
    for (size_t at = 0; at < sent[0].count; at++) {
        bytes[at] ^= 1;
        CHECK(journal_cluster_adopt(standby->journal, bytes, sent[0].count) == -EBADMSG);
        bytes[at] ^= 1;
    }
    CHECK(journal_cluster_adopt(standby->journal, sent[1].bytes, sent[1].count) == -EBADMSG);
    /* A frame whose checksum is right and whose record's length is not. */
    static uint8_t whole[BYTES_MAX * 2];
    uint32_t length = cc_load32(bytes + 80);
    memset(whole, 0, sizeof whole);
    memcpy(whole, bytes, sent[0].count);
    cc_store32(whole + FRAME_HEADER_BYTES + 8, 12);
    cc_store32(whole + 12, crc32c(whole + 16, length - 16));
    CHECK(journal_cluster_adopt(standby->journal, whole, sent[0].count) == -EBADMSG);
}

/* L3: a standby writes the same frames at the same places, across segments, then leads on. */
static void standby_is_equal(void)
{
    struct disk *disk = origin();
    struct disk *other = disk_sim_copy(disk);
    struct store_run leader, standby;

    other_model = model;
    begin(&leader, disk, &model, JOURNAL_REPLICATED);
    begin(&standby, other, &other_model, JOURNAL_REPLICATED);
    journal_cluster_lead(leader.journal, TERM);
    for (int i = 0; i < 12; i++) { /* of 4,096 and 8,192 bytes: 3 segments of 32,768 */
        CHECK(store_run_publish(&leader, i % 3 == 0 ? 4000 : 8));
        settle(&leader);
        take(&leader);
        journal_cluster_replicated(leader.journal, sent[sent_count - 1].number);
        settle(&leader);
    }
    adopts_nothing_else(&standby);
    other_model = model;
    for (uint32_t i = 0; i < sent_count; i++) {
        int adopted;
        while ((adopted = journal_cluster_adopt(standby.journal, sent[i].bytes, sent[i].count)) ==
               0)
            settle(&standby);
        CHECK(adopted == 1);
    }
    settle(&standby);
    CHECK(journal_durable_seq(standby.journal) == journal_durable_seq(leader.journal));
    CHECK(journal_cluster_last_frame(standby.journal).number == sent[sent_count - 1].number);
    same_journals(disk, other, 3);

    uint64_t shown = journal_durable_seq(standby.journal);
    journal_cluster_lead(standby.journal, TERM + 1);
    CHECK(store_run_publish(&standby, 8));
    settle(&standby);
    take(&standby);
    CHECK(cc_load64(sent[sent_count - 1].bytes + 32) == TERM + 1);
    CHECK(journal_durable_seq(standby.journal) == shown);
    journal_cluster_replicated(standby.journal, sent[sent_count - 1].number);
    settle(&standby);
    CHECK(journal_durable_seq(standby.journal) == shown + 1);
    disk_sim_crash(disk, 1);
    disk_sim_crash(other, 1);
    store_run_end(&leader);
    store_run_end(&standby);
    disk_sim_destroy(disk);
    disk_sim_destroy(other);
}

/* Twelve frames of a leader, all of which count. */
static struct disk *twelve(void)
{
    struct disk *disk = origin();
    struct store_run run;

    begin(&run, disk, &model, JOURNAL_REPLICATED);
    journal_cluster_lead(run.journal, TERM);
    for (int i = 0; i < 12; i++) {
        CHECK(store_run_publish(&run, 8));
        settle(&run);
        take(&run);
        journal_cluster_replicated(run.journal, sent[sent_count - 1].number);
        settle(&run);
    }
    CHECK(sent_count == 12);
    disk_sim_crash(disk, 1);
    store_run_end(&run);
    return disk;
}

static void adopt(struct store_run *standby, uint32_t from, uint32_t end)
{
    for (uint32_t i = from; i < end; i++)
        CHECK(journal_cluster_adopt(standby->journal, sent[i].bytes, sent[i].count) == 1);
}

/* A standby shows at once what counts, and writes together what comes while it writes. */
static void frames_go_together(void)
{
    struct disk *other = origin();
    struct disk *disk = twelve();
    struct store_run standby;

    other_model = model;
    begin(&standby, other, &other_model, JOURNAL_REPLICATED);
    other_model = model;
    uint64_t before = journal_cluster_durable_frame(standby.journal);
    uint64_t shown = journal_durable_seq(standby.journal);
    disk_sim_set_latency(other, 0); /* by hand */
    adopt(&standby, 0, 5);
    CHECK(journal_durable_seq(standby.journal) == shown + 5);
    CHECK(disk_sim_in_flight(other) == 2 &&
          journal_cluster_durable_frame(standby.journal) == before);
    disk_sim_complete(other, 1);
    CHECK(store_run_step(&standby) > 0); /* the second is there: frames 3 to 5 go, in one write */
    CHECK(disk_sim_in_flight(other) == 2 &&
          journal_cluster_durable_frame(standby.journal) == before);
    disk_sim_complete(other, 0);
    CHECK(store_run_step(&standby) > 0 && disk_sim_in_flight(other) <= 2);
    CHECK(journal_cluster_durable_frame(standby.journal) == before + 2);
    while (disk_sim_in_flight(other) > 0) {
        disk_sim_complete(other, 0);
        CHECK(store_run_step(&standby) >= 0);
    }
    CHECK(journal_cluster_durable_frame(standby.journal) == before + 5);
    disk_sim_set_latency(other, 2);
    /* It is elected while some wait for the disk. */
    adopt(&standby, 5, 9);
    journal_cluster_lead(standby.journal, TERM + 1);
    CHECK(store_run_publish(&standby, 8));
    settle(&standby);
    take(&standby);
    CHECK(sent_count == 13 && sent[12].number == sent[8].number + 1);
    CHECK(cc_load64(sent[12].bytes + 32) == TERM + 1);
    journal_cluster_replicated(standby.journal, sent[12].number);
    settle(&standby);
    CHECK(journal_cluster_durable_frame(standby.journal) == sent[12].number);
    same_journals(disk, other, 2); /* the third has the frame of another term */
    disk_sim_crash(other, 1);
    store_run_end(&standby);
    disk_sim_destroy(disk);
    disk_sim_destroy(other);
}

/* ---- rejoin ---------------------------------------------------------------------------------- */

/* What the log says, and what recovery handed over. */
struct log {
    uint64_t keep;
    bool refuses;
    uint64_t asked, applied, least;
};

static enum refusal_kind agree(void *context, const struct frame_tail *tails, uint32_t count,
                               uint64_t least, uint64_t *keep, struct refusal *refusal)
{
    struct log *log = context;

    log->asked++;
    log->least = least;
    CHECK(count >= 1);
    for (uint32_t i = 1; i < count; i++)
        CHECK(tails[i].number == tails[i - 1].number + 1);
    CHECK(*keep == tails[count - 1].number && log->keep >= tails[0].number);
    if (log->refuses)
        return refusal_set(refusal, REFUSAL_cluster_differs, "for a test");
    if (log->keep < *keep)
        *keep = log->keep;
    return REFUSAL_none;
}

static int count_record(void *context, uint64_t sequence, uint64_t frame,
                        const struct record_view *record)
{
    struct log *log = context;

    (void)record;
    CHECK(frame <= log->keep && sequence == ++log->applied);
    return 0;
}

static enum refusal_kind recover(struct disk *disk, struct log *log, struct recovery_result *result)
{
    struct exchange_file exchange;
    struct refusal refusal;
    bool is_new;
    struct recovery_config config = { .disk = disk,
                                      .exchange = &exchange,
                                      .segment_bytes = store_run_options().segment_bytes,
                                      .apply = count_record,
                                      .context = log,
                                      .agree = agree };

    log->applied = 0;
    CHECK(exchange_file_open(disk, NULL, &exchange, &is_new, &refusal) == REFUSAL_none);
    return recovery_run(&config, result, &refusal);
}

/* A leader that died with three frames that the log does not have: of each life at most that. */
static struct disk *dead_leader(uint64_t *last)
{
    struct disk *disk = origin();
    struct store_run run;

    begin(&run, disk, &model, JOURNAL_REPLICATED);
    journal_cluster_lead(run.journal, TERM);
    for (int i = 0; i < 4; i++)
        CHECK(store_run_publish(&run, 8) && store_run_step(&run) >= 0);
    settle(&run);
    take(&run);
    CHECK(sent_count == 4);
    journal_cluster_replicated(run.journal, sent[0].number);
    settle(&run);
    disk_sim_crash(disk, 7);
    store_run_end(&run);
    *last = sent[3].number;
    return disk;
}

/* Section 9: exactly the frames behind the last common one are in discarded/, and cut. */
static void frames_are_discarded(void)
{
    uint64_t last;
    struct disk *disk = dead_leader(&last);
    struct log log = { .keep = last - 3, .refuses = true };
    struct recovery_result result;
    char path[DISK_PATH_BYTES];
    uint8_t bytes[4096];

    uint64_t digest = disk_sim_digest(disk);
    CHECK(recover(disk, &log, &result) == REFUSAL_cluster_differs);
    CHECK(disk_sim_digest(disk) == digest); /* nothing was written */
    disk_sim_crash(disk, 1);
    log.refuses = false;
    CHECK(recover(disk, &log, &result) == REFUSAL_none && log.asked == 2);
    CHECK(result.position.tail.number == last - 3 && result.discarded_frames == 3);
    CHECK(result.discarded_first == log.applied + 1 && result.discarded_last == log.applied + 3);
    snprintf(path, sizeof path, "discarded/%d-%lu-%lu.frames", TERM, last - 2, last);
    CHECK(disk_sim_file_bytes(disk, path) == 3 * sizeof bytes);
    for (uint64_t i = 0; i < 3; i++) {
        disk_sim_peek(disk, path, i * sizeof bytes, bytes, sizeof bytes);
        CHECK(memcmp(bytes, sent[1 + i].bytes, sent[1 + i].count) == 0);
    }
    disk_sim_crash(disk, 1);
    CHECK(recover(disk, &log, &result) == REFUSAL_none); /* they are gone */
    CHECK(result.position.tail.number == last - 3 && result.discarded_frames == 0);
    disk_sim_destroy(disk);
}

/* A crash at each call of the rejoin repeats it with the same result (criterion 14). */
static void crash_anywhere(void)
{
    uint64_t last;
    struct disk *disk = dead_leader(&last);
    uint64_t calls = UINT64_MAX;

    for (uint64_t call = 1; call <= calls; call++) {
        struct disk *copy = disk_sim_copy(disk);
        struct log log = { .keep = last - 3 };
        struct recovery_result result;
        char path[DISK_PATH_BYTES];

        disk_sim_stop_at(copy, call);
        struct exchange_file exchange;
        struct refusal refusal;
        bool is_new;
        struct recovery_config config = { .disk = copy,
                                          .exchange = &exchange,
                                          .segment_bytes = store_run_options().segment_bytes,
                                          .apply = count_record,
                                          .context = &log,
                                          .agree = agree };
        if (exchange_file_open(copy, NULL, &exchange, &is_new, &refusal) == REFUSAL_none &&
            recovery_run(&config, &result, &refusal) == REFUSAL_none)
            calls = call; /* it was not reached any more */
        disk_sim_crash(copy, call);
        disk_sim_stop_at(copy, 0);
        CHECK(recover(copy, &log, &result) == REFUSAL_none);
        CHECK(result.position.tail.number == last - 3 && log.applied == 4);
        snprintf(path, sizeof path, "discarded/%d-%lu-%lu.frames", TERM, last - 2, last);
        CHECK(disk_sim_file_bytes(copy, path) == 3 * 4096);
        disk_sim_destroy(copy);
    }
    CHECK(calls > 10);
    disk_sim_destroy(disk);
}

/* Criterion 15, the local half: a frame that was durable and is damaged is cut, not refused, if the
 * log has it. */
static void damage_is_cut(void)
{
    uint64_t last;
    struct disk *disk = dead_leader(&last);
    struct log log = { .keep = last };
    struct recovery_result result;
    uint8_t byte;
    char path[DISK_PATH_BYTES];

    CHECK(recover(disk, &log, &result) == REFUSAL_none); /* all four count after all */
    segment_path(path, result.position.segment, true);
    disk_sim_crash(disk, 1);
    uint64_t at = result.position.offset - 4096 + 200; /* in the last frame's padding */
    disk_sim_peek(disk, path, at, &byte, 1);
    byte ^= 1;
    disk_sim_poke(disk, path, at, &byte, 1);
    log.keep = last - 1;
    CHECK(recover(disk, &log, &result) == REFUSAL_none);
    CHECK(log.least == last); /* the witness names it: the log is asked for it */
    CHECK(result.position.tail.number == last - 1 && result.discarded_frames == 0);
    disk_sim_destroy(disk);
}

int main(void)
{
    leader_releases();
    both_are_waited_for();
    standby_is_equal();
    frames_go_together();
    frames_are_discarded();
    crash_anywhere();
    damage_is_cut();
    return 0;
}
