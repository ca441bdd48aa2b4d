/* orders.c - whole-system run: signed limit orders (binary frame, keep-alive) against a real perpd.
 *
 * `perf-orders [--connections N] [--seconds S] [--rate R] [--durability local|none] [--accounts A]
 *              [--topology auto|shared|dedicated] [--net-threads N] [--spin auto|on|off] [--core C]
 *              [--verify auto|lanes|comb|library] [--perpd PATH] [--beside COMMAND]`
 *
 * It starts perpd on a fresh data directory next to the binary, opens the accounts and signs every
 * order before the clock starts. Then it sends them as load.h says: closed loop (one request in
 * flight a connection), or with --rate open loop, where `latency_us` counts from when an order was
 * due and holds every due order, `service_us` from its actual send. A run that had answers to less
 * than 99 % of its due orders is not valid: the program says so and ends with 1.
 * It prints one JSON object: orders due (null in a closed loop), sent, answered, unanswered and
 * unsent; accepted orders and their rate, HTTP problems, latency percentiles, server CPU per
 * accepted order from the process's own accounting and by thread (`rest`: kernel threads that write
 * for it), journal bytes, durability mode, topology, the path that verified the signatures and how
 * many of those had no table, number of CPUs.
 *
 * `perf-orders [...] -- COMMAND...` signs the orders to a file of frames of FRAME_BYTES each, and
 * COMMAND sends them: PERF_FRAMES is the file, the last word of COMMAND the URL.
 *   perf-orders --seconds 5 -- wrk -t1 -c64 -d5s -s perf/orders.lua
 *
 * --beside COMMAND runs in a shell from BESIDE_S before the clock starts until it ends, with the
 * exchange's address in PERF_URL: peers that should not slow the orders down (perf/hostile.py).
 *
 * The client shares the machine with the server: on two cores the rate is that of both together. */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/version.h"
#include "load.h"
#include "perp/request/instant.h"
#include "system/rig.h"

enum {
    CONNECTIONS_MAX = 1024,
    ACCOUNTS_MAX = 64,
    SECONDS_MAX = 25, /* ids that are signed beforehand live 30 s */
    RATE_MAX = 10000000,
    PRICE_RAW = 1000000, /* 100,000.0 USDC */
    ASSET = 1,
    FRAME_BYTES = 168, /* payload 72, key 32, signature 64 */
    HEAD_BYTES = 256,
    SIGNED_MAX = 600000,
    TEXT_BYTES = 1 << 20,
    THREADS_MAX = 40,
    OPTIONS_MAX = 16,
    OPTION_BYTES = 64,
    BESIDE_S = 3,
    DRAIN_S = 1,
};

struct settings {
    uint32_t connections, seconds, accounts;
    double rate; /* orders/s, 0: closed loop */
    const char *durability;
    const char *topology, *net_threads, *spin, *core,
        *verify; /* options of perpd; "": its default */
    const char *perpd;
    const char *beside; /* NULL: none */
    char **command;     /* NULL: this program sends */
};

/* CPU time of perpd's threads, as /metrics shows it. */
struct cpu {
    struct cpu_thread {
        char name[32];
        double seconds;
    } threads[THREADS_MAX];
    uint32_t count;
    uint64_t process_us; /* of all threads and of the kernel's work for them */
};

_Static_assert(HEAD_BYTES + FRAME_BYTES <= LOAD_ORDER_BYTES, "an order fits");

struct run {
    struct settings settings;
    struct rig rig;
    struct rig_trader traders[ACCOUNTS_MAX];
    struct client *clients; /* of the load's connections */
    struct load load;
    struct load_order *orders;
    uint64_t accepted;
    uint64_t random;
};

static uint64_t next_random(struct run *run)
{
    run->random = run->random * 6364136223846793005u + 1442695040888963407u;
    return run->random >> 33;
}

/* Signs an order: 80 % rest within 20 ticks of the mid, 20 % cross and cancel the rest. */
static void sign_order(struct run *run, struct load_order *out, uint64_t unix_ms)
{
    static uint8_t frame[REQUEST_FRAME_MAX];
    struct draft draft;
    bool buys = (next_random(run) & 1) != 0;
    bool crosses = next_random(run) % 5 == 0;
    uint64_t away = 1 + next_random(run) % 20;
    int64_t quantity = (int64_t)(20 + next_random(run) % 200);
    struct rig_order order = {
        .price_raw = buys == crosses ? PRICE_RAW + away : PRICE_RAW - away,
        .quantity_raw = buys ? quantity : -quantity,
        .expiry = crosses ? 0 : UINT64_MAX,
        .asset = ASSET,
    };
    struct uuid id = rig_id(unix_ms);
    const struct rig_trader *trader = &run->traders[next_random(run) % run->settings.accounts];

    rig_order(trader, &order, &id, &draft);
    if (!draft_sign(&draft, &trader->session, NULL))
        exit(1);
    size_t frame_bytes = draft_frame(&draft, frame);
    int head = snprintf((char *)out->text, HEAD_BYTES,
                        "POST %s HTTP/1.1\r\nHost: localhost\r\n"
                        "Content-Type: application/octet-stream\r\nContent-Length: %zu\r\n\r\n",
                        draft.request->path, frame_bytes);
    memcpy(out->text + head, frame, frame_bytes);
    out->bytes = (uint16_t)((size_t)head + frame_bytes);
}

static void sign_all(struct run *run, double orders_per_s)
{
    double wanted = orders_per_s * run->settings.seconds;
    run->load.order_count = wanted < SIGNED_MAX ? (uint32_t)wanted : SIGNED_MAX;
    run->orders = calloc(run->load.order_count, sizeof *run->orders);
    if (run->orders == NULL)
        exit(1);
    run->load.orders = run->orders;
    uint64_t begin_ms = rig_now_ns() / 1000000;
    for (uint32_t i = 0; i < run->load.order_count; i++)
        sign_order(run, &run->orders[i], begin_ms);
}

static uint64_t server_cpu_us(const struct run *run)
{
    char path[64], text[1024];
    unsigned long user = 0, system = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)run->rig.pid);
    FILE *in = fopen(path, "r");
    if (in == NULL)
        return 0;
    size_t got = fread(text, 1, sizeof text - 1, in);
    fclose(in);
    text[got] = '\0';
    const char *at = strrchr(text, ')');
    if (at == NULL ||
        sscanf(at + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system) != 2)
        return 0;
    return (user + system) * 1000000u / (uint64_t)sysconf(_SC_CLK_TCK);
}

static void read_cpu(struct run *run, struct cpu *cpu)
{
    static char page[TEXT_BYTES];
    struct client admin;

    *cpu = (struct cpu){ .process_us = server_cpu_us(run) };
    rig_connect(&run->rig, &admin, true);
    (void)rig_get(&admin, "/metrics", NULL, page, sizeof page);
    client_close(&admin);
    for (const char *at = page; (at = strstr(at, "\nperpd_thread_cpu_seconds{")) != NULL; at++) {
        struct cpu_thread *thread = &cpu->threads[cpu->count];
        if (cpu->count < THREADS_MAX &&
            sscanf(at, "\nperpd_thread_cpu_seconds{thread=\"%31[^\"]\"} %lf", thread->name,
                   &thread->seconds) == 2)
            cpu->count++;
    }
}

static double per_order_us(const struct run *run, double us)
{
    return run->accepted != 0 ? us / (double)run->accepted : 0.0;
}

/* Prints the CPU time of each thread since `before`, per accepted order. */
static void print_cpu(const struct run *run, const struct cpu *before, const struct cpu *after)
{
    double rest_us = (double)(after->process_us - before->process_us);

    printf("\"server_cpu_us_per_accepted\":%.2f,\"cpu_us_by_thread\":{",
           per_order_us(run, rest_us));
    for (uint32_t i = 0; i < after->count && i < before->count; i++) {
        double us = (after->threads[i].seconds - before->threads[i].seconds) * 1e6;
        printf("\"%s\":%.2f,", after->threads[i].name, per_order_us(run, us));
        rest_us -= us;
    }
    printf("\"rest\":%.2f},", per_order_us(run, rest_us));
}

/* Sends the orders; ends perpd and the program when a connection fails. */
static double send_orders(struct run *run)
{
    run->load.connection_count = run->settings.connections;
    run->load.rate_per_s = run->settings.rate;
    run->load.run_ns = run->settings.seconds * UINT64_C(1000000000);
    run->load.drain_ns = DRAIN_S * UINT64_C(1000000000);
    if (!load_run(&run->load)) {
        (void)rig_end(&run->rig, SIGTERM);
        exit(1);
    }
    return (double)run->load.took_ns / 1e9;
}

static pid_t begin_beside(const struct run *run)
{
    if (run->settings.beside == NULL)
        return 0;
    pid_t pid = fork();
    if (pid == 0) {
        setpgid(0, 0); /* the shell and its children end together */
        setenv("PERF_URL", run->rig.url, 1);
        execl("/bin/sh", "sh", "-c", run->settings.beside, (char *)NULL);
        _exit(127);
    }
    sleep(BESIDE_S);
    if (pid < 0 || waitpid(pid, NULL, WNOHANG) != 0) {
        fprintf(stderr, "perf-orders: what should run beside ended at once\n");
        exit(1);
    }
    return pid;
}

/* Lets another load generator send the frames. Returns the time from its start to its end. */
static double let_send(struct run *run)
{
    char path[RIG_PATH_BYTES + 32], url[RIG_URL_BYTES + 64], *argv[32];
    size_t count = 0;
    int status;

    snprintf(path, sizeof path, "%s/frames", run->rig.folder);
    FILE *out = fopen(path, "wb");
    for (uint32_t i = 0; out != NULL && i < run->load.order_count; i++) {
        const struct load_order *order = &run->load.orders[i];
        fwrite(order->text + order->bytes - FRAME_BYTES, 1, FRAME_BYTES, out);
    }
    if (out == NULL || fclose(out) != 0) {
        perror(path);
        exit(1);
    }
    for (; run->settings.command[count] != NULL && count < CC_COUNT(argv) - 2; count++)
        argv[count] = run->settings.command[count];
    snprintf(url, sizeof url, "%s/api/v1/trading/order/place/limit", run->rig.url);
    argv[count++] = url;
    argv[count] = NULL;
    uint64_t begin_ns = instant_monotonic_ns();
    pid_t pid = fork();
    if (pid == 0) {
        setenv("PERF_FRAMES", path, 1);
        execvp(argv[0], argv);
        _exit(127);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0) {
        fprintf(stderr, "perf-orders: %s failed\n", argv[0]);
        exit(1);
    }
    return (double)(instant_monotonic_ns() - begin_ns) / 1e9;
}

static double metric(const char *text, const char *name)
{
    char line[128];
    snprintf(line, sizeof line, "\n%s ", name);
    const char *at = strstr(text, line);
    return at == NULL ? 0 : strtod(at + strlen(line), NULL);
}

/* Returns the topology that /metrics reports. */
static const char *topology_of(const char *metrics)
{
    return strstr(metrics, "topology=\"dedicated\"") != NULL ? "dedicated" : "shared";
}

/* Returns the path of verification that /metrics reports. */
static const char *verifier_of(const char *metrics)
{
    static const char *const paths[] = { "lanes", "comb", "library" };
    char line[64];

    for (size_t i = 0; i < CC_COUNT(paths); i++) {
        snprintf(line, sizeof line, "perpd_signature_path{path=\"%s\"}", paths[i]);
        if (metric(metrics, line) != 0)
            return paths[i];
    }
    return "unknown";
}

/* Prints what became of the orders and their latencies; null where another program sent them. */
static void print_load(const struct run *run)
{
    const struct load *load = &run->load;
    const struct histogram *parts[] = { &load->latency_ns, &load->service_ns };
    static const char *const names[] = { "latency_us", "service_us" };

    if (run->settings.command != NULL) {
        printf("\"due\":null,\"sent\":null,\"answered\":null,\"unanswered\":null,"
               "\"unsent\":null,\"valid\":null,\"http_problems\":null,\"latency_us\":null,"
               "\"service_us\":null,");
        return;
    }
    if (load->rate_per_s > 0)
        printf("\"due\":%u,\"unsent\":%u,", load->order_count, load->order_count - load->sent);
    else
        printf("\"due\":null,\"unsent\":null,");
    printf("\"sent\":%u,\"answered\":%u,\"unanswered\":%u,\"valid\":%s,\"http_problems\":%u,",
           load->sent, load->answered, load->sent - load->answered,
           load_is_valid(load) ? "true" : "false", load->problems);
    for (size_t i = 0; i < CC_COUNT(parts); i++)
        printf("\"%s\":{\"p50\":%.0f,\"p90\":%.0f,\"p99\":%.0f,\"p99.9\":%.0f,\"max\":%.0f},",
               names[i], (double)histogram_quantile(parts[i], 500000) / 1e3,
               (double)histogram_quantile(parts[i], 900000) / 1e3,
               (double)histogram_quantile(parts[i], 990000) / 1e3,
               (double)histogram_quantile(parts[i], 999000) / 1e3,
               (double)histogram_max(parts[i]) / 1e3);
}

static void report(struct run *run, double seconds, const struct cpu *before)
{
    struct cpu after;
    static char metrics[TEXT_BYTES];
    struct client admin;

    rig_connect(&run->rig, &admin, true);
    (void)rig_get(&admin, "/metrics", NULL, metrics, sizeof metrics);
    client_close(&admin);
    run->accepted =
        run->settings.command == NULL
            ? run->load.accepted
            : (uint64_t)metric(metrics, "perpd_answers_total{status=\"request_completed\"}");
    read_cpu(run, &after);
    printf("{\"run\":\"signed limit orders, binary frame, keep-alive\",\"durability\":\"%s\","
           "\"topology\":\"%s\",\"loop\":\"%s\",\"rate_wanted\":%.0f,\"connections\":%u,"
           "\"accounts\":%u,\"seconds\":%.2f,\"accepted\":%lu,\"accepted_per_s\":%.0f,",
           run->settings.durability, topology_of(metrics),
           run->settings.rate > 0 ? "open" : "closed", run->settings.rate,
           run->settings.connections, run->settings.accounts, seconds, run->accepted,
           (double)run->accepted / seconds);
    print_load(run);
    print_cpu(run, before, &after);
    printf("\"journal_record_bytes\":%.0f,\"journal_written_bytes\":%.0f,\"verifier\":"
           "\"%s\",\"without_table\":%.0f,\"cores\":%ld}\n",
           metric(metrics, "perpd_journal_record_bytes_total"),
           metric(metrics, "perpd_journal_written_bytes_total"), verifier_of(metrics),
           metric(metrics, "perpd_net_tables_missing_total"), sysconf(_SC_NPROCESSORS_ONLN));
}

static const struct option option_names[] = {
    { "connections", required_argument, NULL, 'c' }, { "seconds", required_argument, NULL, 's' },
    { "rate", required_argument, NULL, 'r' },        { "durability", required_argument, NULL, 'd' },
    { "accounts", required_argument, NULL, 'a' },    { "topology", required_argument, NULL, 't' },
    { "net-threads", required_argument, NULL, 'n' }, { "spin", required_argument, NULL, 'S' },
    { "verify", required_argument, NULL, 'V' },      { "core", required_argument, NULL, 'C' },
    { "perpd", required_argument, NULL, 'p' },       { "beside", required_argument, NULL, 'b' },
    { "version", no_argument, NULL, 'v' },           { NULL, 0, NULL, 0 },
};

/* The value of an option: a whole number of 1 to `most`; else the program ends with 2. */
static uint32_t number_of(const char *option, const char *text, uint32_t most)
{
    char *end;
    unsigned long value = strtoul(text, &end, 10);

    if (*text >= '0' && *text <= '9' && *end == '\0' && value >= 1 && value <= most)
        return (uint32_t)value;
    fprintf(stderr, "perf-orders: --%s '%.60s' is no whole number of 1 to %u\n", option, text,
            most);
    exit(2);
}

static void read_settings(struct settings *settings, int argc, char **argv)
{
    *settings = (struct settings){
        .connections = 64,
        .seconds = 5,
        .accounts = 16,
        .durability = "local",
        .topology = "",
        .net_threads = "",
        .spin = "",
        .verify = "",
        .core = "",
        .perpd = "build/release/perpd",
    };
    for (int name; (name = getopt_long(argc, argv, "+", option_names, NULL)) != -1;) {
        switch (name) {
        case 'c':
            settings->connections = number_of("connections", optarg, CONNECTIONS_MAX);
            break;
        case 's':
            settings->seconds = number_of("seconds", optarg, SECONDS_MAX);
            break;
        case 'r':
            settings->rate = number_of("rate", optarg, RATE_MAX);
            break;
        case 'd':
            settings->durability = optarg;
            break;
        case 'a':
            settings->accounts = number_of("accounts", optarg, ACCOUNTS_MAX);
            break;
        case 't':
            settings->topology = optarg;
            break;
        case 'n':
            settings->net_threads = optarg;
            break;
        case 'S':
            settings->spin = optarg;
            break;
        case 'C':
            settings->core = optarg;
            break;
        case 'V':
            settings->verify = optarg;
            break;
        case 'p':
            settings->perpd = optarg;
            break;
        case 'b':
            settings->beside = optarg;
            break;
        case 'v':
            printf("perf-orders %s\n", version_text);
            exit(0);
        default: /* getopt_long said what is wrong */
            exit(2);
        }
    }
    if (optind < argc)
        settings->command = argv + optind;
    if (settings->rate * settings->seconds > SIGNED_MAX) {
        fprintf(stderr, "perf-orders: --rate times --seconds is more than %d orders\n", SIGNED_MAX);
        exit(2);
    }
}

/* Collects the given options of perpd, closed by NULL. */
static void collect_options(const struct settings *settings, char text[][OPTION_BYTES],
                            const char *options[OPTIONS_MAX])
{
    const struct {
        const char *key, *value;
    } rows[] = {
        { "store.durability", settings->durability },
        { "node.topology", settings->topology },
        { "net.threads", settings->net_threads },
        { "engine.spin", settings->spin },
        { "engine.core", settings->core },
        { "crypto.verify", settings->verify },
    };
    size_t count = 0;

    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        if (rows[i].value[0] == '\0')
            continue;
        snprintf(text[count], OPTION_BYTES, "--%s=%s", rows[i].key, rows[i].value);
        options[count] = text[count];
        count++;
    }
    options[count++] = "--exchange.oracle_max_age_ms=0";
    options[count++] = "--limits.open_orders=100000";
    options[count++] = "--limits.connections=16384"; /* all are of one address */
    if (settings->beside == NULL) {                  /* many accounts are opened from one address */
        options[count++] = "--limits.rate_limits=off";
    } else {
        options[count++] = "--limits.write_rate=1000000";
        options[count++] = "--limits.creation_rate=1000000";
        options[count++] = "--limits.creation_burst=10000000";
        options[count++] = "--limits.signature_rate=10000000";
        options[count++] = "--limits.total_rate=93000";
    }
    options[count] = NULL;
}

int main(int argc, char **argv)
{
    static struct run run;
    char text[OPTIONS_MAX][OPTION_BYTES];
    const char *options[OPTIONS_MAX];
    struct cpu before;
    struct client setup;

    signal(SIGPIPE, SIG_IGN);
    run.random = 1;
    read_settings(&run.settings, argc, argv);
    collect_options(&run.settings, text, options);
    rig_init(&run.rig, run.settings.perpd, ".");
    if (!rig_start(&run.rig, options)) {
        fprintf(stderr, "perf-orders: perpd did not start; see %s/log\n", run.rig.folder);
        return 1;
    }
    rig_connect(&run.rig, &setup, false);
    rig_oracle(&run.rig, &setup, ASSET, PRICE_RAW);
    for (uint32_t i = 0; i < run.settings.accounts; i++) {
        rig_open_account(&run.rig, &setup, &run.traders[i]);
        rig_deposit(&run.rig, &setup, run.traders[i].account_id, 1000000000);
    }
    run.clients = calloc(run.settings.connections, sizeof *run.clients);
    run.load.connections = calloc(run.settings.connections, sizeof *run.load.connections);
    for (uint32_t i = 0; i < run.settings.connections; i++) {
        rig_connect(&run.rig, &run.clients[i], false);
        if (client_connect(&run.clients[i]) != 0)
            return 1;
        run.load.connections[i].fd = run.clients[i].fd;
    }
    sign_all(&run, run.settings.rate > 0 ? run.settings.rate : 40000);

    pid_t beside = begin_beside(&run);
    read_cpu(&run, &before);
    double seconds = run.settings.command != NULL ? let_send(&run) : send_orders(&run);
    if (beside != 0)
        (void)kill(-beside, SIGKILL);
    report(&run, seconds, &before);
    int status = rig_end(&run.rig, SIGTERM);
    rig_remove(&run.rig);
    bool is_valid = run.settings.command != NULL || load_is_valid(&run.load);
    if (!is_valid)
        fprintf(stderr, "perf-orders: not valid: less than %d %% of the due orders had an answer\n",
                LOAD_VALID_PERCENT);
    return status == 0 && run.accepted != 0 && is_valid ? 0 : 1;
}
