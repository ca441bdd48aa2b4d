#include "node/node.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/hex.h"
#include "base/log.h"
#include "crypto/ed25519.h"
#include "crypto/secp256k1.h"
#include "engine/market_record.h"
#include "engine/read.h"
#include "node/divergence.h"
#include "node/market_file.h"
#include "node/net_source.h"
#include "store/disk_real.h"

enum {
    COMMAND_SLOTS = 16384,
    MESSAGE_SLOTS = 8192, /* answers, queries, replies: credits of the net thread */
    SEGMENT_BYTES = 64 << 20,
    FRAMES_IN_FLIGHT = 4,
    CLOCK_WAIT_NS_MAX_S = 5,
    DRAIN_S_MAX = 10,
    STOP_S_MAX = 10,             /* from the last command to the closing frame */
    WAIT_NS = 50 * 1000 * 1000,  /* longest park */
    BUSY_WAIT_NS = 100 * 1000,   /* writes in flight or no room for more */
    PREPARE_IDLE_US = 20 * 1000, /* the background thread's look for a taken segment */
};

#define NS_PER_S UINT64_C(1000000000)

static enum node_phase phase_of(const struct node *node)
{
    return phase_now(&node->phase);
}

static void wake_both(struct node *node)
{
    park_wake(&node->net_park);
    park_wake(&node->journal_park);
}

static bool advance(struct node *node, enum node_phase from, enum node_phase to)
{
    bool moved = phase_advance(&node->phase, from, to);
    wake_both(node);
    return moved;
}

static void fail(struct node *node, int exit_code)
{
    phase_fail(&node->phase, exit_code);
    wake_both(node);
}

static bool is_stop_asked(const struct node *node)
{
    return atomic_load_explicit(&node->stop_asked, memory_order_relaxed);
}

void node_ask_stop(struct node *node)
{
    atomic_store_explicit(&node->stop_asked, true, memory_order_relaxed);
    park_wake(&node->net_park);
}

/* ---- start ----------------------------------------------------------------------------------- */

static int refuse(struct node *node)
{
    log_line(LOG_ERROR, "refused", "%s", node->refusal.text);
    return refusal_exit_code(node->refusal.kind);
}

static int open_disk(struct node *node)
{
    int error = 0;
    bool ring_refused = false;
    const char *path = config_text(node->options, OPTION_store_data);

    node->disk = disk_real_open(path, &error, &ring_refused);
    if (node->disk != NULL)
        return 0;
    if (ring_refused) {
        log_line(LOG_ERROR, "kernel",
                 "io_uring for the journal was refused: %s; perpd needs Linux 6.1 with io_uring "
                 "allowed (sysctl kernel.io_uring_disabled=0, no seccomp filter against it)",
                 strerror(-error));
        return NODE_EXIT_KERNEL;
    }
    log_line(LOG_ERROR, "data", "path=%s: %s", path, strerror(-error));
    return NODE_EXIT_FAILED;
}

static int configure(struct node *node)
{
    uint8_t body[CONFIG_ENGINE_TEXT_MAX];
    ptrdiff_t bytes = config_engine_text(node->options, node->core.exchange.exchange_id, body);

    if (bytes < 0) {
        log_line(LOG_ERROR, "configuration", "the engine options are longer than 4120 bytes");
        return NODE_EXIT_CONFIGURATION;
    }
    bool parsed = core_configure(&node->core, body, (uint32_t)bytes);
    INVARIANT(parsed); /* config.c writes what option.c reads */
    return 0;
}

static int open_core(struct node *node, const struct market_file *markets)
{
    bool local = config_is(node->options, OPTION_store_durability, "local");
    uint8_t wanted_id[EXCHANGE_FILE_ID_BYTES];
    const char *id_text = config_text(node->options, OPTION_exchange_id);
    bool has_id =
        id_text[0] != '\0' && hex_decode(wanted_id, sizeof wanted_id, id_text, strlen(id_text));
    struct core_config config = {
        .disk = node->disk,
        .clock = &node->clock,
        .exchange_id = has_id ? wanted_id : NULL,
        .markets = markets->markets,
        .market_count = markets->market_count,
        .durability = local ? JOURNAL_LOCAL : JOURNAL_NONE,
        .segment_bytes = SEGMENT_BYTES,
        .segment_bytes_per_s = SEGMENT_POOL_RATE_DEFAULT,
        .journal_buffer_bytes = JOURNAL_BUFFER_BYTES_DEFAULT,
        .frames_in_flight = FRAMES_IN_FLIGHT,
        .group_bytes = JOURNAL_GROUP_BYTES_DEFAULT,
        .history_rows = HISTORY_ROWS_DEFAULT,
        .follower_lag_max_ns = config_number(node->options, OPTION_node_follower_lag_max) * 1000000,
        .follower_commands_a_turn = FOLLOWER_COMMANDS_A_TURN,
        .give_up = &node->stop_asked,
    };
    if (!local)
        log_line(LOG_WARN, "durability",
                 "store.durability=none: acknowledged orders are lost with the power");
    if (core_create(&node->core, &config, &node->refusal) != REFUSAL_none)
        return refuse(node);
    return configure(node);
}

static int make_rings(struct node *node)
{
    const struct {
        struct ring *ring;
        uint32_t slots;
    } rings[] = {
        { &node->commands, COMMAND_SLOTS },
        { &node->answers, MESSAGE_SLOTS },
        { &node->queries, MESSAGE_SLOTS },
        { &node->replies, MESSAGE_SLOTS },
    };
    size_t bytes[CC_COUNT(rings)];
    int failed;

    for (size_t i = 0; i < CC_COUNT(rings); i++) {
        bytes[i] = (ring_bytes(rings[i].slots, MESSAGE_SLOT_BYTES) + 4095) & ~(size_t)4095;
        node->ring_bytes += bytes[i];
    }
    if ((failed = arena_map(&node->ring_memory, node->ring_bytes, true)) != 0 ||
        (failed = arena_map(&node->pool_memory, REPLY_POOL_BYTES, false)) != 0)
        return failed;
    uint8_t *at = node->ring_memory;
    for (size_t i = 0; i < CC_COUNT(rings); i++) {
        ring_init(rings[i].ring, at, rings[i].slots, MESSAGE_SLOT_BYTES);
        at += bytes[i];
    }
    reply_pool_init(&node->pool, node->pool_memory);
    return 0;
}

static int open_net(struct node *node)
{
    struct net_diagnosis diagnosis = { 0 };
    struct net_config config = {
        .listen = config_text(node->options, OPTION_net_listen),
        .admin_listen = config_text(node->options, OPTION_admin_listen),
        .wake_file = node->net_park.file,
        .commands = &node->commands,
        .answers = &node->answers,
        .queries = &node->queries,
        .replies = &node->replies,
        .reply_pool = &node->pool,
        .keyring = node->core.keyring,
        .clock = &node->clock,
        .options = &node->core.options,
        .source = net_source_of(node),
        .hash_key = mix_key_load(node->core.exchange.hash_key),
        .durability = config_text(node->options, OPTION_store_durability),
        .rules_version = ENGINE_RULES_VERSION,
        .epoch = 1,
        .credit_wait_ms = (uint32_t)config_number(node->options, OPTION_net_credit_wait_ms),
        .output_pool_bytes = config_number(node->options, OPTION_net_output_pool),
    };
    memcpy(config.secret_key, node->core.exchange.secret_key, sizeof config.secret_key);
    memcpy(config.exchange_id, node->core.exchange.exchange_id, sizeof config.exchange_id);

    int failed = net_create(&node->net, &config, &diagnosis);
    explicit_bzero(config.secret_key, sizeof config.secret_key);
    if (failed == 0)
        return 0;
    log_line(LOG_ERROR, diagnosis.kernel_lacks ? "kernel" : "net", "%s", diagnosis.text);
    if (diagnosis.kernel_lacks)
        return NODE_EXIT_KERNEL;
    return diagnosis.bad_address ? NODE_EXIT_CONFIGURATION : NODE_EXIT_FAILED;
}

/* Everything that needs no journal: machine, options, directory, rings, sockets. */
static int prepare(struct node *node, struct market_file *markets)
{
    int failed = clock_init(&node->clock);
    if (failed == 0)
        failed = park_init(&node->net_park);
    if (failed == 0)
        failed = park_init(&node->journal_park);
    if (failed == 0)
        failed = ed25519_init();
    if (failed == 0)
        failed = secp256k1_init();
    if (failed != 0) {
        log_line(LOG_ERROR, "start", "%s", strerror(-failed));
        return NODE_EXIT_FAILED;
    }
    if (!market_file_load(markets, config_text(node->options, OPTION_exchange_markets))) {
        log_line(LOG_ERROR, "configuration", "%s", markets->error);
        return NODE_EXIT_CONFIGURATION;
    }
    int code = open_disk(node);
    if (code == 0)
        code = open_core(node, markets);
    if (code != 0)
        return code;
    failed = make_rings(node);
    if (failed == 0)
        failed = core_make_keyring(&node->core);
    if (failed != 0) {
        log_line(LOG_ERROR, "start", "memory: %s", strerror(-failed));
        return NODE_EXIT_FAILED;
    }
    return open_net(node);
}

/* ---- T1: recovery, journal and follower ------------------------------------------------------ */

static void recover(struct node *node)
{
    enum refusal_kind kind = core_recover(&node->core, &node->refusal);
    if (kind == REFUSAL_record_refused && is_stop_asked(node)) {
        fail(node, NODE_EXIT_CLEAN); /* given up: nothing was promised, nothing was written */
        return;
    }
    if (kind != REFUSAL_none) {
        fail(node, refuse(node));
        return;
    }
    const struct recovery_result *found = &node->core.recovered;
    struct follower_link link = { &node->queries, &node->replies, &node->pool };
    core_link(&node->core, &link, &node->commands, &node->answers);
    log_line(LOG_INFO, "recovered", "boot=%lu records=%lu frames=%lu cut_bytes=%lu clean_stop=%d",
             found->boot, found->records, found->frames, found->cut_bytes, found->clean_stop);
    (void)advance(node, NODE_RECOVERING, NODE_RECOVERED); /* false: a stop was asked meanwhile */
}

/* Is all written and applied, or the time for it over: a disk that takes nothing ends a stop as a
 * crash would, and the next start recovers. */
static bool has_stopped(struct node *node)
{
    if (core_stopped(&node->core))
        return true;
    if (clock_monotonic_ns(&node->clock) < node->stop_end_ns)
        return false;
    log_line(LOG_ERROR, "stop",
             "the journal did not end within %d s: durable=%lu segments_ready=%u; stopped as after "
             "a crash",
             STOP_S_MAX, journal_durable_seq(node->core.journal),
             segment_pool_ready(node->core.pool));
    fail(node, NODE_EXIT_FAILED);
    return true;
}

/* One turn of T1; false when it must end. */
static bool journal_turn(struct node *node, int *work)
{
    int written = core_journal(&node->core);
    if (written < 0) {
        log_line(LOG_ERROR, "journal", "write failed: %s; nothing more is acknowledged",
                 strerror(-written));
        fail(node, NODE_EXIT_FAILED);
        return false;
    }
    int applied = core_follow(&node->core);
    if (applied < 0) {
        log_line(LOG_ERROR, "follower", "applied=%lu: %s",
                 atomic_load_explicit(&node->core.follower.applied, memory_order_relaxed),
                 strerror(-applied));
        fail(node, NODE_EXIT_FAILED);
        return false;
    }
    *work = written + applied;
    return phase_of(node) != NODE_STOPPING || !has_stopped(node);
}

static void journal_park_until_work(struct node *node)
{
    int work = 0;

    park_begin(&node->journal_park);
    if (journal_turn(node, &work) && work == 0) {
        int failed = disk_wait(node->disk, node->journal_park.file, WAIT_NS);
        if (failed != 0 && failed != -EINTR)
            fail(node, NODE_EXIT_FAILED);
    } else {
        park_wake(&node->net_park);
    }
    park_end(&node->journal_park);
}

static void *journal_main(void *context)
{
    struct node *node = context;
    int work = 0;

    pthread_setname_np(pthread_self(), "perpd-journal");
    recover(node);
    while (phase_of(node) == NODE_RECOVERED) {
        park_begin(&node->journal_park);
        int failed = 0;
        if (phase_of(node) == NODE_RECOVERED)
            failed = disk_wait(node->disk, node->journal_park.file, WAIT_NS);
        park_end(&node->journal_park);
        if (failed != 0 && failed != -EINTR)
            fail(node, NODE_EXIT_FAILED);
    }
    while (phase_of(node) != NODE_FAILED) {
        if (!journal_turn(node, &work))
            break;
        if (work != 0)
            park_wake(&node->net_park); /* something is durable, or a reply waits */
        else
            journal_park_until_work(node);
    }
    park_wake(&node->net_park);
    return NULL;
}

/* ---- background ------------------------------------------------------------------------------ */

static void *background_main(void *context)
{
    struct node *node = context;

    pthread_setname_np(pthread_self(), "perpd-prepare");
    for (;;) {
        enum node_phase phase = phase_of(node);
        if (phase == NODE_FAILED || phase == NODE_STOPPED)
            return NULL;
        int prepared = 0;
        if (phase == NODE_OPEN || phase == NODE_STOPPING) {
            prepared = core_prepare(&node->core, clock_monotonic_ns(&node->clock));
            if (prepared < 0)
                log_line(LOG_ERROR, "segment", "preparation failed: %s", strerror(-prepared));
        }
        if (prepared <= 0)
            usleep(PREPARE_IDLE_US);
    }
}

/* ---- T0: net and matcher --------------------------------------------------------------------- */

/* The file is read for an empty directory only; later a difference is reported, not applied. */
static void compare_markets(const struct node *node)
{
    const struct core_config *config = &node->core.config;

    if (config_text(node->options, OPTION_exchange_markets)[0] == '\0')
        return;
    for (uint32_t i = 0; i < config->market_count; i++) {
        const struct core_market *market = &config->markets[i];
        struct market_record record;
        const uint8_t *text = (const uint8_t *)market->text;
        if (read_market_is(node->core.primary, text, market->text_bytes))
            continue;
        bool parsed = market_record_parse(&record, text, market->text_bytes);
        INVARIANT(parsed); /* market_file.c has refused any other */
        log_line(LOG_WARN, "markets",
                 "exchange.markets differs from the journal: market=%s; not applied, a 1001 by the "
                 "operator changes a market",
                 record.symbol);
    }
}

/* Sequences the commands of the start once the clock allows; false when the start has failed. */
static bool open_engine(struct node *node)
{
    switch (core_open(&node->core)) {
    case CORE_OPENED:
        compare_markets(node);
        return advance(node, NODE_RECOVERED, NODE_OPEN);
    case CORE_CLOCK_BEHIND:
        if (clock_monotonic_ns(&node->clock) - node->started_monotonic_ns <
            CLOCK_WAIT_NS_MAX_S * NS_PER_S)
            return true; /* asked again next turn */
        log_line(LOG_ERROR, "clock", "the clock is more than %d s behind the last journalled time",
                 CLOCK_WAIT_NS_MAX_S);
        fail(node, NODE_EXIT_FAILED);
        return false;
    case CORE_CAPACITY_TOO_SMALL:
        log_line(LOG_ERROR, "configuration", "%s is below what the data directory uses",
                 option_row(node->core.short_option)->name);
        fail(node, NODE_EXIT_CONFIGURATION);
        return false;
    case CORE_MARKET_REFUSED:
        break;
    }
    log_line(LOG_ERROR, "configuration", "exchange.markets has a record that 1001 refuses");
    fail(node, NODE_EXIT_CONFIGURATION);
    return false;
}

/* The line scripts wait for: as soon as the commands of the start are durable. */
static void announce(struct node *node)
{
    if (node->announced || net_source_durable(node) < engine_sequence(node->core.primary))
        return;
    node->announced = true;
    printf("ready http://%s:%u\n", net_host(node->net), net_port(node->net));
    fflush(stdout);
    log_line(LOG_INFO, "ready", "listen=%s:%u admin_port=%u durability=%s boot=%lu",
             net_host(node->net), net_port(node->net), net_admin_port(node->net),
             config_text(node->options, OPTION_store_durability), node->core.recovered.boot);
}

static uint64_t net_timeout_ns(struct node *node)
{
    uint64_t longest_ns = WAIT_NS;

    if (phase_of(node) != NODE_OPEN)
        return longest_ns;
    if (node->one_thread && !journal_idle(node->core.journal))
        return BUSY_WAIT_NS;
    uint64_t now_ns = clock_now_ns(&node->clock);
    uint64_t due_ns = matcher_deadline_ns(&node->core.matcher);
    if (due_ns <= now_ns) /* the journal has no room for the tick: no spinning meanwhile */
        return BUSY_WAIT_NS;
    return due_ns - now_ns < longest_ns ? due_ns - now_ns : longest_ns;
}

/* One turn of T0; false when it must end. */
static bool net_turn(struct node *node, uint32_t *work)
{
    int written = 0;

    *work = net_step(node->net);
    switch (phase_of(node)) {
    case NODE_RECOVERED:
        return open_engine(node);
    case NODE_OPEN:
        *work += core_match(&node->core);
        if (node->one_thread) {
            if (!journal_turn(node, &written))
                return false;
            *work += (uint32_t)written;
        }
        if (!node->announced)
            announce(node);
        return true;
    default:
        return phase_of(node) != NODE_FAILED;
    }
}

static void net_park_until_work(struct node *node)
{
    uint32_t work = 0;

    park_begin(&node->net_park);
    if (net_turn(node, &work) && work == 0)
        net_wait(node->net, net_timeout_ns(node));
    else
        park_wake(&node->journal_park);
    park_end(&node->net_park);
}

static void serve(struct node *node)
{
    uint64_t followed_ns = 0;
    uint32_t work = 0;

    while (!is_stop_asked(node)) {
        uint64_t now_ns = clock_monotonic_ns(&node->clock);
        if (now_ns - followed_ns >= CLOCK_FOLLOW_INTERVAL_NS) {
            clock_follow(&node->clock);
            followed_ns = now_ns;
        }
        if (!net_turn(node, &work))
            return;
        if (work != 0)
            park_wake(&node->journal_park);
        else
            net_park_until_work(node);
    }
}

/* Answers what was received, then lets the journal write everything and close. */
static void drain(struct node *node)
{
    uint64_t end_ns = clock_monotonic_ns(&node->clock) + DRAIN_S_MAX * NS_PER_S;
    uint32_t work = 0;

    net_drain(node->net);
    while (phase_of(node) == NODE_OPEN && clock_monotonic_ns(&node->clock) < end_ns) {
        if (!net_turn(node, &work))
            return;
        park_wake(&node->journal_park);
        if (net_drained(node->net) && ring_ready(&node->commands) == 0)
            break;
        if (work == 0)
            net_wait(node->net, BUSY_WAIT_NS);
    }
    if (phase_of(node) != NODE_OPEN)
        return;
    core_stop(&node->core);
    node->stop_end_ns = clock_monotonic_ns(&node->clock) + STOP_S_MAX * NS_PER_S;
    if (!advance(node, NODE_OPEN, NODE_STOPPING))
        return;
    while (node->one_thread && journal_turn(node, &(int){ 0 }))
        usleep(PREPARE_IDLE_US / 100);
}

static int run_threads(struct node *node)
{
    pthread_t journal, background;

    node->started_monotonic_ns = clock_monotonic_ns(&node->clock);
    if (node->one_thread)
        recover(node);
    else if (pthread_create(&journal, NULL, journal_main, node) != 0)
        return NODE_EXIT_FAILED;
    bool prepares = pthread_create(&background, NULL, background_main, node) == 0;
    if (!prepares)
        fail(node, NODE_EXIT_FAILED);

    serve(node);
    drain(node);
    /* A stop asked before the node was open: nothing was promised, nothing is to be written. */
    if (phase_of(node) != NODE_STOPPING)
        fail(node, NODE_EXIT_CLEAN);
    if (!node->one_thread)
        pthread_join(journal, NULL);
    if (phase_of(node) != NODE_FAILED)
        (void)advance(node, NODE_STOPPING, NODE_STOPPED);
    if (prepares)
        pthread_join(background, NULL);
    return phase_exit_code(&node->phase);
}

static void give_back(struct node *node)
{
    if (node->net != NULL)
        net_destroy(node->net);
    core_destroy(&node->core);
    explicit_bzero(&node->core.exchange, sizeof node->core.exchange);
    if (node->disk != NULL)
        disk_real_close(node->disk);
    arena_unmap(node->ring_memory, node->ring_bytes);
    arena_unmap(node->pool_memory, REPLY_POOL_BYTES);
    park_close(&node->net_park);
    park_close(&node->journal_park);
}

int node_run(struct node *node, const struct config *options)
{
    static struct market_file markets; /* 2 KiB of places, start-up only */

    node->options = options;
    phase_init(&node->phase);
    node->net_park.file = -1;
    node->journal_park.file = -1;
    node->one_thread = sysconf(_SC_NPROCESSORS_ONLN) == 1;
    int code = prepare(node, &markets);
    if (code == 0)
        code = run_threads(node);
    if (atomic_load_explicit(&node->core.follower.diverged, memory_order_relaxed))
        divergence_write(&node->core, config_text(options, OPTION_store_data));
    give_back(node);
    market_file_free(&markets);
    log_line(LOG_INFO, "stopped", "exit=%d", code);
    return code;
}
