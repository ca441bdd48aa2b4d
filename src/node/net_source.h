/* net_source.h - what the node lends to net: how far it is, whether it may serve, its metrics.
 *
 * Owner. The net thread calls it; what it reads of other threads they publish with release. */
#ifndef NODE_NET_SOURCE_H
#define NODE_NET_SOURCE_H

#include "node/node.h"

struct net_source net_source_of(struct node *node);

/* The last sequence that may be shown; 0 while the journal is not open. `context` is the node. */
uint64_t net_source_durable(void *context);

#endif
