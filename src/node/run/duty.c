#include "node/run/duty.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>

#include "base/log.h"
#include "node/run/lifecycle.h"
#include "node/run/opening.h"
#include "node/run/standby.h"

enum {
    DRAIN_S_MAX = 10,
    STOP_S_MAX = 10,            /* from the last command to the closing frame */
    WAIT_NS = 50 * 1000 * 1000, /* longest sleep */
    BUSY_WAIT_NS = 100 * 1000,  /* writes in flight that this sleep does not see, or no room */
    LOOK_NS = 1000 * 1000,      /* at etcd, which a sleep in the sockets does not see */
    SPIN_PAUSES = 8,            /* between two looks of a thread that spins */
};

#define NS_PER_S UINT64_C(1000000000)

int duty_init(struct duty *duty, struct node *node, const struct topology_thread *plan)
{
    duty->node = node;
    duty->plan = plan;
    duty->live = plan->roles;
    atomic_init(&duty->cpu_clock, DUTY_NO_CLOCK);
    published_set(&duty->turns, 0);
    return park_init(&duty->park);
}

void duty_free(struct duty *duty)
{
    if (duty->node != NULL)
        park_close(&duty->park);
}

clockid_t duty_cpu_clock(void)
{
    clockid_t clock;
    return pthread_getcpuclockid(pthread_self(), &clock) == 0 ? clock : DUTY_NO_CLOCK;
}

static bool has(const struct duty *duty, enum role role)
{
    return (duty->live & role) != 0;
}

static bool is_first(const struct duty *duty)
{
    return duty == &duty->node->duties[0];
}

static bool is_announced(const struct node *node)
{
    return atomic_load_explicit(&node->announced, memory_order_relaxed); /* relaxed: its own */
}

/* A thread never wakes itself. */
static void wake(const struct duty *duty, struct duty *other, uint32_t causes)
{
    if (other != duty)
        park_wake(&other->park, causes);
}

/* ---- net ------------------------------------------------------------------------------------- */

static struct node_net *net_of(const struct duty *duty)
{
    return &duty->node->nets[duty->plan->net];
}

/* The net role's part of a stop: it answers what it has received, then ends. */
static void drain(struct duty *duty)
{
    struct node *node = duty->node;
    struct net *net = net_of(duty)->net;

    if (!duty->draining)
        net_drain(net);
    duty->draining = true;
    if (!net_drained(net) && clock_monotonic_ns(&node->clock) < node->drain_end_ns)
        return;
    duty->live &= ~(uint32_t)ROLE_NET;
    /* Release: its last command is in the ring (pairs: end_matching). */
    if (atomic_fetch_sub_explicit(&node->nets_left, 1, memory_order_acq_rel) == 1)
        wake(duty, node->matcher, PARK_ALWAYS);
}

static uint32_t step_net(struct duty *duty, enum phase_name phase)
{
    struct node *node = duty->node;
    struct node_net *net = net_of(duty);

    certificate_deliver(&net->certificate, net->net);
    uint32_t work = net_step(net->net);

    if (net->commands.claimed != net->commands_woken) {
        net->commands_woken = net->commands.claimed;
        wake(duty, node->matcher, PARK_INPUT);
    }
    if (net->queries.claimed != net->queries_woken) {
        net->queries_woken = net->queries.claimed;
        wake(duty, node->follower, PARK_INPUT);
    }
    if (phase == PHASE_DRAINING)
        drain(duty);
    return work;
}

/* ---- matcher --------------------------------------------------------------------------------- */

/* No thread can send commands any more: the journal may close. */
static void end_matching(struct duty *duty)
{
    struct node *node = duty->node;

    core_stop(&node->core);
    node->stop_end_ns = clock_monotonic_ns(&node->clock) + STOP_S_MAX * NS_PER_S;
    duty->live &= ~(uint32_t)ROLE_MATCHER;
    (void)lifecycle_advance(node, PHASE_DRAINING, PHASE_STOPPING);
}

/* Wakes the net threads that sleep and have an answer that may leave at once; the others are woken
 * by the journal when theirs may. `first`: no answer of this turn has a lower release_sequence. */
static void wake_nets(struct duty *duty, uint64_t first)
{
    struct node *node = duty->node;

    for (uint32_t i = 0; i < node->topology.net_count; i++) {
        struct node_net *net = &node->nets[i];
        if (net->answers.claimed == net->answers_woken)
            continue;
        net->answers_woken = net->answers.claimed;
        /* In this order: park.h, Meeting. */
        if (net->duty != duty && (park_wanted(&net->duty->park) & PARK_INPUT) != 0 &&
            journal_durable_seq(node->core.journal) >= first)
            park_wake(&net->duty->park, PARK_INPUT);
    }
}

static uint32_t step_matcher(struct duty *duty, enum phase_name phase)
{
    struct node *node = duty->node;
    struct core *core = &node->core;

    if (phase == PHASE_RECOVERED)
        return node->replicator != NULL ? standby_begin(node) : opening_sequence(node);
    if (node->replicator != NULL)
        poison_share_accept(&node->poison_share, &node->poison.file);
    if (phase == PHASE_STANDBY || phase == PHASE_TAKING || phase == PHASE_HANDING)
        return standby_match(node, phase);
    if (phase != PHASE_OPEN && phase != PHASE_DRAINING)
        return 0;
    if (node->replicator != NULL && phase == PHASE_OPEN && standby_is_held(node))
        return 0;
    bool is_last = phase == PHASE_DRAINING &&
                   atomic_load_explicit(&node->nets_left, memory_order_acquire) == 0;
    uint64_t sequence = engine_sequence(core->primary);
    uint64_t peeked = published_get(&core->matcher.counters.peeked);
    uint64_t begun_ns = clock_monotonic_ns(&node->clock);
    uint32_t work = core_match(core);
    if (work != 0)
        histogram_add(&node->turn_ns, clock_monotonic_ns(&node->clock) - begun_ns);

    if (engine_sequence(core->primary) != sequence) {
        uint64_t waiting = journal_waiting_bytes(core->journal);
        bool bulk = waiting >= core->config.group_bytes;
        wake(duty, node->journal, bulk ? PARK_RECORDS | PARK_BULK : PARK_RECORDS);
    }
    if (work != 0) /* an answer without a sequence may leave now, others later */
        wake_nets(duty, sequence + (peeked == published_get(&core->matcher.counters.peeked)));
    if (is_last && work == 0)
        end_matching(duty);
    return work;
}

/* ---- journal and follower -------------------------------------------------------------------- */

/* Ends a stop that takes too long because the disk accepts no writes. It ends like a crash, and the
 * next start recovers. */
static void check_stop_time(struct node *node)
{
    if (clock_monotonic_ns(&node->clock) < node->stop_end_ns)
        return;
    log_line(LOG_ERROR, "stop",
             "the journal did not end within %d s: durable=%lu segments_ready=%u; stopped as after "
             "a crash",
             STOP_S_MAX, journal_durable_seq(node->core.journal),
             segment_pool_ready(node->core.pool));
    lifecycle_fail(node, NODE_EXIT_FAILED);
}

static uint32_t step_journal(struct duty *duty, enum phase_name phase)
{
    struct node *node = duty->node;
    uint32_t replicated = node->replicator != NULL ? standby_replicate(node, phase) : 0;
    int written = core_journal(&node->core);

    if (written < 0) {
        log_line(LOG_ERROR, "journal", "write failed: %s; nothing more is acknowledged",
                 strerror(-written));
        lifecycle_fail(node, NODE_EXIT_FAILED);
        return 0;
    }
    if (written != 0) { /* something is durable, or there is room */
        for (uint32_t i = 0; i < node->topology.net_count; i++) /* clients wait */
            wake(duty, node->nets[i].duty, PARK_DURABLE);
        wake(duty, node->matcher, PARK_DURABLE);
        wake(duty, node->follower, PARK_DURABLE);
    }
    if (phase == PHASE_STOPPING) {
        if (journal_stopped(node->core.journal)) {
            duty->live &= ~(uint32_t)ROLE_JOURNAL;
            wake(duty, node->follower, PARK_ALWAYS);
        } else {
            check_stop_time(node);
        }
    }
    return (uint32_t)written + replicated;
}

static uint32_t step_follower(struct duty *duty, enum phase_name phase)
{
    struct node *node = duty->node;
    int done = core_follow(&node->core);

    if (done < 0) {
        log_line(LOG_ERROR, "follower", "applied=%lu: %s",
                 atomic_load_explicit(&node->core.follower.applied, memory_order_relaxed),
                 strerror(-done));
        if (node->replicator != NULL &&
            atomic_load_explicit(&node->core.follower.diverged, memory_order_relaxed))
            standby_say_diverged(engine_sequence(node->core.replica));
        lifecycle_fail(node, NODE_EXIT_FAILED);
        return 0;
    }
    if (node->replicator != NULL && node->core.follower.has_shown_hash)
        wake(duty, node->journal, PARK_ALWAYS);
    uint64_t events = event_log_count(&node->core.events) + book_log_count(&node->core.orders) +
                      private_log_count(&node->core.private_log) +
                      published_get(&node->core.books.writes);
    bool is_shown = events != node->events_woken;
    node->events_woken = events;
    for (uint32_t i = 0; done != 0 && i < node->topology.net_count; i++) {
        struct node_net *net = &node->nets[i];
        if (net->replies.claimed == net->replies_woken && !(is_shown && net_has_streams(net->net)))
            continue;
        net->replies_woken = net->replies.claimed;
        wake(duty, net->duty, PARK_INPUT);
    }
    if (phase == PHASE_STOPPING) {
        if (core_stopped(&node->core))
            duty->live &= ~(uint32_t)ROLE_FOLLOWER;
        else
            check_stop_time(node);
    }
    return (uint32_t)done;
}

/* ---- the first thread's ---------------------------------------------------------------------- */

/* The line scripts wait for: as soon as the commands of the start are durable. */
static void announce(struct node *node)
{
    const struct net *net = node->nets[0].net;

    if (journal_durable_seq(node->core.journal) < node->opened_sequence)
        return;
    atomic_store_explicit(&node->announced, true, memory_order_release); /* pairs: notify.c */
    printf("ready http%s://%s:%u\n", node->certificate.server != NULL ? "s" : "", net_host(net),
           net_port(net));
    fflush(stdout);
    log_line(LOG_INFO, "ready",
             "listen=%s:%u admin_port=%u durability=%s boot=%lu topology=%s net_threads=%u spin=%d",
             net_host(net), net_port(net), net_admin_port(net),
             config_text(node->options, OPTION_store_durability), node->core.recovered.boot,
             node->topology.name, node->topology.net_count, node->matcher->plan->spins);
}

/* The line scripts wait for at a node of a cluster that does not lead, or not yet. */
static void announce_standby(struct node *node)
{
    const struct net *net = node->nets[0].net;

    atomic_store_explicit(&node->stands_by, true, memory_order_release); /* pairs: notify.c */
    printf("standby http%s://%s:%u\n", node->certificate.server != NULL ? "s" : "", net_host(net),
           net_port(net));
    fflush(stdout);
    log_line(LOG_INFO, "standby", "listen=%s:%u admin_port=%u durability=%s topology=%s",
             net_host(net), net_port(net), net_admin_port(net),
             config_text(node->options, OPTION_store_durability), node->topology.name);
}

static void begin_stop(struct node *node, enum phase_name phase)
{
    if (phase == PHASE_OPEN) {
        node->drain_end_ns = clock_monotonic_ns(&node->clock) + DRAIN_S_MAX * NS_PER_S;
        (void)lifecycle_advance(node, PHASE_OPEN, PHASE_DRAINING);
    } else if (phase < PHASE_OPEN) { /* nothing was promised, nothing is to be written */
        lifecycle_fail(node, NODE_EXIT_CLEAN);
    }
}

/* What one thread does for all: the clock, the ready line, the stop. */
static void mind(struct node *node, enum phase_name phase)
{
    uint64_t now_ns = clock_monotonic_ns(&node->clock);

    if (now_ns - node->followed_ns >= CLOCK_FOLLOW_INTERVAL_NS) {
        clock_follow(&node->clock);
        node->followed_ns = now_ns;
    }
    if (!is_announced(node) && phase == PHASE_OPEN)
        announce(node);
    if (phase == PHASE_STANDBY && !atomic_load_explicit(&node->stands_by, memory_order_relaxed))
        announce_standby(node);
    if (lifecycle_is_stop_asked(node))
        begin_stop(node, phase);
    else if (phase == PHASE_OPEN && node->replicator != NULL &&
             replicator_hand_is_wanted(node->replicator))
        (void)lifecycle_advance(node, PHASE_OPEN, PHASE_HANDING);
}

/* ---- turns ----------------------------------------------------------------------------------- */

/* One step of each role; the work done. */
static uint32_t turn(struct duty *duty)
{
    struct node *node = duty->node;
    enum phase_name phase = phase_now(&node->phase);
    uint32_t work = 0;

    published_add(&duty->turns, 1);
    if (is_first(duty)) {
        mind(node, phase);
        phase = phase_now(&node->phase);
    }
    if (phase == PHASE_FAILED)
        return 0;
    if (has(duty, ROLE_NET))
        work += step_net(duty, phase);
    if (has(duty, ROLE_MATCHER))
        work += step_matcher(duty, phase);
    if (!phase_serves(phase))
        return work;
    if (has(duty, ROLE_JOURNAL))
        work += step_journal(duty, phase);
    if (has(duty, ROLE_FOLLOWER))
        work += step_follower(duty, phase);
    return work;
}

static bool is_over(const struct duty *duty)
{
    return duty->live == 0 || phase_now(&duty->node->phase) == PHASE_FAILED;
}

/* The wake causes that the thread wants while it sleeps. */
static uint32_t wanted(const struct duty *duty)
{
    struct node *node = duty->node;
    uint32_t causes = PARK_ALWAYS;

    if (has(duty, ROLE_NET)) {
        causes |= PARK_INPUT;
        if (net_awaits_answers(net_of(duty)->net) || (is_first(duty) && !is_announced(duty->node)))
            causes |= PARK_DURABLE;
    }
    if (!phase_serves(phase_now(&node->phase)))
        return causes;
    if (has(duty, ROLE_MATCHER) && phase_now(&node->phase) < PHASE_OPEN)
        causes |= PARK_DURABLE;
    else if (has(duty, ROLE_MATCHER))
        causes |= matcher_is_held(&node->core.matcher) ? PARK_INPUT | PARK_DURABLE : PARK_INPUT;
    if (has(duty, ROLE_FOLLOWER))
        causes |= PARK_INPUT | PARK_DURABLE;
    if (has(duty, ROLE_JOURNAL)) {
        uint64_t bytes = journal_wanted_bytes(node->core.journal);
        if (bytes != UINT64_MAX)
            causes |= bytes > 1 ? PARK_BULK : PARK_RECORDS;
    }
    return causes;
}

static uint64_t timeout_ns(const struct duty *duty)
{
    struct node *node = duty->node;

    if (!phase_serves(phase_now(&node->phase)))
        return WAIT_NS;
    if (has(duty, ROLE_NET) && has(duty, ROLE_JOURNAL) && !journal_idle(node->core.journal))
        return BUSY_WAIT_NS; /* one thread: its sleep in the sockets does not see the disk */
    if (has(duty, ROLE_JOURNAL) && node->replicator != NULL)
        return replicator_wait_ns(node->replicator, has(duty, ROLE_NET) ? LOOK_NS : WAIT_NS);
    if (!has(duty, ROLE_MATCHER) || phase_now(&node->phase) < PHASE_OPEN)
        return WAIT_NS;
    uint64_t now_ns = clock_now_ns(&node->clock);
    uint64_t due_ns = matcher_deadline_ns(&node->core.matcher);
    if (due_ns <= now_ns) /* the journal has no room for the tick: sleep instead of spinning */
        return BUSY_WAIT_NS;
    return due_ns - now_ns < WAIT_NS ? due_ns - now_ns : WAIT_NS;
}

static void sleep_until_woken(struct duty *duty)
{
    uint64_t longest_ns = timeout_ns(duty);
    int failed = 0;

    if (has(duty, ROLE_NET)) {
        net_wait(net_of(duty)->net, longest_ns);
    } else if (has(duty, ROLE_JOURNAL)) {
        const struct replicator *replicator = duty->node->replicator;
        int file = replicator != NULL ? replicator_file(replicator) : duty->park.file;
        failed = disk_wait(duty->node->disk, file, longest_ns);
    } else {
        struct pollfd file = { .fd = duty->park.file, .events = POLLIN };
        struct timespec longest = { .tv_nsec = (long)longest_ns }; /* below a second */
        if (ppoll(&file, 1, &longest, NULL) < 0)
            failed = -errno;
    }
    if (failed != 0 && failed != -EINTR)
        lifecycle_fail(duty->node, NODE_EXIT_FAILED);
}

static void rest(struct duty *duty)
{
    if (duty->plan->spins) {
        for (int i = 0; i < SPIN_PAUSES; i++)
            __builtin_ia32_pause();
        return;
    }
    uint32_t causes = wanted(duty);
    park_begin(&duty->park, causes);
    /* An event between those two calls saw no sleeper, and may need a wake cause that was not
     * announced: a command that a full journal keeps in its ring. */
    if (turn(duty) == 0 && !is_over(duty) && (wanted(duty) & ~causes) == 0)
        sleep_until_woken(duty);
    park_end(&duty->park);
}

void duty_run(struct duty *duty)
{
    struct node *node = duty->node;

    /* relaxed: shown, decides nothing. */
    atomic_store_explicit(&duty->cpu_clock, duty_cpu_clock(), memory_order_relaxed);
    int failed = topology_bind(&node->topology, has(duty, ROLE_MATCHER));
    if (failed != 0) {
        log_line(LOG_ERROR, "configuration", "engine.core=%u: thread %s: %s", node->topology.core,
                 duty->plan->name, strerror(-failed));
        lifecycle_fail(node, NODE_EXIT_CONFIGURATION);
    } else if (has(duty, ROLE_JOURNAL)) {
        opening_recover(node);
    }
    while (!is_over(duty))
        if (turn(duty) == 0 && !is_over(duty))
            rest(duty);
}
