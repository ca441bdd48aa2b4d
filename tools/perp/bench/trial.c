#include "perp/bench/trial.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "perp/bench/accounts.h"
#include "perp/invocation/arguments.h"
#include "perp/invocation/exit_code.h"
#include "perp/request/instant.h"

enum {
    DEPOSIT_USDC = 1000000000,
    CLOSED_RATE = 40000, /* requests signed for a second of a closed loop */
    DRAIN_S = 5,
    AHEAD_MS = 4000, /* ids may be dated 5 s ahead of the exchange's clock */
    LATE_MS = 20000, /* and 30 s before it */
    LAG_LEAST = 64,
    LAG_MOST = 4096,
    MANY_ACCOUNTS = 20000,
    BESIDE_S = 3,
};

static bool fail(struct trial *trial, int code, const char *what, const char *why)
{
    return context_fail(trial->context, code, "%s: %s", what, why);
}

/* perpd lies beside perp, wherever that was started from. */
static bool find_perpd(struct trial *trial, char path[RIG_PATH_BYTES])
{
    const char *given = trial->settings->perpd;
    ssize_t got = readlink("/proc/self/exe", path, RIG_PATH_BYTES - 8);

    if (given != NULL) {
        snprintf(path, RIG_PATH_BYTES, "%s", given);
    } else {
        char *end = NULL;
        if (got > 0) {
            path[got] = '\0';
            end = strrchr(path, '/');
        }
        snprintf(end == NULL ? path : end + 1, 8, "perpd");
    }
    return access(path, X_OK) == 0 ||
           fail(trial, EXIT_CODE_usage, path, "no perpd there; --perpd FILE names one");
}

static bool has_option(const struct bench_settings *settings, const char *key)
{
    size_t count = strlen(key);

    for (uint32_t i = 0; i < settings->option_count; i++)
        if (strncmp(settings->options[i] + 2, key, count) == 0 &&
            settings->options[i][2 + count] == '=')
            return true;
    return false;
}

/* A load from one address with orders that stay is not what the limits are made for. */
static void collect_options(const struct bench_settings *settings,
                            const char *options[RIG_OPTIONS_MAX])
{
    static const struct {
        const char *key, *option;
        bool is_for_many, is_beside, is_alone;
    } rows[] = {
        { "exchange.oracle_max_age_ms", "--exchange.oracle_max_age_ms=0", false, false, false },
        { "limits.open_orders", "--limits.open_orders=100000", false, false, false },
        { "limits.account_open_orders", "--limits.account_open_orders=1000000", false, false,
          false },
        { "limits.connections", "--limits.connections=16384", false, false, false },
        { "limits.stream_connections", "--limits.stream_connections=16384", false, false, false },
        { "limits.rate_limits", "--limits.rate_limits=off", false, false, true },
        /* A third of the duplicate set holds what it lets an account bring; the burst counts. */
        { "limits.write_rate", "--limits.write_rate=10300", false, true, false },
        { "limits.write_burst", "--limits.write_burst=10000000", false, true, false },
        { "limits.creation_rate", "--limits.creation_rate=1000000", false, true, false },
        { "limits.creation_burst", "--limits.creation_burst=10000000", false, true, false },
        { "limits.unfunded_burst", "--limits.unfunded_burst=10000000", false, true, false },
        { "limits.signature_rate", "--limits.signature_rate=10000000", false, true, false },
        { "limits.total_rate", "--limits.total_rate=93000", false, true, false },
        { "engine.accounts", "--engine.accounts=131072", true, false, false },
        { "engine.portfolios", "--engine.portfolios=262144", true, false, false },
        { "engine.credentials", "--engine.credentials=524288", true, false, false },
    };
    size_t count = 0;

    for (size_t i = 0; i < CC_COUNT(rows); i++)
        if (!has_option(settings, rows[i].key) &&
            (!rows[i].is_for_many || settings->account_count > MANY_ACCOUNTS) &&
            (!rows[i].is_beside || settings->beside != NULL) &&
            (!rows[i].is_alone || settings->beside == NULL))
            options[count++] = rows[i].option;
    for (uint32_t i = 0; i < settings->option_count && count < RIG_OPTIONS_MAX - 1; i++)
        options[count++] = settings->options[i];
    options[count] = NULL;
}

static bool start_local(struct trial *trial)
{
    const char *options[RIG_OPTIONS_MAX];
    char perpd[RIG_PATH_BYTES], log[RIG_PATH_BYTES + 64];

    if (!find_perpd(trial, perpd))
        return false;
    collect_options(trial->settings, options);
    rig_init(&trial->rig, perpd, trial->settings->data != NULL ? trial->settings->data : ".");
    trial->is_open = true;
    if (!rig_start(&trial->rig, options)) {
        snprintf(log, sizeof log, "it did not start; its log is %s/log", trial->rig.folder);
        trial->is_open = false; /* the log stays */
        return fail(trial, EXIT_CODE_usage, perpd, log);
    }
    trial->has_admin = true;
    return true;
}

static bool find_remote(struct trial *trial)
{
    const struct bench_settings *settings = trial->settings;
    struct context *context = trial->context;
    struct rig *rig = &trial->rig;
    const char *url = context->settings->values[SETTING_url];
    char error[CLIENT_ERROR_MAX];

    if ((!settings->is_list && strlen(url) >= sizeof rig->url) ||
        (settings->admin_url != NULL && strlen(settings->admin_url) >= sizeof rig->admin_url))
        return fail(trial, EXIT_CODE_usage, url, "the address is too long");
    if (!settings->is_list)
        memcpy(rig->url, url, strlen(url) + 1);
    else if (!connections_find_leader(url, rig->url, error))
        return fail(trial, EXIT_CODE_connection, "--url", error);
    if (settings->admin_url != NULL) {
        snprintf(rig->admin_url, sizeof rig->admin_url, "%s", settings->admin_url);
        snprintf(rig->data, sizeof rig->data, "%s", settings->data);
        trial->has_admin = true;
    }
    if (settings->corpus != NULL)
        return true; /* all is signed */
    if (!context_key(context, SETTING_operator_key, SIGNATURE_ED25519, false, &rig->operator_key))
        return false;
    if (settings->price != NULL &&
        !context_key(context, SETTING_oracle_key, SIGNATURE_ED25519, false, &rig->oracle_key))
        return false;
    rig_learn_exchange(rig);
    return true;
}

/* The record of the market, and its price: published here, or the index price that it has. */
static bool learn_market(struct trial *trial)
{
    const struct bench_settings *settings = trial->settings;
    struct instrument *record = &trial->workload.record;
    char error[INSTRUMENT_ERROR_MAX], target[96];
    struct client_request request = { .method = "GET", .target = "/api/v1/markets" };
    struct client_answer answer;
    const char *price = settings->price;
    int64_t raw;

    if (client_call(&trial->control, &request, &answer) != 0)
        return fail(trial, EXIT_CODE_connection, "markets", trial->control.error);
    if (!instrument_parse(record, answer.body, answer.body_count, settings->market, error))
        return fail(trial, EXIT_CODE_usage, "--market", error);
    if (price == NULL && settings->is_remote) {
        snprintf(target, sizeof target, "/api/v1/markets/%.40s/mark", settings->market);
        request.target = target;
        if (client_call(&trial->control, &request, &answer) != 0)
            return fail(trial, EXIT_CODE_connection, target, trial->control.error);
        json_t *mark = json_loadb(answer.body, answer.body_count, 0, NULL);
        const char *text = json_string_value(json_object_get(mark, "index_price"));
        bool is_read = text != NULL && instrument_price(record, text, &raw, error);
        json_decref(mark);
        trial->workload.mid_raw = is_read ? (uint64_t)raw : 0;
        return is_read || fail(trial, EXIT_CODE_usage, settings->market,
                               "it has no price; --price with --oracle-key publishes one");
    }
    if (!instrument_price(record, price == NULL ? "100000" : price, &raw, error))
        return fail(trial, EXIT_CODE_usage, "--price", error);
    trial->workload.mid_raw = (uint64_t)raw;
    rig_oracle(&trial->rig, &trial->control, record->asset_id, (uint64_t)raw);
    return true;
}

static bool open_accounts(struct trial *trial)
{
    const struct bench_settings *settings = trial->settings;
    struct workload *workload = &trial->workload;
    uint32_t lag = settings->connections * settings->pipeline;
    char error[ACCOUNTS_ERROR_MAX];

    lag = lag < LAG_LEAST ? LAG_LEAST : lag > LAG_MOST ? LAG_MOST : lag;
    trial->traders = calloc(settings->account_count, sizeof *trial->traders);
    if (trial->traders == NULL || !workload_init(workload, settings->account_count, lag))
        return fail(trial, EXIT_CODE_usage, "accounts", "no memory");
    if (!accounts_open(&trial->rig, &trial->control, trial->traders, settings->account_count,
                       DEPOSIT_USDC, error))
        return fail(trial, EXIT_CODE_problem, "accounts", error);
    workload->traders = trial->traders;
    memcpy(workload->weights, settings->weights, sizeof workload->weights);
    workload->is_frame = settings->is_frame;
    workload->is_stream = settings->is_stream;
    workload->ack = settings->ack;
    workload->random = settings->seed;
    snprintf(workload->host, sizeof workload->host, "%s", trial->control.authority);
    return true;
}

static bool is_connected(struct trial *trial, const char *wrong)
{
    return wrong == NULL || fail(trial, EXIT_CODE_connection, "connections", wrong);
}

/* What shall disturb the run: a shell, whose children end with it. */
static bool begin_beside(struct trial *trial)
{
    if (trial->settings->beside == NULL)
        return true;
    pid_t pid = fork();
    if (pid == 0) {
        setpgid(0, 0);
        setenv("PERF_URL", trial->rig.url, 1);
        execl("/bin/sh", "sh", "-c", trial->settings->beside, (char *)NULL);
        _exit(127);
    }
    if (pid < 0)
        return fail(trial, EXIT_CODE_usage, "--beside", strerror(errno));
    (void)setpgid(pid, pid);
    trial->beside = pid;
    (void)sleep(BESIDE_S);
    if (waitpid(pid, NULL, WNOHANG) == 0)
        return true;
    trial->beside = 0;
    return fail(trial, EXIT_CODE_usage, "--beside", "the command ended at once");
}

bool trial_open(struct trial *trial, struct context *context, const struct bench_settings *settings)
{
    memset(trial, 0, sizeof *trial);
    trial->context = context;
    trial->settings = settings;
    outcomes_init(&trial->outcomes);
    trial->calibration_ns = machine_calibrate_ns();
    if (settings->corpus != NULL && !settings->is_remote)
        return context_fail(context, EXIT_CODE_usage,
                            "--corpus is signed for accounts of one exchange: name it with --url");
    if (!(settings->is_remote ? find_remote(trial) : start_local(trial)))
        return false;
    rig_connect(&trial->rig, &trial->control, false);
    if (trial->has_admin)
        rig_connect(&trial->rig, &trial->admin, true);
    if (settings->corpus == NULL && (!learn_market(trial) || !open_accounts(trial)))
        return false;
    trial->connections =
        (struct connections){ .rig = &trial->rig,
                              .list =
                                  settings->is_list ? context->settings->values[SETTING_url] : NULL,
                              .is_stream = settings->is_stream,
                              .count = settings->connections };
    return is_connected(trial, connections_open(&trial->connections)) && begin_beside(trial);
}

json_t *trial_exchange(struct trial *trial)
{
    static const char *const labels[] = { "version", "commit", "build", "durability", "topology" };
    static const char *const paths[] = { "lanes", "comb", "library" };
    json_t *object = json_object();
    struct reading reading = { 0 };
    char text[READING_NAME_MAX];
    double value;

    (void)json_object_set_new(object, "url", json_string(trial->rig.url));
    (void)json_object_set_new(object, "started_here", json_boolean(!trial->settings->is_remote));
    bool is_read = trial->has_admin && reading_fetch(&reading, &trial->admin);
    for (size_t i = 0; i < CC_COUNT(labels); i++)
        (void)json_object_set_new(
            object, labels[i],
            is_read && reading_label(&reading, "perpd_build_info", labels[i], text, sizeof text)
                ? json_string(text)
                : json_null());
    (void)json_object_set_new(object, "verifier", json_null());
    for (size_t i = 0; is_read && i < CC_COUNT(paths); i++) {
        snprintf(text, sizeof text, "perpd_signature_path{path=\"%s\"}", paths[i]);
        if (reading_value(&reading, text, &value) && value == 1)
            (void)json_object_set_new(object, "verifier", json_string(paths[i]));
    }
    reading_free(&reading);
    return object;
}

uint64_t trial_lead_ms(const struct trial *trial, uint64_t requests)
{
    /* A signature takes less than libsodium's verification, and some time is for the rest. */
    return 200 + (uint64_t)((double)requests * trial->calibration_ns * 1.5 / 1e6);
}

static uint32_t requests_of(const struct schedule *schedule)
{
    double rate = schedule->kind == SCHEDULE_closed ? CLOSED_RATE : schedule->rate_per_s;
    double count = rate * (double)schedule->length_ns / 1e9 * 1.1 + 1000;

    return count < CORPUS_REQUESTS_MAX ? (uint32_t)count : CORPUS_REQUESTS_MAX;
}

bool trial_sign(struct trial *trial, const struct schedule *schedule, uint64_t begin_unix_ms,
                struct corpus *corpus)
{
    uint32_t count = requests_of(schedule);
    uint64_t *due_ns = schedule_make(schedule, count, &count);
    bool is_closed = schedule->kind == SCHEDULE_closed, is_signed = is_closed || due_ns != NULL;

    *corpus = (struct corpus){ .begin_unix_ms = begin_unix_ms,
                               .rate_per_s = is_closed ? CLOSED_RATE : schedule->rate_per_s };
    if (is_closed)
        count = (uint32_t)(CLOSED_RATE * (double)schedule->length_ns / 1e9);
    for (uint32_t i = 0; is_signed && i < count && i < CORPUS_REQUESTS_MAX; i++) {
        uint8_t bytes[LOAD_REQUEST_MAX];
        enum corpus_kind kind;
        uint64_t at_ns = is_closed ? i * UINT64_C(1000000000) / CLOSED_RATE : due_ns[i];
        size_t used =
            workload_next(&trial->workload, begin_unix_ms + at_ns / 1000000, bytes, &kind);
        is_signed = used != 0 && corpus_add(corpus, kind, at_ns, bytes, used);
    }
    free(due_ns);
    return is_signed || fail(trial, EXIT_CODE_usage, "signing", "no memory, or a bad key");
}

/* ---- one pass -------------------------------------------------------------------------------- */

/* What the load asks of the trial while it runs. */
struct feed {
    struct trial *trial;
    const struct corpus *corpus; /* NULL: signed when sent */
    uint8_t bytes[LOAD_REQUEST_MAX];
};

static void make(void *context, uint32_t index, struct load_request *request)
{
    struct feed *feed = context;
    enum corpus_kind kind;

    if (feed->corpus != NULL) {
        corpus_request(feed->corpus, index, request);
        return;
    }
    size_t used =
        workload_next(&feed->trial->workload, instant_now_ns() / 1000000, feed->bytes, &kind);
    INVARIANT(used != 0); /* the keys are this program's */
    *request = (struct load_request){ .bytes = feed->bytes,
                                      .count = (uint32_t)used,
                                      .kind = (uint8_t)kind,
                                      .is_read = kind == CORPUS_read };
}

/* The client rule of load.h. */
static int connect_to_other(void *context, uint32_t number, const char *leader)
{
    struct feed *feed = context;

    return connections_next(&feed->trial->connections, number, leader);
}

static const char *host_of(void *context, uint32_t number)
{
    const struct feed *feed = context;

    return feed->trial->connections.clients[number].authority;
}

static void progress(void *context, const struct load *load, uint64_t passed_ns)
{
    const struct feed *feed = context;

    fprintf(stderr, "\rbench: %s %3.0f s, sent %u, answered %u, in flight %u   ",
            feed->trial->label, (double)passed_ns / 1e9, load->sent, load->answered,
            load->sent - load->answered);
}

/* Runs a load whose due times are those of a corpus, or of a schedule when signing in line. */
static bool run_load(struct trial *trial, const struct corpus *corpus,
                     const struct schedule *schedule, uint64_t begin_ns, struct load *load)
{
    struct feed feed = { .trial = trial, .corpus = corpus };
    uint32_t count = corpus != NULL ? corpus->count : requests_of(schedule);
    uint64_t *due_ns = NULL;
    char error[128];

    if (schedule->kind != SCHEDULE_closed && corpus == NULL) {
        due_ns = schedule_make(schedule, count, &count);
    } else if (schedule->kind != SCHEDULE_closed) {
        due_ns = malloc(count * sizeof *due_ns);
        for (uint32_t i = 0; due_ns != NULL && i < count; i++)
            due_ns[i] = corpus->items[i].due_ns;
    }
    *load = (struct load){ .files = trial->connections.files,
                           .connection_count = trial->settings->connections,
                           .depth = trial->settings->pipeline,
                           .is_stream = trial->settings->is_stream,
                           .due_ns = due_ns,
                           .rows = malloc(count * sizeof *load->rows),
                           .row_count = count,
                           .begin_ns = begin_ns,
                           .run_ns = schedule->length_ns,
                           .drain_ns = DRAIN_S * UINT64_C(1000000000),
                           .outcomes = &trial->outcomes,
                           .make = make,
                           .progress = isatty(STDERR_FILENO) ? progress : NULL,
                           .context = &feed };
    if (trial->settings->is_list) {
        load->connect = connect_to_other;
        load->host = host_of;
    }
    bool has_room = load->rows != NULL && (due_ns != NULL || schedule->kind == SCHEDULE_closed);
    if (has_room && load_run(load, error))
        return true;
    return fail(trial, EXIT_CODE_usage, "load", has_room ? error : "no memory");
}

static void free_load(struct load *load)
{
    free((void *)(uintptr_t)load->due_ns);
    free(load->rows);
}

/* So that one pass does not spoil the next. */
static bool connect_again(struct trial *trial, const struct load *load)
{
    return (load->lost_connections == 0 && load->answered == load->sent) ||
           is_connected(trial, connections_open_again(&trial->connections));
}

static void read_side(struct trial *trial, struct figures_side *side)
{
    machine_read(&side->machine);
    side->reading.text = NULL;
    if (trial->has_admin && !reading_fetch(&side->reading, &trial->admin))
        fprintf(stderr, "bench: /metrics did not answer: the server's figures are null\n");
    side->process_cpu_us = trial->rig.pid != 0 ? machine_process_cpu_us(trial->rig.pid) : 0;
}

static json_t *measure(struct trial *trial, const struct corpus *corpus,
                       const struct schedule *schedule, uint64_t begin_ns)
{
    struct load load;
    struct figures_pass pass = {
        .load = &load,
        .rate_wanted = schedule->kind == SCHEDULE_closed ? 0 : schedule->rate_per_s,
        .is_local = trial->rig.pid != 0,
    };
    json_t *figures = NULL;

    read_side(trial, &pass.before);
    trial->pass_unix_ns = instant_now_ns();
    if (run_load(trial, corpus, schedule, begin_ns, &load)) {
        read_side(trial, &pass.after);
        figures_fill(&load, &trial->latency, &trial->service);
        figures = figures_make(&pass, &trial->latency, &trial->service);
        if (!connect_again(trial, &load)) {
            json_decref(figures);
            figures = NULL;
        }
        reading_free(&pass.after.reading);
    }
    reading_free(&pass.before.reading);
    free_load(&load);
    return figures;
}

/* CLOCK_MONOTONIC of a moment of the wall clock; 0: it is over. */
static uint64_t monotonic_of(uint64_t unix_ms)
{
    uint64_t now_ns = instant_now_ns();

    if (unix_ms * 1000000 <= now_ns)
        return 0;
    return instant_monotonic_ns() + unix_ms * 1000000 - now_ns;
}

static json_t *replay_corpus(struct trial *trial)
{
    struct schedule schedule = trial->settings->schedule;
    struct corpus corpus;
    char error[256];
    json_t *figures = NULL;

    if (!corpus_read(&corpus, trial->settings->corpus, error))
        return (void)fail(trial, EXIT_CODE_usage, "--corpus", error), NULL;
    if (corpus.begin_unix_ms + LATE_MS < instant_now_ns() / 1000000) {
        (void)fail(trial, EXIT_CODE_usage, trial->settings->corpus,
                   "it is dated for a moment that is over: make another with perp bench gen");
    } else {
        schedule.rate_per_s = corpus.rate_per_s;
        schedule.length_ns =
            corpus.items[corpus.count - 1].due_ns + (uint64_t)(1e9 / corpus.rate_per_s);
        figures = measure(trial, &corpus, &schedule, monotonic_of(corpus.begin_unix_ms));
    }
    corpus_free(&corpus);
    return figures;
}

/* Both parts are signed before the first begins, so that the exchange does not rest between. */
static json_t *pass_signed(struct trial *trial, const struct schedule *warm_up,
                           const struct schedule *schedule)
{
    uint64_t count = requests_of(warm_up) + requests_of(schedule);
    uint64_t begin_ms = instant_now_ns() / 1000000 + trial_lead_ms(trial, count);
    struct corpus first = { 0 }, corpus = { 0 };
    json_t *figures = NULL;
    struct load load = { 0 };

    bool is_ready = (warm_up->length_ns == 0 || trial_sign(trial, warm_up, begin_ms, &first)) &&
                    trial_sign(trial, schedule, begin_ms + warm_up->length_ns / 1000000, &corpus);
    if (is_ready && instant_now_ns() / 1000000 > begin_ms + LATE_MS)
        is_ready = fail(trial, EXIT_CODE_usage, "signing",
                        "it took too long: fewer requests a pass, or --sign inline");
    if (is_ready && warm_up->length_ns != 0) {
        is_ready = run_load(trial, &first, warm_up, monotonic_of(begin_ms - AHEAD_MS), &load) &&
                   connect_again(trial, &load);
        free_load(&load);
    }
    if (is_ready)
        figures = measure(trial, &corpus, schedule,
                          monotonic_of(begin_ms + warm_up->length_ns / 1000000 - AHEAD_MS));
    corpus_free(&first);
    corpus_free(&corpus);
    return figures;
}

static json_t *pass_inline(struct trial *trial, const struct schedule *warm_up,
                           const struct schedule *schedule)
{
    bool is_ready = true;
    struct load load = { 0 };

    if (warm_up->length_ns != 0) {
        is_ready = run_load(trial, NULL, warm_up, 0, &load) && connect_again(trial, &load);
        free_load(&load);
    }
    return is_ready ? measure(trial, NULL, schedule, 0) : NULL;
}

json_t *trial_pass(struct trial *trial, double rate_per_s)
{
    struct schedule schedule = trial->settings->schedule, warm_up;
    json_t *figures;

    if (rate_per_s > 0)
        schedule.rate_per_s = rate_per_s;
    warm_up = schedule;
    warm_up.length_ns = trial->settings->warm_up * UINT64_C(1000000000);
    warm_up.seed = ~schedule.seed;
    if (trial->settings->corpus != NULL)
        figures = replay_corpus(trial);
    else if (trial->settings->signs_inline)
        figures = pass_inline(trial, &warm_up, &schedule);
    else
        figures = pass_signed(trial, &warm_up, &schedule);
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r%70s\r", "");
    return figures;
}

void trial_close(struct trial *trial)
{
    int status = 0;

    if (trial->beside != 0) {
        (void)kill(-trial->beside, SIGKILL);
        (void)waitpid(trial->beside, NULL, 0);
    }
    connections_close(&trial->connections);
    if (trial->control.timeout_ms != 0)
        client_close(&trial->control);
    if (trial->has_admin && trial->admin.timeout_ms != 0)
        client_close(&trial->admin);
    if (trial->is_open) {
        status = rig_end(&trial->rig, SIGTERM);
        rig_remove(&trial->rig);
    }
    free(trial->traders);
    workload_free(&trial->workload);
    trial->is_open = false;
    if (status != 0)
        (void)fail(trial, EXIT_CODE_problem, "perpd", "it did not end well");
}
