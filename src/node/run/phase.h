/* phase.h - how far a node's start or end has come: one word that its threads move.
 *
 *   RECOVERING ─journal─> RECOVERED ─matcher─> OPEN ─first─> DRAINING ─matcher─> STOPPING
 *       │                     │                 │                │            ─first─> STOPPED
 *       └─────────────────────┴─────────────────┴────────────────┴── FAILED, by whoever fails
 *                                                                    first; final
 *
 * Order.  A move is a release, a look an acquire: what was done in the phase before is seen by who
 *         sees this one. A move names the phase it leaves, so none can undo a failure.
 * Owner.  Any thread; the thread that has the role named above each arrow makes that move. */
#ifndef NODE_RUN_PHASE_H
#define NODE_RUN_PHASE_H

#include "base/cc.h"

enum node_phase {
    NODE_RECOVERING,
    NODE_RECOVERED, /* the journal is replayed: the matcher may open */
    NODE_OPEN,      /* the commands of the start are sequenced: every role steps */
    NODE_DRAINING,  /* a stop was asked: net threads answer what they have received, then end */
    NODE_STOPPING,  /* no command can come: journal and follower end when all is durable and
                       applied */
    NODE_STOPPED,   /* they have: the background thread ends */
    NODE_FAILED,    /* one of them failed, or a start was given up: everybody leaves */
};

struct phase {
    _Atomic uint32_t now;  /* enum node_phase */
    _Atomic int exit_code; /* of NODE_FAILED */
    _Atomic bool failing;
};

void phase_init(struct phase *phase);

enum node_phase phase_now(const struct phase *phase);

/* From NODE_OPEN to NODE_STOPPING: journal, matcher and follower are there to be looked at. */
static inline bool phase_serves(enum node_phase phase)
{
    return phase >= NODE_OPEN && phase <= NODE_STOPPING;
}

/* Moves from one phase to the next. False when a failure came first: nothing changed. */
CC_MUST_USE bool phase_advance(struct phase *phase, enum node_phase from, enum node_phase to);

/* Ends it all; the first failure gives the exit code. */
void phase_fail(struct phase *phase, int exit_code);

/* What the process exits with, once every thread is joined. */
int phase_exit_code(const struct phase *phase);

#endif
