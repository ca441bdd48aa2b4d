/* metrics_page.h - the node's part of /metrics: Prometheus text of matcher, journal and follower.
 *
 * Called on a net thread. Reads counters that their owners write relaxed. */
#ifndef NODE_RUN_METRICS_PAGE_H
#define NODE_RUN_METRICS_PAGE_H

#include "node/run/node.h"

/* Writes at most `capacity` bytes and returns their number. A page that does not fit ends at a
 * whole line. */
size_t metrics_page_write(struct node *node, char *text, size_t capacity);

#endif
