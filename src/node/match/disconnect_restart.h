/* disconnect_restart.h - ends the disconnect arms that the previous run left set (W9): after a
 * start, each arm gets its grace, then the matcher authors a 2011 for it.
 *
 *   start ──> arms sorted by grace ──> 2011 at opened_ns + grace, arm by arm
 *             disarmed, or armed again since the start ──┘ skipped: its orders stay
 *
 * No connection outlives a process, so every arm found at a start belongs to a connection that has
 * ended. An arm that a client sets in this run, even under an id of the previous run, belongs to
 * its new connection (W9).
 *
 * Order.  disconnect_restart_load after recovery, disconnect_restart_open with the commands of the
 *         start, then disconnect_restart_step. While an arm is due, no client's command is
 *         sequenced (matcher.c).
 * Wait.   disconnect_restart_load allocates and belongs to the start; the step does not block.
 * Owner.  The matcher's thread.
 * Units.  Times of the node clock, from which t is made.
 * Bound.  DISCONNECT_RESTART_ARMS_A_TURN commands a turn; one look-up for each arm. */
#ifndef NODE_MATCH_DISCONNECT_RESTART_H
#define NODE_MATCH_DISCONNECT_RESTART_H

#include "node/match/sequencer.h"

enum { DISCONNECT_RESTART_ARMS_A_TURN = 256 };

struct disconnect_restart_arm {
    uint64_t id[2]; /* as in struct disconnect_arm */
    uint64_t armed_sequence;
    uint64_t grace_ns;
};

struct disconnect_restart {
    struct disconnect_restart_arm *arms; /* by grace, then by arming; NULL: none */
    uint32_t count;
    uint32_t next;      /* the first that is not finished */
    uint64_t opened_ns; /* when this start could first serve */
    uint64_t due_ns;    /* of `next`; UINT64_MAX: none, or not opened yet */
};

/* Copies the arms of the engine's state. None is due before disconnect_restart_open. 0 or
 * -ENOMEM. */
CC_MUST_USE int disconnect_restart_load(struct disconnect_restart *restart,
                                        const struct engine *engine);
void disconnect_restart_free(struct disconnect_restart *restart);

/* Starts the graces. */
void disconnect_restart_open(struct disconnect_restart *restart, uint64_t now_ns);

/* Authors a 2011 for each arm that is due and returns their number. *room_left becomes false when
 * the journal has no room for the next one. */
CC_MUST_USE uint32_t disconnect_restart_step(struct disconnect_restart *restart,
                                             struct sequencer *sequencer, bool *room_left);

#endif
