#include "node/run/start.h"

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>

#include "base/arena.h"
#include "base/base64.h"
#include "base/hex.h"
#include "base/log.h"
#include "crypto/second_path.h"
#include "crypto/secret.h"
#include "node/run/admin_token_file.h"
#include "node/run/cluster.h"
#include "node/run/net_source.h"
#include "node/run/newcomer_room.h"
#include "node/run/opening.h"
#include "node/run/rates.h"
#include "node/run/signing_key.h"
#include "node/run/verifier.h"
#include "store/disk_real.h"

enum {
    COMMAND_SLOTS = 16384, /* a net thread's */
    MESSAGE_SLOTS = 8192,  /* answers, queries, replies: credits of a net thread */
    SEGMENT_BYTES = 64 << 20,
    FRAMES_IN_FLIGHT = 4,
    HISTORY_REPLAY_BYTES = SEGMENT_BYTES, /* docs/decisions/0041 */
};

#define NS_PER_S   UINT64_C(1000000000)
#define NS_PER_DAY (86400 * NS_PER_S)

/* ---- what needs no journal ------------------------------------------------------------------- */

/* What durability local promises, no file system in memory keeps. */
static int refuse_memory(const struct node *node, const char *path)
{
    if (config_is(node->options, OPTION_store_durability, "none") ||
        config_switch(node->options, OPTION_store_allow_memory) || !disk_real_is_memory(node->disk))
        return 0;
    log_line(LOG_ERROR, "data",
             "path=%s lies in memory (tmpfs or ramfs), which a power loss empties: choose a "
             "directory on a disk; for a test set store.allow_memory=on or store.durability=none",
             path);
    return NODE_EXIT_REFUSED;
}

/* Opens the archive's second place, and takes from it what the data directory has lost. */
static int open_archive_copy(struct node *node)
{
    struct archive_copy *copy = &node->archive_copy;
    const char *path = config_text(node->options, OPTION_store_archive_copy);
    uint64_t brought = 0;
    bool ring_refused;
    int error = 0;

    copy->data = node->disk;
    copy->exchange = &node->core.exchange;
    copy->disk = disk_real_open(path, &error, &ring_refused);
    if (copy->disk != NULL)
        error = disk_lock(copy->disk);
    if (copy->disk != NULL && error == 0)
        error = disk_make_folder(copy->disk, "archive");
    if (error != 0) {
        log_line(LOG_ERROR, "configuration", "store.archive_copy: %s: %s", path, strerror(-error));
        return NODE_EXIT_CONFIGURATION;
    }
    if (archive_copy_mend(copy, &brought, &node->refusal) != REFUSAL_none)
        return opening_refuse(node);
    node->disk->archive_copy = copy->disk;
    brought += archive_copy_lengthen(copy);
    if (brought != 0)
        log_line(LOG_WARN, "archive", "files=%lu were missing, and taken from store.archive_copy",
                 brought);
    return 0;
}

static int open_disk(struct node *node)
{
    int error = 0;
    bool ring_refused = false;
    const char *path = config_text(node->options, OPTION_store_data);

    node->disk = disk_real_open(path, &error, &ring_refused);
    if (node->disk != NULL)
        return refuse_memory(node, path);
    if (ring_refused) {
        log_line(LOG_ERROR, "kernel", "io_uring for the journal was refused: %s; %s",
                 strerror(-error),
                 error == -ENOMEM
                     ? "raise the limit of locked memory (ulimit -l, LimitMEMLOCK=) or free memory"
                     : "perpd needs Linux 6.1 with io_uring allowed (sysctl "
                       "kernel.io_uring_disabled=0, no seccomp filter against it)");
        return NODE_EXIT_KERNEL;
    }
    log_line(LOG_ERROR, "data", "path=%s: %s", path, strerror(-error));
    return NODE_EXIT_FAILED;
}

static int open_admin_token(struct node *node)
{
    int failed = admin_token_file_open(node->disk, node->admin_token);

    if (failed == 0)
        return 0;
    if (failed == -EBADMSG) {
        log_line(LOG_ERROR, "data",
                 "admin.token is not %d hexadecimal digits: remove it, and a start makes another",
                 NET_ADMIN_TOKEN_BYTES);
        return NODE_EXIT_REFUSED;
    }
    if (failed == -EPERM) {
        log_line(LOG_ERROR, "data",
                 "admin.token is open to group or others: remove it, and a start makes another of "
                 "mode 0600");
        return NODE_EXIT_REFUSED;
    }
    log_line(LOG_ERROR, "data", "admin.token: %s", strerror(-failed));
    return NODE_EXIT_FAILED;
}

static int open_signing_key(struct node *node)
{
    const char *text = config_text(node->options, OPTION_exchange_signing_public);
    uint8_t wanted[SIGNER_ED25519_KEY_BYTES];
    bool is_wanted =
        base64_decode(wanted, sizeof wanted, text, strlen(text), NULL) == sizeof wanted;

    if (signer_init() != 0) {
        log_line(LOG_ERROR, "start", "the cryptographic library does not start");
        return NODE_EXIT_FAILED;
    }
    if (signing_key_open(node->disk, &node->core.exchange, is_wanted ? wanted : NULL,
                         &node->signing, &node->refusal) != REFUSAL_none)
        return opening_refuse(node);
    node->core.config.signing = &node->signing;
    return 0;
}

static int open_run_folder(struct node *node)
{
    const struct run_places places = {
        .option = config_text(node->options, OPTION_node_run_dir),
        .manager = node->options->runtime_directory,
        .system = "/run/perpd",
        .user = node->options->user_directory,
        .memory = "/dev/shm",
    };
    int failed = run_folder_open(&node->run_folder, &places, node->core.exchange.secret_key);

    if (failed == 0)
        return 0;
    log_line(LOG_ERROR, "start", "%s, the folder of what outlives the process (node.run_dir): %s",
             node->run_folder.path,
             failed == -EPERM ? "belongs to another user, or others may write to it"
                              : strerror(-failed));
    return NODE_EXIT_FAILED;
}

static int configure(struct node *node)
{
    uint8_t body[CONFIG_ENGINE_TEXT_MAX];
    ptrdiff_t bytes = config_engine_text(node->options, node->core.exchange.exchange_id,
                                         node->signing.signer.key, body);

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
    enum journal_durability durability = cluster_durability(node->options);
    bool clustered = durability >= JOURNAL_REPLICATED;
    uint8_t wanted_id[EXCHANGE_FILE_ID_BYTES];
    bool has_copy = config_text(node->options, OPTION_store_archive_copy)[0] != '\0';
    const char *id_text = config_text(node->options, OPTION_exchange_id);
    bool has_id =
        id_text[0] != '\0' && hex_decode(wanted_id, sizeof wanted_id, id_text, strlen(id_text));
    int length = snprintf(node->history_folder, sizeof node->history_folder, "%s/history",
                          config_text(node->options, OPTION_store_data));
    if (length < 0 || (size_t)length >= sizeof node->history_folder) {
        log_line(LOG_ERROR, "configuration", "store.data is too long a path");
        return NODE_EXIT_CONFIGURATION;
    }
    node->snapshot_child = (struct snapshot_child){
        .disk = node->disk,
        .exchange = &node->core.exchange,
        .engines = &node->core.engines,
        .data = config_text(node->options, OPTION_store_data),
        .segment_bytes = SEGMENT_BYTES,
    };
    struct core_config config = {
        .disk = node->disk,
        .clock = &node->clock,
        .exchange_id = has_id ? wanted_id : NULL,
        .markets = markets->markets,
        .market_count = markets->market_count,
        .durability = durability,
        .segment_bytes = SEGMENT_BYTES,
        .segment_bytes_per_s = SEGMENT_POOL_RATE_DEFAULT,
        .journal_buffer_bytes = JOURNAL_BUFFER_BYTES_DEFAULT,
        .frames_in_flight = clustered
                                ? (uint32_t)config_number(node->options, OPTION_cluster_window)
                                : FRAMES_IN_FLIGHT,
        .frame_bytes_max =
            clustered ? (uint32_t)config_number(node->options, OPTION_cluster_frame_bytes) : 0,
        .group_bytes = JOURNAL_GROUP_BYTES_DEFAULT,
        .history_rows = HISTORY_ROWS_DEFAULT,
        .private_events = config_number(node->options, OPTION_store_private_events),
        .history_folder = node->history_folder,
        .follower_lag_max_ns = config_number(node->options, OPTION_node_follower_lag_max) * 1000000,
        .follower_commands_a_turn = FOLLOWER_COMMANDS_A_TURN,
        .is_staged = config_is(node->options, OPTION_exchange_restart, "staged"),
        .give_up = &node->stop_asked,
        .key_keeper = &node->key_keeper,
        .recovers_on_two_threads = true,
        .history_replay_bytes = HISTORY_REPLAY_BYTES,
        .remakes_history = config_switch(node->options, OPTION_store_remake_history),
        .snapshot_tail_bytes = config_number(node->options, OPTION_store_snapshot_tail),
        .archive_keep_ns = config_number(node->options, OPTION_store_archive_keep) * NS_PER_DAY,
        .restart_target_ns = config_number(node->options, OPTION_store_restart_target) * NS_PER_S,
        .archive_copy = has_copy ? &node->archive_copy : NULL,
        .scrub_rate = config_number(node->options, OPTION_store_scrub_rate),
        .clock_gap_max_ns = config_number(node->options, OPTION_store_clock_gap_max) * NS_PER_S,
        .snapshotter = snapshot_child_host(&node->snapshot_child),
    };
    if (durability == JOURNAL_NONE)
        log_line(LOG_WARN, "durability",
                 "store.durability=none: acknowledged orders are lost with the power");
    if (core_create(&node->core, &config, &node->refusal) != REFUSAL_none)
        return opening_refuse(node);
    snapshot_child_unwant(node->disk); /* of a process that ended with the lock's last holder */
    int code = has_copy ? open_archive_copy(node) : 0;
    if (code == 0)
        code = open_admin_token(node);
    if (code == 0)
        code = open_signing_key(node);
    return code != 0 ? code : configure(node);
}

/* Commands lie where a next start finds the one that ended this process (poison.h). */
static int make_rings(struct node_net *net, void *commands)
{
    const struct {
        struct ring *ring;
        uint32_t slots;
    } rings[] = {
        { &net->answers, MESSAGE_SLOTS },
        { &net->queries, MESSAGE_SLOTS },
        { &net->replies, MESSAGE_SLOTS },
    };
    size_t bytes[CC_COUNT(rings)];
    int failed;

    for (size_t i = 0; i < CC_COUNT(rings); i++) {
        bytes[i] = (ring_bytes(rings[i].slots, MESSAGE_SLOT_BYTES) + 4095) & ~(size_t)4095;
        net->ring_bytes += bytes[i];
    }
    if ((failed = arena_map(REGION_rings, &net->ring_memory, net->ring_bytes, true)) != 0 ||
        (failed = arena_map(REGION_replies, &net->pool_memory, REPLY_POOL_BYTES, false)) != 0)
        return failed;
    uint8_t *at = net->ring_memory;
    ring_init(&net->commands, commands, COMMAND_SLOTS, MESSAGE_SLOT_BYTES);
    for (size_t i = 0; i < CC_COUNT(rings); i++) {
        ring_init(rings[i].ring, at, rings[i].slots, MESSAGE_SLOT_BYTES);
        at += bytes[i];
    }
    reply_pool_init(&net->pool, net->pool_memory);
    return 0;
}

/* The Hosts that are answered. A listening address that is no host is refused by its listener. */
static void list_hosts(const struct config *options, struct host_list *hosts)
{
    const char *named = config_text(options, OPTION_net_hosts);
    bool listed;

    if (named[0] != '\0') {
        listed = host_list_add(hosts, named);
    } else {
        (void)host_list_add_address(hosts, config_text(options, OPTION_net_listen));
        (void)host_list_add_address(hosts, config_text(options, OPTION_admin_listen));
        listed = host_list_add(hosts, "localhost,127.0.0.1,[::1]");
    }
    INVARIANT(listed); /* config.c has checked it */
}

static void list_origins(const struct config *options, struct origin_list *origins)
{
    bool listed = origin_list_read(origins, config_text(options, OPTION_net_cors_origins));
    INVARIANT(listed); /* config.c has checked it */
}

static bool list_proxies(const struct config *options, struct peer_list *proxies)
{
    const char *named = config_text(options, OPTION_net_proxy_from);

    if (peer_list_read(proxies, named))
        return true;
    log_line(LOG_ERROR, "configuration",
             "net.proxy_from = %.200s: not 1 to %d addresses with commas between", named,
             PEER_LIST_MAX);
    return false;
}

static void read_relying_party(const struct config *options, struct relying_party *party)
{
    char error[RELYING_PARTY_ERROR_BYTES];
    bool is_read = config_relying_party(options, party, error);
    INVARIANT(is_read); /* config_load has read it */
}

static uint32_t number_of(const struct node *node, enum option option)
{
    return (uint32_t)config_number(node->options, option);
}

static void copy_keys(const struct node *node, struct net_config *config)
{
    memcpy(config->secret_key, node->core.exchange.secret_key, sizeof config->secret_key);
    memcpy(config->exchange_id, node->core.exchange.exchange_id, sizeof config->exchange_id);
    memcpy(config->signing_public, node->signing.signer.key, sizeof config->signing_public);
    memcpy(config->admin_token, node->admin_token, sizeof config->admin_token);
}

/* Whether strangers may read the times of the stages, which tell how busy the exchange is. */
static bool shows_latency(const struct node *node)
{
    if (config_is(node->options, OPTION_net_latency, "auto"))
        return node->core.options.values[OPTION_exchange_testnet] != 0;
    return config_is(node->options, OPTION_net_latency, "on");
}

static int open_net(struct node *node, uint32_t number, uint64_t since_ns)
{
    struct node_net *net = &node->nets[number];
    struct net_diagnosis diagnosis = { 0 };
    bool audits = !config_is(node->options, OPTION_crypto_shadow, "off");
    struct net_config config = {
        .listen = config_text(node->options, OPTION_net_listen),
        .admin_listen = number == 0 ? config_text(node->options, OPTION_admin_listen) : NULL,
        .port_threads = node->topology.net_count,
        .first = number == 0 ? NULL : node->nets[0].net,
        .tls = node->certificate.server,
        .wake_file = net->duty->park.file,
        .commands = &net->commands,
        .answers = &net->answers,
        .queries = &net->queries,
        .replies = &net->replies,
        .reply_pool = &net->pool,
        .keyring = node->core.keyring,
        .key_tables = node->key_tables,
        .number = number,
        .audits = audits ? &node->key_keeper.verdicts[number] : NULL,
        .audits_rejects = config_is(node->options, OPTION_crypto_shadow, "rejects"),
        .symbols = &node->core.primary_sink.symbols,
        .events = &node->core.events,
        .private_log = &node->core.private_log,
        .books = &node->core.books,
        .orders = &node->core.orders,
        .heads = &node->core.heads.log,
        .connections_of = &node->connections_of,
        .streams_of = &node->streams_of,
        .clock = &node->clock,
        .options = &node->core.options,
        .source = net_source_of(node),
        .hash_key = mix_key_load(node->core.exchange.hash_key),
        .durability = config_text(node->options, OPTION_store_durability),
        .rules_version = ENGINE_RULES_VERSION,
        .epoch = node->core.exchange.epoch,
        .codes_off = node->poison.off,
        .codes_off_count = node->poison.off_count,
        .credit_wait_ms = number_of(node, OPTION_net_credit_wait_ms),
        .output_pool_bytes = config_number(node->options, OPTION_net_output_pool),
        .staleness_ms = config_number(node->options, OPTION_cluster_staleness_ms),
        .debug_payload = config_switch(node->options, OPTION_net_debug_payload),
        .console = config_switch(node->options, OPTION_net_console),
        .latency = shows_latency(node),
        .since_ns = since_ns,
        .connections = number_of(node, OPTION_limits_connections),
        .stream_connections = number_of(node, OPTION_limits_stream_connections),
        .stream_subscriptions = number_of(node, OPTION_limits_stream_subscriptions),
        .stream_backlog = number_of(node, OPTION_limits_stream_backlog),
    };
    rates_configure(node, &config);
    if (!list_proxies(node->options, &config.proxies))
        return NODE_EXIT_CONFIGURATION;
    list_hosts(node->options, &config.hosts);
    list_origins(node->options, &config.origins);
    read_relying_party(node->options, &config.relying_party);
    copy_keys(node, &config);

    int failed = net_create(&net->net, &config, &diagnosis);
    explicit_bzero(config.secret_key, sizeof config.secret_key);
    explicit_bzero(config.admin_token, sizeof config.admin_token);
    if (failed == 0)
        return 0;
    log_line(LOG_ERROR, diagnosis.kernel_lacks ? "kernel" : "net", "%s", diagnosis.text);
    if (diagnosis.kernel_lacks)
        return NODE_EXIT_KERNEL;
    return diagnosis.bad_address ? NODE_EXIT_CONFIGURATION : NODE_EXIT_FAILED;
}

static void hold(void *bytes, size_t count, int *failed)
{
    int error = secret_hold(bytes, count);

    if (error != 0)
        *failed = error;
}

/* Locks the memory of keys and secrets. Where the system does not, perpd goes on and says so. */
static void hold_secrets(struct node *node)
{
    int failed = 0;

    hold(&node->core.exchange, sizeof node->core.exchange, &failed);
    hold(node->admin_token, sizeof node->admin_token, &failed);
    hold(&node->signing.signer, sizeof node->signing.signer, &failed);
    for (uint32_t i = 0; i < node->topology.net_count; i++) {
        int error = net_hold_secrets(node->nets[i].net);
        failed = error != 0 ? error : failed;
    }
    if (failed != 0)
        log_line(LOG_WARN, "secrets",
                 "the memory of the secret keys is not locked and may reach a swap device: %s; "
                 "perpd may lock too little (ulimit -l, LimitMEMLOCK=): allow it 1 MiB",
                 strerror(-failed));
}

/* Plans the threads from the options and the CPUs of this machine. */
static int plan(struct node *node)
{
    struct topology *topology = &node->topology;
    cpu_set_t allowed;
    int failed = 0;

    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
        log_line(LOG_ERROR, "start", "sched_getaffinity: %s", strerror(errno));
        return NODE_EXIT_FAILED;
    }
    if (!topology_make(topology, node->options, &allowed)) {
        log_line(LOG_ERROR, "configuration", "%s", topology->error);
        return NODE_EXIT_CONFIGURATION;
    }
    for (uint32_t i = 0; i < topology->thread_count && failed == 0; i++) {
        const struct topology_thread *thread = &topology->threads[i];
        failed = duty_init(&node->duties[i], node, thread);
        if ((thread->roles & ROLE_NET) != 0)
            node->nets[thread->net].duty = &node->duties[i];
    }
    node->matcher = &node->duties[topology_thread_of(topology, ROLE_MATCHER)];
    node->journal = &node->duties[topology_thread_of(topology, ROLE_JOURNAL)];
    node->follower = &node->duties[topology_thread_of(topology, ROLE_FOLLOWER)];
    atomic_init(&node->nets_left, topology->net_count);
    if (failed == 0)
        return 0;
    log_line(LOG_ERROR, "start", "%s", strerror(-failed));
    return NODE_EXIT_FAILED;
}

static int open_nets(struct node *node)
{
    const struct net *all[TOPOLOGY_NETS_MAX];
    const uint64_t since_ns = clock_now_ns(&node->clock);
    uint32_t count = node->topology.net_count;

    struct mix_key key = mix_key_load(node->core.exchange.hash_key);
    int no_claims = address_claims_init(&node->connections_of, count * NET_CONNECTIONS_MAX, key);
    if (no_claims == 0)
        no_claims = address_claims_init(&node->streams_of, count * NET_CONNECTIONS_MAX, key);
    for (uint32_t i = 0; i < count; i++) {
        int failed = no_claims != 0
                         ? no_claims
                         : make_rings(&node->nets[i], poison_page_ring(&node->poison.page, i));
        if (failed != 0) {
            log_line(LOG_ERROR, "start", "memory: %s", strerror(-failed));
            return NODE_EXIT_FAILED;
        }
        int code = open_net(node, i, since_ns);
        if (code != 0)
            return code;
        all[i] = node->nets[i].net;
    }
    for (uint32_t i = 0; i < count; i++)
        net_show_others(node->nets[i].net, all, count);
    return 0;
}

/* An exchange whose configuration names the console does not start without it. */
static int check_console(const struct config *options)
{
    if (net_has_console() || !config_switch(options, OPTION_net_console) ||
        options->values[OPTION_net_console].source == CONFIG_DEFAULT)
        return 0;
    log_line(LOG_ERROR, "configuration",
             "net.console = on: this build has no console: build perpd with -DPERPD_CONSOLE=dist, "
             "or leave net.console out");
    return NODE_EXIT_CONFIGURATION;
}

int start_prepare(struct node *node, struct market_file *markets)
{
    uint8_t page_id[HASH_BYTES];
    int code = rates_check(node->options);
    if (code == 0)
        code = check_console(node->options);
    if (code == 0)
        code = plan(node);
    if (code != 0)
        return code;
    newcomer_room_check(node->options);
    int failed = clock_init(&node->clock);
    if (failed == 0)
        failed = secp256k1_init();
    if (failed == 0)
        failed = p256_init();
    if (failed == 0)
        failed = second_path_init();
    if (failed != 0) {
        log_line(LOG_ERROR, "start", "%s", strerror(-failed));
        return NODE_EXIT_FAILED;
    }
    if (!market_file_load(markets, config_text(node->options, OPTION_exchange_markets))) {
        log_line(LOG_ERROR, "configuration", "%s", markets->error);
        return NODE_EXIT_CONFIGURATION;
    }
    code = certificate_open(&node->certificate, node->options, &node->clock);
    if (code == 0)
        code = verifier_choose(node->options);
    if (code == 0)
        code = open_disk(node);
    if (code == 0)
        code = open_core(node, markets);
    if (code == 0)
        code = cluster_open(node);
    if (code == 0)
        code = open_run_folder(node);
    if (code == 0)
        code = poison_open(&node->poison, node->disk, node->run_folder.path,
                           node->core.exchange.exchange_id, cluster_page_id(node, page_id),
                           clock_now_ns(&node->clock), node->topology.net_count, COMMAND_SLOTS);
    if (code != 0)
        return code;
    failed = core_make_keyring(&node->core);
    if (failed == 0)
        failed = verifier_make(node);
    if (failed == 0)
        failed = rates_make(node);
    if (failed != 0) {
        log_line(LOG_ERROR, "start", "memory: %s", strerror(-failed));
        return NODE_EXIT_FAILED;
    }
    code = open_nets(node);
    if (code != 0)
        return code;
    hold_secrets(node);
    return cluster_begin(node);
}

void start_undo(struct node *node)
{
    for (uint32_t i = 0; i < node->topology.net_count; i++)
        if (node->nets[i].net != NULL)
            net_destroy(node->nets[i].net);
    for (uint32_t i = 0; i < node->topology.net_count; i++)
        tls_server_free(atomic_load_explicit(&node->nets[i].certificate.next,
                                             memory_order_acquire)); /* the threads have ended */
    certificate_close(&node->certificate);
    verifier_free(node);
    rates_free(node);
    poison_close(&node->poison);
    run_folder_close(&node->run_folder);
    address_claims_free(&node->connections_of);
    address_claims_free(&node->streams_of);
    cluster_close(node);
    core_destroy(&node->core);
    explicit_bzero(&node->core.exchange, sizeof node->core.exchange);
    explicit_bzero(&node->signing, sizeof node->signing);
    if (node->vault_disk != NULL)
        disk_real_close(node->vault_disk);
    archive_close(&node->archive_copy.list);
    if (node->archive_copy.disk != NULL)
        disk_real_close(node->archive_copy.disk);
    if (node->disk != NULL)
        disk_real_close(node->disk);
    for (uint32_t i = 0; i < node->topology.net_count; i++) {
        arena_unmap(node->nets[i].ring_memory, node->nets[i].ring_bytes);
        arena_unmap(node->nets[i].pool_memory, REPLY_POOL_BYTES);
    }
    for (uint32_t i = 0; i < node->topology.thread_count; i++)
        duty_free(&node->duties[i]);
}
