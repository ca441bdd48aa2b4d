#include "core_rig.h"

#include <stdlib.h>

#include "base/config.h"
#include "check.h"
#include "crypto/derive.h"
#include "node/recover/fold.h"
#include "node/recover/snapshot_child.h"

enum { RING_SLOTS = 256, BUFFER_BYTES = 64 << 10, ARGUMENTS_MAX = 24 };

struct core_rig core_rig;

/* ---- the host -------------------------------------------------------------------------------- */

static int host_begin(void *context, uint64_t last_segment, bool is_forced)
{
    struct core_rig_host *host = context;
    host->begun++;
    host->competing += is_forced;
    host->last_segment = last_segment;
    return 0;
}

static int host_poll(void *context)
{
    struct core_rig_host *host = context;
    struct refusal refusal;

    if (host->goes_on)
        return 0;
    if (host->fails)
        return -1;
    if (host->is_killed)
        return SNAPSHOTTER_KILLED;
    if (host->dies) {
        struct snapshot_writer *writer =
            snapshot_begin(core_rig.disk, &core_rig.core.exchange, 4711);
        CHECK(writer != NULL);
        free(writer);
        return -1;
    }
    enum refusal_kind kind = fold_snapshot(core_rig.disk, &core_rig.core.exchange,
                                           CORE_RIG_SEGMENT_BYTES, host->last_segment, &refusal);
    if (kind != REFUSAL_none)
        fprintf(stderr, "%s\n", refusal.text);
    return kind == REFUSAL_none ? 1 : -1;
}

static void host_end(void *context)
{
    ((struct core_rig_host *)context)->ended++;
}

static bool host_wanted(void *context, uint64_t *first)
{
    *first = ((struct core_rig_host *)context)->wanted_first;
    return *first != UINT64_MAX;
}

static bool host_memory(void *context, uint64_t *free_bytes, uint64_t *engine_bytes)
{
    *free_bytes = ((struct core_rig_host *)context)->free_bytes;
    *engine_bytes = 1000;
    return true;
}

/* ---- the rig --------------------------------------------------------------------------------- */

static const char *const default_engine[] = {
    "--exchange.operator_key=ERERERERERERERERERERERERERERERERERERERERERE=",
    "--exchange.oracle_keys=ERERERERERERERERERERERERERERERERERERERERERE=",
    NULL,
};

static void *allocate(size_t bytes)
{
    void *memory = aligned_alloc(64, bytes);
    CHECK(memory != NULL);
    return memory;
}

/* Empties the rings and the pool. */
static void link_reset(struct core_rig_link *link)
{
    struct ring *rings[] = { &link->commands, &link->answers, &link->queries, &link->replies };

    for (size_t i = 0; i < CC_COUNT(rings); i++)
        ring_init(rings[i], link->memory[i], i == 0 ? RING_SLOTS : core_rig.options.slots,
                  MESSAGE_SLOT_BYTES);
    reply_pool_init(&link->pool, link->pool_memory);
}

static struct core_rig_options complete(const struct core_rig_options *given)
{
    struct core_rig_options all = *given;

    if (all.disk_seed == 0)
        all.disk_seed = 1;
    if (all.accounts == 0)
        all.accounts = 4096;
    if (all.credentials == 0)
        all.credentials = 16384;
    if (all.engine == NULL)
        all.engine = default_engine;
    if (all.link_count == 0)
        all.link_count = 1;
    if (all.slots == 0)
        all.slots = RING_SLOTS;
    if (all.history_rows == 0)
        all.history_rows = 1 << 10;
    if (all.follower_commands_a_turn == 0)
        all.follower_commands_a_turn = FOLLOWER_COMMANDS_A_TURN;
    CHECK(all.link_count <= CORE_RIG_LINKS_MAX && all.slots <= RING_SLOTS);
    return all;
}

void core_rig_make_with(const struct core_rig_options *options)
{
    struct core_rig_options all = complete(options);
    struct disk_sim_config disk = { .seed = all.disk_seed, .block_bytes = 512, .latency_max = 3 };
    memset(&core_rig, 0, sizeof core_rig);
    core_rig.options = all;
    clock_init_simulated(&core_rig.clock, CORE_RIG_START_NS);
    CHECK((core_rig.disk = disk_sim_create(&disk)) != NULL);
    for (uint32_t k = 0; k < all.link_count; k++) {
        struct core_rig_link *link = &core_rig.links[k];
        link->pool_memory = allocate(REPLY_POOL_BYTES);
        for (size_t i = 0; i < CC_COUNT(link->memory); i++)
            link->memory[i] = allocate(ring_bytes(RING_SLOTS, MESSAGE_SLOT_BYTES));
    }
    CHECK(market_file_load(&core_rig.markets, ""));
    core_rig.host.free_bytes = UINT64_MAX;
    core_rig.host.wanted_first = UINT64_MAX;
    core_rig.tail_bytes = all.has_no_snapshots ? 0 : UINT64_C(2) * CORE_RIG_SEGMENT_BYTES;
}

void core_rig_make(void)
{
    core_rig_make_with(&(struct core_rig_options){ 0 });
}

void core_rig_free(void)
{
    disk_sim_destroy(core_rig.disk);
    market_file_free(&core_rig.markets);
    for (uint32_t k = 0; k < core_rig.options.link_count; k++) {
        struct core_rig_link *link = &core_rig.links[k];
        free(link->pool_memory);
        for (size_t i = 0; i < CC_COUNT(link->memory); i++)
            free(link->memory[i]);
    }
}

static void configure(void)
{
    static struct config config;
    const struct core_rig_options *options = &core_rig.options;
    uint8_t body[CONFIG_ENGINE_TEXT_MAX];
    char accounts[40], portfolios[40], credentials[40];
    const char *argv[ARGUMENTS_MAX] = {
        "core",
        accounts,
        portfolios,
        credentials,
        "--engine.orders=1024",
        "--engine.positions=64",
        "--engine.deposits=64",
        "--engine.ladder_pages=256",
        "--limits.duplicate_slots=4096",
        "--limits.funding_small=0",
        "--limits.funding_full=0",
    };
    size_t count = 11;

    snprintf(accounts, sizeof accounts, "--engine.accounts=%u", options->accounts);
    snprintf(portfolios, sizeof portfolios, "--engine.portfolios=%u", options->accounts);
    snprintf(credentials, sizeof credentials, "--engine.credentials=%u", options->credentials);
    for (size_t i = 0; options->engine[i] != NULL; i++) {
        CHECK(count + 1 < CC_COUNT(argv));
        argv[count++] = options->engine[i];
    }
    if (core_rig.more != NULL)
        argv[count++] = core_rig.more;
    CHECK(config_load(&config, (int)count, argv, NULL) == CONFIG_RUN);
    const uint8_t *key = core_rig.signing != NULL ? core_rig.signing->signer.key : NULL;
    ptrdiff_t bytes = config_engine_text(&config, core_rig.core.exchange.exchange_id, key, body);
    CHECK(bytes > 0);
    CHECK(core_configure(&core_rig.core, body, (uint32_t)bytes));
    config_free(&config);
}

enum refusal_kind core_rig_recover(void)
{
    struct core_config config = {
        .disk = core_rig.disk,
        .clock = &core_rig.clock,
        .markets = core_rig.markets.markets,
        .market_count = core_rig.markets.market_count,
        .durability = JOURNAL_LOCAL,
        .segment_bytes = CORE_RIG_SEGMENT_BYTES,
        .journal_buffer_bytes = BUFFER_BYTES,
        .frames_in_flight = JOURNAL_FRAMES_MAX,
        .group_bytes = 1,
        .frame_bytes_max = 16 << 10,
        .history_rows = core_rig.options.history_rows,
        .recovers_on_two_threads = core_rig.recovers_on_two_threads,
        .history_replay_bytes = core_rig.history_replay_bytes,
        .history_folder = core_rig.history_folder,
        .remakes_history = core_rig.history_folder != NULL,
        .private_events = core_rig.private_events,
        .is_staged = core_rig.is_staged,
        .follower_lag_max_ns = CORE_RIG_LAG_NS,
        .follower_commands_a_turn = core_rig.options.follower_commands_a_turn,
        .snapshot_tail_bytes = core_rig.tail_bytes,
        .clock_gap_max_ns = UINT64_C(3600000000000),
        .archive_keep_ns = core_rig.archive_keep_ns,
        .segment_bytes_per_s = core_rig.segment_bytes_per_s,
        .give_up = &core_rig.give_up,
    };
    if (!core_rig.options.has_no_snapshots)
        config.snapshotter = (struct snapshotter_host){ &core_rig.host, host_begin,  host_poll,
                                                        host_end,       host_wanted, host_memory };
    enum refusal_kind kind = core_create(&core_rig.core, &config, &core_rig.refusal);
    if (kind == REFUSAL_none && core_rig.signing != NULL) {
        kind = signing_key_open(core_rig.disk, &core_rig.core.exchange, NULL, core_rig.signing,
                                &core_rig.refusal);
        core_rig.core.config.signing = core_rig.signing;
    }
    if (kind != REFUSAL_none)
        return kind;
    configure();
    CHECK(core_make_keyring(&core_rig.core) == 0);
    kind = core_recover(&core_rig.core, &core_rig.refusal);
    if (kind != REFUSAL_none)
        return kind;
    for (uint32_t k = 0; k < core_rig.options.link_count; k++) {
        struct core_rig_link *link = &core_rig.links[k];
        struct follower_link follower = { &link->queries, &link->replies, &link->pool };
        link_reset(link);
        core_link(&core_rig.core, &follower, &link->commands, &link->answers);
    }
    return REFUSAL_none;
}

void core_rig_start(void)
{
    enum refusal_kind kind = core_rig_recover();
    if (kind != REFUSAL_none)
        fprintf(stderr, "%s\n", core_rig.refusal.text);
    CHECK(kind == REFUSAL_none);
    enum core_opening opening = core_open(&core_rig.core);
    if (opening != CORE_OPENED)
        fprintf(stderr, "opening %d\n", opening);
    CHECK(opening == CORE_OPENED);
}

bool core_rig_send_account(struct core_rig_link *link)
{
    static struct rebuild_buffer buffer;
    struct command *command = (struct command *)(void *)buffer.bytes;
    uint8_t random[10] = { 0 };

    memset(&buffer, 0, sizeof buffer);
    cc_store64(random, core_rig.accounts + 1);
    struct uuid id = uuid_make_v7(clock_now_ns(&core_rig.clock) / 1000000, random);
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
    cc_store64(to + command->payload_bytes + 1, core_rig.accounts + 1);
    command->slot_count =
        (uint16_t)command_slots(command_bytes(command) - (uint32_t)sizeof *command);
    derive_command(command, mix_key_load(core_rig.core.exchange.hash_key));
    void *slots = ring_claim(&link->commands, command->slot_count);
    if (slots == NULL)
        return false;
    memcpy(slots, command, command_bytes(command));
    ring_publish(&link->commands);
    core_rig.accounts++;
    return true;
}

void core_rig_settle(void)
{
    for (int i = 0; i < CORE_RIG_TURNS; i++) {
        CHECK(core_journal(&core_rig.core) >= 0);
        CHECK(core_prepare(&core_rig.core, clock_monotonic_ns(&core_rig.clock)) >= 0);
        CHECK(core_follow(&core_rig.core) >= 0);
        if (engine_sequence(core_rig.core.replica) == engine_sequence(core_rig.core.primary))
            return;
    }
    CHECK(!"everything published becomes durable and applied");
}

static void turn(void)
{
    uint64_t now_ns = clock_monotonic_ns(&core_rig.clock);

    (void)core_match(&core_rig.core);
    CHECK(core_journal(&core_rig.core) >= 0);
    CHECK(core_follow(&core_rig.core) >= 0);
    CHECK(core_prepare(&core_rig.core, now_ns) >= 0);
    CHECK(core_keep_history(&core_rig.core, now_ns) >= 0);
    (void)core_snapshot(&core_rig.core, now_ns);
    for (uint32_t k = 0; k < core_rig.options.link_count; k++) {
        uint64_t answers = ring_ready(&core_rig.links[k].answers);
        if (answers != 0)
            ring_release(&core_rig.links[k].answers, answers);
    }
}

void core_rig_run(uint32_t turns)
{
    for (uint32_t i = 0; i < turns; i++) {
        CHECK(core_rig_send_account(&core_rig.links[0]));
        turn();
        clock_advance(&core_rig.clock, CORE_RIG_TURN_NS);
    }
    for (int i = 0; i < CORE_RIG_TURNS; i++) {
        turn();
        if (engine_sequence(core_rig.core.replica) == engine_sequence(core_rig.core.primary))
            return;
    }
    CHECK(!"everything published becomes durable");
}

void core_rig_kill(void)
{
    struct disk *survivor = disk_sim_copy(core_rig.disk);
    CHECK(survivor != NULL);
    disk_sim_kill(survivor, 7);
    core_destroy(&core_rig.core);
    disk_sim_destroy(core_rig.disk);
    core_rig.disk = survivor;
    clock_advance(&core_rig.clock, 1000000000);
}

void core_rig_stop_roles(void)
{
    core_stop(&core_rig.core);
    for (int i = 0; i < CORE_RIG_TURNS && !core_stopped(&core_rig.core); i++) {
        CHECK(core_journal(&core_rig.core) >= 0);
        CHECK(core_follow(&core_rig.core) >= 0);
    }
    CHECK(core_stopped(&core_rig.core));
}

void core_rig_hash(uint8_t hash[HASH_BYTES])
{
    fold_image_hash(core_rig.core.replica, hash);
}
