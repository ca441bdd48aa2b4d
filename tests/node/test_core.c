/* One exchange on a simulated disk: what a start sequences (wire.md W3b), what it refuses
 * (journal.md, Recovery), and what it does when the disk, the follower or the
 * clock fail it (roles.md, Journal). */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/config.h"
#include "check.h"
#include "crypto/derive.h"
#include "node/run/core.h"
#include "node/run/divergence.h"
#include "node/run/market_file.h"
#include "support/sim/disk_sim.h"

enum {
    RING_SLOTS = 256,
    SEGMENT_BYTES = 64 << 10,
    BUFFER_BYTES = 64 << 10,
    TURNS = 4000,
    ACCOUNTS = 20,
    MARKETS = 5,
};

#define START_NS UINT64_C(1755582431232000000)
#define LAG_NS   UINT64_C(1000000000)

static struct rig {
    struct clock clock;
    struct disk *disk;
    struct core core;
    struct market_file markets;
    struct ring commands, answers, queries, replies;
    void *ring_memory[4];
    struct reply_pool pool;
    void *pool_memory;
    struct refusal refusal;
    _Atomic bool give_up;
    uint64_t accounts;
} rig;

static void rig_make(void)
{
    struct disk_sim_config disk = { .seed = 1, .block_bytes = 512, .latency_max = 3 };
    clock_init_simulated(&rig.clock, START_NS);
    rig.disk = disk_sim_create(&disk);
    rig.pool_memory = aligned_alloc(64, REPLY_POOL_BYTES);
    CHECK(rig.disk != NULL && rig.pool_memory != NULL);
    for (size_t i = 0; i < CC_COUNT(rig.ring_memory); i++)
        CHECK((rig.ring_memory[i] =
                   aligned_alloc(64, ring_bytes(RING_SLOTS, MESSAGE_SLOT_BYTES))) != NULL);
    CHECK(market_file_load(&rig.markets, ""));
    rig.accounts = 0;
}

static void rig_free(void)
{
    disk_sim_destroy(rig.disk);
    market_file_free(&rig.markets);
    free(rig.pool_memory);
    for (size_t i = 0; i < CC_COUNT(rig.ring_memory); i++)
        free(rig.ring_memory[i]);
}

static void make_rings(void)
{
    struct ring *rings[] = { &rig.commands, &rig.answers, &rig.queries, &rig.replies };
    for (size_t i = 0; i < CC_COUNT(rings); i++)
        ring_init(rings[i], rig.ring_memory[i], RING_SLOTS, MESSAGE_SLOT_BYTES);
    reply_pool_init(&rig.pool, rig.pool_memory);
}

/* Engine options: small ones, and `more` behind them ("--key=value" or NULL). */
static void configure(const char *more)
{
    static struct config config;
    uint8_t body[CONFIG_ENGINE_TEXT_MAX];
    const char *argv[] = {
        "core",
        "--engine.accounts=64",
        "--engine.portfolios=64",
        "--engine.orders=1024",
        "--engine.positions=64",
        "--engine.credentials=256",
        "--engine.deposits=64",
        "--engine.ladder_pages=256",
        "--limits.duplicate_slots=4096",
        more,
    };
    int count = (int)CC_COUNT(argv) - (more == NULL);
    CHECK(config_load(&config, count, argv, NULL) == CONFIG_RUN);
    ptrdiff_t bytes = config_engine_text(&config, rig.core.exchange.exchange_id, body);
    CHECK(bytes > 0);
    CHECK(core_configure(&rig.core, body, (uint32_t)bytes));
    config_free(&config);
}

/* As far as recovery. */
static enum refusal_kind recover(const char *more)
{
    const struct core_config config = {
        .disk = rig.disk,
        .clock = &rig.clock,
        .markets = rig.markets.markets,
        .market_count = rig.markets.market_count,
        .durability = JOURNAL_LOCAL,
        .segment_bytes = SEGMENT_BYTES,
        .journal_buffer_bytes = BUFFER_BYTES,
        .frames_in_flight = JOURNAL_FRAMES_MAX,
        .group_bytes = 1,
        .frame_bytes_max = 16 << 10,
        .history_rows = 1 << 10,
        .follower_lag_max_ns = LAG_NS,
        .follower_commands_a_turn = FOLLOWER_COMMANDS_A_TURN,
        .give_up = &rig.give_up,
    };
    enum refusal_kind kind = core_create(&rig.core, &config, &rig.refusal);
    if (kind != REFUSAL_none)
        return kind;
    configure(more);
    make_rings();
    CHECK(core_make_keyring(&rig.core) == 0);
    kind = core_recover(&rig.core, &rig.refusal);
    if (kind != REFUSAL_none)
        return kind;
    struct follower_link link = { &rig.queries, &rig.replies, &rig.pool };
    core_link(&rig.core, &link, &rig.commands, &rig.answers);
    return REFUSAL_none;
}

/* The process dies; what it did not sync may be lost. */
static void crash(void)
{
    struct disk *survivor = disk_sim_copy(rig.disk);
    CHECK(survivor != NULL);
    disk_sim_kill(survivor, 7);
    core_destroy(&rig.core);
    disk_sim_destroy(rig.disk);
    rig.disk = survivor;
    clock_advance(&rig.clock, 1000000000);
}

static void start(const char *more)
{
    enum refusal_kind kind = recover(more);
    if (kind != REFUSAL_none)
        fprintf(stderr, "%s\n", rig.refusal.text);
    CHECK(kind == REFUSAL_none);
    enum core_opening opening = core_open(&rig.core);
    if (opening != CORE_OPENED)
        fprintf(stderr, "opening %d %s\n", opening, option_row(rig.core.short_option)->name);
    CHECK(opening == CORE_OPENED);
}

/* Steps of journal and follower until everything published is durable and applied. */
static void settle(void)
{
    for (int turn = 0; turn < TURNS; turn++) {
        CHECK(core_journal(&rig.core) >= 0);
        CHECK(core_follow(&rig.core) >= 0);
        CHECK(core_prepare(&rig.core, clock_monotonic_ns(&rig.clock)) >= 0);
        if (engine_sequence(rig.core.replica) == engine_sequence(rig.core.primary))
            return;
    }
    CHECK(!"everything published becomes durable");
}

static void stop(void)
{
    core_stop(&rig.core);
    for (int turn = 0; turn < TURNS && !core_stopped(&rig.core); turn++) {
        CHECK(core_journal(&rig.core) >= 0);
        CHECK(core_follow(&rig.core) >= 0);
    }
    CHECK(core_stopped(&rig.core));
    crash(); /* gives the lock back */
}

/* Sends a creation of an account with keys of its own (W3, code 11; R11 does not verify here). */
static void send_account(void)
{
    static struct rebuild_buffer buffer;
    struct command *command = (struct command *)(void *)buffer.bytes;
    uint8_t random[10] = { 0 };

    memset(&buffer, 0, sizeof buffer);
    cc_store64(random, ++rig.accounts);
    struct uuid id = uuid_make_v7(clock_now_ns(&rig.clock) / 1000000, random);
    command->code = REQUEST_create_account_secp256k1;
    command->kind = COMMAND_SIGNED;
    command->payload_bytes = REQUEST_BODY_AT + 80;
    command->key_bytes = 33;
    uint8_t *to = command->bytes;
    to[0] = REQUEST_VERSION;
    to[1] = SIGNATURE_SECP256K1;
    cc_store16(to + 2, command->code);
    memcpy(to + REQUEST_HEADER_BYTES, id.bytes, sizeof id.bytes);
    to[command->payload_bytes] = 2;
    cc_store64(to + command->payload_bytes + 1, rig.accounts);
    command->slot_count =
        (uint16_t)command_slots(command_bytes(command) - (uint32_t)sizeof *command);
    derive_command(command, mix_key_load(rig.core.exchange.hash_key));
    void *slots = ring_claim(&rig.commands, command->slot_count);
    CHECK(slots != NULL);
    memcpy(slots, command, command_bytes(command));
    ring_publish(&rig.commands);
}

static void author(uint16_t code, const void *body, uint32_t body_bytes)
{
    struct engine_result result;
    CHECK(sequencer_author(&rig.core.matcher.sequencer, code, body, body_bytes, &result));
}

/* A refused start; the directory is as before, so the next start is asked for the same reason. */
static void refused_with(const char *word)
{
    for (int i = 0; i < 2; i++) {
        CHECK(recover(NULL) == REFUSAL_record_refused);
        CHECK(strstr(rig.refusal.text, word) != NULL);
        CHECK(refusal_exit_code(rig.refusal.kind) == 3);
        crash();
    }
}

/* wire.md W10: the default markets; whoever may ask for them by name does so from now on. */
static void check_symbols(void)
{
    const struct symbols *symbols = &rig.core.primary_sink.symbols;
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
    CHECK(rig.core.is_new && rig.core.recovered.boot == 1);
    CHECK(engine_sequence(rig.core.primary) == 2 + MARKETS);
    check_symbols(); /* told by the effects of 1001 */
    CHECK(journal_durable_seq(rig.core.journal) == 0);
    settle();
    CHECK(journal_durable_seq(rig.core.journal) == 2 + MARKETS);
    stop();

    start(NULL);
    CHECK(!rig.core.is_new && rig.core.recovered.boot == 2 && rig.core.recovered.clean_stop);
    CHECK(engine_sequence(rig.core.primary) == 3 + MARKETS);
    check_symbols(); /* loaded */
    settle();
    crash();

    start("--engine.makers_max=9");
    CHECK(rig.core.recovered.boot == 3 && !rig.core.recovered.clean_stop);
    CHECK(engine_sequence(rig.core.primary) == 5 + MARKETS);
    CHECK(engine_options(rig.core.primary)->values[OPTION_engine_makers_max] == 9);
    settle();
    stop();
    rig_free();
}

/* Lower capacities are taken while they hold what is used; below that the key is named. */
static void check_capacities(void)
{
    rig_make();
    start("--engine.accounts=128");
    for (int i = 0; i < ACCOUNTS; i++)
        send_account();
    CHECK(core_match(&rig.core) != 0);
    CHECK(ring_ready(&rig.answers) == ACCOUNTS);
    settle();
    stop();

    CHECK(recover("--engine.accounts=20") == REFUSAL_none); /* laid out for 128, as before */
    CHECK(core_open(&rig.core) == CORE_CAPACITY_TOO_SMALL);
    CHECK(rig.core.short_option == OPTION_engine_accounts);
    crash();

    start("--engine.accounts=21");
    make_rings();
    send_account(); /* with account 0, the 22nd */
    uint64_t before = engine_sequence(rig.core.primary);
    CHECK(core_match(&rig.core) != 0);
    const struct answer *answer = ring_at(&rig.answers, 0);
    CHECK(ring_ready(&rig.answers) == 1 && (answer->members & ANSWER_HAS_ACCOUNT) == 0);
    CHECK(answer->sequence == before + 1 && answer->release_sequence == before + 1);
    settle();
    stop();
    start("--engine.accounts=256");
    settle();
    stop();
    rig_free();
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
    divergence_write(&rig.core, folder);
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
    settle();
    crash();
    refused_with("rules_version");
    rig_free();

    rig_make();
    start(NULL);
    settle();
    cc_store64(hash, engine_sequence(rig.core.primary));
    author(REQUEST_effects_hash, hash, sizeof hash);
    int followed = 0;
    for (int turn = 0; turn < TURNS && followed >= 0; turn++) {
        CHECK(core_journal(&rig.core) >= 0);
        followed = core_follow(&rig.core);
    }
    CHECK(followed == -EBADMSG && rig.core.follower.diverged);
    /* What differs is not shown: the follower stands before the record. */
    CHECK(engine_sequence(rig.core.replica) + 1 == engine_sequence(rig.core.primary));
    check_evidence();
    crash();
    refused_with("2015");
    rig_free();
}

/* A write that fails: an error for ever, nothing more becomes durable; the next start recovers. */
static void check_write_fails(void)
{
    rig_make();
    start(NULL);
    settle();
    uint64_t durable = journal_durable_seq(rig.core.journal);
    send_account();
    CHECK(core_match(&rig.core) != 0);
    disk_sim_fail(rig.disk, 1, DISK_SIM_EIO, true);
    int written = 0;
    for (int turn = 0; turn < TURNS && written >= 0; turn++)
        written = core_journal(&rig.core);
    CHECK(written == -EIO && core_journal(&rig.core) == -EIO);
    CHECK(journal_durable_seq(rig.core.journal) == durable);
    CHECK(core_follow(&rig.core) >= 0 && engine_sequence(rig.core.replica) == durable);
    disk_sim_fail(rig.disk, 0, DISK_SIM_EIO, false);
    crash();
    start(NULL);
    CHECK(engine_sequence(rig.core.primary) >= durable + 1);
    settle();
    stop();
    rig_free();
}

/* The disk is full: prepared segments are used up, then commands wait and answers are held, until
 * there is space; not one of them is lost or refused. */
static void check_disk_full(void)
{
    rig_make();
    start(NULL);
    settle();
    disk_sim_fail(rig.disk, 1, DISK_SIM_ENOSPC, true);
    uint64_t now_ns = clock_monotonic_ns(&rig.clock);
    int prepared = core_prepare(&rig.core, now_ns);
    CHECK(prepared == 0); /* two stand ready */
    disk_sim_fail(rig.disk, 0, DISK_SIM_ENOSPC, false);

    uint8_t tick[8] = { 0 };
    struct engine_result result;
    uint64_t authored = 0;
    for (int turn = 0; turn < 64 * TURNS; turn++) { /* nobody prepares */
        authored +=
            sequencer_author(&rig.core.matcher.sequencer, REQUEST_tick, tick, sizeof tick, &result);
        CHECK(core_journal(&rig.core) >= 0 && core_follow(&rig.core) >= 0);
        clock_advance(&rig.clock, 1000);
    }
    CHECK(segment_pool_ready(rig.core.pool) == 0);
    CHECK(journal_counters(rig.core.journal).starved != 0);
    CHECK(journal_counters(rig.core.journal).full != 0);
    CHECK(journal_durable_seq(rig.core.journal) < engine_sequence(rig.core.primary));
    CHECK(authored + 2 + MARKETS == engine_sequence(rig.core.primary));
    /* A turn that can author nothing is no work: the thread parks, until there is room. */
    clock_advance(&rig.clock, MATCHER_TICK_NS);
    CHECK(core_match(&rig.core) == 0 && matcher_is_held(&rig.core.matcher));
    core_stop(&rig.core);
    for (int turn = 0; turn < TURNS; turn++)
        CHECK(core_journal(&rig.core) >= 0);
    CHECK(!core_stopped(&rig.core));

    disk_sim_fail(rig.disk, 1, DISK_SIM_ENOSPC, true);
    CHECK(core_prepare(&rig.core, clock_monotonic_ns(&rig.clock)) == -ENOSPC);
    CHECK(segment_pool_error(rig.core.pool) == -ENOSPC);
    disk_sim_fail(rig.disk, 0, DISK_SIM_ENOSPC, false);
    for (int turn = 0; turn < 64 * TURNS && !core_stopped(&rig.core); turn++) {
        CHECK(core_prepare(&rig.core, clock_monotonic_ns(&rig.clock)) >= 0);
        CHECK(core_journal(&rig.core) >= 0 && core_follow(&rig.core) >= 0);
        clock_advance(&rig.clock, 100000000);
    }
    CHECK(core_stopped(&rig.core));
    CHECK(journal_durable_seq(rig.core.journal) == authored + 2 + MARKETS);
    crash();
    rig_free();
}

/* Tombstones stay until their sequence is durable (R11): when they take the places that new
 * credentials need, commands wait in their ring. */
static void check_keyring_full(void)
{
    uint8_t bytes[32] = { 0 };
    struct keyring_row entry = { .state = KEYRING_LIVE };

    rig_make();
    start(NULL);
    settle();
    for (uint64_t i = 1; i <= 513; i++) { /* 2 x engine.credentials + 1 */
        cc_store64(bytes, i);
        entry.key = keyring_key(KEYRING_SESSION, 1, bytes);
        CHECK(keyring_add(rig.core.keyring, &entry) == 0);
        CHECK(keyring_end(rig.core.keyring, &entry.key, engine_sequence(rig.core.primary) + 1));
    }
    CHECK(!matcher_is_held(&rig.core.matcher));
    send_account();
    CHECK(core_match(&rig.core) == 0 && matcher_is_held(&rig.core.matcher));
    CHECK(ring_ready(&rig.answers) == 0);
    author(REQUEST_tick, bytes, 8);
    settle();
    for (int turn = 0; turn < 9; turn++)
        (void)core_match(&rig.core);
    CHECK(ring_ready(&rig.answers) == 1);
    CHECK(keyring_count(rig.core.keyring) < 513);
    settle();
    stop();
    rig_free();
}

/* A start that is given up writes nothing; the next one finds what was there. */
static void check_given_up(void)
{
    rig_make();
    start(NULL);
    settle();
    uint64_t sequence = engine_sequence(rig.core.primary);
    stop();
    uint64_t digest = disk_sim_digest(rig.disk);
    atomic_store(&rig.give_up, true);
    CHECK(recover(NULL) == REFUSAL_record_refused);
    atomic_store(&rig.give_up, false);
    CHECK(disk_sim_digest(rig.disk) == digest);
    crash();
    start(NULL);
    CHECK(engine_sequence(rig.core.primary) == sequence + 1);
    settle();
    stop();
    rig_free();
}

/* W5: a start waits until the clock has reached the last journalled t. */
static void check_clock_behind(void)
{
    rig_make();
    start(NULL);
    settle();
    uint64_t last_ns = engine_time(rig.core.primary);
    stop();
    clock_set(&rig.clock, last_ns - 1);
    CHECK(recover(NULL) == REFUSAL_none);
    CHECK(core_open(&rig.core) == CORE_CLOCK_BEHIND);
    CHECK(engine_sequence(rig.core.primary) == 2 + MARKETS); /* asked again, nothing happened */
    CHECK(core_open(&rig.core) == CORE_CLOCK_BEHIND);
    clock_set(&rig.clock, last_ns);
    CHECK(core_open(&rig.core) == CORE_OPENED);
    CHECK(engine_time(rig.core.primary) > last_ns);
    settle();
    stop();
    rig_free();
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
             journal_durable_seq(rig.core.journal) < engine_sequence(rig.core.primary); turn++) {
            CHECK(turn < TURNS);
            CHECK(core_journal(&rig.core) >= 0);
        }
        CHECK(follower_lag_ns(&rig.core.follower) < LAG_NS);
        clock_advance(&rig.clock, step_ns);
        CHECK(follower_lag_ns(&rig.core.follower) >= step_ns);
        settle();
        CHECK(follower_lag_ns(&rig.core.follower) == 0);
        stop();
        clock_advance(&rig.clock, 3600 * LAG_NS);
        start(NULL);
    }
    stop();
    rig_free();
}

/* A second start on a directory in use is refused with exit 3 and disturbs nothing. */
static void check_locked(void)
{
    struct exchange_file exchange;
    struct refusal refusal;
    bool is_new;

    rig_make();
    start(NULL);
    settle();
    CHECK(exchange_file_open(rig.disk, NULL, &exchange, &is_new, &refusal) == REFUSAL_locked);
    CHECK(refusal_exit_code(refusal.kind) == 3);
    stop();
    rig_free();
}

int main(void)
{
    check_first_sequences();
    check_capacities();
    check_refused_records();
    check_write_fails();
    check_disk_full();
    check_keyring_full();
    check_given_up();
    check_clock_behind();
    check_lag_of_start();
    check_locked();
    return 0;
}
