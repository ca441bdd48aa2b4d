/* cluster_page.h - GET /admin/cluster: how this node sees its cluster, and what of it is not as it
 * must be (json.md J7). Any thread. */
#ifndef NODE_RUN_CLUSTER_PAGE_H
#define NODE_RUN_CLUSTER_PAGE_H

#include "node/run/node.h"

/* Writes the JSON object, at most `capacity` bytes, and returns its length; 0: there is
 * no room. Before the first survey it has the names and that problem alone. */
CC_MUST_USE size_t cluster_page_write(const struct node *node, char *text, size_t capacity);

#endif
