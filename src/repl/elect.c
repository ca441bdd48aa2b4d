#include "repl/elect.h"

#include <stdio.h>

#include "repl/elect_parts.h"

void elect_begin(struct elect *elect, const struct elect_config *config)
{
    *elect = (struct elect){ .config = *config, .text = "" };
}

static void fail(struct elect *elect, bool is_refusal, const char *text)
{
    elect_move(elect, ELECT_FAILED);
    elect->is_refusal = is_refusal;
    elect->text = text;
}

bool elect_ask(struct elect *elect, enum elect_ask which, uint64_t step,
               const struct etcd_request *request)
{
    uint64_t tag = repl_tag(REPL_ELECT, step << ASK_SHIFT | (uint64_t)which << (ASK_SHIFT - 8) |
                                            (++elect->sequence & UINT32_MAX));

    if (elect_is_asked(elect, which) || etcd_submit(elect->config.etcd, request, tag) != 0)
        return false;
    elect->tags[which] = tag;
    return true;
}

static void forget(struct elect *elect, enum elect_ask which)
{
    if (elect_is_asked(elect, which))
        (void)etcd_cancel(elect->config.etcd, elect->tags[which]);
    elect->tags[which] = 0;
}

bool elect_get(struct elect *elect, enum elect_ask which, uint64_t step, const char *name)
{
    struct repl_key key = repl_key_of(elect->config.cluster, name);
    const struct etcd_request request = { .kind = ETCD_RANGE,
                                          .life_ns = ELECT_REQUEST_LIFE_NS,
                                          .key = etcd_text(key.text) };

    return elect_ask(elect, which, step, &request);
}

/* ---- session --------------------------------------------------------------------------------- */

void elect_end_session(struct elect *elect)
{
    elect->lease = 0;
    elect->is_shown = false;
    elect->deadline_boot_ns = 0;
    forget(elect, ASK_RENEW);
    forget(elect, ASK_SHOW);
    forget(elect, ASK_RANK);
    if (elect->state == ELECT_ELECTED || elect->state == ELECT_HANDS)
        elect_move(elect, ELECT_LOST);
    else if (elect->state != ELECT_FAILED && elect->state != ELECT_LOST)
        elect_move(elect, ELECT_SESSION);
}

static void step_session(struct elect *elect, uint64_t now_ns, uint64_t boot_ns)
{
    if (elect->lease == 0) {
        const struct etcd_request grant = { .kind = ETCD_LEASE_GRANT,
                                            .life_ns = ELECT_REQUEST_LIFE_NS,
                                            .ttl_s = elect->config.lease_s };
        if (now_ns >= elect->again_ns)
            (void)elect_ask(elect, ASK_LEASE, 0, &grant);
        return;
    }
    if (!elect->status.is_alive || now_ns - elect->renewed_ns < ELECT_RENEW_NS)
        return;
    /* A renewal without an answer is asked until it has one: the next is due then. */
    const struct etcd_request keep = { .kind = ETCD_LEASE_KEEP, .lease = elect->lease };
    if (!elect_ask(elect, ASK_RENEW, 0, &keep))
        return;
    elect->renewed_ns = now_ns;
    elect->renewal_boot_ns = boot_ns;
}

static void done_lease(struct elect *elect, const struct etcd_done *done, uint64_t now_ns)
{
    if (done->result != ETCD_OK || done->lease == 0) { /* etcd has no lease 0 */
        elect->again_ns = now_ns + ELECT_RETRY_NS;
        return;
    }
    if (done->ttl_s != elect->config.lease_s) {
        fail(elect, false,
             "etcd granted a lease of another length than cluster.lease_s: its election timeout is "
             "too long");
        return;
    }
    elect->lease = done->lease;
    elect->renewed_ns = 0; /* renewed at once: the deadline counts from a sending that is known */
    elect_move(elect, ELECT_FOLLOWS);
}

static void done_renewal(struct elect *elect, const struct etcd_done *done)
{
    if (done->result == ETCD_OK && done->ttl_s > 0) {
        uint64_t life_ns = (uint64_t)elect->config.lease_s * 1000000000 - ELECT_DEADLINE_NS;
        elect->deadline_boot_ns = elect->renewal_boot_ns + life_ns;
    } else if (done->result == ETCD_NO_LEASE || done->result == ETCD_OK) {
        elect_end_session(elect);
    }
}

/* ---- what the node shows --------------------------------------------------------------------- */

/* Each frame of a leader that it has not applied yet makes a node one that is not current: a key
 * put for each change would be two transactions a frame of every standby. */
static uint8_t state_of(const struct elect *elect, uint64_t now_ns)
{
    bool is_current = elect->current_ns != 0 && now_ns - elect->current_ns < ELECT_BEHIND_NS;

    if (elect->state == ELECT_ELECTED)
        return CLUSTER_LEADING;
    if (elect->state == ELECT_HANDS)
        return CLUSTER_LEAVING;
    if (!elect->is_identified)
        return CLUSTER_STARTING;
    if (elect->status.waits)
        return CLUSTER_WAITING;
    return is_current ? CLUSTER_CURRENT : CLUSTER_BEHIND;
}

static void step_show(struct elect *elect, uint64_t now_ns)
{
    struct cluster_node row = {
        .term = elect->state == ELECT_ELECTED ? elect->term : elect->leader.term,
        .state = state_of(elect, now_ns),
        .is_candidate = elect->config.is_candidate,
        .is_judged = elect->status.is_judged,
        .rules_version = elect->config.rules_version,
        .received_frame = elect->status.received_frame,
        .durable_frame = elect->status.durable_frame,
        .applied = elect->status.applied,
        .clock_difference_ns = elect->status.clock_difference_ns,
        .hash_sequence = elect->status.hash_sequence,
    };
    uint8_t value[CLUSTER_NODE_ROW_BYTES];
    char name[8 + CLUSTER_LABEL_BYTES];

    if (elect->lease == 0 || elect_is_asked(elect, ASK_SHOW) ||
        (elect->is_shown && row.state == elect->shown_state &&
         row.hash_sequence == elect->shown_hash_sequence &&
         now_ns - elect->shown_ns < ELECT_SHOW_NS) ||
        (!elect->is_shown && now_ns - elect->shown_ns < ELECT_RETRY_NS))
        return;
    memcpy(row.effects_hash, elect->status.effects_hash, sizeof row.effects_hash);
    snprintf(row.node, sizeof row.node, "%s", elect->config.node);
    snprintf(row.public_address, sizeof row.public_address, "%s", elect->config.public_address);
    cluster_row_node_encode(value, &row);
    snprintf(name, sizeof name, "node/%s", elect->config.node);
    struct repl_key key = repl_key_of(elect->config.cluster, name);
    /* The first of a session needs the name to be free. */
    const struct etcd_compare free_name = { etcd_text(key.text), ETCD_VERSION, 0 };
    const struct etcd_op put = { .verb = ETCD_PUT,
                                 .key = etcd_text(key.text),
                                 .value = { value, sizeof value },
                                 .lease = elect->lease };
    const struct etcd_op look = { .verb = ETCD_GET, .key = etcd_text(key.text) };
    const struct etcd_transaction transaction = {
        .compares = &free_name,
        .compare_count = !elect->is_shown,
        .then = &put,
        .then_count = 1,
        .otherwise = &look,
        .otherwise_count = 1,
    };
    const struct etcd_request request = { .kind = ETCD_TRANSACTION,
                                          .life_ns = ELECT_REQUEST_LIFE_NS,
                                          .transaction = &transaction };
    if (!elect_ask(elect, ASK_SHOW, 0, &request))
        return;
    elect->shown_ns = now_ns;
    elect->shown_state = row.state;
    elect->shown_hash_sequence = row.hash_sequence;
}

static void done_show(struct elect *elect, const struct etcd_done *done, uint64_t now_ns)
{
    if (done->result == ETCD_NO_LEASE) {
        elect_end_session(elect);
        return;
    }
    if (done->result == ETCD_DENIED) {
        fail(elect, false, "etcd denied the key of this node");
        return;
    }
    if (done->result != ETCD_OK)
        return; /* shown again */
    if (done->succeeded || (done->row_count == 1 && done->rows[0].lease == elect->lease)) {
        elect->is_shown = true;
        elect->name_taken_ns = 0;
        return;
    }
    if (elect->name_taken_ns == 0)
        elect->name_taken_ns = now_ns;
    /* Another leader of etcd gives every lease its whole time again. */
    uint64_t lives_ns = 2 * (uint64_t)elect->config.lease_s * 1000000000;
    if (now_ns - elect->name_taken_ns > ELECT_NODE_WAIT_NS + lives_ns)
        fail(elect, true,
             "another process of this cluster has the name of this node "
             "(cluster.node)");
}

/* ---- identity -------------------------------------------------------------------------------- */

static void create(struct elect *elect)
{
    struct repl_key keys[] = {
        repl_key_of(elect->config.cluster, "identity"),
        repl_key_of(elect->config.cluster, "term"),
        repl_key_of(elect->config.cluster, "genesis"),
    };
    uint8_t identity[CLUSTER_IDENTITY_BYTES], term[CLUSTER_TERM_BYTES];
    uint8_t genesis[CLUSTER_GENESIS_BYTES];
    cluster_row_identity_encode(identity, &elect->config.identity);
    cc_store64(term, elect->status.create_term);
    cluster_row_genesis_encode(genesis, &elect->status.genesis);
    const struct etcd_compare is_new = { etcd_text(keys[0].text), ETCD_CREATE_REVISION, 0 };
    const struct etcd_op puts[] = {
        { .verb = ETCD_PUT,
          .key = etcd_text(keys[0].text),
          .value = { identity, sizeof identity } },
        { .verb = ETCD_PUT, .key = etcd_text(keys[1].text), .value = { term, sizeof term } },
        { .verb = ETCD_PUT, .key = etcd_text(keys[2].text), .value = { genesis, sizeof genesis } },
    };
    const struct etcd_transaction transaction = {
        .compares = &is_new, .compare_count = 1, .then = puts, .then_count = CC_COUNT(puts)
    };
    const struct etcd_request request = { .kind = ETCD_TRANSACTION,
                                          .life_ns = ELECT_REQUEST_LIFE_NS,
                                          .transaction = &transaction };
    (void)elect_ask(elect, ASK_IDENTITY, 1, &request);
}

/* Both keys at one revision. */
static void look_at_identity(struct elect *elect)
{
    struct repl_key identity = repl_key_of(elect->config.cluster, "identity");
    struct repl_key genesis = repl_key_of(elect->config.cluster, "genesis");
    const struct etcd_op gets[] = {
        { .verb = ETCD_GET, .key = etcd_text(identity.text) },
        { .verb = ETCD_GET, .key = etcd_text(genesis.text) },
    };
    const struct etcd_transaction transaction = { .then = gets, .then_count = CC_COUNT(gets) };
    const struct etcd_request request = { .kind = ETCD_TRANSACTION,
                                          .life_ns = ELECT_REQUEST_LIFE_NS,
                                          .transaction = &transaction };
    (void)elect_ask(elect, ASK_IDENTITY, 0, &request);
}

static void step_identity(struct elect *elect, uint64_t now_ns)
{
    if (elect->is_identified || elect_is_asked(elect, ASK_IDENTITY) ||
        (elect->asked_ns != 0 && now_ns - elect->asked_ns < ELECT_RETRY_NS))
        return;
    elect->asked_ns = now_ns;
    if (elect->status.creates && !elect->has_created)
        create(elect);
    else
        look_at_identity(elect);
}

static void done_identity(struct elect *elect, const struct etcd_done *done, uint64_t step)
{
    struct cluster_identity found;

    elect->has_created = step != 0 && done->result == ETCD_OK; /* this time or before: looked at */
    if (step != 0 || done->result != ETCD_OK || done->row_count != 2)
        return; /* asked again */
    if (!cluster_row_identity_decode(&found, done->rows[0].value) ||
        !cluster_row_genesis_decode(&elect->genesis, done->rows[1].value)) {
        fail(elect, true,
             "the keys identity and genesis of the cluster are not as this binary "
             "writes them");
        return;
    }
    if (memcmp(&found, &elect->config.identity, sizeof found) != 0) {
        fail(elect, true, "the cluster of this name in etcd is another exchange's (identity)");
        return;
    }
    elect->is_identified = true;
}

/* ---- who leads ------------------------------------------------------------------------------- */

bool elect_is_me(const struct elect *elect, const struct cluster_leader *leader)
{
    return strcmp(leader->node, elect->config.node) == 0 && leader->term == elect->term &&
           elect->term != 0;
}

static void set_leader(struct elect *elect, const struct etcd_row *row)
{
    struct cluster_leader leader;

    if (row == NULL || row->is_delete) {
        elect->has_leader = false;
        if (elect->state == ELECT_ELECTED && row != NULL && row->mod_revision > elect->epoch)
            elect_move(elect, ELECT_LOST);
        return;
    }
    if (!cluster_row_leader_decode(&leader, row->value)) {
        fail(elect, true, "the key leader of the cluster is not as this binary writes it");
        return;
    }
    elect->has_leader = true;
    elect->leader = leader;
    elect->leader_epoch = row->create_revision;
    if (elect->state == ELECT_ELECTED && row->create_revision > elect->epoch)
        elect_move(elect, ELECT_LOST);
    if (elect->state == ELECT_STANDS && !elect_is_me(elect, &leader)) {
        elect_move(elect, ELECT_FOLLOWS);
        elect->stands_ns = 0;
        forget(elect, ASK_RANK);
    }
}

static void step_watch(struct elect *elect)
{
    struct repl_key key = repl_key_of(elect->config.cluster, "leader");

    if (elect_is_asked(elect, ASK_WATCH) || elect_is_asked(elect, ASK_LEADER))
        return;
    if (elect->watch_revision == 0) {
        (void)elect_get(elect, ASK_LEADER, 0, "leader");
        return;
    }
    const struct etcd_request watch = { .kind = ETCD_WATCH,
                                        .key = etcd_text(key.text),
                                        .revision = elect->watch_revision };
    elect->watches = elect_ask(elect, ASK_WATCH, 0, &watch);
}

static void done_leader(struct elect *elect, const struct etcd_done *done)
{
    if (done->result != ETCD_OK)
        return;
    set_leader(elect, done->row_count != 0 ? &done->rows[0] : NULL);
    elect->watch_revision = done->revision + 1;
}

/* True while the watch goes on. */
static bool done_watch(struct elect *elect, const struct etcd_done *done)
{
    if (done->result != ETCD_OK) {
        elect->watches = false;
        elect->watch_revision = 0; /* read and watched again */
        return false;
    }
    for (uint32_t i = 0; i < done->row_count; i++)
        set_leader(elect, &done->rows[i]);
    return true;
}

/* ---- the whole ------------------------------------------------------------------------------- */

void elect_step(struct elect *elect, const struct elect_status *status, uint64_t now_ns,
                uint64_t boot_ns)
{
    elect->status = *status;
    if (status->is_current)
        elect->current_ns = now_ns;
    if (elect->state == ELECT_FAILED || elect->state == ELECT_LOST)
        return;
    step_session(elect, now_ns, boot_ns);
    step_identity(elect, now_ns);
    step_show(elect, now_ns);
    step_watch(elect);
    if (elect->has_leader || !elect->is_shown)
        elect->leaderless_ns = 0;
    else if (elect->leaderless_ns == 0 && elect->watches)
        elect->leaderless_ns = now_ns;
    elect_ballot_step(elect, now_ns);
}

void elect_done(struct elect *elect, const struct etcd_done *done, uint64_t now_ns)
{
    uint64_t step = done->tag >> ASK_SHIFT & 0xFF;
    enum elect_ask which = (enum elect_ask)(done->tag >> (ASK_SHIFT - 8) & 0xFF);

    if (which >= CC_COUNT(elect->tags) || elect->tags[which] != done->tag)
        return;
    if (which != ASK_WATCH)
        elect->tags[which] = 0;
    if (elect->state == ELECT_FAILED || elect->state == ELECT_LOST)
        return;
    if (which == ASK_LEASE)
        done_lease(elect, done, now_ns);
    else if (which == ASK_RENEW)
        done_renewal(elect, done);
    else if (which == ASK_SHOW)
        done_show(elect, done, now_ns);
    else if (which == ASK_IDENTITY)
        done_identity(elect, done, step);
    else if (which == ASK_LEADER)
        done_leader(elect, done);
    else if (which == ASK_WATCH && !done_watch(elect, done))
        elect->tags[which] = 0;
    else if (which == ASK_RANK)
        elect_ballot_done(elect, done, step, now_ns);
    else if (which == ASK_HAND)
        elect_ballot_hand_done(elect, done);
}

void elect_resign(struct elect *elect)
{
    struct repl_key key = repl_key_of(elect->config.cluster, "leader");
    const struct etcd_compare mine = { etcd_text(key.text), ETCD_CREATE_REVISION, elect->epoch };
    const struct etcd_op remove = { .verb = ETCD_DELETE, .key = etcd_text(key.text) };
    const struct etcd_transaction transaction = {
        .compares = &mine, .compare_count = 1, .then = &remove, .then_count = 1
    };
    const struct etcd_request request = { .kind = ETCD_TRANSACTION, .transaction = &transaction };

    if (elect->state != ELECT_ELECTED)
        return;
    elect_move(elect, ELECT_LOST);
    /* Without room for it the lease ends by itself. */
    if (etcd_submit(elect->config.etcd, &request,
                    repl_tag(REPL_ELECT, ++elect->sequence & UINT32_MAX)) != 0)
        return;
}
