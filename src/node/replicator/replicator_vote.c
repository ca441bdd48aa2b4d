/* replicator_vote.c - a leader whose state is not that of its own second engine, or of two other
 * nodes, writes no 2015 and leads no more (replication.md, Hash vote). */
#include "base/log.h"
#include "base/node_exit.h"
#include "node/replicator/replicator_state.h"

struct hash_vote *replicator_vote_board(struct replicator *replicator)
{
    return &replicator->hash_vote;
}

static int resign(struct replicator *replicator, const char *whose)
{
    replicator_resign(replicator);
    replicator->end.is_diverged = true;
    return replicator_fail(replicator, NODE_EXIT_FAILED,
                           "after sequence %lu the state of this leader is not that of %s: it "
                           "resigned before it wrote the hash (2015)",
                           replicator->vote.sequence, whose);
}

/* Whether the replica shows another state at the sequence of the vote. */
static bool differs_from_replica(const struct replicator *replicator)
{
    const struct vote *vote = &replicator->vote;
    struct hash_point replica;

    return hash_board_get(&replicator->hash_vote.replica, &replica) &&
           replica.sequence == vote->sequence &&
           memcmp(replica.hash, vote->hash, sizeof replica.hash) != 0;
}

/* A vote that other nodes have decided waits for the own replica too, as long as for them. */
static bool replica_is_awaited(const struct replicator *replicator, uint64_t now_ns)
{
    const struct vote *vote = &replicator->vote;
    struct hash_point replica;

    if (now_ns - vote->began_ns >= VOTE_WAIT_NS)
        return false;
    return !hash_board_get(&replicator->hash_vote.replica, &replica) ||
           replica.sequence < vote->sequence;
}

int replicator_vote_step(struct replicator *replicator, uint64_t now_ns)
{
    struct hash_vote *shared = &replicator->hash_vote;
    struct vote *vote = &replicator->vote;
    struct hash_point primary;

    if (!hash_board_get(&shared->primary, &primary) ||
        /* relaxed: its own. */
        atomic_load_explicit(&shared->agreed, memory_order_relaxed) >= primary.sequence)
        return 0;
    if (vote->state == VOTE_NONE || vote->sequence != primary.sequence) {
        vote->etcd = replicator->etcd;
        vote->cluster = replicator->config.cluster;
        vote->node = replicator->config.node;
        vote_begin(vote, primary.sequence, primary.hash, now_ns);
    }
    vote_step(vote, now_ns);
    if (differs_from_replica(replicator))
        return resign(replicator, "its second engine");
    if (vote->state == VOTE_ODD)
        return resign(replicator, "two other nodes, which agree");
    if (vote->state == VOTE_AGREED && !replica_is_awaited(replicator, now_ns))
        /* relaxed: no other memory is read through it. */
        atomic_store_explicit(&shared->agreed, vote->sequence, memory_order_relaxed);
    return 0;
}
