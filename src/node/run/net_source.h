/* net_source.h - what the node lends to net: how far it is, whether it may serve, its metrics.
 *
 * Owner. The net threads call it; what they read of other threads those publish with release. */
#ifndef NODE_RUN_NET_SOURCE_H
#define NODE_RUN_NET_SOURCE_H

#include "node/run/node.h"

struct net_source net_source_of(struct node *node);

#endif
