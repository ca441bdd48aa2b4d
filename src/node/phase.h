/* phase.h - how far a node's start or end has come: one word that both threads move.
 *
 *   RECOVERING ─T1─> RECOVERED ─T0─> OPEN ─T0─> STOPPING ─T0─> STOPPED
 *       └───────────────┴──────────────┴───────────┴── FAILED, by whoever fails first; final
 *
 * Order.  A move is a release, a look an acquire: what was done in the phase before is seen by who
 *         sees this one. A move names the phase it leaves, so none can undo a failure.
 * Owner.  Any thread. */
#ifndef NODE_PHASE_H
#define NODE_PHASE_H

#include "base/cc.h"

enum node_phase {
    NODE_RECOVERING,
    NODE_RECOVERED, /* T1 has replayed the journal: T0 may open */
    NODE_OPEN,      /* T0 has sequenced the commands of the start: both step */
    NODE_STOPPING,  /* no command can come any more: T1 ends when all is durable and applied */
    NODE_STOPPED,   /* it has: the background thread ends */
    NODE_FAILED,    /* one of them failed, or a start was given up: everybody leaves */
};

struct phase {
    _Atomic uint32_t now;  /* enum node_phase */
    _Atomic int exit_code; /* of NODE_FAILED */
    _Atomic bool failing;
};

void phase_init(struct phase *phase);

enum node_phase phase_now(const struct phase *phase);

/* Moves from one phase to the next. False when a failure came first: nothing changed. */
CC_MUST_USE bool phase_advance(struct phase *phase, enum node_phase from, enum node_phase to);

/* Ends it all; the first failure gives the exit code. */
void phase_fail(struct phase *phase, int exit_code);

/* What the process exits with, once every thread is joined. */
int phase_exit_code(const struct phase *phase);

#endif
