/* One exchange on a simulated disk: what a start sequences (wire.md W3b), what it refuses
 * (journal.md, Recovery), and what it does when the disk, the follower or the
 * clock fail it (roles.md, Journal). */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "node/core_rig.h"
#include "node/run/divergence.h"
#include "store/witness.h"

#define SECOND_NS UINT64_C(1000000000)

enum { ACCOUNTS = 20, MARKETS = 5 };

static const char *const no_keys[] = { NULL };

static void rig_make(void)
{
    core_rig_make_with(&(struct core_rig_options){
        .accounts = 64, .credentials = 256, .engine = no_keys, .has_no_snapshots = true });
}

/* As far as recovery, with an engine option more ("--key=value") or NULL. */
static enum refusal_kind recover(const char *more)
{
    core_rig.more = more;
    return core_rig_recover();
}

static void start(const char *more)
{
    core_rig.more = more;
    core_rig_start();
}

static void stop(void)
{
    core_rig_stop_roles();
    core_rig_kill(); /* gives the lock back */
}

static void send_account(void)
{
    CHECK(core_rig_send_account(&core_rig.links[0]));
}

static void author(uint16_t code, const void *body, uint32_t body_bytes)
{
    struct engine_result result;
    CHECK(sequencer_author(&core_rig.core.matcher.sequencer, code, body, body_bytes, &result));
}

/* A refused start; the directory is as before, so the next start is asked for the same reason. */
static void refused_with(const char *word)
{
    for (int i = 0; i < 2; i++) {
        CHECK(recover(NULL) == REFUSAL_record_refused);
        CHECK(strstr(core_rig.refusal.text, word) != NULL);
        CHECK(refusal_exit_code(core_rig.refusal.kind) == 3);
        core_rig_kill();
    }
}

/* wire.md W10: the default markets; whoever may ask for them by name does so from now on. */
static void check_symbols(void)
{
    const struct symbols *symbols = &core_rig.core.primary_sink.symbols;
    CHECK(symbols->count == MARKETS);
    CHECK(symbols_find(symbols, "BTC-PERP", 8) == 1);
    CHECK(symbols_find(symbols, "DOGE-PERP", 9) == 5);
}

/* journal.md: sequences begin at 1: 2014, 2013, one 1001 a market; later starts 2014, and 2013 only
 * if an engine option differs. */
static void check_first_sequences(void)
{
    rig_make();
    start(NULL);
    CHECK(core_rig.core.is_new && core_rig.core.recovered.boot == 1);
    CHECK(engine_sequence(core_rig.core.primary) == 2 + MARKETS);
    check_symbols(); /* told by the effects of 1001 */
    CHECK(journal_durable_seq(core_rig.core.journal) == 0);
    core_rig_settle();
    CHECK(journal_durable_seq(core_rig.core.journal) == 2 + MARKETS);
    stop();

    start(NULL);
    CHECK(!core_rig.core.is_new && core_rig.core.recovered.boot == 2 &&
          core_rig.core.recovered.clean_stop);
    CHECK(engine_sequence(core_rig.core.primary) == 3 + MARKETS);
    check_symbols(); /* loaded */
    core_rig_settle();
    core_rig_kill();

    start("--engine.makers_max=9");
    CHECK(core_rig.core.recovered.boot == 3 && !core_rig.core.recovered.clean_stop);
    CHECK(engine_sequence(core_rig.core.primary) == 5 + MARKETS);
    CHECK(engine_options(core_rig.core.primary)->values[OPTION_engine_makers_max] == 9);
    core_rig_settle();
    stop();
    core_rig_free();
}

/* Lower capacities are taken while they hold what is used; below that the key is named. */
static void check_capacities(void)
{
    rig_make();
    start("--engine.accounts=128");
    for (int i = 0; i < ACCOUNTS; i++)
        send_account();
    CHECK(core_match(&core_rig.core) != 0);
    CHECK(ring_ready(&core_rig.links[0].answers) == ACCOUNTS);
    core_rig_settle();
    stop();

    CHECK(recover("--engine.accounts=20") == REFUSAL_none); /* laid out for 128, as before */
    CHECK(core_open(&core_rig.core) == CORE_CAPACITY_TOO_SMALL);
    CHECK(core_rig.core.short_option == OPTION_engine_accounts);
    core_rig_kill();

    start("--engine.accounts=21");
    send_account(); /* with account 0, the 22nd */
    uint64_t before = engine_sequence(core_rig.core.primary);
    CHECK(core_match(&core_rig.core) != 0);
    const struct answer *answer = ring_at(&core_rig.links[0].answers, 0);
    CHECK(ring_ready(&core_rig.links[0].answers) == 1 &&
          (answer->members & ANSWER_HAS_ACCOUNT) == 0);
    CHECK(answer->sequence == before + 1 && answer->release_sequence == before + 1);
    core_rig_settle();
    stop();
    start("--engine.accounts=256");
    core_rig_settle();
    stop();
    core_rig_free();
}

/* The evidence of a difference: both images, readable by their owner alone (they hold hashes of
 * keys). */
static void check_evidence(void)
{
    static const char *const names[] = { "divergence-primary.image", "divergence-follower.image" };
    char folder[] = "/tmp/perpd-divergence-XXXXXX", path[128];
    struct stat status;

    CHECK(mkdtemp(folder) != NULL);
    umask(077); /* as main.c sets it */
    divergence_write(&core_rig.core, folder);
    for (size_t i = 0; i < CC_COUNT(names); i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        CHECK(stat(path, &status) == 0 && status.st_size > 0 && (status.st_mode & 0777) == 0600);
        CHECK(unlink(path) == 0);
    }
    CHECK(rmdir(folder) == 0);
}

/* W3b: a 2014 of another rules_version, and a 2015 that differs, end recovery with exit 3. */
static void check_refused_records(void)
{
    uint8_t boot[24] = { 0 }, hash[40] = { 0 };

    rig_make();
    start(NULL);
    cc_store64(boot, 9);
    cc_store32(boot + 8, ENGINE_RULES_VERSION + 1);
    author(REQUEST_boot, boot, sizeof boot);
    core_rig_settle();
    core_rig_kill();
    refused_with("rules_version");
    core_rig_free();

    rig_make();
    start(NULL);
    core_rig_settle();
    cc_store64(hash, engine_sequence(core_rig.core.primary));
    author(REQUEST_effects_hash, hash, sizeof hash);
    int followed = 0;
    for (int turn = 0; turn < CORE_RIG_TURNS && followed >= 0; turn++) {
        CHECK(core_journal(&core_rig.core) >= 0);
        followed = core_follow(&core_rig.core);
    }
    CHECK(followed == -EBADMSG && core_rig.core.follower.diverged);
    /* What differs is not shown: the follower stands before the record. */
    CHECK(engine_sequence(core_rig.core.replica) + 1 == engine_sequence(core_rig.core.primary));
    check_evidence();
    core_rig_kill();
    refused_with("2015");
    core_rig_free();
}

/* A write that fails: an error for ever, nothing more becomes durable; the next start recovers. */
static void check_write_fails(void)
{
    rig_make();
    start(NULL);
    core_rig_settle();
    uint64_t durable = journal_durable_seq(core_rig.core.journal);
    send_account();
    CHECK(core_match(&core_rig.core) != 0);
    disk_sim_fail(core_rig.disk, 1, DISK_SIM_EIO, true);
    int written = 0;
    for (int turn = 0; turn < CORE_RIG_TURNS && written >= 0; turn++)
        written = core_journal(&core_rig.core);
    CHECK(written == -EIO && core_journal(&core_rig.core) == -EIO);
    CHECK(journal_durable_seq(core_rig.core.journal) == durable);
    CHECK(core_follow(&core_rig.core) >= 0 && engine_sequence(core_rig.core.replica) == durable);
    disk_sim_fail(core_rig.disk, 0, DISK_SIM_EIO, false);
    core_rig_kill();
    start(NULL);
    CHECK(engine_sequence(core_rig.core.primary) >= durable + 1);
    core_rig_settle();
    stop();
    core_rig_free();
}

/* The disk is full: prepared segments are used up, then commands wait and answers are held, until
 * there is space; not one of them is lost or refused. */
static void check_disk_full(void)
{
    rig_make();
    start(NULL);
    core_rig_settle();
    disk_sim_fail(core_rig.disk, 1, DISK_SIM_ENOSPC, true);
    uint64_t now_ns = clock_monotonic_ns(&core_rig.clock);
    int prepared = core_prepare(&core_rig.core, now_ns);
    CHECK(prepared == 0); /* two stand ready */
    disk_sim_fail(core_rig.disk, 0, DISK_SIM_ENOSPC, false);

    uint8_t tick[8] = { 0 };
    struct engine_result result;
    uint64_t authored = 0;
    for (int turn = 0; turn < 64 * CORE_RIG_TURNS; turn++) { /* nobody prepares */
        authored += sequencer_author(&core_rig.core.matcher.sequencer, REQUEST_tick, tick,
                                     sizeof tick, &result);
        CHECK(core_journal(&core_rig.core) >= 0 && core_follow(&core_rig.core) >= 0);
        clock_advance(&core_rig.clock, 1000);
    }
    CHECK(segment_pool_ready(core_rig.core.pool) == 0);
    CHECK(journal_counters(core_rig.core.journal).starved != 0);
    CHECK(journal_counters(core_rig.core.journal).full != 0);
    CHECK(journal_durable_seq(core_rig.core.journal) < engine_sequence(core_rig.core.primary));
    CHECK(authored + 2 + MARKETS == engine_sequence(core_rig.core.primary));
    /* A turn that can author nothing is no work: the thread parks, until there is room. */
    clock_advance(&core_rig.clock, MATCHER_TICK_NS);
    CHECK(core_match(&core_rig.core) == 0 && matcher_is_held(&core_rig.core.matcher));
    core_stop(&core_rig.core);
    for (int turn = 0; turn < CORE_RIG_TURNS; turn++)
        CHECK(core_journal(&core_rig.core) >= 0);
    CHECK(!core_stopped(&core_rig.core));

    disk_sim_fail(core_rig.disk, 1, DISK_SIM_ENOSPC, true);
    CHECK(core_prepare(&core_rig.core, clock_monotonic_ns(&core_rig.clock)) == -ENOSPC);
    CHECK(segment_pool_error(core_rig.core.pool) == -ENOSPC);
    disk_sim_fail(core_rig.disk, 0, DISK_SIM_ENOSPC, false);
    for (int turn = 0; turn < 64 * CORE_RIG_TURNS && !core_stopped(&core_rig.core); turn++) {
        CHECK(core_prepare(&core_rig.core, clock_monotonic_ns(&core_rig.clock)) >= 0);
        CHECK(core_journal(&core_rig.core) >= 0 && core_follow(&core_rig.core) >= 0);
        clock_advance(&core_rig.clock, 100000000);
    }
    CHECK(core_stopped(&core_rig.core));
    CHECK(journal_durable_seq(core_rig.core.journal) == authored + 2 + MARKETS);
    core_rig_kill();
    core_rig_free();
}

/* Tombstones stay until their sequence is durable (R11): when they take the places that new
 * credentials need, commands wait in their ring. */
static void check_keyring_full(void)
{
    uint8_t bytes[32] = { 0 };
    struct keyring_row entry = { .state = KEYRING_LIVE };

    rig_make();
    start(NULL);
    core_rig_settle();
    for (uint64_t i = 1; i <= 513; i++) { /* 2 x engine.credentials + 1 */
        cc_store64(bytes, i);
        entry.key = keyring_key(KEYRING_SESSION, 1, bytes);
        CHECK(keyring_add(core_rig.core.keyring, &entry) == 0);
        CHECK(keyring_end(core_rig.core.keyring, &entry.key,
                          engine_sequence(core_rig.core.primary) + 1));
    }
    CHECK(!matcher_is_held(&core_rig.core.matcher));
    send_account();
    CHECK(core_match(&core_rig.core) == 0 && matcher_is_held(&core_rig.core.matcher));
    CHECK(ring_ready(&core_rig.links[0].answers) == 0);
    author(REQUEST_tick, bytes, 8);
    core_rig_settle();
    for (int turn = 0; turn < 9; turn++)
        (void)core_match(&core_rig.core);
    CHECK(ring_ready(&core_rig.links[0].answers) == 1);
    CHECK(keyring_count(core_rig.core.keyring) < 513);
    core_rig_settle();
    stop();
    core_rig_free();
}

/* Seconds pass; the commands sequenced meanwhile. */
static uint64_t pass(uint32_t seconds)
{
    uint64_t before = engine_sequence(core_rig.core.primary);
    for (uint32_t i = 0; i < 4 * seconds; i++) {
        clock_advance(&core_rig.clock, MATCHER_TICK_NS / 4);
        (void)core_match(&core_rig.core);
        CHECK(core_journal(&core_rig.core) >= 0 && core_follow(&core_rig.core) >= 0);
    }
    return engine_sequence(core_rig.core.primary) - before;
}

/* After a client's command a tick a second for past + future + 10 s, which are 45, then none for an
 * hour; one more when somebody wants to know that time has passed. A cluster's leader ticks on. */
static void check_idle(void)
{
    rig_make();
    start(NULL);
    core_rig_settle();
    pass(60);
    send_account();
    (void)core_match(&core_rig.core);
    CHECK(pass(44) == 44);
    CHECK(pass(60) <= 1);
    CHECK(pass(3600) == 0);
    struct slot_location place;
    struct witness witness; /* a slot a minute tells what time it was */
    CHECK(witness_read(core_rig.disk, &core_rig.core.exchange, &witness, &place) == 0);
    CHECK(witness.wall_ns + 61 * SECOND_NS >= clock_now_ns(&core_rig.clock));
    uint64_t t_ns = engine_time(core_rig.core.primary);
    atomic_store(&core_rig.core.matcher.tick_wanted, true);
    CHECK(pass(10) == 1 && engine_time(core_rig.core.primary) >= t_ns + 3600 * SECOND_NS);
    CHECK(!atomic_load(&core_rig.core.matcher.tick_wanted));
    /* The leader of a cluster never rests: 100 ms are over at each of these four looks a second. */
    static struct hash_vote vote;
    core_rig.core.matcher.sequencer.vote = &vote;
    CHECK(pass(100) == 400);
    core_rig.core.matcher.sequencer.vote = NULL;
    core_rig_settle();
    stop();
    core_rig_free();
}

/* A start that is given up writes nothing; the next one finds what was there. */
static void check_given_up(void)
{
    rig_make();
    start(NULL);
    core_rig_settle();
    uint64_t sequence = engine_sequence(core_rig.core.primary);
    stop();
    uint64_t digest = disk_sim_digest(core_rig.disk);
    atomic_store(&core_rig.give_up, true);
    CHECK(recover(NULL) == REFUSAL_record_refused);
    atomic_store(&core_rig.give_up, false);
    CHECK(disk_sim_digest(core_rig.disk) == digest);
    core_rig_kill();
    start(NULL);
    CHECK(engine_sequence(core_rig.core.primary) == sequence + 1);
    core_rig_settle();
    stop();
    core_rig_free();
}

/* W5: a start waits until the clock has reached the last known time, for 5 s. */
static void check_clock_behind(void)
{
    rig_make();
    start(NULL);
    core_rig_settle();
    uint64_t last_ns = engine_time(core_rig.core.primary);
    stop();
    clock_set(&core_rig.clock, last_ns - 1);
    CHECK(recover(NULL) == REFUSAL_none);
    CHECK(core_open(&core_rig.core) == CORE_CLOCK_BEHIND);
    CHECK(engine_sequence(core_rig.core.primary) ==
          2 + MARKETS); /* asked again, nothing happened */
    CHECK(core_open(&core_rig.core) == CORE_CLOCK_BEHIND);
    clock_set(&core_rig.clock, last_ns);
    CHECK(core_open(&core_rig.core) == CORE_OPENED);
    CHECK(engine_time(core_rig.core.primary) > last_ns);
    core_rig_settle();
    stop();
    core_rig_free();
}

/* A start whose wall clock is off by so much: the gap is told, the clock stands at the last t, and
 * the same start some time later, still without an answer, finds the same gap. */
static void check_gap(int64_t step_ns)
{
    rig_make();
    start(NULL);
    core_rig_settle();
    uint64_t last_ns = engine_time(core_rig.core.primary);
    stop();
    clock_step(&core_rig.clock, step_ns);
    for (int i = 0; i < 2; i++) {
        uint64_t before_ns = clock_monotonic_ns(&core_rig.clock);
        CHECK(recover(NULL) == REFUSAL_none);
        enum core_opening opening = core_open(&core_rig.core);
        for (; opening == CORE_CLOCK_BEHIND; opening = core_open(&core_rig.core))
            clock_advance(&core_rig.clock, 1000000000);
        CHECK(opening == CORE_OPENED);
        CHECK(clock_monotonic_ns(&core_rig.clock) - before_ns ==
              (step_ns < 0 ? UINT64_C(5000000000) : 0));
        int64_t gap_ns = engine_clock_gap_ns(core_rig.core.primary);
        CHECK(llabs(gap_ns - step_ns) < INT64_C(60000000000));
        CHECK(stopped_clock_gap_ns(&core_rig.core.matcher.stopped_clock) == gap_ns);
        CHECK(clock_now_ns(&core_rig.clock) >= last_ns &&
              clock_now_ns(&core_rig.clock) < last_ns + 100);
        clock_advance(&core_rig.clock, 10000000000);
        core_rig_run(4);
        CHECK(engine_time(core_rig.core.primary) < last_ns + 100);
        CHECK(core_rig.core.matcher.stopped_clock.is_open);
        core_rig_settle();
        stop();
        core_rig.clock.held_ns = 0; /* of the process that has ended */
    }
    CHECK(recover(NULL) == REFUSAL_none);
    clock_step(&core_rig.clock, 0); /* set right while the gap is open */
    clock_advance(&core_rig.clock, 1000000000);
    CHECK(core_open(&core_rig.core) == CORE_OPENED);
    CHECK(engine_clock_gap_ns(core_rig.core.primary) == 0);
    CHECK(clock_now_ns(&core_rig.clock) == clock_wall_ns(&core_rig.clock));
    core_rig_settle();
    stop();
    core_rig_free();
}

/* A start's own commands are durable before the follower has seen any: it is behind since it began,
 * not since the last record of a start long ago (roles.md, Flow control: lag). */
static void check_lag_of_start(void)
{
    const uint64_t step_ns = 5000000;

    rig_make();
    start(NULL);
    for (int round = 0; round < 2; round++) {
        for (int turn = 0;
             journal_durable_seq(core_rig.core.journal) < engine_sequence(core_rig.core.primary);
             turn++) {
            CHECK(turn < CORE_RIG_TURNS);
            CHECK(core_journal(&core_rig.core) >= 0);
        }
        CHECK(follower_lag_ns(&core_rig.core.follower) < CORE_RIG_LAG_NS);
        clock_advance(&core_rig.clock, step_ns);
        CHECK(follower_lag_ns(&core_rig.core.follower) >= step_ns);
        core_rig_settle();
        CHECK(follower_lag_ns(&core_rig.core.follower) == 0);
        stop();
        clock_advance(&core_rig.clock, 3500 * CORE_RIG_LAG_NS);
        start(NULL);
    }
    stop();
    core_rig_free();
}

/* Ticks until the engine has reached the sequence. */
static void tick_to(uint64_t sequence)
{
    static const uint8_t body[8] = { 0 };

    while (engine_sequence(core_rig.core.primary) != sequence) {
        author(REQUEST_tick, body, sizeof body);
        if (engine_sequence(core_rig.core.primary) % 256 == 255)
            core_rig_settle();
    }
    core_rig_settle();
}

/* W3b: 2015 is the next command after sequence k x 65,536, in a start too; after its 2014 if that
 * one is the next. Every reader compares it: the follower at once, the next start in replay. */
static void check_hash_at_start(void)
{
    static const char *const more = "--engine.makers_max=9"; /* than before: 2013 after 2014 */
    static const struct {
        int line;
        const char *name;
        uint64_t before; /* last sequence of the run before */
        const char *more;
        uint64_t sequence; /* after the start */
        uint64_t hashes;   /* in it */
    } rows[] = {
        { __LINE__, "2014 is before it", 65534, NULL, 65535, 0 },
        { __LINE__, "2014, 2015, 2013", 65535, more, 65538, 1 },
        { __LINE__, "2014 is after it, 2015", 65536, NULL, 65538, 1 },
        { __LINE__, "2014 is after it, 2015, 2013", 65536, more, 65539, 1 },
    };

    rig_make();
    start(NULL);
    tick_to(65533);
    core_rig_stop_roles();
    CHECK(core_write_snapshot(&core_rig.core, &core_rig.refusal) == REFUSAL_none);
    core_rig_kill();
    struct disk *disk = core_rig.disk;
    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        CHECK((core_rig.disk = disk_sim_copy(disk)) != NULL);
        start(NULL);
        tick_to(rows[i].before);
        stop();
        start(rows[i].more);
        CHECK_ROW(&rows[i], engine_sequence(core_rig.core.primary) == rows[i].sequence);
        core_rig_settle();
        CHECK_ROW(&rows[i],
                  published_get(&core_rig.core.follower.counters.hashes) == rows[i].hashes);
        stop();
        start(rows[i].more);
        CHECK_ROW(&rows[i], engine_sequence(core_rig.core.primary) == rows[i].sequence + 1);
        stop();
        disk_sim_destroy(core_rig.disk);
    }
    core_rig.disk = disk;
    core_rig_free();
}

/* A second start on a directory in use is refused with exit 3 and disturbs nothing. */
static void check_locked(void)
{
    struct exchange_file exchange;
    struct refusal refusal;
    bool is_new;

    rig_make();
    start(NULL);
    core_rig_settle();
    CHECK(exchange_file_open(core_rig.disk, NULL, &exchange, &is_new, &refusal) == REFUSAL_locked);
    CHECK(refusal_exit_code(refusal.kind) == 3);
    stop();
    core_rig_free();
}

/* A start on a full disk that has to make a segment: the prepared one is enough. */
static void check_start_on_full_disk(void)
{
    struct segment_range range;
    char path[DISK_PATH_BYTES];

    rig_make();
    start(NULL);
    core_rig_settle();
    stop();
    CHECK(segment_range_of(core_rig.disk, &range) == 0 && range.count >= 2);
    for (uint64_t n = range.max; n > 0; n--) { /* the first one has the journal's end */
        segment_path(path, n, true);
        disk_sim_remove(core_rig.disk, path);
    }
    disk_sim_set_full(core_rig.disk, true);
    start(NULL);
    CHECK(segment_pool_error(core_rig.core.pool) == -ENOSPC);
    CHECK(segment_pool_ready(core_rig.core.pool) == 1);
    uint64_t before = journal_durable_seq(core_rig.core.journal);
    send_account();
    core_rig_settle();
    CHECK(journal_durable_seq(core_rig.core.journal) > before);
    disk_sim_set_full(core_rig.disk, false);
    core_rig_kill();
    core_rig_free();
}

int main(void)
{
    check_first_sequences();
    check_capacities();
    check_refused_records();
    check_write_fails();
    check_disk_full();
    check_keyring_full();
    check_idle();
    check_given_up();
    check_clock_behind();
    check_gap(INT64_C(86400000000000));
    check_gap(-INT64_C(86400000000000));
    check_lag_of_start();
    check_hash_at_start();
    check_locked();
    check_start_on_full_disk();
    return 0;
}
