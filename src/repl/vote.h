/* vote.h - a leader asks before each 2015 whether other nodes have the state that it has
 * (replication.md, Hash vote).
 *
 *   vote_begin { sequence, hash } ──node/──> nodes that are close: which have shown this sequence?
 *        all of them, or VOTE_WAIT_NS later ──> VOTE_AGREED, or VOTE_ODD: two others have one
 *                                               hash, and it is not this node's
 *
 * Order.  One vote at a time.
 * Wait.   Nothing blocks; a vote ends VOTE_WAIT_NS after it began, whatever etcd does.
 * Owner.  One thread. */
#ifndef REPL_VOTE_H
#define REPL_VOTE_H

#include "repl/cluster_row.h"
#include "repl/repl_key.h"

#define VOTE_NEAR     UINT64_C(65536) /* sequences: a node that is further behind is not awaited */
#define VOTE_WAIT_NS  UINT64_C(500000000)
#define VOTE_AGAIN_NS UINT64_C(5000000)

/* clang-format off */
/*    state      may become */
#define VOTE_STATE_LIST(X)                                                                         \
    X(NONE,   TO(NONE) | TO(OPEN))                                                                 \
    X(OPEN,   TO(NONE) | TO(AGREED) | TO(ODD))                                                     \
    X(AGREED, TO(NONE)) /* or nobody else came to this sequence in time */                         \
    X(ODD,    TO(NONE)) /* two others have another state */
/* clang-format on */

enum vote_state {
#define X(name, next) VOTE_##name,
    VOTE_STATE_LIST(X)
#undef X
        VOTE_STATE_COUNT
};

struct vote {
    struct etcd *etcd;
    const char *cluster, *node; /* outlive it */
    enum vote_state state;
    uint64_t sequence;
    uint8_t hash[32];
    uint64_t began_ns, again_ns;
    bool is_asked;
    uint64_t tag;
};

/* Begins the vote of the node `node` on this state. One that is open is given up. */
void vote_begin(struct vote *vote, uint64_t sequence, const uint8_t hash[32], uint64_t now_ns);

void vote_step(struct vote *vote, uint64_t now_ns);

/* Takes an answer of REPL_VOTE. */
void vote_done(struct vote *vote, const struct etcd_done *done);

/* Gives up what is asked. Works after zeroing. */
void vote_end(struct vote *vote);

#endif
