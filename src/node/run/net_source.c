#include "node/run/net_source.h"

#include "base/log.h"
#include "node/run/alarm_page.h"
#include "node/run/cluster_page.h"
#include "node/run/handover.h"
#include "node/run/metrics_page.h"

static uint64_t source_durable(void *context)
{
    struct node *node = context;
    return phase_serves(phase_now(&node->phase)) ? journal_durable_seq(node->core.journal) : 0;
}

static uint64_t source_applied(void *context)
{
    struct node *node = context;
    if (!phase_serves(phase_now(&node->phase)))
        return 0;
    return atomic_load_explicit(&node->core.follower.applied, memory_order_acquire);
}

static bool source_ready(void *context)
{
    struct node *node = context;
    enum phase_name phase = phase_now(&node->phase);
    return phase >= PHASE_STANDBY && phase <= PHASE_DRAINING; /* requests received are answered */
}

/* The node clock less the time of what it shows. */
static uint64_t age_ns(const struct node *node)
{
    uint64_t now_ns = clock_now_ns(&node->clock);
    uint64_t shown_ns =
        atomic_load_explicit(&node->core.follower.applied_time_ns, memory_order_relaxed);

    return now_ns > shown_ns ? now_ns - shown_ns : 0;
}

static bool is_replica(enum phase_name phase)
{
    return phase_serves(phase) && phase < PHASE_OPEN;
}

/* What a serving node of a cluster is beside the others. */
static void cluster_facts(const struct node *node, enum phase_name phase, struct net_facts *facts)
{
    struct net_standing standing = { .staleness_ns = age_ns(node) };
    uint64_t age_ms = net_standing_staleness_ms(&standing);

    facts->is_standby = is_replica(phase);
    facts->is_stale = facts->is_standby
                          ? age_ms > config_number(node->options, OPTION_cluster_staleness_ms)
                          : !replicator_is_fresh(node->replicator);
    if ((facts->is_standby || facts->is_stale) && age_ms > facts->lag_ms)
        facts->lag_ms = age_ms;
    if (facts->is_stale)
        facts->not_ready |= NET_NOT_FOLLOWER;
}

static void source_facts(void *context, struct net_facts *facts)
{
    struct node *node = context;
    enum phase_name phase = phase_now(&node->phase);
    int64_t difference_ns = clock_difference_ns(&node->clock);
    int64_t bound_ns = CLOCK_DIFFERENCE_MAX_NS;

    *facts = (struct net_facts){ .clock_difference_ms = difference_ns / 1000000 };
    if (difference_ns > bound_ns || difference_ns < -bound_ns)
        facts->not_ready |= NET_NOT_CLOCK;
    /* relaxed: shown only. */
    facts->maintenance_ns = atomic_load_explicit(&node->maintenance_ns, memory_order_relaxed);
    facts->maintains =
        facts->maintenance_ns != 0 && facts->maintenance_ns <= clock_now_ns(&node->clock);
    if (phase != PHASE_OPEN)
        facts->not_ready |= NET_NOT_ACCEPTING;
    if (!phase_serves(phase)) {
        facts->not_ready |= NET_NOT_RECOVERED;
        facts->replay_percent = recover_percent(&node->core.engines);
        facts->applied = atomic_load_explicit(&node->core.engines.replayed, memory_order_relaxed);
        return;
    }
    struct follower *follower = &node->core.follower;
    facts->clock_gap_ns = stopped_clock_gap_ns(&node->core.matcher.stopped_clock);
    if (facts->clock_gap_ns != 0)
        facts->not_ready |= NET_NOT_CLOCK_GAP;
    facts->replay_percent = 100;
    facts->durable = journal_durable_seq(node->core.journal);
    facts->applied = atomic_load_explicit(&follower->applied, memory_order_acquire);
    facts->applied_time_ns = atomic_load_explicit(&follower->applied_time_ns, memory_order_relaxed);
    facts->lag_ms = follower_lag_ns(follower) / 1000000;
    facts->history_from = published_get(&follower->sink.history->keep.from);
    /* relaxed: shown only. */
    facts->fund_deficit =
        atomic_load_explicit(&follower->exchange_counters.fund_cash, memory_order_relaxed) < 0;
    facts->profits_wait =
        atomic_load_explicit(&follower->exchange_counters.solvency, memory_order_relaxed) < 0;
    if (facts->lag_ms > config_number(node->options, OPTION_node_follower_lag_max))
        facts->not_ready |= NET_NOT_FOLLOWER;
    if (segment_pool_ready(node->core.pool) == 0 || alarm_wants_segments(node->core.pool))
        facts->not_ready |= NET_NOT_SEGMENTS;
    if (atomic_load_explicit(&follower->invariants_failed, memory_order_relaxed) != 0)
        facts->not_ready |= NET_NOT_INVARIANT;
    if (node->replicator != NULL)
        cluster_facts(node, phase, facts);
}

static size_t source_metrics(void *context, char *text, size_t capacity)
{
    size_t used = metrics_page_write(context, text, capacity);

    return used + alarm_page_write(context, text + used, capacity - used);
}

static size_t source_cluster(void *context, char *text, size_t capacity)
{
    return cluster_page_write(context, text, capacity);
}

static enum net_handover source_handover(void *context, const char *node, bool upgrades,
                                         char to[CLUSTER_NODE_BYTES + 1])
{
    return handover_ask(context, node, upgrades, to);
}

static void source_maintain(void *context, uint64_t at_ns)
{
    struct node *node = context;

    if (at_ns != 0)
        log_line(LOG_INFO, "node", "maintenance is announced, maintenance_at_ns=%lu", at_ns);
    else
        log_line(LOG_INFO, "node", "no maintenance is announced any more");
    /* relaxed: a number; nothing is ordered by it (pairs: source_facts). */
    atomic_store_explicit(&node->maintenance_ns, at_ns, memory_order_relaxed);
}

static bool source_leads(void *context, const char **leader)
{
    struct node *node = context;
    enum phase_name phase = phase_now(&node->phase);
    bool has_phase = phase == PHASE_OPEN || phase == PHASE_DRAINING;

    if (has_phase && replicator_is_fresh(node->replicator))
        return true;
    *leader = has_phase ? NULL : replicator_leader(node->replicator);
    return false;
}

static bool source_is_fresh(void *context)
{
    struct node *node = context;
    enum phase_name phase = phase_now(&node->phase);

    return phase < PHASE_OPEN || replicator_is_fresh(node->replicator);
}

static bool source_gave_up(void *context)
{
    const struct node *node = context;

    return replicator_gave_up(node->replicator);
}

static void source_standing(void *context, struct net_standing *standing)
{
    struct node *node = context;
    enum phase_name phase = phase_now(&node->phase);

    *standing = (struct net_standing){ .term = replicator_term(node->replicator),
                                       .is_replica = is_replica(phase) };
    if (standing->is_replica)
        standing->staleness_ns = age_ns(node);
}

struct net_source net_source_of(struct node *node)
{
    return (struct net_source){
        .leads = node->replicator != NULL ? source_leads : NULL,
        .is_fresh = node->replicator != NULL ? source_is_fresh : NULL,
        .standing = node->replicator != NULL ? source_standing : NULL,
        .gave_up = node->replicator != NULL ? source_gave_up : NULL,
        .maintain = source_maintain,
        .context = node,
        .durable = source_durable,
        .applied = source_applied,
        .ready = source_ready,
        .facts = source_facts,
        .metrics = source_metrics,
        .cluster = node->replicator != NULL ? source_cluster : NULL,
        .handover = node->replicator != NULL ? source_handover : NULL,
    };
}
