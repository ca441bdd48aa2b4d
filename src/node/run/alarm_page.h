/* alarm_page.h - the part of /metrics that an operator looks at first: alarms, the markets, how
 * full the rings between the threads are.
 *
 * Called on a net thread. Reads counters that their owners write relaxed. */
#ifndef NODE_RUN_ALARM_PAGE_H
#define NODE_RUN_ALARM_PAGE_H

#include "node/run/node.h"

/* Writes at most `capacity` bytes and returns their number. A page that does not fit ends at a
 * whole line. While perpd recovers only what does not come from its state is there. */
size_t alarm_page_write(struct node *node, char *text, size_t capacity);

#endif
