/* elect_parts.h - what the files of an elect share, for them only. */
#ifndef REPL_ELECT_PARTS_H
#define REPL_ELECT_PARTS_H

#include "repl/elect.h"
#include "repl/etcd_call.h"

/* The kinds of requests; one of each may be under way. The steps of an election come one by one. */
enum elect_ask {
    ASK_NONE,
    ASK_LEASE,
    ASK_RENEW,
    ASK_SHOW,
    ASK_IDENTITY,
    ASK_LEADER,
    ASK_WATCH,
    ASK_RANK,
    ASK_HAND,
    ASK_COUNT,
    ASK_TERM = ASK_RANK,
    ASK_STAND = ASK_RANK
};
enum { STEP_RANK = 1, STEP_TERM, STEP_STAND, ASK_SHIFT = 48 };

static_assert(ASK_COUNT <= CC_COUNT(((struct elect *)0)->tags), "a tag for each");

static inline bool elect_is_asked(const struct elect *elect, enum elect_ask which)
{
    return elect->tags[which] != 0;
}

/* Sends a request of this kind; `step` tells those of one kind apart. False: one is under way, or
 * there is no room. */
bool elect_ask(struct elect *elect, enum elect_ask which, uint64_t step,
               const struct etcd_request *request);

/* Reads perp/<cluster>/<name>. As elect_ask. */
bool elect_get(struct elect *elect, enum elect_ask which, uint64_t step, const char *name);

static inline void elect_move(struct elect *elect, enum elect_state next)
{
    elect_state_move(&elect->state, next, elect->lease != 0);
}

/* The session has ended: a leader is lost, another node begins another one. */
void elect_end_session(struct elect *elect);

/* Whether it is this node's record of the term that it tries or has won. */
CC_MUST_USE bool elect_is_me(const struct elect *elect, const struct cluster_leader *leader);

/* A turn of the election. */
void elect_ballot_step(struct elect *elect, uint64_t now_ns);

/* Takes an answer of its steps, or of the handover. */
void elect_ballot_done(struct elect *elect, const struct etcd_done *done, uint64_t step,
                       uint64_t now_ns);
void elect_ballot_hand_done(struct elect *elect, const struct etcd_done *done);

#endif
