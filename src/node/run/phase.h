/* phase.h - how far a node's start or stop has come: one word that all of its threads read.
 *
 *   RECOVERING ─journal─> RECOVERED ─matcher─> OPEN ─first─> DRAINING ─matcher─> STOPPING
 *       │                     │                 │                │            ─first─> STOPPED
 *       └─────────────────────┴─────────────────┴────────────────┴── FAILED: first failure; final
 *   in a cluster:         RECOVERED ─matcher─> STANDBY ─journal─> TAKING ─journal─> OPEN
 *                                                 ^───journal── HANDING <──first────┘
 *
 * Order.  A move is a release and a look is an acquire: a thread that sees a phase also sees what
 *         was done before the move to it. A move names the phase it leaves, so no move can undo a
 *         failure. By their order the phases of a cluster are before OPEN: none takes commands.
 * Owner.  Any thread. The name on an arrow is the role whose thread makes that move. */
#ifndef NODE_RUN_PHASE_H
#define NODE_RUN_PHASE_H

#include "base/compiler.h"

/* clang-format off */
/*    phase        may become               what the threads do in it */
#define PHASE_LIST(X)                                                                              \
    X(RECOVERING,  TO(RECOVERED) | TO(FAILED))  /* the journal is replayed */                      \
    X(RECOVERED,   TO(OPEN)      | TO(STANDBY) | TO(FAILED))  /* the matcher sequences the commands of the start */ \
    X(STANDBY,     TO(TAKING)    | TO(FAILED))  /* frames that count are adopted and applied */    \
    X(TAKING,      TO(OPEN)      | TO(FAILED))  /* elected: the matcher sequences the commands of the term */ \
    X(HANDING,     TO(STANDBY)   | TO(FAILED))  /* a leader gives the lead to another node */      \
    X(OPEN,        TO(DRAINING)  | TO(HANDING) | TO(FAILED))  /* every role steps */               \
    X(DRAINING,    TO(STOPPING)  | TO(FAILED))  /* net threads answer what they received, then end */ \
    X(STOPPING,    TO(STOPPED)   | TO(FAILED))  /* journal and follower end once all is durable and applied */ \
    X(STOPPED,     TO(FAILED))                  /* the background thread ends */                   \
    X(FAILED,      0)                           /* a role failed, or the start was given up: every thread ends */
/* clang-format on */

enum phase_name {
#define X(name, next) PHASE_##name,
    PHASE_LIST(X)
#undef X
        PHASE_COUNT
};

struct phase {
    _Atomic uint32_t now;  /* enum phase_name */
    _Atomic int exit_code; /* of PHASE_FAILED */
    _Atomic bool failing;
};

/* Prepares the first phase, before any thread runs. */
void phase_init(struct phase *phase);

/* Returns the phase. Any thread. */
enum phase_name phase_now(const struct phase *phase);

/* From PHASE_STANDBY to PHASE_STOPPING: journal, matcher and follower exist. */
static inline bool phase_serves(enum phase_name name)
{
    return name >= PHASE_STANDBY && name <= PHASE_STOPPING;
}

/* Moves from one phase to the next, which the table must allow (INVARIANT). False when a failure
 * came first: nothing changed. */
CC_MUST_USE bool phase_advance(struct phase *phase, enum phase_name from, enum phase_name to);

/* Moves to PHASE_FAILED. Only the first call counts: it gives the exit code. */
void phase_fail(struct phase *phase, int exit_code);

/* The exit code of the process, once every thread is joined: 0 unless a role failed. */
int phase_exit_code(const struct phase *phase);

#endif
