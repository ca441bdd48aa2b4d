/* standby.h - the turns of a node of a cluster until it leads, and what a leader adds to its own.
 *
 *   STANDBY   journal's thread: replicator_step adopts frames   matcher's: core_follow_log
 *   TAKING    elected, and every frame that counts is adopted   matcher's: core_lead, then
 *             node->is_authored; journal's: its frames, until the first of them counts
 *   OPEN      as a node alone; the journal's thread also sends its frames
 *   HANDING   the matcher holds; when all its frames count, the lead goes to another node: STANDBY
 *
 * Only with a replicator, that is with cluster.name. */
#ifndef NODE_RUN_STANDBY_H
#define NODE_RUN_STANDBY_H

#include "node/run/node.h"

/* In RECOVERED, in place of opening_sequence: begins to follow the log. Whether it moved. */
uint32_t standby_begin(struct node *node);

/* The matcher's turn in STANDBY, TAKING and HANDING. The work done. */
uint32_t standby_match(struct node *node, enum phase_name phase);

/* Whether a leader takes no commands: too much of what it did does not count yet, or etcd is so
 * full that it goes at half its rate. Once a turn. */
bool standby_is_held(struct node *node);

/* The journal thread's turn of the replicator, before core_journal. The work done. */
uint32_t standby_replicate(struct node *node, enum phase_name phase);

/* Logs that an engine of this node does not have the hash of a 2015. Any thread. */
void standby_say_diverged(uint64_t sequence);

#endif
