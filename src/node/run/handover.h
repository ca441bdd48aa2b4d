/* handover.h - POST /admin/handover: this leader gives the lead to another node (replication.md,
 * Handover). */
#ifndef NODE_RUN_HANDOVER_H
#define NODE_RUN_HANDOVER_H

#include "node/run/node.h"

/* Orders it: `node` names the one that is to lead; empty: the first by name that may. `to` gets its
 * name. Any thread. */
enum net_handover handover_ask(struct node *node, const char *wanted,
                               char to[CLUSTER_NODE_BYTES + 1]);

#endif
