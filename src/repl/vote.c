#include "repl/vote.h"

#include "repl/etcd_call.h"

/* The only writer of the state. The table must allow the move (INVARIANT). */
static void move(struct vote *vote, enum vote_state next)
{
#define TO(name)             (1U << VOTE_##name)
#define X(name, next_states) next_states,
    static const unsigned allowed[VOTE_STATE_COUNT] = { VOTE_STATE_LIST(X) };
#undef X
#undef TO

    INVARIANT((unsigned)vote->state < VOTE_STATE_COUNT && (unsigned)next < VOTE_STATE_COUNT);
    INVARIANT((allowed[vote->state] >> next & 1U) != 0);
    vote->state = next;
}

/* The request under way counts no more. */
static void forget_request(struct vote *vote)
{
    if (vote->is_asked)
        (void)etcd_cancel(vote->etcd, repl_tag(REPL_VOTE, vote->tag));
    vote->is_asked = false;
}

void vote_end(struct vote *vote)
{
    forget_request(vote);
    move(vote, VOTE_NONE);
}

void vote_begin(struct vote *vote, uint64_t sequence, const uint8_t hash[32], uint64_t now_ns)
{
    vote_end(vote);
    move(vote, VOTE_OPEN);
    vote->sequence = sequence;
    memcpy(vote->hash, hash, sizeof vote->hash);
    vote->began_ns = vote->again_ns = now_ns;
}

void vote_step(struct vote *vote, uint64_t now_ns)
{
    if (vote->state != VOTE_OPEN)
        return;
    if (now_ns - vote->began_ns >= VOTE_WAIT_NS) {
        forget_request(vote);
        move(vote, VOTE_AGREED); /* a 2015 that a node does not have ends that node */
        return;
    }
    if (vote->is_asked || now_ns < vote->again_ns)
        return;
    struct repl_key from = repl_key_of(vote->cluster, "node/");
    struct repl_key end = repl_key_of(vote->cluster, "node/~");
    const struct etcd_request request = { .kind = ETCD_RANGE,
                                          .life_ns = VOTE_WAIT_NS,
                                          .key = etcd_text(from.text),
                                          .end = etcd_text(end.text) };

    vote->again_ns = now_ns + VOTE_AGAIN_NS;
    vote->is_asked = etcd_submit(vote->etcd, &request, repl_tag(REPL_VOTE, vote->tag + 1)) == 0;
    vote->tag += vote->is_asked;
}

/* Another node that has shown a state at this sequence. */
static bool has_voted(const struct vote *vote, const struct etcd_row *row,
                      struct cluster_node *node)
{
    return cluster_row_node_decode(node, row->value) && strcmp(node->node, vote->node) != 0 &&
           node->hash_sequence == vote->sequence;
}

/* Whether two others have the same state, which is not this node's. */
static bool is_odd(const struct vote *vote, const struct etcd_done *done)
{
    struct cluster_node one, other;

    for (uint32_t i = 0; i < done->row_count; i++) {
        if (!has_voted(vote, &done->rows[i], &one) ||
            memcmp(one.effects_hash, vote->hash, sizeof vote->hash) == 0)
            continue;
        for (uint32_t k = i + 1; k < done->row_count; k++)
            if (has_voted(vote, &done->rows[k], &other) &&
                memcmp(one.effects_hash, other.effects_hash, sizeof one.effects_hash) == 0)
                return true;
    }
    return false;
}

/* Whether a node that follows closely has yet to come to this sequence. Under load one that is
 * current has always a frame to apply, and says that it is behind. */
static bool is_awaited(const struct vote *vote, const struct etcd_done *done)
{
    struct cluster_node node;

    for (uint32_t i = 0; i < done->row_count; i++)
        if (cluster_row_node_decode(&node, done->rows[i].value) &&
            strcmp(node.node, vote->node) != 0 &&
            (node.state == CLUSTER_CURRENT || node.state == CLUSTER_BEHIND) &&
            node.hash_sequence < vote->sequence && node.applied + VOTE_NEAR >= vote->sequence)
            return true;
    return false;
}

void vote_done(struct vote *vote, const struct etcd_done *done)
{
    if (!vote->is_asked || done->tag != repl_tag(REPL_VOTE, vote->tag))
        return;
    vote->is_asked = false;
    if (done->result != ETCD_OK)
        return;
    if (is_odd(vote, done))
        move(vote, VOTE_ODD);
    else if (!is_awaited(vote, done))
        move(vote, VOTE_AGREED);
}
