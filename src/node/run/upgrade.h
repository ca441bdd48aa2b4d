/* upgrade.h - a cluster goes on under a later rules_version (replication.md, Another binary).
 *
 *   leader, old binary   stops ──> upgrade_begin: it leads no more, nor does one of its version
 *                        snapshot of the stop ──> upgrade_end: in the vault, `upgraded` names it
 *   node, new binary     upgrade_await: adopts frames, applies none ──> fetches it ──> exit 5, and
 *                        begins again with it: no record follows it but a 2014 of the new binary
 *
 * Wait.  All block. upgrade_await until the snapshot is there or the node is to stop. */
#ifndef NODE_RUN_UPGRADE_H
#define NODE_RUN_UPGRADE_H

#include "node/run/node.h"

/* Every role has ended. Whether this was a stop for an upgrade. */
CC_MUST_USE bool upgrade_is_ordered(const struct node *node);

/* After it: whether the lead is kept for a node of a later version. */
CC_MUST_USE bool upgrade_begin(struct node *node);

/* After it, and after the snapshot of the stop, which had this exit code. The exit code. */
CC_MUST_USE int upgrade_end(struct node *node, int code);

/* Whether recovery was refused for records of an earlier rules_version of this node's cluster. */
CC_MUST_USE bool upgrade_is_awaited(const struct node *node);

/* The journal's thread, in place of the rest of recovery. The phase says how it ended. */
void upgrade_await(struct node *node);

#endif
