/* net_source.h - what the node lends to net: its progress, whether it may serve, its metrics.
 *
 * Owner. The net threads call it. Other threads publish with release what it reads of them. */
#ifndef NODE_RUN_NET_SOURCE_H
#define NODE_RUN_NET_SOURCE_H

#include "node/run/node.h"

/* Returns the functions of this node, which outlives them. */
struct net_source net_source_of(struct node *node);

#endif
