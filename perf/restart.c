/* restart.c - how long a start takes with many open orders and a long tail of the journal.
 *
 * `perf-restart [--orders N] [--tail-mib M] [--batches N] [--perpd PATH] [--keep]`
 *
 * It fills a fresh data directory with N (1,000,000) resting orders through the public interface
 * and stops cleanly, which writes a snapshot. It starts again, writes M (256) MiB of records that
 * leave no resting order, kills perpd with SIGKILL, and starts it a last time. It prints one JSON
 * object: the time of the clean stop, of the start from the snapshot alone and of the start from
 * snapshot and tail, each until the ready line; memory of the process afterwards; and how long the
 * matcher's turns last while PAUSE_ORDERS more orders come, without a snapshot and in a further
 * life in which the snapshotter's child folds the tail at the same time. The tail is written with
 * durability none, so the start reads it from the disk's cache, as after a crash of the process
 * alone. With --batches the tail is N orders in batches of 64 (1,800,000 are the goal's), and
 * nothing is said of the matcher's turns. With --keep the last life is killed too, and its data
 * directory stays for inspection. */
#include <getopt.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/version.h"
#include "perp/bench/rig.h"

enum {
    SENDERS = 2,
    ACCOUNTS = 24,
    WINDOW = 48,         /* requests of a connection in flight */
    PRICE_RAW = 1000000, /* 100,000.0 USDC */
    PRICES = 100000,     /* ticks that the orders rest on */
    ASSET = 1,
    RECORD_BYTES = 192, /* of a limit order (journal.md, Record) */
    TEXT_BYTES = 1 << 20,
    PAUSE_ORDERS = 100000,
    BATCH_ITEMS = 64,
    ITEM_PRICE = 8, /* of an item (wire.md W3, code 8) */
    ITEM_QUANTITY = 16,
    ITEM_ID = 32,
};

/* clang-format off */
/* Options of every life: few accounts send as fast as they can, and nothing slows them. */
#define UNLIMITED \
    "--exchange.oracle_max_age_ms=0", "--limits.open_orders=100000", \
    "--limits.account_open_orders=1000000", "--limits.rate_limits=off", \
    "--limits.funding_small=0", "--limits.funding_full=0", "--store.durability=none", \
    "--store.restart_target=3600"
/* clang-format on */

struct sender {
    pthread_t thread;
    struct rig *rig;
    struct rig_trader *traders;
    uint64_t count, accepted;
    uint64_t random;
    bool rests;
    bool in_batches; /* `count` are requests, of BATCH_ITEMS orders each */
};

static uint64_t next_random(struct sender *sender)
{
    sender->random = sender->random * 6364136223846793005u + 1442695040888963407u;
    return sender->random >> 33;
}

static void fail(const char *what)
{
    fprintf(stderr, "perf-restart: %s\n", what);
    exit(1);
}

/* Orders that leave nothing behind: IOC, below every price that somebody asks. */
static void draft_batch(struct sender *sender, const struct rig_trader *trader, struct draft *draft)
{
    struct draft_portfolio portfolio = { .account_id = trader->account_id };
    uint64_t now_ms = rig_now_ns() / 1000000;
    struct uuid id = rig_id(now_ms);

    draft_begin_batch(draft, &id, BATCH_ITEMS);
    draft_set_portfolio(draft, "portfolio_id", &portfolio);
    for (uint32_t i = 0; i < BATCH_ITEMS; i++) {
        uint8_t *item = draft_item(draft, i);
        struct uuid order_id = rig_id(now_ms);
        cc_store32(item + 4, ASSET);
        cc_store64(item + ITEM_PRICE, PRICE_RAW - 1 - next_random(sender) % PRICES);
        cc_store64(item + ITEM_QUANTITY, 100);
        memcpy(item + ITEM_ID, order_id.bytes, sizeof order_id.bytes);
    }
}

static void draft_order(struct sender *sender, const struct rig_trader *trader, struct draft *draft)
{
    struct uuid id = rig_id(rig_now_ns() / 1000000);
    struct rig_order order = {
        .price_raw = PRICE_RAW - 1 - next_random(sender) % PRICES,
        .quantity_raw = 100,
        .expiry = sender->rests ? UINT64_MAX : 0,
        .asset = ASSET,
    };

    rig_order(trader, &order, &id, draft);
}

static void queue_order(struct sender *sender, struct client *client, uint64_t number)
{
    static _Thread_local uint8_t frame[REQUEST_FRAME_MAX];
    struct rig_trader *trader = &sender->traders[number % ACCOUNTS];
    struct draft draft;

    if (sender->in_batches)
        draft_batch(sender, trader, &draft);
    else
        draft_order(sender, trader, &draft);
    if (!draft_sign(&draft, &trader->session, NULL))
        fail("an order cannot be signed");
    struct client_request request = {
        .method = "POST",
        .target = draft.request->path,
        .content_type = "application/octet-stream",
        .body = frame,
        .body_count = draft_frame(&draft, frame),
    };
    if (client_queue(client, &request) != 0)
        fail("memory");
}

static void *send_orders(void *context)
{
    struct sender *sender = context;
    struct client client;
    struct client_answer answer;
    struct outcome outcome;
    uint64_t sent = 0, answered = 0;

    rig_connect(sender->rig, &client, false);
    while (answered < sender->count) {
        while (sent < sender->count && sent - answered < WINDOW)
            queue_order(sender, &client, sent++);
        if (client_connect(&client) != 0 || client_read(&client, &answer) != 0)
            fail(client.error);
        outcome_read(&outcome, &answer);
        sender->accepted += outcome.status == STATUS_request_completed;
        answered++;
    }
    client_close(&client);
    return NULL;
}

static uint64_t send_requests(struct rig *rig, struct rig_trader *traders, uint64_t count,
                              bool rests, bool in_batches)
{
    static struct sender senders[SENDERS];
    uint64_t accepted = 0;

    for (uint32_t i = 0; i < SENDERS; i++) {
        senders[i] = (struct sender){ .rig = rig,
                                      .traders = traders,
                                      .count = count / SENDERS,
                                      .random = i + 1,
                                      .rests = rests,
                                      .in_batches = in_batches };
        if (pthread_create(&senders[i].thread, NULL, send_orders, &senders[i]) != 0)
            fail("a thread");
    }
    for (uint32_t i = 0; i < SENDERS; i++) {
        (void)pthread_join(senders[i].thread, NULL);
        accepted += senders[i].accepted;
    }
    return accepted;
}

static uint64_t send_all(struct rig *rig, struct rig_trader *traders, uint64_t count, bool rests)
{
    return send_requests(rig, traders, count, rests, false);
}

/* Starts perpd and returns the seconds until the ready line. */
static double start(struct rig *rig, const char *const *options)
{
    uint64_t begin_ns = rig_now_ns();
    if (!rig_start(rig, options))
        fail("perpd did not start; see its log");
    return (double)(rig_now_ns() - begin_ns) / 1e9;
}

static double metric(const char *text, const char *name)
{
    char line[128];
    snprintf(line, sizeof line, "\n%s ", name);
    const char *at = strstr(text, line);
    return at == NULL ? 0 : strtod(at + strlen(line), NULL);
}

static double memory_mib(const struct rig *rig)
{
    char path[64], line[256];
    double kib = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)rig->pid);
    FILE *file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "VmRSS:", 6) == 0)
            kib = strtod(line + 6, NULL);
    if (file != NULL)
        fclose(file);
    return kib / 1024;
}

static void open_traders(struct rig *rig, struct rig_trader traders[ACCOUNTS])
{
    struct client client;

    rig_connect(rig, &client, false);
    rig_oracle(rig, &client, ASSET, PRICE_RAW);
    for (uint32_t i = 0; i < ACCOUNTS; i++) {
        rig_open_account(rig, &client, &traders[i]);
        rig_deposit(rig, &client, traders[i].account_id, 1000000000);
    }
    client_close(&client);
}

/* Sends orders and prints the figures of /metrics for the matcher's turns of this life. */
static void print_turns(struct rig *rig, struct rig_trader *traders, const char *name)
{
    static const char *const quantiles[] = { "0.5", "0.99", "0.999", "0.9999", "1" };
    static char metrics[TEXT_BYTES];
    char label[64];
    struct client client;

    (void)send_all(rig, traders, PAUSE_ORDERS, false);
    rig_connect(rig, &client, true);
    (void)rig_get(&client, "/metrics", NULL, metrics, sizeof metrics);
    client_close(&client);
    printf("\"%s\":{", name);
    for (size_t i = 0; i < CC_COUNT(quantiles); i++) {
        snprintf(label, sizeof label, "perpd_matcher_turn_ns{quantile=\"%s\"}", quantiles[i]);
        printf("\"p%s\":%.0f,", quantiles[i], metric(metrics, label));
    }
    printf("\"turns\":%.0f,\"snapshots\":%.0f,\"snapshot_running\":%.0f},",
           metric(metrics, "perpd_matcher_turn_ns_count"), metric(metrics, "perpd_snapshots_total"),
           metric(metrics, "perpd_snapshot_running"));
}

static uint32_t number_of(const char *option, const char *text, uint32_t most)
{
    char *end;
    unsigned long value = strtoul(text, &end, 10);

    if (*text >= '0' && *text <= '9' && *end == '\0' && value >= 1 && value <= most)
        return (uint32_t)value;
    fprintf(stderr, "perf-restart: --%s '%.60s' is no whole number of 1 to %u\n", option, text,
            most);
    exit(2);
}

struct settings {
    const char *perpd;
    uint64_t orders, tail_mib;
    uint64_t batched; /* orders of the tail in batches; 0: single ones */
    bool keep;
};

/* -1 to go on, or the exit code. */
static int read_settings(struct settings *settings, int argc, char **argv)
{
    static const struct option names[] = { { "orders", required_argument, NULL, 'o' },
                                           { "tail-mib", required_argument, NULL, 't' },
                                           { "batches", required_argument, NULL, 'b' },
                                           { "perpd", required_argument, NULL, 'p' },
                                           { "keep", no_argument, NULL, 'k' },
                                           { "version", no_argument, NULL, 'v' },
                                           { NULL, 0, NULL, 0 } };
    for (int name; (name = getopt_long(argc, argv, "", names, NULL)) != -1;) {
        if (name == 'o')
            settings->orders = number_of("orders", optarg, UINT32_MAX);
        else if (name == 't')
            settings->tail_mib = number_of("tail-mib", optarg, 1 << 20);
        else if (name == 'b')
            settings->batched = number_of("batches", optarg, UINT32_MAX);
        else if (name == 'p')
            settings->perpd = optarg;
        else if (name == 'k')
            settings->keep = true;
        else if (name == 'v')
            return printf("perf-restart %s\n", version_text) < 0;
        else
            return 2;
    }
    if (optind < argc) {
        fprintf(stderr, "perf-restart: '%.60s' is one word too many\n", argv[optind]);
        return 2;
    }
    return -1;
}

/* Writes what lies behind the snapshot; the number of orders that were accepted. */
static uint64_t write_tail(struct rig *rig, struct rig_trader *traders,
                           const struct settings *settings)
{
    if (settings->batched == 0)
        return send_all(rig, traders, (settings->tail_mib << 20) / RECORD_BYTES, false);
    uint64_t batches = settings->batched / BATCH_ITEMS;
    return BATCH_ITEMS * send_requests(rig, traders, batches, false, true);
}

int main(int argc, char **argv)
{
    static const char *const options[] = { UNLIMITED, "--store.snapshot_tail=16G", NULL };
    static const char *const snapshots[] = { UNLIMITED, "--store.snapshot_tail=64M", NULL };
    static struct rig_trader traders[ACCOUNTS];
    static char metrics[TEXT_BYTES];
    struct settings settings = { .perpd = "build/release/perpd",
                                 .orders = 1000000,
                                 .tail_mib = 256 };
    struct client client;
    struct rig rig;

    int code = read_settings(&settings, argc, argv);
    if (code >= 0)
        return code;
    signal(SIGPIPE, SIG_IGN);
    rig_init(&rig, settings.perpd, ".");
    (void)start(&rig, options);
    open_traders(&rig, traders);
    uint64_t open = send_all(&rig, traders, settings.orders, true);

    uint64_t stop_ns = rig_now_ns();
    if (rig_end(&rig, SIGTERM) != 0)
        fail("the clean stop failed; see its log");
    double stop_s = (double)(rig_now_ns() - stop_ns) / 1e9;
    double snapshot_s = start(&rig, options);
    uint64_t tail = write_tail(&rig, traders, &settings);
    rig_connect(&rig, &client, true);
    (void)rig_get(&client, "/metrics", NULL, metrics, sizeof metrics);
    client_close(&client);
    (void)rig_end(&rig, SIGKILL);
    double tail_s = start(&rig, options);
    double resident_mib = memory_mib(&rig);
    printf("{\"run\":\"restart\",");
    if (settings.batched == 0) {
        printf("\"matcher_turn_ns\":{");
        print_turns(&rig, traders, "alone");
        (void)rig_end(&rig, SIGKILL);
        (void)start(&rig, snapshots);
        print_turns(&rig, traders, "beside_a_snapshot");
        printf("\"orders\":%d},", PAUSE_ORDERS);
    }
    printf("\"open_orders\":%lu,\"clean_stop_s\":%.2f,"
           "\"start_from_snapshot_s\":%.2f,\"tail_orders\":%lu,\"tail_record_mib\":%.0f,",
           open, stop_s, snapshot_s, tail,
           metric(metrics, "perpd_journal_record_bytes_total") / 1048576);
    printf("\"tail_written_mib\":%.0f,\"start_from_snapshot_and_tail_s\":%.2f,"
           "\"resident_mib\":%.0f,\"durability\":\"none\",\"cores\":%ld}\n",
           metric(metrics, "perpd_journal_written_bytes_total") / 1048576, tail_s, resident_mib,
           sysconf(_SC_NPROCESSORS_ONLN));
    int status = rig_end(&rig, settings.keep ? SIGKILL : SIGTERM);
    if (settings.keep)
        printf("%s/data\n", rig.folder);
    else
        rig_remove(&rig);
    return (settings.keep || status == 0) && open == settings.orders ? 0 : 1;
}
