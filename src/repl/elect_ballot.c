/* elect_ballot.c - an election: rank, term, one transaction; and the handover of a lead to another
 * node (replication.md, Session and election). */
#include <stdio.h>

#include "repl/elect_parts.h"
#include "repl/lateness.h"

/* A node whose clock is off is a candidate later than those whose clocks are right. */
static bool had_others_time(const struct elect *elect, uint64_t now_ns)
{
    uint64_t wait_ns = elect->status.clock_wait_ns;

    return wait_ns == 0 || (elect->leaderless_ns != 0 && now_ns - elect->leaderless_ns >= wait_ns);
}

static bool is_fit(const struct elect *elect)
{
    return elect->status.is_current && elect->status.is_alive;
}

static bool may_stand(const struct elect *elect, uint64_t now_ns)
{
    return elect->state == ELECT_FOLLOWS && elect->is_identified && elect->watches &&
           !elect->has_leader && elect->is_shown && elect->config.is_candidate && is_fit(elect) &&
           had_others_time(elect, now_ns);
}

/* The gets of ask_rank. */
enum { OF_NODES, OF_HANDOVER, OF_UPGRADE };

/* The nodes, to whom a leader handed over, and whether it upgrades, at one revision. */
static void ask_rank(struct elect *elect)
{
    struct repl_key key = repl_key_of(elect->config.cluster, "node/");
    struct repl_key end = repl_key_of(elect->config.cluster, "node/~");
    struct repl_key handover = repl_key_of(elect->config.cluster, "handover");
    struct repl_key upgrade = repl_key_of(elect->config.cluster, "upgrade");
    const struct etcd_op gets[] = {
        [OF_NODES] = { .verb = ETCD_GET, .key = etcd_text(key.text), .end = etcd_text(end.text) },
        [OF_HANDOVER] = { .verb = ETCD_GET, .key = etcd_text(handover.text) },
        [OF_UPGRADE] = { .verb = ETCD_GET, .key = etcd_text(upgrade.text) },
    };
    const struct etcd_transaction transaction = { .then = gets, .then_count = CC_COUNT(gets) };
    const struct etcd_request request = { .kind = ETCD_TRANSACTION,
                                          .life_ns = ELECT_REQUEST_LIFE_NS,
                                          .transaction = &transaction };
    (void)elect_ask(elect, ASK_RANK, STEP_RANK, &request);
}

/* For how long this node leaves the lead to that one for its clock's sake, if that may lead or will
 * as soon as it has read on. */
static uint64_t clock_wait(const struct elect *elect, const struct cluster_node *node)
{
    const struct elect_status *status = &elect->status;

    if (!node->is_candidate || !(node->state == CLUSTER_CURRENT || node->state == CLUSTER_BEHIND))
        return 0;
    if (!status->is_judged)
        return node->is_judged ? ELECT_UNJUDGED_NS : 0;
    bool is_better = status->clock_wait_ns != 0 && lateness_off(node->clock_difference_ns) <
                                                       lateness_off(status->clock_difference_ns);
    return is_better ? ELECT_CLOCK_NS : 0;
}

static void give_up(struct elect *elect, uint64_t now_ns)
{
    if (elect->state == ELECT_STANDS)
        elect_move(elect, ELECT_FOLLOWS);
    elect->stands_ns = 0;
    elect->again_ns = now_ns + ELECT_RETRY_NS;
}

/* Whether an upgrade keeps the lead for nodes of a later rules_version than this one's. */
static bool is_kept_for_others(struct elect *elect, const struct etcd_done *done)
{
    uint64_t version = 0;

    elect->was_upgraded = false;
    elect->upgrade_revision = 0;
    for (uint32_t i = 0; i < done->row_count; i++) {
        if (done->rows[i].op != OF_UPGRADE)
            continue;
        elect->upgrade_revision = done->rows[i].mod_revision;
        elect->was_upgraded = cluster_row_term_decode(&version, done->rows[i].value);
    }
    return elect->was_upgraded && elect->config.rules_version <= version;
}

/* Whether a node of an earlier rules_version may lead, and no upgrade was ordered: a log is not
 * taken to a later one by chance. */
static bool is_of_earlier(const struct elect *elect, const struct cluster_node *node)
{
    return !elect->was_upgraded && node->is_candidate && node->state == CLUSTER_CURRENT &&
           node->rules_version < elect->config.rules_version;
}

/* Nodes that may lead and come before this one by name; the one that was handed the lead comes
 * before all of them. A node whose clock is off, or is not judged, waits for one that is known to
 * be better. */
static void done_rank(struct elect *elect, const struct etcd_done *done, uint64_t now_ns)
{
    uint64_t wait_ns = 0, clock_ns = 0;

    if (is_kept_for_others(elect, done)) {
        give_up(elect, now_ns);
        return;
    }
    elect->was_handed = false;
    for (uint32_t i = 0; i < done->row_count; i++) {
        struct etcd_bytes value = done->rows[i].value;
        struct cluster_handover handover;
        struct cluster_node node;
        bool is_node = done->rows[i].op == OF_NODES && cluster_row_node_decode(&node, value);
        if (is_node && is_of_earlier(elect, &node)) {
            give_up(elect, now_ns);
            return;
        }
        if (is_node && node.is_candidate && node.state == CLUSTER_CURRENT &&
            strcmp(node.node, elect->config.node) < 0)
            wait_ns += ELECT_RANK_NS;
        uint64_t longer_ns = is_node ? clock_wait(elect, &node) : 0;
        if (longer_ns > clock_ns)
            clock_ns = longer_ns;
        if (done->rows[i].op != OF_HANDOVER || !cluster_row_handover_decode(&handover, value))
            continue;
        elect->was_handed = true;
        wait_ns = strcmp(handover.node, elect->config.node) == 0 ? 0 : wait_ns + ELECT_HANDED_NS;
    }
    elect->stands_ns = now_ns + wait_ns + clock_ns;
}

static void ask_stand(struct elect *elect)
{
    struct repl_key leader_key = repl_key_of(elect->config.cluster, "leader");
    struct repl_key term_key = repl_key_of(elect->config.cluster, "term");
    struct repl_key handover_key = repl_key_of(elect->config.cluster, "handover");
    struct repl_key upgrade_key = repl_key_of(elect->config.cluster, "upgrade");
    struct cluster_leader leader = {
        .term = elect->term,
        .rules_version = elect->config.rules_version,
        .began_ns = elect->status.wall_ns,
    };
    uint8_t value[CLUSTER_LEADER_BYTES], term[CLUSTER_TERM_BYTES];
    snprintf(leader.node, sizeof leader.node, "%s", elect->config.node);
    snprintf(leader.public_address, sizeof leader.public_address, "%s",
             elect->config.public_address);
    snprintf(leader.admin_address, sizeof leader.admin_address, "%s", elect->config.admin_address);
    cluster_row_leader_encode(value, &leader);
    cc_store64(term, elect->term);
    const struct etcd_compare compares[] = {
        { etcd_text(leader_key.text), ETCD_VERSION, 0 },
        { etcd_text(term_key.text), ETCD_MOD_REVISION, elect->term_revision },
        { etcd_text(upgrade_key.text), ETCD_MOD_REVISION, elect->upgrade_revision },
    };
    const struct etcd_op puts[] = {
        { .verb = ETCD_PUT,
          .key = etcd_text(leader_key.text),
          .value = { value, sizeof value },
          .lease = elect->lease },
        { .verb = ETCD_PUT, .key = etcd_text(term_key.text), .value = { term, sizeof term } },
        { .verb = ETCD_DELETE, .key = etcd_text(handover_key.text) },
        { .verb = ETCD_DELETE, .key = etcd_text(upgrade_key.text) },
    };
    const struct etcd_op look = { .verb = ETCD_GET, .key = etcd_text(leader_key.text) };
    const struct etcd_transaction transaction = {
        .compares = compares,
        .compare_count = CC_COUNT(compares),
        .then = puts,
        .then_count = CC_COUNT(puts),
        .otherwise = &look,
        .otherwise_count = 1,
    };
    const struct etcd_request request = { .kind = ETCD_TRANSACTION, .transaction = &transaction };
    (void)elect_ask(elect, ASK_STAND, STEP_STAND, &request);
}

static void won(struct elect *elect, int64_t epoch)
{
    elect_move(elect, ELECT_ELECTED);
    elect->epoch = epoch;
    elect->elections++;
}

static void done_stand(struct elect *elect, const struct etcd_done *done, uint64_t now_ns)
{
    struct cluster_leader leader;

    if (done->result == ETCD_NO_LEASE) {
        elect_end_session(elect);
    } else if (done->result != ETCD_OK) {
        give_up(elect, now_ns);
    } else if (done->succeeded) {
        won(elect, done->revision);
    } else if (done->row_count == 1 && cluster_row_leader_decode(&leader, done->rows[0].value) &&
               elect_is_me(elect, &leader) && done->rows[0].lease == elect->lease) {
        won(elect, done->rows[0].create_revision); /* its answer was lost */
    } else {
        give_up(elect, now_ns);
    }
}

static void done_term(struct elect *elect, const struct etcd_done *done, uint64_t now_ns)
{
    uint64_t term;

    if (done->result != ETCD_OK || done->row_count != 1 ||
        !cluster_row_term_decode(&term, done->rows[0].value) || term == UINT64_MAX) {
        give_up(elect, now_ns);
        return;
    }
    elect->previous_term = term;
    elect->term = term + 1;
    elect->term_revision = done->rows[0].mod_revision;
    ask_stand(elect);
}

void elect_ballot_step(struct elect *elect, uint64_t now_ns)
{
    if (may_stand(elect, now_ns) && now_ns >= elect->again_ns) {
        elect_move(elect, ELECT_STANDS);
        elect->stands_ns = 0;
        ask_rank(elect);
        return;
    }
    if (elect->state != ELECT_STANDS || elect_is_asked(elect, ASK_RANK))
        return;
    if (elect->has_leader || elect->stands_ns == 0 || !is_fit(elect))
        give_up(elect, now_ns);
    else if (now_ns >= elect->stands_ns && !elect_get(elect, ASK_TERM, STEP_TERM, "term"))
        give_up(elect, now_ns);
}

void elect_ballot_done(struct elect *elect, const struct etcd_done *done, uint64_t step,
                       uint64_t now_ns)
{
    if (elect->state != ELECT_STANDS)
        return;
    if (step == STEP_STAND)
        done_stand(elect, done, now_ns);
    else if (step == STEP_TERM)
        done_term(elect, done, now_ns);
    else if (done->result == ETCD_OK)
        done_rank(elect, done, now_ns);
    else
        give_up(elect, now_ns);
}

/* ---- handover -------------------------------------------------------------------------------- */

bool elect_ballot_hand(struct elect *elect, const char *node, uint64_t last_frame)
{
    struct repl_key leader_key = repl_key_of(elect->config.cluster, "leader");
    struct repl_key handover_key = repl_key_of(elect->config.cluster, "handover");
    struct cluster_handover handover = { .last_frame = last_frame };
    uint8_t value[CLUSTER_HANDOVER_BYTES];

    INVARIANT(elect->state == ELECT_ELECTED);
    snprintf(handover.node, sizeof handover.node, "%s", node);
    cluster_row_handover_encode(value, &handover);
    const struct etcd_compare mine = { etcd_text(leader_key.text), ETCD_CREATE_REVISION,
                                       elect->epoch };
    const struct etcd_op then[] = {
        { .verb = ETCD_DELETE, .key = etcd_text(leader_key.text) },
        { .verb = ETCD_PUT,
          .key = etcd_text(handover_key.text),
          .value = { value, sizeof value },
          .lease = elect->lease },
    };
    const struct etcd_op look = { .verb = ETCD_GET, .key = etcd_text(handover_key.text) };
    const struct etcd_transaction transaction = {
        .compares = &mine,
        .compare_count = 1,
        .then = then,
        .then_count = CC_COUNT(then),
        .otherwise = &look,
        .otherwise_count = 1,
    };
    const struct etcd_request request = { .kind = ETCD_TRANSACTION, .transaction = &transaction };
    if (!elect_ask(elect, ASK_HAND, 0, &request))
        return false;
    elect_move(elect, ELECT_HANDS);
    return true;
}

void elect_ballot_hand_done(struct elect *elect, const struct etcd_done *done)
{
    /* The second: it was done, and the answer was lost. */
    bool was_done =
        done->succeeded || (done->row_count == 1 && done->rows[0].lease == elect->lease);

    if (elect->state != ELECT_HANDS)
        return;
    if (done->result != ETCD_OK || !was_done) {
        elect_move(elect, ELECT_LOST);
        return;
    }
    elect_move(elect, ELECT_FOLLOWS);
    elect->has_leader = elect->has_leader && elect->leader_epoch != elect->epoch;
    elect->epoch = 0;
    elect->deadline_boot_ns = 0;
}
