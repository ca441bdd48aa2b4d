/* Where a start begins and what it refuses (roles.md, Configuration; journal.md, Recovery;
 * docs/decisions/0041): a young journal is replayed whole and compared with the snapshot, one
 * of another rules_version, and a chain that ends before a snapshot's frame. Rows that the
 * history's file has are not made again, whichever rules_version made them. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "base/private_log.h"
#include "check.h"
#include "core_rig.h"
#include "engine/image/image.h"
#include "node/recover/fold.h"
#include "store/history_check.h"
#include "store/segment.h"

#define SEGMENT ((uint64_t)CORE_RIG_SEGMENT_BYTES)

/* ---- a snapshot that says something else ----------------------------------------------------- */

struct forger {
    struct image_sink sink; /* first */
    struct snapshot_writer *writer;
    uint64_t bytes;   /* written so far */
    uint64_t flip_at; /* a byte that is changed; UINT64_MAX: none */
};

static uint32_t forge_older = IMAGE_SECTION_END; /* the section that says an older version */

static void forge_section(struct image_sink *sink, uint32_t code, uint32_t version)
{
    snapshot_section_begin(((struct forger *)(void *)sink)->writer, code,
                           version - (code == forge_older));
}

static void forge_bytes(struct image_sink *sink, const void *bytes, size_t count)
{
    struct forger *forger = (struct forger *)(void *)sink;
    for (size_t i = 0; i < count; i++) {
        uint8_t byte = ((const uint8_t *)bytes)[i];
        byte ^= forger->bytes++ == forger->flip_at;
        snapshot_bytes(forger->writer, &byte, 1);
    }
}

/* The replica's image, whole in every CRC and hash, at the end of the stopped chain. */
static void forge(uint32_t rules_version, uint64_t flip_at)
{
    struct core *core = &core_rig.core;
    struct frame_tail tail = journal_tail(core->journal);
    struct snapshot_head head = { .sequence = engine_sequence(core->replica),
                                  .frame = tail.number,
                                  .t_ns = engine_time(core->replica),
                                  .boot = tail.boot,
                                  .rules_version = rules_version };
    struct forger forger = { .sink = { forge_section, forge_bytes }, .flip_at = flip_at };
    uint64_t lanes[EFFECT_LANES];

    engine_effects_lanes(core->replica, lanes);
    hash_blake2b256(head.effects_hash, lanes, sizeof lanes);
    memcpy(head.frame_hash, tail.hash, HASH_BYTES);
    forger.writer = snapshot_begin(core_rig.disk, &core->exchange, head.sequence);
    CHECK(forger.writer != NULL);
    image_write(core->replica, &forger.sink);
    CHECK(snapshot_end(forger.writer, &head) == 0);
}

static void refused_with(enum refusal_kind want, const char *word)
{
    for (int i = 0; i < 2; i++) { /* nothing was written: refused for ever */
        enum refusal_kind kind = core_rig_recover();
        if (kind != want || strstr(core_rig.refusal.text, word) == NULL)
            fprintf(stderr, "%d: %s\n", kind, core_rig.refusal.text);
        CHECK(kind == want && strstr(core_rig.refusal.text, word) != NULL);
        CHECK(refusal_exit_code(kind) == 3);
        core_rig_kill();
    }
}

/* Runs, and stops cleanly but for the snapshot. */
static void run_and_stop(uint32_t turns)
{
    core_rig_make();
    core_rig_start();
    core_rig_run(turns);
    core_rig_stop_roles();
}

/* ---- cases ----------------------------------------------------------------------------------- */

/* Less than the bound, and whole: every record is applied, history has them all. At the bound the
 * snapshot it is. */
static void check_young(void)
{
    static const struct {
        int line;
        const char *name;
        uint32_t turns;
        uint64_t bytes;
        bool whole;
    } rows[] = {
        { __LINE__, "young", 20, SEGMENT, true },
        { __LINE__, "never", 20, 0, false },
        { __LINE__, "no segment fits", 20, SEGMENT - 1, false },
        { __LINE__, "a second segment", 150, SEGMENT, false },
        { __LINE__, "two fit", 150, 2 * SEGMENT, true },
    };
    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        run_and_stop(rows[i].turns);
        uint64_t sequence = engine_sequence(core_rig.core.primary);
        CHECK(core_write_snapshot(&core_rig.core, &core_rig.refusal) == REFUSAL_none);
        core_rig_kill();
        core_rig.history_replay_bytes = rows[i].bytes;
        CHECK(core_rig_recover() == REFUSAL_none);
        CHECK_ROW(&rows[i],
                  core_rig.core.engines.snapshot_sequence == (rows[i].whole ? 0 : sequence));
        CHECK_ROW(&rows[i], core_rig.core.recovered.records == (rows[i].whole ? sequence : 0));
        CHECK(engine_sequence(core_rig.core.primary) == sequence);
        CHECK_ROW(&rows[i], core_rig.core.follower.sink.history->requests.dropped != rows[i].whole);
        CHECK(recover_percent(&core_rig.core.engines) == (rows[i].whole ? 100 : 0));
        core_rig_kill();
        core_rig_free();
    }
}

/* The replayed state is not what the snapshot holds: one of the two is wrong, exit 3. Flipped is
 * the lowest bit of the first account's created_ns or whatever stands there: any byte will do. */
static void check_differing(void)
{
    run_and_stop(20);
    forge(ENGINE_RULES_VERSION, 64);
    core_rig_kill();
    core_rig.history_replay_bytes = SEGMENT;
    refused_with(REFUSAL_record_refused, "snapshot's image");
    core_rig_free();
}

/* Sections of an older version hold the same state in other bytes (decision 45): a start that
 * replays every record does not hold its own image against them. */
static void check_older_sections(void)
{
    run_and_stop(20);
    uint64_t sequence = engine_sequence(core_rig.core.primary);
    forge_older = IMAGE_markets;
    forge(ENGINE_RULES_VERSION, 64);
    forge_older = IMAGE_SECTION_END;
    core_rig_kill();
    core_rig.history_replay_bytes = SEGMENT;
    CHECK(core_rig_recover() == REFUSAL_none);
    CHECK(core_rig.core.engines.snapshot_sequence == 0);
    CHECK(engine_sequence(core_rig.core.replica) == sequence);
    core_rig_kill();
    core_rig_free();
}

/* Behind a snapshot of an older version stand no records, or a 2014 of this binary. */
static void check_older_version(void)
{
    run_and_stop(20);
    forge(ENGINE_RULES_VERSION - 1, UINT64_MAX);
    uint64_t sequence = engine_sequence(core_rig.core.primary);
    core_rig_kill();
    core_rig.history_replay_bytes = SEGMENT; /* the records are the older binary's */
    for (int i = 0; i < 2; i++) {            /* then a start of this binary stands behind it */
        core_rig_start();
        CHECK(core_rig.core.engines.snapshot_sequence == sequence);
        core_rig_run(5);
        core_rig_kill();
    }
    core_rig_start();
    core_rig_stop_roles();
    CHECK(core_write_snapshot(&core_rig.core, &core_rig.refusal) == REFUSAL_none);
    sequence = engine_sequence(core_rig.core.replica);
    core_rig_kill();
    CHECK(core_rig_recover() == REFUSAL_none);
    CHECK(core_rig.core.engines.snapshot_sequence == sequence);
    core_rig_kill();
    core_rig_free();
}

/* The older binary's records are still in journal/ when no snapshot of it is left: few as they are,
 * a start must not replay them. */
static void check_upgraded_young(void)
{
    uint8_t boot[24] = { 0 };
    struct engine_result result;

    core_rig_make();
    core_rig_start();
    cc_store32(boot + 8, ENGINE_RULES_VERSION - 1); /* W3b, 2014 */
    CHECK(sequencer_author(&core_rig.core.matcher.sequencer, REQUEST_boot, boot, sizeof boot,
                           &result));
    core_rig_run(10);
    core_rig_stop_roles();
    forge(ENGINE_RULES_VERSION - 1, UINT64_MAX);
    core_rig_kill();
    core_rig.history_replay_bytes = SEGMENT;
    for (int i = 0; i < 4; i++) {
        uint8_t before[HASH_BYTES], after[HASH_BYTES];
        core_rig_start();
        core_rig_run(2);
        core_rig_stop_roles();
        core_rig_hash(before);
        CHECK(core_write_snapshot(&core_rig.core, &core_rig.refusal) == REFUSAL_none);
        uint64_t sequence = engine_sequence(core_rig.core.replica);
        core_rig_kill();
        CHECK(core_rig_recover() == REFUSAL_none);
        CHECK(core_rig.core.engines.snapshot_sequence == sequence);
        core_rig_hash(after);
        CHECK(memcmp(before, after, HASH_BYTES) == 0);
        core_rig_kill();
    }
    core_rig_free();
}

/* Of a newer version even alone: this binary does not know what it says. */
static void check_newer_version(void)
{
    run_and_stop(20);
    forge(ENGINE_RULES_VERSION + 1, UINT64_MAX);
    core_rig_kill();
    refused_with(REFUSAL_record_refused, "rules_version");
    core_rig_free();
}

/* A snapshot of an older version in the middle of what its binary wrote: that binary must recover
 * the rest first. A newer version: its own binary must. */
static void check_other_version(void)
{
    char word[64];
    struct snapshot snapshot;
    struct refusal why;
    uint64_t sequences[4];

    core_rig_make();
    core_rig_start();
    for (int i = 0; i < 400 && published_get(&core_rig.core.snapshotter.counters.snapshots) == 0;
         i++)
        core_rig_run(8);
    CHECK(snapshot_list(core_rig.disk, sequences, 4) == 1);
    CHECK(snapshot_read(core_rig.disk, &core_rig.core.exchange, sequences[0], &snapshot, &why) ==
          0);
    struct exchange_file exchange = core_rig.core.exchange;
    core_rig_kill();
    CHECK(core_rig_recover() == REFUSAL_none && core_rig.core.recovered.records > 0);
    core_rig_kill();
    for (uint32_t version = ENGINE_RULES_VERSION - 1; version <= ENGINE_RULES_VERSION + 1;
         version += 2) {
        struct snapshot_head head = snapshot.head;
        struct snapshot_writer *writer = snapshot_begin(core_rig.disk, &exchange, head.sequence);
        head.rules_version = version;
        for (uint32_t i = 0; i < snapshot.head.section_count; i++) {
            const struct snapshot_section *section = &snapshot.sections[i];
            snapshot_section_begin(writer, section->code, section->version);
            snapshot_bytes(writer, section->bytes, section->byte_count);
        }
        CHECK(snapshot_end(writer, &head) == 0);
        snprintf(word, sizeof word, "rules_version %u", version);
        refused_with(REFUSAL_record_refused, word);
    }
    snapshot_close(&snapshot);
    core_rig_free();
}

/* decision 43: a snapshot covers durable frames. Its last one is gone: damage, however the start
 * reads the chain. */
static void check_ahead(void)
{
    static const uint8_t zeros[512];
    char path[DISK_PATH_BYTES];

    run_and_stop(20);
    struct frame_tail tail = journal_tail(core_rig.core.journal);
    CHECK(core_write_snapshot(&core_rig.core, &core_rig.refusal) == REFUSAL_none);
    core_rig_kill();
    CHECK(core_rig_recover() == REFUSAL_none);
    uint64_t end = core_rig.core.recovered.position.offset;
    CHECK(core_rig.core.recovered.position.tail.number == tail.number);
    core_rig_kill();
    segment_path(path, 0, true);
    disk_sim_poke(core_rig.disk, path, end - sizeof zeros, zeros, sizeof zeros);
    core_rig.history_replay_bytes = SEGMENT;
    refused_with(REFUSAL_frame_damaged, "was durable");
    core_rig.history_replay_bytes = 0;
    refused_with(REFUSAL_snapshot_ahead, "");
    core_rig_free();
}

/* ---- with a file of the history -------------------------------------------------------------- */

static char folder[] = "/tmp/perpd-recover-XXXXXX", history_path[64];

static void make_with_history(void)
{
    CHECK(mkdtemp(folder) != NULL);
    snprintf(history_path, sizeof history_path, "%s/data.mdb", folder);
    core_rig_make_with(&(struct core_rig_options){ .has_no_snapshots = true });
    core_rig.history_folder = folder;
    core_rig.private_events = PRIVATE_LOG_LANE;
    core_rig_start();
}

static void free_with_history(void)
{
    core_rig_kill();
    CHECK(unlink(history_path) == 0 && rmdir(folder) == 0);
    memset(folder + sizeof folder - 7, 'X', 6);
    core_rig_free();
}

/* What a start has made: rows of requests, of which each account sent one, behind `sequence`, the
 * others are in the file. Nobody has lost any. */
static void check_made(uint64_t sequence)
{
    const struct history *history = core_rig.core.follower.sink.history;
    const struct history_ring *ring = &history->requests.ring;
    const struct history_link *first = history_ring_at(ring, ring->base);
    struct history_totals totals;

    CHECK(history_check(history_path, &totals, NULL) == 0 && totals.head.from == 1);
    uint64_t made = ring->added - ring->base, before = 0;
    CHECK(made == 0 || first->sequence > sequence);
    CHECK(history->requests.dropped_sequence == sequence);
    CHECK(history->requests.dropped == (sequence != 0));
    for (uint64_t position = ring->base; position < ring->added; position++)
        before += history_ring_row(ring, position)->sequence <= totals.head.applied;
    CHECK(totals.head.rows[HISTORY_REQUESTS] + made - before == core_rig.accounts);
}

/* A killed process leaves rows that the file lacks. Only these are made by the next start, from the
 * first record or from a snapshot, on one thread or two; where the file keeps fewer private events
 * than the log, all are. */
static void check_rows_of_file(void)
{
    static const struct {
        int line;
        const char *name;
        bool is_on_two_threads, is_whole;
        uint64_t private_events;
    } rows[] = {
        { __LINE__, "from the first record", false, true, PRIVATE_LOG_LANE },
        { __LINE__, "on two threads", true, true, PRIVATE_LOG_LANE },
        { __LINE__, "from a snapshot", true, false, PRIVATE_LOG_LANE },
        { __LINE__, "fewer private events", false, false, PRIVATE_LOG_LANE - 1 },
        { __LINE__, "the same, whole", true, true, PRIVATE_LOG_LANE - 1 },
    };

    make_with_history();
    core_rig_run(5);
    core_rig_stop_roles();
    CHECK(core_end_history(&core_rig.core) >= 0);
    uint64_t snapshot = engine_sequence(core_rig.core.replica);
    CHECK(core_write_snapshot(&core_rig.core, &core_rig.refusal) == REFUSAL_none);
    core_rig_kill();
    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        core_rig_start();
        core_rig_run(14); /* a commit each tenth */
        uint64_t applied = history_file_applied(core_rig.core.history_file);
        uint64_t end = engine_sequence(core_rig.core.replica);
        CHECK_ROW(&rows[i], applied > snapshot && applied < end);
        core_rig_kill();
        core_rig.recovers_on_two_threads = rows[i].is_on_two_threads;
        core_rig.history_replay_bytes = rows[i].is_whole ? 2 * SEGMENT : 0;
        core_rig.private_events = rows[i].private_events;
        CHECK_ROW(&rows[i], core_rig_recover() == REFUSAL_none);
        uint64_t from = core_rig.core.engines.snapshot_sequence;
        CHECK_ROW(&rows[i], from == (rows[i].is_whole ? 0 : snapshot));
        CHECK_ROW(&rows[i], engine_sequence(core_rig.core.replica) == end);
        check_made(rows[i].private_events == PRIVATE_LOG_LANE ? applied : from);
        core_rig_kill();
        core_rig.private_events = PRIVATE_LOG_LANE;
    }
    core_rig_start();
    free_with_history();
}

static void copy_file(const char *from, const char *to)
{
    static uint8_t bytes[1 << 16];
    int source = open(from, O_RDONLY), target = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    CHECK(source >= 0 && target >= 0);
    for (ssize_t got; (got = read(source, bytes, sizeof bytes)) > 0;)
        CHECK(write(target, bytes, (size_t)got) == got);
    CHECK(close(source) == 0 && close(target) == 0);
}

/* Rows of an older rules_version stay in the file, and the newer one's follow them. Lost, they are
 * not made by the rules of this binary: reads of before its snapshot are refused, until a copy of
 * the file is put back. */
static void check_history_of_older_version(void)
{
    char kept[80];

    make_with_history();
    snprintf(kept, sizeof kept, "%s/kept", folder);
    core_rig_run(20);
    core_rig_stop_roles();
    CHECK(core_end_history(&core_rig.core) >= 0);
    uint64_t changed = engine_sequence(core_rig.core.replica);
    forge(ENGINE_RULES_VERSION - 1, UINT64_MAX);
    core_rig_kill();
    copy_file(history_path, kept);
    core_rig.history_replay_bytes = SEGMENT;
    core_rig_start();
    check_made(changed);
    core_rig_run(25);
    core_rig_kill();
    CHECK(core_rig_recover() == REFUSAL_none);
    CHECK(core_rig.core.engines.snapshot_sequence == changed);
    check_made(history_file_applied(core_rig.core.history_file));
    core_rig_kill();
    CHECK(unlink(history_path) == 0);
    core_rig_start();
    CHECK(history_file_from(core_rig.core.history_file) == changed + 1);
    CHECK(history_file_applied(core_rig.core.history_file) == changed);
    core_rig_kill();
    CHECK(rename(kept, history_path) == 0);
    core_rig_start();
    check_made(changed);
    free_with_history();
}

int main(void)
{
    log_set_level(LOG_NOTHING); /* what is told of damage made here is no news */
    check_young();
    check_differing();
    check_older_sections();
    check_older_version();
    check_upgraded_young();
    check_newer_version();
    check_other_version();
    check_ahead();
    check_rows_of_file();
    check_history_of_older_version();
    return 0;
}
