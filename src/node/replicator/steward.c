#include "node/replicator/steward.h"

#include <stdio.h>

#include "base/log.h"
#include "repl/etcd_ask.h"

#define FEW_NS   UINT64_C(10000000000)
#define AGAIN_NS UINT64_C(60000000000) /* between two moves of etcd's leader, or two reclaims */
#define LONG_NS  UINT64_C(60000000000) /* for a compaction, and a member's defragmentation */

enum { LOOKS = 8, FEWEST = 2 };

/* ---- the survey as words --------------------------------------------------------------------- */

static void publish(struct steward *steward)
{
    uint64_t words[STEWARD_WORDS] = { 0 };
    uint64_t version = atomic_load_explicit(&steward->version, memory_order_relaxed);

    memcpy(words, &steward->survey, sizeof steward->survey);
    atomic_store_explicit(&steward->version, version + 1, memory_order_relaxed);
    /* Release: a reader that sees a word sees the odd version too (pairs: steward_survey). */
    for (size_t i = 0; i < STEWARD_WORDS; i++)
        atomic_store_explicit(&steward->words[i], words[i], memory_order_release);
    /* Release: every word before the even version (pairs: steward_survey). */
    atomic_store_explicit(&steward->version, version + 2, memory_order_release);
}

bool steward_survey(const struct steward *steward, struct survey *survey)
{
    uint64_t words[STEWARD_WORDS];

    for (int look = 0; look < LOOKS; look++) {
        uint64_t before = atomic_load_explicit(&steward->version, memory_order_acquire);
        /* Acquire: the words before the second look at the version (pairs: publish). */
        for (size_t i = 0; i < STEWARD_WORDS; i++)
            words[i] = atomic_load_explicit(&steward->words[i], memory_order_acquire);
        uint64_t after = atomic_load_explicit(&steward->version, memory_order_relaxed);
        if (before == 0)
            return false;
        if (before != after || before % 2 != 0)
            continue;
        memcpy(survey, words, sizeof *survey);
        return true;
    }
    return false;
}

/* ---- alarms ---------------------------------------------------------------------------------- */

static void watch_nodes(struct steward *steward, uint64_t now_ns)
{
    uint32_t current = survey_current(&steward->survey);

    published_set(&steward->current, current);
    if (current >= FEWEST) {
        if (steward->is_few)
            log_line(LOG_WARN, "cluster", "current nodes: %u again", current);
        steward->few_ns = 0;
        steward->is_few = false;
        return;
    }
    if (steward->few_ns == 0)
        steward->few_ns = now_ns;
    if (steward->is_few || now_ns - steward->few_ns < FEW_NS)
        return;
    steward->is_few = true;
    log_line(LOG_ERROR, "cluster",
             "fewer than two nodes are current for 10 s (%u): the next failure ends the service",
             current);
}

static void watch_clocks(struct steward *steward)
{
    const struct cluster_node *first;
    uint32_t off = survey_clocks_off(&steward->survey, steward->config.clock_ns, &first);

    if (off == steward->off)
        return;
    steward->off = off;
    if (off == 0)
        log_line(LOG_WARN, "cluster", "the clocks of all nodes agree again");
    else
        log_line(LOG_ERROR, "cluster",
                 "nodes that are the last to lead, for their clocks: %u, the first is %s, which "
                 "differs by %ld ms",
                 off, first->node, first->clock_difference_ns / 1000000);
}

static uint32_t state_of(uint32_t percent)
{
    static const uint32_t states[] = { STEWARD_CLOSED_PERCENT, STEWARD_HALF_PERCENT,
                                       STEWARD_ALARM_PERCENT };
    for (unsigned i = 0; i < CC_COUNT(states); i++)
        if (percent >= states[i])
            return states[i];
    return 0;
}

static void watch_database(struct steward *steward)
{
    uint32_t percent = survey_used_percent(&steward->survey, steward->config.quota);
    uint32_t state = state_of(percent);

    published_set(&steward->used_percent, percent);
    /* relaxed: each is a flag alone. */
    atomic_store_explicit(&steward->halves, state >= STEWARD_HALF_PERCENT, memory_order_relaxed);
    atomic_store_explicit(&steward->is_full, state >= STEWARD_CLOSED_PERCENT, memory_order_relaxed);
    if (state == steward->told)
        return;
    log_line(state > steward->told ? LOG_ERROR : LOG_WARN, "cluster",
             "etcd's database uses %u %% of cluster.etcd_quota, %s %u %%: frames stay in it until "
             "the vault has them",
             percent, state > steward->told ? "above" : "no more above",
             state > steward->told ? state : steward->told);
    steward->told = state;
}

static void watch_etcd(struct steward *steward)
{
    uint64_t leader = survey_etcd_leader(&steward->survey);

    if (leader == 0 || leader == steward->etcd_leader)
        return;
    if (steward->etcd_leader != 0)
        published_add(&steward->etcd_leaders, 1);
    steward->etcd_leader = leader;
}

static bool has_ended(const struct steward *steward)
{
    return atomic_load_explicit(&steward->ends, memory_order_relaxed); /* a flag alone */
}

/* False: the node ends, and not all was asked. */
static bool look(struct steward *steward)
{
    struct survey *survey = &steward->survey;

    survey_keys(survey, steward->config.cluster, steward->any);
    if (!has_ended(steward))
        survey_members(survey, steward->any);
    for (uint32_t i = 0; i < steward->each_count && !has_ended(steward); i++) {
        uint64_t member = survey_status(survey, steward->each[i]);
        if (member != 0)
            steward->at[i] = member;
    }
    survey->taken_ns = clock_now_ns(steward->config.clock);
    return !has_ended(steward);
}

/* ---- who belongs to the cluster -------------------------------------------------------------- */

/* The key of this node's membership: it stays when the node is gone, until `perp cluster leave`. */
static void join(struct steward *steward)
{
    const struct survey *survey = &steward->survey;
    const char *node = steward->config.node;
    char name[8 + CLUSTER_LABEL_BYTES], text[64];
    struct etcd_done done;

    if (!survey_has_node(survey, node) || survey_has_joined(survey, node) ||
        survey->joined_more != 0)
        return;
    snprintf(name, sizeof name, "member/%s", node);
    int count = snprintf(text, sizeof text, "joined_at_ns=%lu by=%s",
                         clock_now_ns(steward->config.clock), node);
    struct repl_key key = repl_key_of(steward->config.cluster, name);
    const struct etcd_compare is_new = { etcd_text(key.text), ETCD_CREATE_REVISION, 0 };
    const struct etcd_op put = { .verb = ETCD_PUT,
                                 .key = etcd_text(key.text),
                                 .value = { text, (size_t)count } };
    const struct etcd_transaction transaction = {
        .compares = &is_new, .compare_count = 1, .then = &put, .then_count = 1
    };
    int error = etcd_ask_transaction(steward->any, &transaction, SURVEY_WAIT_NS, &done);
    if (error == 0 && done.result == ETCD_OK && done.succeeded)
        log_line(LOG_INFO, "cluster", "this node is a member of the cluster from now on");
}

/* ---- snapshots of the vault ------------------------------------------------------------------ */

bool steward_offer(struct steward *steward, const struct cluster_snapshot *snapshot,
                   bool is_in_vault)
{
    /* Acquire: the step has read the one before (pairs: put_offer). */
    if (atomic_load_explicit(&steward->is_offered, memory_order_acquire))
        return false;
    steward->offer = *snapshot;
    steward->is_in_vault = is_in_vault;
    /* Release: the offer is whole (pairs: put_offer). */
    atomic_store_explicit(&steward->is_offered, true, memory_order_release);
    return true;
}

/* False: it is asked again. What etcd refuses for good is not: whose
 * offer it was makes another one. */
static bool ask_offer(struct steward *steward, const struct etcd_transaction *transaction,
                      bool *is_put)
{
    struct etcd_done done = { .text = "" };
    int error = etcd_ask_transaction(steward->any, transaction, SURVEY_WAIT_NS, &done);

    *is_put = error == 0 && done.result == ETCD_OK && done.succeeded;
    if (error == 0 && (done.result == ETCD_REFUSED || done.result == ETCD_TOO_LARGE)) {
        log_line(LOG_ERROR, "vault", "snapshot=%lu: etcd refuses its key: %s",
                 steward->offer.sequence, done.text);
        /* relaxed: a flag alone. */
        atomic_store_explicit(&steward->is_refused, true, memory_order_relaxed);
        return true;
    }
    return error == 0 && done.result == ETCD_OK;
}

/* A key that is there already says the same: another node was first. One that is older than the
 * newest helps nobody, and etcd refuses a put among the keys that are deleted with it. */
static bool put_snapshot(struct steward *steward, const struct etcd_bytes *row)
{
    const struct survey *survey = &steward->survey;
    const char *cluster = steward->config.cluster;
    bool is_put, is_more = survey->snapshot_count == SURVEY_SNAPSHOTS;
    struct repl_key key = repl_key_snapshot(cluster, steward->offer.sequence);
    struct repl_key from = repl_key_snapshot(cluster, 0);
    struct repl_key end =
        repl_key_snapshot(cluster, survey->snapshot_sequence[SURVEY_SNAPSHOTS - 2]);
    const struct etcd_compare is_new = { etcd_text(key.text), ETCD_CREATE_REVISION, 0 };
    const struct etcd_op changes[] = {
        { .verb = ETCD_PUT, .key = etcd_text(key.text), .value = *row },
        { .verb = ETCD_DELETE, .key = etcd_text(from.text), .end = etcd_text(end.text) }
    };
    const struct etcd_transaction transaction = {
        .compares = &is_new, .compare_count = 1, .then = changes, .then_count = is_more ? 2 : 1
    };

    if (survey->snapshot_count != 0 && steward->offer.sequence <= survey->snapshot_sequence[0]) {
        log_line(LOG_INFO, "vault", "snapshot=%lu has no key: the vault has snapshot=%lu",
                 steward->offer.sequence, survey->snapshot_sequence[0]);
        return true;
    }
    bool is_through = ask_offer(steward, &transaction, &is_put);
    if (is_put)
        log_line(LOG_INFO, "vault", "snapshot=%lu frame=%lu bytes=%lu", steward->offer.sequence,
                 steward->offer.frame, steward->offer.bytes);
    return is_through;
}

static bool put_image(struct steward *steward, const struct etcd_bytes *row)
{
    char name[8 + CLUSTER_LABEL_BYTES];
    bool is_put;

    snprintf(name, sizeof name, "image/%s", steward->config.node);
    struct repl_key key = repl_key_of(steward->config.cluster, name);
    const struct etcd_op put = { .verb = ETCD_PUT, .key = etcd_text(key.text), .value = *row };
    const struct etcd_transaction transaction = { .then = &put, .then_count = 1 };
    return ask_offer(steward, &transaction, &is_put);
}

/* What etcd did not take is put in the next step. */
static void put_offer(struct steward *steward)
{
    uint8_t bytes[CLUSTER_SNAPSHOT_BYTES];
    const struct etcd_bytes row = { bytes, sizeof bytes };

    if (!atomic_load_explicit(&steward->is_offered, memory_order_acquire))
        return;
    cluster_row_snapshot_encode(bytes, &steward->offer);
    bool is_through = steward->is_in_vault ? put_snapshot(steward, &row) : put_image(steward, &row);
    if (is_through)
        atomic_store_explicit(&steward->is_offered, false, memory_order_release);
}

/* ---- where etcd's leader is ------------------------------------------------------------------ */

/* If both leaders were on one machine, its end would cost two elections, one after the other. */
static void place_leader(struct steward *steward, uint64_t now_ns)
{
    struct etcd_done done = { .text = "" };
    uint64_t member =
        survey_place_of_leader(&steward->survey, steward->config.node, steward->at[0]);
    const struct etcd_request request = { .kind = ETCD_MOVE_LEADER, .member = member };

    if (member == 0 || now_ns < steward->place_ns)
        return;
    steward->place_ns = now_ns + AGAIN_NS;
    int error = etcd_ask(steward->each[0], &request, SURVEY_WAIT_NS, &done);
    if (error == 0 && done.result == ETCD_OK)
        log_line(LOG_INFO, "cluster",
                 "moved etcd's leader from the member of this machine, whose node leads, to %016lx",
                 member);
    else
        log_line(LOG_WARN, "cluster",
                 "etcd's leader is on the machine of the node that leads and was not moved: %s; "
                 "tried again in 60 s",
                 error == 0 ? done.text : "no answer");
}

/* ---- a full etcd ----------------------------------------------------------------------------- */

/* Asks; false when it was not done, which is logged. */
static bool do_for_room(struct etcd *etcd, const struct etcd_request *request, const char *what)
{
    struct etcd_done done = { .text = "" };
    int error = etcd_ask(etcd, request, LONG_NS, &done);

    /* What was compacted before is as good. */
    if (error == 0 && (done.result == ETCD_OK || done.result == ETCD_COMPACTED))
        return true;
    log_line(LOG_ERROR, "cluster",
             "etcd is full and %s failed: %s; tried again in 60 s, and an operator may do it", what,
             error == 0 ? done.text : "no answer");
    return false;
}

/* All old revisions: a reader of one begins again with the newest. */
static bool compact(struct steward *steward)
{
    struct repl_key key = repl_key_of(steward->config.cluster, "leader");
    struct etcd_done done;

    if (etcd_ask_key(steward->any, etcd_text(key.text), SURVEY_WAIT_NS, &done) != 0 ||
        done.result != ETCD_OK)
        return false;
    const struct etcd_request request = { .kind = ETCD_COMPACT,
                                          .revision = done.revision,
                                          .is_whole = true };
    return do_for_room(steward->any, &request, "its compaction");
}

/* One member after the other, etcd's leader last: each stops meanwhile. */
static bool defragment(struct steward *steward, uint64_t leader)
{
    const struct etcd_request request = { .kind = ETCD_DEFRAGMENT };

    for (int turn = 0; turn < 2; turn++)
        for (uint32_t i = 0; i < steward->each_count; i++)
            if ((steward->at[i] == leader) == (turn == 1) &&
                (has_ended(steward) ||
                 !do_for_room(steward->each[i], &request, "the defragmentation of a member")))
                return false;
    return true;
}

/* Puts are refused until the alarm is disarmed, which etcd does not do by itself when there is
 * room. What is still too much raises it again. */
static void reclaim(struct steward *steward, uint64_t now_ns)
{
    const struct survey *survey = &steward->survey;
    const char *node = survey_reclaimer(survey);

    if (!survey_is_full(survey) || node == NULL || strcmp(node, steward->config.node) != 0 ||
        now_ns < steward->reclaim_ns)
        return;
    steward->reclaim_ns = now_ns + AGAIN_NS;
    log_line(LOG_ERROR, "cluster",
             "etcd is full and takes nothing: it is compacted, defragmented and disarmed");
    bool is_done = compact(steward) && defragment(steward, survey_etcd_leader(survey));
    for (uint32_t i = 0; i < survey->member_count && is_done; i++) {
        const struct etcd_request request = { .kind = ETCD_DISARM,
                                              .member = survey->members[i].id };
        is_done = do_for_room(steward->any, &request, "disarming its alarm");
    }
    if (is_done)
        log_line(LOG_WARN, "cluster", "etcd was full and takes puts again");
}

/* ---- the step -------------------------------------------------------------------------------- */

uint32_t steward_step(struct steward *steward)
{
    uint64_t now_ns = clock_monotonic_ns(steward->config.clock);

    if (now_ns < steward->due_ns)
        return 0;
    if (!look(steward))
        return 0;
    publish(steward);
    watch_etcd(steward);
    if (steward->survey.has_answer) {
        published_set(&steward->snapshot_sequence,
                      steward->survey.snapshot_count == 0 ? 0 : steward->survey.snapshot.sequence);
        watch_nodes(steward, now_ns);
        watch_clocks(steward);
        watch_database(steward);
        reclaim(steward, now_ns);
        join(steward);
        put_offer(steward);
        place_leader(steward, now_ns);
    }
    steward->due_ns = clock_monotonic_ns(steward->config.clock) + STEWARD_STEP_NS;
    return 1;
}

void steward_ask_end(struct steward *steward)
{
    /* relaxed: a flag alone. */
    atomic_store_explicit(&steward->ends, true, memory_order_relaxed);
}

void steward_end(struct steward *steward)
{
    if (steward->any != NULL)
        etcd_close(steward->any);
    for (uint32_t i = 0; i < steward->each_count; i++)
        etcd_close(steward->each[i]);
    steward->any = NULL;
    steward->each_count = 0;
}
