/* opening.h - from the data directory to the first command of a client: recovery, then the commands
 * of the start.
 *
 * Order. opening_recover on the journal's thread; opening_sequence on the matcher's, once the phase
 *        is PHASE_RECOVERED.
 * Wait.  opening_recover blocks; opening_sequence does not. */
#ifndef NODE_RUN_OPENING_H
#define NODE_RUN_OPENING_H

#include "node/run/node.h"

/* Logs node->refusal. Returns the exit code that belongs to it. */
int opening_refuse(struct node *node);

/* Replays the journal and links the rings. The phase says how it went. */
void opening_recover(struct node *node);

/* A node that takes the lead, behind this sequence of the log: logs an error when it has signed a
 * head of a later one. */
void opening_judge_log(const struct node *node, uint64_t sequence);

/* Sequences the commands of the start once the clock allows it. Returns 1 when it has; 0 when the
 * caller must try again next turn, or when it has failed, which the phase says. */
uint32_t opening_sequence(struct node *node);

#endif
