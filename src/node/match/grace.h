/* grace.h - arms that the run before has left set (W9): a start gives each of them its grace, then
 * authors 2011.
 *
 *   start ──> arms in the order of their grace ──> 2011 at opened_ns + grace, arm by arm
 *             armed again since, or disarmed: its orders stay ──┘ passed over
 *
 * No connection outlives a process, so every arm of the state is one whose connection has ended. An
 * arm that a client sets in this run, also under an id of the run before, is its connection's (W9).
 *
 * Order.  grace_load behind recovery, grace_open with the commands of the start, then grace_step.
 *         While an arm is due no command of a client is sequenced (matcher.c).
 * Wait.   grace_load takes memory and belongs to the start; grace_step does not block.
 * Owner.  The matcher's thread.
 * Units.  Times of the node clock: the same that t is made of.
 * Bound.  GRACE_ARMS_A_TURN commands a turn; one look-up an arm, whatever their number. */
#ifndef NODE_MATCH_GRACE_H
#define NODE_MATCH_GRACE_H

#include "node/match/sequencer.h"

enum { GRACE_ARMS_A_TURN = 256 };

struct grace_arm {
    uint64_t id[2]; /* as struct disconnect_arm has it */
    uint64_t armed_sequence;
    uint64_t grace_ns;
};

struct grace {
    struct grace_arm *arms; /* by grace, then in the order of arming; NULL: there is none */
    uint32_t count;
    uint32_t next;      /* the first that is not done with */
    uint64_t opened_ns; /* when this start could first serve */
    uint64_t due_ns;    /* of `next`; UINT64_MAX: there is none, or it is not opened */
};

/* The arms of the engine's state, none of which is due before grace_open. 0 or -ENOMEM. */
CC_MUST_USE int grace_load(struct grace *grace, const struct engine *engine);
void grace_free(struct grace *grace);

/* The graces begin. */
void grace_open(struct grace *grace, uint64_t now_ns);

/* Authors 2011 for arms that are due. The commands authored; *room_left becomes false when the
 * journal had no room for the next one. */
CC_MUST_USE uint32_t grace_step(struct grace *grace, struct sequencer *sequencer, bool *room_left);

#endif
