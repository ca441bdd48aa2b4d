#include "node/run/node.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"
#include "node/run/cluster.h"
#include "node/run/divergence.h"
#include "node/run/lifecycle.h"
#include "node/run/notify.h"
#include "node/run/start.h"
#include "node/run/upgrade.h"

enum {
    PREPARE_IDLE_US = 20 * 1000, /* between the background thread's looks for a segment in use */
    KEYS_IDLE_US = 5 * 1000,     /* the keys thread's look for a new session */
    KEYS_NICE = 10,              /* the serving threads go first */
    HISTORY_IDLE_US = 20 * 1000, /* the history thread's look for rows to write */
    HISTORY_RETRY_US = 1000 * 1000,
    SCRUB_IDLE_US = 20 * 1000, /* the scrub thread's look for a piece that is due */
    VAULT_IDLE_US = 20 * 1000, /* the vault thread's look for a sealed segment */
    VAULT_END_S = 5,           /* a stop waits for its end */
    STEWARD_IDLE_US = 20 * 1000,
    IOPRIO_WHO_PROCESS = 1,
    IOPRIO_IDLE = 3 << 13, /* class 3 (ioprio_set(2)) */
};

void node_ask_stop(struct node *node)
{
    /* relaxed: a single flag; the exchange in park_wake comes after it. */
    atomic_store_explicit(&node->stop_asked, true, memory_order_relaxed);
    if (node->duties[0].node != NULL)
        park_wake(&node->duties[0].park, PARK_ALWAYS);
}

void node_ask_reload(struct node *node)
{
    certificate_ask(&node->certificate);
}

/* ---- threads --------------------------------------------------------------------------------- */

static void step_certificate(struct node *node)
{
    struct certificate_mail *mails[TOPOLOGY_NETS_MAX];

    for (uint32_t i = 0; i < node->topology.net_count; i++)
        mails[i] = &node->nets[i].certificate;
    if (certificate_step(&node->certificate, node->options, &node->clock, mails,
                         node->topology.net_count))
        cluster_renew(node);
}

static void *background_main(void *context)
{
    struct node *node = context;

    pthread_setname_np(pthread_self(), "perpd-prepare");
    /* relaxed: shown, decides nothing. */
    atomic_store_explicit(&node->background_clock, duty_cpu_clock(), memory_order_relaxed);
    if (topology_bind(&node->topology, false) != 0)
        lifecycle_fail(node, NODE_EXIT_CONFIGURATION);
    for (;;) {
        enum phase_name phase = phase_now(&node->phase);
        if (phase == PHASE_FAILED || phase == PHASE_STOPPED)
            return NULL;
        step_certificate(node);
        int prepared = 0;
        if (phase_serves(phase)) {
            prepared = core_prepare(&node->core, clock_monotonic_ns(&node->clock));
            if (prepared < 0)
                log_line(LOG_ERROR, "segment", "preparation failed: %s", strerror(-prepared));
        }
        uint32_t kept = phase >= PHASE_STANDBY && phase <= PHASE_DRAINING
                            ? core_snapshot(&node->core, clock_monotonic_ns(&node->clock))
                            : 0;
        if (prepared <= 0 && kept == 0)
            usleep(PREPARE_IDLE_US);
    }
}

static void *keys_main(void *context)
{
    struct node *node = context;

    pthread_setname_np(pthread_self(), "perpd-keys");
    /* relaxed: shown, decides nothing. */
    atomic_store_explicit(&node->keys_clock, duty_cpu_clock(), memory_order_relaxed);
    if (topology_bind(&node->topology, false) != 0)
        lifecycle_fail(node, NODE_EXIT_CONFIGURATION);
    (void)setpriority(PRIO_PROCESS, 0, KEYS_NICE); /* of this thread; a wish */
    for (;;) {
        enum phase_name phase = phase_now(&node->phase);
        if (phase == PHASE_FAILED || phase == PHASE_STOPPED)
            return NULL;
        if (key_keeper_step(&node->key_keeper, clock_monotonic_ns(&node->clock)) == 0)
            usleep(KEYS_IDLE_US);
    }
}

static void *scrub_main(void *context)
{
    struct node *node = context;
    struct sched_param none = { 0 };

    pthread_setname_np(pthread_self(), "perpd-scrub");
    /* relaxed: shown, decides nothing. */
    atomic_store_explicit(&node->scrub_clock, duty_cpu_clock(), memory_order_relaxed);
    if (topology_bind(&node->topology, false) != 0)
        lifecycle_fail(node, NODE_EXIT_CONFIGURATION);
    (void)pthread_setschedparam(pthread_self(), SCHED_IDLE, &none); /* a wish, as the next */
    (void)syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, IOPRIO_IDLE);
    for (;;) {
        enum phase_name phase = phase_now(&node->phase);
        if (phase > PHASE_OPEN)
            return NULL;
        if (phase != PHASE_OPEN || core_scrub(&node->core, clock_monotonic_ns(&node->clock)) == 0)
            usleep(SCRUB_IDLE_US);
    }
}

static void *vault_main(void *context)
{
    struct node *node = context;

    pthread_setname_np(pthread_self(), "perpd-vault");
    if (topology_bind(&node->topology, false) != 0)
        lifecycle_fail(node, NODE_EXIT_CONFIGURATION);
    for (;;) {
        enum phase_name phase = phase_now(&node->phase);
        if (phase == PHASE_FAILED)
            node_ask_stop(node); /* a start that waits for the vault is given up */
        if (phase > PHASE_OPEN) {
            vault_snapshot_upload_end(&node->publisher.upload);
            return NULL;
        }
        uint32_t work = replicator_vault_read(node->replicator) +
                        waiting_fetch(&node->waiting, &node->vault_keeper.vault, node->disk);
        if (phase == PHASE_OPEN)
            work += vault_keeper_step(&node->vault_keeper, journal_durable_seq(node->core.journal),
                                      clock_monotonic_ns(&node->clock));
        if (phase_serves(phase))
            work += snapshot_publisher_step(&node->publisher, clock_monotonic_ns(&node->clock));
        if (work == 0)
            usleep(VAULT_IDLE_US);
    }
}

static void *steward_main(void *context)
{
    struct node *node = context;

    pthread_setname_np(pthread_self(), "perpd-steward");
    if (topology_bind(&node->topology, false) != 0)
        lifecycle_fail(node, NODE_EXIT_CONFIGURATION);
    while (phase_now(&node->phase) <= PHASE_OPEN) {
        cluster_accept_steward_mail(node);
        poison_share_step(&node->poison_share, node->steward.any, node->steward.config.cluster,
                          clock_monotonic_ns(&node->clock));
        if (steward_step(&node->steward) == 0)
            usleep(STEWARD_IDLE_US);
    }
    return NULL;
}

static void keep_heads(struct node *node)
{
    int kept = core_keep_heads(&node->core, clock_monotonic_ns(&node->clock));

    if (kept < 0)
        log_line(LOG_ERROR, "heads", "a head was not kept: %s", strerror(-kept));
}

static void *history_main(void *context)
{
    struct node *node = context;

    pthread_setname_np(pthread_self(), "perpd-history");
    /* relaxed: shown, decides nothing. */
    atomic_store_explicit(&node->history_clock, duty_cpu_clock(), memory_order_relaxed);
    if (topology_bind(&node->topology, false) != 0)
        lifecycle_fail(node, NODE_EXIT_CONFIGURATION);
    for (;;) {
        enum phase_name phase = phase_now(&node->phase);
        if (phase == PHASE_FAILED)
            return NULL;
        int written = 0;
        if (phase == PHASE_STOPPED)
            written = core_end_history(&node->core);
        else if (phase_serves(phase))
            written = core_keep_history(&node->core, clock_monotonic_ns(&node->clock));
        if (phase_serves(phase))
            keep_heads(node);
        if (written < 0)
            log_line(LOG_ERROR, "history", "history/ was not written: %s", strerror(-written));
        if (phase == PHASE_STOPPED)
            return NULL;
        usleep(written < 0 ? HISTORY_RETRY_US : HISTORY_IDLE_US);
    }
}

static void *duty_main(void *context)
{
    struct duty *duty = context;
    char name[TOPOLOGY_NAME_BYTES + 8];

    snprintf(name, sizeof name, "perpd-%s", duty->plan->name);
    name[15] = '\0'; /* the longest that the kernel accepts */
    pthread_setname_np(pthread_self(), name);
    duty_run(duty);
    return NULL;
}

/* False when the machine refuses the thread: the start has failed, and a replay in progress is
 * abandoned. */
static bool start_thread(struct node *node, pthread_t *thread, void *(*run)(void *), void *context,
                         const char *name)
{
    int failed = pthread_create(thread, NULL, run, context);
    if (failed == 0)
        return true;
    log_line(LOG_ERROR, "start", "thread %s: %s", name, strerror(failed));
    lifecycle_fail(node, NODE_EXIT_FAILED);
    node_ask_stop(node);
    return false;
}

/* A call that hangs in the vault holds up no stop: the segment is put by the next leader. */
static void join_vault(struct node *node, pthread_t thread)
{
    if (cluster_join_vault(node, thread, VAULT_END_S))
        return;
    log_line(LOG_ERROR, "vault",
             "a call of the vault has not returned 5 s after the stop: a segment that was to be "
             "put is left to the next leader");
}

/* The first thread is this one. */
static int run_threads(struct node *node)
{
    pthread_t background, keys, history, scrub, vault, steward;
    uint32_t count = node->topology.thread_count;

    for (uint32_t i = 1; i < count; i++) {
        struct duty *duty = &node->duties[i];
        duty->joinable = start_thread(node, &duty->thread, duty_main, duty, duty->plan->name);
    }
    bool prepares = start_thread(node, &background, background_main, node, "prepare");
    bool keeps = start_thread(node, &keys, keys_main, node, "keys");
    bool writes = start_thread(node, &history, history_main, node, "history");
    bool scrubs = start_thread(node, &scrub, scrub_main, node, "scrub");
    bool vaults = node->replicator != NULL && start_thread(node, &vault, vault_main, node, "vault");
    bool stewards =
        node->replicator != NULL && start_thread(node, &steward, steward_main, node, "steward");

    duty_run(&node->duties[0]);
    steward_ask_end(&node->steward);
    for (uint32_t i = 1; i < count; i++)
        if (node->duties[i].joinable)
            pthread_join(node->duties[i].thread, NULL);
    if (phase_now(&node->phase) != PHASE_FAILED)
        (void)lifecycle_advance(node, PHASE_STOPPING, PHASE_STOPPED);
    if (prepares)
        pthread_join(background, NULL);
    if (keeps)
        pthread_join(keys, NULL);
    if (writes)
        pthread_join(history, NULL);
    if (scrubs)
        pthread_join(scrub, NULL);
    if (vaults)
        join_vault(node, vault);
    if (stewards)
        pthread_join(steward, NULL);
    return phase_exit_code(&node->phase);
}

/* The promise of a clean stop: a start of whatever rules_version can begin with a snapshot. */
static int write_snapshot(struct node *node)
{
    struct refusal refusal;
    uint64_t sequence = engine_sequence(node->core.replica);

    refusal_clear(&refusal);
    if (core_write_snapshot(&node->core, &refusal) == REFUSAL_none) {
        log_line(LOG_INFO, "snapshot", "written at the stop sequence=%lu", sequence);
        return NODE_EXIT_CLEAN;
    }
    log_line(LOG_ERROR, "snapshot",
             "none was written at the stop, sequence=%lu: %s; the journal is whole and this "
             "rules_version recovers it",
             sequence, refusal.text);
    return NODE_EXIT_FAILED;
}

int node_run(struct node *node, const struct config *options)
{
    static struct market_file markets; /* 2 KiB of rows, start-up only */
    static struct notify notify;

    node->options = options;
    phase_init(&node->phase);
    int code = start_prepare(node, &markets);
    if (code == 0) {
        notify_start(&notify, node);
        code = run_threads(node);
        if (phase_now(&node->phase) == PHASE_STOPPED) {
            bool is_ordered = upgrade_is_ordered(node);
            bool holds = is_ordered && upgrade_begin(node);
            if (node->replicator != NULL)
                replicator_resign(node->replicator);
            code = write_snapshot(node);
            if (holds)
                code = upgrade_end(node, code);
            else if (is_ordered)
                code = NODE_EXIT_FAILED; /* started again, it stands by */
        }
    }
    if (atomic_load_explicit(&node->core.follower.diverged, memory_order_relaxed))
        divergence_write(&node->core, config_text(options, OPTION_store_data));
    notify_end(&notify);
    if (node->vault_hangs) { /* its thread may go on with what start_undo frees */
        log_line(LOG_INFO, "stopped", "exit=%d", code);
        _exit(code);
    }
    start_undo(node);
    market_file_free(&markets);
    log_line(LOG_INFO, "stopped", "exit=%d", code);
    return code;
}
