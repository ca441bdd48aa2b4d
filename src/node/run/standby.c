#include "node/run/standby.h"

#include <errno.h>
#include <stdio.h>

#include "base/log.h"
#include "node/run/cluster.h"
#include "node/run/lifecycle.h"
#include "node/run/opening.h"

#define MATCHER_TURN_NS UINT64_C(500000000)
#define NET_TURN_NS     UINT64_C(2000000000)
#define GIVE_UP_NS      UINT64_C(150000000)

/* ---- the matcher's side ---------------------------------------------------------------------- */

static uint32_t fail(struct node *node, int exit_code)
{
    lifecycle_fail(node, exit_code);
    return 0;
}

/* What core_stand_by or core_lead did not do. */
static uint32_t fail_opening(struct node *node, enum core_opening opening)
{
    if (opening == CORE_CAPACITY_TOO_SMALL) {
        log_line(LOG_ERROR, "configuration", "%s is below what the data directory uses",
                 option_row(node->core.short_option)->name);
        return fail(node, NODE_EXIT_CONFIGURATION);
    }
    if (opening == CORE_KEY_DIFFERS) {
        log_line(LOG_ERROR, "refused",
                 "signing.key is another key than the journal's; put that in its place");
        return fail(node, NODE_EXIT_REFUSED);
    }
    if (opening == CORE_DISK_FAILED)
        log_line(LOG_ERROR, "restart", "the file restart of the data directory could not be kept");
    else
        log_line(LOG_ERROR, "start", "memory: %s", strerror(ENOMEM));
    return fail(node, NODE_EXIT_FAILED);
}

uint32_t standby_begin(struct node *node)
{
    enum core_opening opening = core_stand_by(&node->core);

    poison_watch(&node->poison); /* this thread's, for the commands of its terms */
    if (opening != CORE_OPENED)
        return fail_opening(node, opening);
    return lifecycle_advance(node, PHASE_RECOVERED, PHASE_STANDBY);
}

void standby_say_diverged(uint64_t sequence)
{
    log_line(
        LOG_ERROR, "standby",
        "the state of this node is not the leader's at the hash (2015) behind sequence %lu: it "
        "ends and cannot lead",
        sequence);
}

/* Both images are kept when the process ends. */
static void diverge(struct node *node)
{
    /* relaxed: read when every role has ended. */
    atomic_store_explicit(&node->core.follower.diverged, true, memory_order_relaxed);
}

static uint32_t fail_following(struct node *node, int error)
{
    const struct following *following = &node->core.following;

    if (error == -EBADMSG && following->refused == REPLAY_rules_version &&
        replay_is_earlier(following->refused_version)) {
        log_line(LOG_WARN, "upgrade",
                 "the log goes on under rules_version %u (this binary has %d): this node begins "
                 "again, and waits",
                 following->refused_version, ENGINE_RULES_VERSION);
        return fail(node, NODE_EXIT_DEPOSED);
    }
    if (error == -EBADMSG && following->refused == REPLAY_rules_version) {
        log_line(LOG_ERROR, "refused",
                 "the log goes on under another rules_version (this binary has %d)",
                 ENGINE_RULES_VERSION);
        return fail(node, NODE_EXIT_REFUSED);
    }
    if (error == -EBADMSG && following->refused == REPLAY_effects_hash) {
        standby_say_diverged(engine_sequence(node->core.primary));
        diverge(node);
        return fail(node, NODE_EXIT_FAILED);
    }
    if (error == -EBADMSG && following->refused == REPLAY_layout_too_small) {
        log_line(LOG_ERROR, "configuration",
                 "the log has larger capacities than this process: start it again");
        return fail(node, NODE_EXIT_FAILED); /* recovery raises them */
    }
    log_line(LOG_ERROR, "standby", "the log was not applied behind sequence %lu: %s, refusal %d",
             engine_sequence(node->core.primary), strerror(-error), (int)following->refused);
    return fail(node, NODE_EXIT_FAILED);
}

/* Both engines at the end of the log have the same state. */
static bool engines_agree(const struct core *core)
{
    uint64_t primary[EFFECT_LANES], replica[EFFECT_LANES];

    engine_effects_lanes(core->primary, primary);
    engine_effects_lanes(core->replica, replica);
    return memcmp(primary, replica, sizeof primary) == 0;
}

static uint32_t take_over(struct node *node)
{
    struct core *core = &node->core;

    if (!engines_agree(core)) {
        diverge(node);
        log_line(LOG_ERROR, "standby", "the two engines differ at sequence %lu: it cannot lead",
                 engine_sequence(core->primary));
        return fail(node, NODE_EXIT_FAILED);
    }
    const struct replicator_lead *lead = replicator_lead(node->replicator);
    uint64_t sequence = engine_sequence(core->primary);
    alarm_watch_log(&core->matcher.alarm, &node->steward.is_full);
    enum core_opening opening = core_lead(core, lead->term, lead->body);
    if (opening == CORE_CLOCK_BEHIND)
        return 0; /* asked again: the lease bounds the wait */
    if (opening != CORE_OPENED)
        return fail_opening(node, opening);
    opening_judge_log(node, sequence);
    core->matcher.sequencer.vote = replicator_vote_board(node->replicator);
    node->opened_sequence = engine_sequence(core->primary);
    /* Release: the journal's thread sees what was published before (pairs: standby_replicate). */
    atomic_store_explicit(&node->is_authored, true, memory_order_release);
    park_wake(&node->journal->park, PARK_ALWAYS);
    return 1;
}

/* Before a handover. */
static uint32_t hold(struct node *node)
{
    /* relaxed: its own. */
    if (atomic_load_explicit(&node->is_held, memory_order_relaxed))
        return 0;
    staged_restart_leave(&node->core.matcher.staged_restart, STAGED_RESTART_ALL);
    node->core.matcher.sequencer.vote = NULL;
    /* Release: the journal's thread sees all that was published (pairs: standby_replicate). */
    atomic_store_explicit(&node->is_held, true, memory_order_release);
    park_wake(&node->journal->park, PARK_ALWAYS);
    return 1;
}

uint32_t standby_match(struct node *node, enum phase_name phase)
{
    if (phase == PHASE_HANDING)
        return hold(node);
    /* relaxed, both: its own. The next leader's is_authored publishes that nothing is held. */
    atomic_store_explicit(&node->is_held, false, memory_order_relaxed);
    if (atomic_load_explicit(&node->is_authored, memory_order_relaxed))
        return 0;
    int work = core_follow_log(&node->core);
    if (work < 0)
        return fail_following(node, work);
    if (phase == PHASE_TAKING && work == 0 && core_is_current(&node->core))
        return take_over(node);
    return (uint32_t)work;
}

bool standby_is_held(struct node *node)
{
    /* relaxed: a flag alone. */
    bool halves = atomic_load_explicit(&node->steward.halves, memory_order_relaxed);

    return throttle_holds(&node->throttle, halves, engine_sequence(node->core.primary),
                          clock_monotonic_ns(&node->clock)) ||
           replicator_is_stuck(node->replicator);
}

/* ---- the journal's side ---------------------------------------------------------------------- */

/* A leader first lets its net threads say that outcomes are unknown. */
static uint32_t end(struct node *node)
{
    const struct replicator_end *end = replicator_end(node->replicator);
    uint64_t now_ns = clock_monotonic_ns(&node->clock);

    if (node->given_up_ns == 0)
        node->given_up_ns = now_ns;
    if (replicator_gave_up(node->replicator) && now_ns - node->given_up_ns < GIVE_UP_NS)
        return 0;
    if (end->is_diverged)
        diverge(node);
    log_line(end->exit_code == NODE_EXIT_DEPOSED ? LOG_WARN : LOG_ERROR, "cluster", "%s",
             end->text);
    return fail(node, end->exit_code);
}

/* Whether every thread whose work a leader vouches for has turned lately: one that hangs loses the
 * session. This thread has. */
static bool threads_turn(struct node *node)
{
    uint64_t now_ns = clock_monotonic_ns(&node->clock);
    bool turn = true;

    for (uint32_t i = 0; i < node->topology.thread_count; i++) {
        struct duty *duty = &node->duties[i];
        uint64_t turns = published_get(&duty->turns);
        bool is_net = (duty->plan->roles & ROLE_MATCHER) == 0;
        if (turns != duty->turns_seen) {
            duty->turns_seen = turns;
            duty->turned_ns = now_ns;
        } else if (now_ns - duty->turned_ns > (is_net ? NET_TURN_NS : MATCHER_TURN_NS)) {
            turn = false;
        }
    }
    return turn;
}

/* The lead is given away: what follows comes from the log. The matcher holds. */
static uint32_t stand_by_again(struct node *node)
{
    if (following_begin_again(&node->core.following, node->core.journal) != 0) {
        log_line(LOG_ERROR, "standby", "memory: %s", strerror(ENOMEM));
        return fail(node, NODE_EXIT_FAILED);
    }
    head_maker_rest(&node->core.follower.heads, true);
    /* relaxed: published by the move. */
    atomic_store_explicit(&node->is_authored, false, memory_order_relaxed);
    atomic_store_explicit(&node->announced, false, memory_order_relaxed);
    atomic_store_explicit(&node->stands_by, false, memory_order_relaxed);
    return lifecycle_advance(node, PHASE_HANDING, PHASE_STANDBY);
}

/* The last sequence before a 2015 on which the cluster agrees. */
static uint64_t agreed_hash(struct node *node)
{
    /* relaxed: this thread's. */
    return atomic_load_explicit(&replicator_vote_board(node->replicator)->agreed,
                                memory_order_relaxed);
}

uint32_t standby_replicate(struct node *node, enum phase_name phase)
{
    struct replicator *replicator = node->replicator;
    struct replicator_words words = {
        .applied = atomic_load_explicit(&node->core.follower.applied, memory_order_acquire),
        .is_authored = atomic_load_explicit(&node->is_authored, memory_order_acquire),
        .is_held =
            phase == PHASE_HANDING && atomic_load_explicit(&node->is_held, memory_order_acquire),
        .is_alive = threads_turn(node),
    };
    uint64_t agreed = agreed_hash(node);
    cluster_accept_mail(node);
    int work = replicator_step(replicator, &words);

    if (work < 0)
        return end(node);
    if (agreed_hash(node) != agreed && node->matcher != node->journal)
        park_wake(&node->matcher->park, PARK_ALWAYS);
    if (phase == PHASE_STANDBY && replicator_may_author(replicator))
        (void)lifecycle_advance(node, PHASE_STANDBY, PHASE_TAKING);
    if (phase == PHASE_TAKING && replicator_leads(replicator)) {
        node->core.recovered.boot = replicator_lead(replicator)->term;
        (void)lifecycle_advance(node, PHASE_TAKING, PHASE_OPEN);
    }
    if (phase == PHASE_HANDING && !replicator_leads(replicator))
        return stand_by_again(node);
    return (uint32_t)work;
}
