/* Snapshots from start to start (roles.md, Snapshots and history; journal.md, Recovery,
 * Archive; docs/decisions/0041, 0042): when one is made, what is kept, archived and given back, and
 * what state a start has. The judge is the chain of records itself, folded from the first one. */
#include "base/log.h"
#include "check.h"
#include "core_rig.h"
#include "node/recover/fold.h"
#include "store/segment.h"

enum { SEQUENCES_MAX = 16, RUN = 400 };

static struct snapshotter_counters *counters(void)
{
    return &core_rig.core.snapshotter.counters;
}

/* The image hash of the state at a sequence, of every record from the first on. */
static void hash_at(uint64_t sequence, uint8_t hash[HASH_BYTES])
{
    struct fold_config config = {
        .disk = core_rig.disk,
        .exchange = &core_rig.core.exchange,
        .segment_bytes = CORE_RIG_SEGMENT_BYTES,
        .start = FOLD_GENESIS,
        .last_segment = UINT64_MAX,
        .last_sequence = sequence,
    };
    struct refusal refusal;
    struct fold fold;

    enum refusal_kind kind = fold_run(&config, &fold, &refusal);
    if (kind != REFUSAL_none)
        fprintf(stderr, "%s\n", refusal.text);
    CHECK(kind == REFUSAL_none && fold.start_sequence == 0 && fold.sequence == sequence);
    fold_image_hash(fold.engine, hash);
    fold_free(&fold);
}

static int list(uint64_t sequences[SEQUENCES_MAX])
{
    int count = snapshot_list(core_rig.disk, sequences, SEQUENCES_MAX);
    CHECK(count >= 0);
    return count;
}

static void damage(uint64_t sequence)
{
    char path[DISK_PATH_BYTES];
    uint8_t byte;

    snprintf(path, sizeof path, "snapshot/%lu.snap", sequence);
    uint64_t at = disk_sim_file_bytes(core_rig.disk, path) / 2;
    disk_sim_peek(core_rig.disk, path, at, &byte, 1);
    byte ^= 0x10;
    disk_sim_poke(core_rig.disk, path, at, &byte, 1);
}

/* Runs until `count` snapshots were made since the start. */
static void run_to(uint32_t count)
{
    for (int i = 0; i < 400 && published_get(&counters()->snapshots) < count; i++)
        core_rig_run(8);
    CHECK(published_get(&counters()->snapshots) >= count);
}

/* A start's state is that of the records, whatever it began with. */
static void start_as(uint64_t snapshot_sequence)
{
    uint8_t own[HASH_BYTES], want[HASH_BYTES], primary[HASH_BYTES];

    enum refusal_kind kind = core_rig_recover();
    if (kind != REFUSAL_none)
        fprintf(stderr, "%s\n", core_rig.refusal.text);
    CHECK(kind == REFUSAL_none);
    CHECK(core_rig.core.engines.snapshot_sequence == snapshot_sequence);
    core_rig_hash(own);
    hash_at(engine_sequence(core_rig.core.primary), want);
    fold_image_hash(core_rig.core.primary, primary);
    CHECK(memcmp(own, want, HASH_BYTES) == 0 && memcmp(primary, want, HASH_BYTES) == 0);
    CHECK(core_open(&core_rig.core) == CORE_OPENED);
}

/* Each is made of whole sealed segments, two stay, and what is below the older one moves. */
static void check_making(void)
{
    uint64_t sequences[SEQUENCES_MAX];
    struct snapshot snapshot;
    struct refusal why;
    uint8_t want[HASH_BYTES];

    core_rig_make();
    core_rig_start();
    run_to(1);
    CHECK(published_get(&counters()->archived) == 0 &&
          published_get(&counters()->retired) == 0); /* there is no older one yet */
    run_to(4);
    CHECK(list(sequences) == 2 && sequences[0] > sequences[1]);
    CHECK(published_get(&counters()->sequence) == sequences[0]);
    CHECK(published_get(&counters()->archived) >= 2 &&
          published_get(&counters()->retired) == published_get(&counters()->archived));
    for (int i = 0; i < 2; i++) {
        CHECK(snapshot_read(core_rig.disk, &core_rig.core.exchange, sequences[i], &snapshot,
                            &why) == 0);
        hash_at(sequences[i], want); /* over archive and journal */
        CHECK(memcmp(snapshot.head.image_hash, want, HASH_BYTES) == 0);
        snapshot_close(&snapshot);
    }
    /* journal.md, Archive: wholly below the older of the two. */
    const struct archive *archive = &core_rig.core.snapshotter.archive;
    CHECK(archive->count >= 2);
    CHECK(archive->rows[archive->count - 1].last_sequence <= sequences[1]);
    /* Below two segments of tail none is begun. */
    CHECK(core_rig.host.begun == published_get(&counters()->snapshots) &&
          core_rig.host.competing == 0);
    CHECK(published_get(&counters()->failures) == 0 &&
          published_get(&counters()->archive_failures) == 0);
    core_rig_kill();
}

/* journal.md, Recovery 2: the newest whole one, else the older, else every record. */
static void check_beginnings(void)
{
    uint64_t sequences[SEQUENCES_MAX];

    CHECK(list(sequences) == 2);
    for (int i = 0; i < 2; i++) { /* whichever way the replica comes to its state */
        core_rig.recovers_on_two_threads = i == 0;
        start_as(sequences[0]);
        core_rig_run(3);
        core_rig_kill();
    }
    core_rig.recovers_on_two_threads = true;
    damage(sequences[0]);
    start_as(sequences[1]);
    core_rig_run(3);
    core_rig_kill();
    damage(sequences[1]);
    start_as(0);
    core_rig_run(3);
    core_rig_kill();
    core_rig_free();
}

/* A child that fails or is killed loses nothing: ten seconds later the next one does its work. */
static void check_failures(void)
{
    uint64_t sequences[SEQUENCES_MAX];

    core_rig_make();
    core_rig_start();
    run_to(1);
    core_rig.host.fails = true;
    for (int i = 0; i < 400 && published_get(&counters()->failures) == 0; i++)
        core_rig_run(8);
    CHECK(published_get(&counters()->failures) == 1 && published_get(&counters()->alarm) == 1);
    uint32_t begun = core_rig.host.begun;
    core_rig_run(90); /* 9 s */
    CHECK(core_rig.host.begun == begun);
    core_rig.host.fails = false;
    core_rig.host.dies = true;
    core_rig_run(30);
    CHECK(core_rig.host.begun > begun && published_get(&counters()->failures) == 2);
    CHECK(list(sequences) == 1); /* a .part does not count, and is cleared away */
    CHECK(!disk_sim_exists(core_rig.disk, "snapshot/4711.snap.part"));
    core_rig.host.dies = false;
    run_to(2);
    CHECK(published_get(&counters()->alarm) == 0 && list(sequences) == 2);
    core_rig_kill();
    start_as(sequences[0]);
    core_rig_kill();
    core_rig_free();
}

/* A snapshot that was made in slices is what the records give, and a start begins with it. */
static void check_sliced(uint64_t sequence)
{
    struct snapshot snapshot;
    struct refusal why;
    uint8_t want[HASH_BYTES];

    CHECK(snapshot_read(core_rig.disk, &core_rig.core.exchange, sequence, &snapshot, &why) == 0);
    hash_at(sequence, want);
    CHECK(memcmp(snapshot.head.image_hash, want, HASH_BYTES) == 0);
    snapshot_close(&snapshot);
}

/* Runs until so many snapshots were made without a child. */
static void run_to_slices(uint64_t count)
{
    for (int i = 0; i < 400 && published_get(&counters()->in_slices) < count; i++)
        core_rig_run(8);
    CHECK(published_get(&counters()->in_slices) == count);
}

/* roles.md: where two children in a row were killed, the follower's thread makes the snapshot in
 * slices. One that fails otherwise is not, and after each fold a child is tried. */
static void check_slices(void)
{
    uint64_t sequences[SEQUENCES_MAX];

    core_rig_make();
    core_rig_start();
    run_to(1);
    core_rig.host.is_killed = true;
    uint32_t begun = core_rig.host.begun;
    run_to_slices(1);
    CHECK(core_rig.host.begun == begun + 2 && published_get(&counters()->failures) == 2);
    CHECK(list(sequences) == 2 && published_get(&counters()->sequence) == sequences[0]);
    check_sliced(sequences[0]);
    run_to_slices(2); /* one more child, one more fold */
    CHECK(core_rig.host.begun == begun + 3 && published_get(&counters()->archived) > 0);
    core_rig.host.is_killed = false;
    run_to(4); /* and one that lives, again */
    CHECK(published_get(&counters()->in_slices) == 2 && published_get(&counters()->alarm) == 0);
    core_rig.host.is_killed = true;
    run_to_slices(3);
    CHECK(list(sequences) == 2);
    check_sliced(sequences[0]);
    core_rig_kill(); /* in the middle of a segment, behind the snapshot's frame */
    start_as(sequences[0]);
    run_to_slices(1);
    core_rig_kill();
    core_rig_free();
}

/* A fold under way holds the follower, and no stop: what is durable is applied all the same. */
static void check_slices_stopped(void)
{
    struct slice_fold *fold = &core_rig.core.follower.fold;
    uint64_t sequences[SEQUENCES_MAX];

    core_rig_make();
    core_rig_start();
    run_to(1);
    slice_fold_ask(fold);
    for (int i = 0; i < 64 && fold->writer == NULL; i++) {
        CHECK(core_rig_send_account(&core_rig.links[0]));
        CHECK(core_match(&core_rig.core) > 0 && core_journal(&core_rig.core) >= 0);
        CHECK(core_follow(&core_rig.core) >= 0);
    }
    CHECK(fold->writer != NULL);
    uint64_t held = engine_sequence(core_rig.core.replica);
    CHECK(held == fold->frame.last_sequence);
    CHECK(core_rig_send_account(&core_rig.links[0]));
    CHECK(core_match(&core_rig.core) > 0 && core_journal(&core_rig.core) >= 0);
    CHECK(core_follow(&core_rig.core) > 0 && engine_sequence(core_rig.core.replica) == held);
    core_rig_stop_roles();
    CHECK(engine_sequence(core_rig.core.replica) > held && slice_fold_poll(fold) < 0);
    CHECK(core_write_snapshot(&core_rig.core, &core_rig.refusal) == REFUSAL_none);
    CHECK(list(sequences) == 2 && sequences[0] > held && sequences[1] != held);
    core_rig_kill();
    core_rig_free();
}

/* With less than twice the engine's memory free it is put off, until the tail is four times as
 * long; a child that has not ended by then begins again and competes. */
static void check_memory_and_force(void)
{
    core_rig_make();
    core_rig.host.free_bytes = 1999;
    core_rig_start();
    for (int i = 0; i < 400 && core_rig.core.snapshotter.sealed_end < 7; i++)
        core_rig_run(4);
    CHECK(core_rig.host.begun == 0 && published_get(&counters()->put_off) > 0 &&
          published_get(&counters()->waits) == 1 && published_get(&counters()->alarm) == 1);
    for (int i = 0; i < 400 && core_rig.host.begun == 0; i++)
        core_rig_run(4);
    CHECK(core_rig.host.competing == 1 && core_rig.core.snapshotter.sealed_end == 8);
    run_to(1);
    CHECK(published_get(&counters()->alarm) == 0);

    core_rig.host.free_bytes = 2000;
    core_rig.host.goes_on = true;
    for (int i = 0; i < 800 && core_rig.host.competing == 1; i++)
        core_rig_run(4);
    CHECK(core_rig.host.competing == 2 && core_rig.host.ended == 1 && core_rig.host.begun == 3);
    CHECK(published_get(&counters()->running) == 1 && published_get(&counters()->snapshots) == 1);
    core_rig_stop_roles(); /* the child is ended by the stop */
    CHECK(core_write_snapshot(&core_rig.core, &core_rig.refusal) == REFUSAL_none);
    CHECK(core_rig.host.ended == 2);
    core_rig_kill();
    core_rig_free();
}

/* snapshot_wanted: none is given back from there on; archived it is all the same. */
static void check_wanted(void)
{
    core_rig_make();
    core_rig.host.wanted_first = 1;
    core_rig_start();
    run_to(4);
    CHECK(published_get(&counters()->archived) >= 2 && published_get(&counters()->retired) == 1);
    core_rig.host.wanted_first = UINT64_MAX;
    core_rig_run(8);
    CHECK(published_get(&counters()->retired) == published_get(&counters()->archived));
    core_rig_kill();
    core_rig_free();
}

/* Two hours; archives are looked at once an hour. */
static void pass_hours(void)
{
    for (int i = 0; i < 720; i++) {
        clock_advance(&core_rig.clock, UINT64_C(10000000000));
        core_rig_run(1);
    }
}

/* store.archive_keep: what is older goes, but for what the next segment is chained to, and what the
 * history may lose; without a snapshot nothing could begin then. */
static void check_prune(void)
{
    struct snapshotter *snapshotter = &core_rig.core.snapshotter;
    struct published synced = { 0 };

    core_rig_make();
    core_rig.archive_keep_ns = 1000000000;
    core_rig_start();
    run_to(6);
    uint64_t archived = published_get(&counters()->archived);
    CHECK(archived >= 4 && published_get(&counters()->pruned) == 0);
    snapshotter->config.history_synced = &synced;
    published_set(&synced, snapshotter->archive.rows[1].last_sequence - 1);
    pass_hours();
    CHECK(published_get(&counters()->pruned) == 1);
    published_set(&synced, UINT64_MAX);
    pass_hours();
    CHECK(published_get(&counters()->pruned) >= archived - 1);
    CHECK(core_rig.core.snapshotter.archive.count >= 1);
    uint64_t sequences[SEQUENCES_MAX];
    CHECK(list(sequences) == 2);
    core_rig_kill();
    CHECK(core_rig_recover() == REFUSAL_none &&
          core_rig.core.engines.snapshot_sequence == sequences[0]);
    CHECK(core_open(&core_rig.core) == CORE_OPENED);
    run_to(2); /* and it goes on behind the rest */
    CHECK(published_get(&counters()->archive_failures) == 0 &&
          published_get(&counters()->archived) > 0);
    core_rig_kill();
    core_rig_free();
}

/* roles.md, Journal: segments are prepared two ahead. However many wait to be archived, by
 * the same thread, the next ones are made before each. */
static void check_segments_first(void)
{
    uint32_t stored = 0;

    core_rig_make();
    core_rig.tail_bytes = 6 * CORE_RIG_SEGMENT_BYTES; /* as many become due at once */
    core_rig.segment_bytes_per_s = CORE_RIG_SEGMENT_BYTES / 4;
    core_rig_start();
    for (int i = 0; i < 8000 && stored < 12; i++) {
        uint64_t before = published_get(&counters()->archived);
        core_rig_run(1);
        if (published_get(&counters()->archived) == before)
            continue;
        CHECK(segment_pool_ready(core_rig.core.pool) == SEGMENT_POOL_AHEAD_DEFAULT);
        stored++;
    }
    CHECK(stored == 12);
    core_rig_kill();
    core_rig_free();
}

/* roles.md, Bounded start: a start that would take too long is a tail that is due, however short;
 * what is open is sealed for it, and the child competes. */
static void check_late(void)
{
    struct published *late = &core_rig.core.follower.bound.halvings;

    core_rig_make();
    core_rig.tail_bytes = 1000 * (uint64_t)CORE_RIG_SEGMENT_BYTES;
    core_rig_start();
    core_rig_run(10);
    uint64_t open = core_rig.core.snapshotter.sealed_end;
    core_rig_run(10);
    CHECK(core_rig.core.snapshotter.sealed_end == open && core_rig.host.begun == 0);
    published_set(late, 1);
    for (int i = 0; i < 40 && core_rig.host.begun == 0; i++)
        core_rig_run(2); /* far less than fills a segment */
    CHECK(core_rig.core.snapshotter.sealed_end == open + 1);
    CHECK(core_rig.host.begun == 1 && core_rig.host.competing == 1);
    run_to(1);
    CHECK(published_get(&counters()->sequence) != 0);
    published_set(late, 0);
    core_rig_run(400);
    CHECK(core_rig.host.begun == published_get(&counters()->snapshots));
    core_rig_kill();
    core_rig_free();
}

/* replication.md, Snapshots in the vault: in a cluster snapshots end with every third segment here,
 * wherever a node's own beginning was. */
static void check_common(void)
{
    uint64_t sequences[SEQUENCES_MAX];
    struct snapshot_head head;
    uint8_t next[FRAME_HEADER_BYTES];
    char path[DISK_PATH_BYTES];

    core_rig_make();
    core_rig.tail_bytes = 3 * (uint64_t)CORE_RIG_SEGMENT_BYTES;
    core_rig_start();
    core_rig.core.snapshotter.config.is_common = true;
    core_rig.core.snapshotter.above = 1; /* as behind a stop within segment 0 */
    run_to(3);
    CHECK(list(sequences) == 2);
    for (int i = 0; i < 2; i++) {
        CHECK(snapshot_read_head(core_rig.disk, &core_rig.core.exchange, sequences[i], &head,
                                 NULL) == 0);
        segment_path(path, i == 0 ? 9 : 6, true);
        disk_sim_peek(core_rig.disk, path, SEGMENT_FRAMES_OFFSET, next, sizeof next);
        CHECK(frame_claimed_number(next) == head.frame + 1);
    }
    core_rig_kill();
    core_rig_free();
}

/* A clean stop: behind the closing frame, nothing is left to replay, the state is the same. */
static void check_stop(void)
{
    uint8_t before[HASH_BYTES], after[HASH_BYTES];
    uint64_t sequences[SEQUENCES_MAX];

    core_rig_make();
    core_rig_start();
    core_rig_run(20);
    core_rig_stop_roles();
    core_rig_hash(before);
    uint64_t sequence = engine_sequence(core_rig.core.replica);
    CHECK(core_write_snapshot(&core_rig.core, &core_rig.refusal) == REFUSAL_none);
    core_rig_kill();
    CHECK(list(sequences) == 1 && sequences[0] == sequence);
    CHECK(core_rig_recover() == REFUSAL_none);
    CHECK(core_rig.core.engines.snapshot_sequence == sequence);
    CHECK(core_rig.core.recovered.records == 0 && core_rig.core.recovered.frames == 0);
    core_rig_hash(after);
    CHECK(memcmp(before, after, HASH_BYTES) == 0);
    CHECK(core_open(&core_rig.core) == CORE_OPENED);
    core_rig_run(3);
    CHECK(engine_sequence(core_rig.core.primary) > sequence);
    core_rig_kill();

    /* Two more stops: two are kept. */
    for (int i = 0; i < 2; i++) {
        core_rig_start();
        core_rig_run(2);
        core_rig_stop_roles();
        CHECK(core_write_snapshot(&core_rig.core, &core_rig.refusal) == REFUSAL_none);
        core_rig_kill();
    }
    CHECK(list(sequences) == 2 && sequences[1] > sequence);
    core_rig_free();
}

/* A full disk at the stop: told, and no file counts. An image that differs: told, none is made. */
static void check_stop_failures(void)
{
    uint64_t sequences[SEQUENCES_MAX];

    core_rig_make();
    core_rig_start();
    core_rig_run(20);
    core_rig_stop_roles();
    disk_sim_set_full(core_rig.disk, true);
    CHECK(core_write_snapshot(&core_rig.core, &core_rig.refusal) == REFUSAL_machine);
    disk_sim_set_full(core_rig.disk, false);
    CHECK(list(sequences) == 0);
    core_rig_kill();

    core_rig_start();
    core_rig_run(2);
    core_rig_stop_roles();
    struct engine_result result;
    struct engine_sink *sink = &core_rig.core.follower.sink.sink;
    struct command *tick = (struct command *)(void *)core_rig.core.engines.rebuilt.bytes;
    memset(tick, 0, sizeof core_rig.core.engines.rebuilt.bytes);
    tick->code = REQUEST_tick;
    tick->payload_bytes = 8;
    tick->t_ns = engine_time(core_rig.core.replica) + 1;
    engine_apply(core_rig.core.replica, tick, sink, &result); /* one command too many */
    CHECK(core_write_snapshot(&core_rig.core, &core_rig.refusal) == REFUSAL_record_refused);
    CHECK(strstr(core_rig.refusal.text, "differs") != NULL && core_rig.core.follower.diverged);
    CHECK(list(sequences) == 0);
    core_rig_kill();
    start_as(0); /* the journal is as good as before */
    core_rig_kill();
    core_rig_free();
}

int main(void)
{
    log_set_level(LOG_NOTHING); /* what is told of failures made here is no news */
    check_making();
    check_beginnings();
    check_failures();
    check_slices();
    check_slices_stopped();
    check_memory_and_force();
    check_wanted();
    check_prune();
    check_segments_first();
    check_late();
    check_common();
    check_stop();
    check_stop_failures();
    return 0;
}
