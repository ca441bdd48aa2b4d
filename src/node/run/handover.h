/* handover.h - POST /admin/handover: this leader gives the lead to another node (replication.md,
 * Handover). */
#ifndef NODE_RUN_HANDOVER_H
#define NODE_RUN_HANDOVER_H

#include "node/run/node.h"

/* Orders it: `wanted` names the one that is to lead; empty: the first by name that may. `to` gets
 * its name. `upgrades`: one that waits with a later rules_version, and this node stops (upgrade.h).
 * Any thread. */
enum net_handover handover_ask(struct node *node, const char *wanted, bool upgrades,
                               char to[CLUSTER_NODE_BYTES + 1]);

#endif
