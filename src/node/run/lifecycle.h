/* lifecycle.h - moves the node from phase to phase and wakes all its threads to see it.
 *
 * Owner. Any thread (phase.h). */
#ifndef NODE_RUN_LIFECYCLE_H
#define NODE_RUN_LIFECYCLE_H

#include "node/run/node.h"

/* phase_advance, then wakes every thread. False when a failure came first. */
bool lifecycle_advance(struct node *node, enum phase_name from, enum phase_name to);

/* phase_fail, then wakes every thread. */
void lifecycle_fail(struct node *node, int exit_code);

static inline bool lifecycle_is_stop_asked(const struct node *node)
{
    /* relaxed: a single flag; node_ask_stop wakes the thread that reads it. */
    return atomic_load_explicit(&node->stop_asked, memory_order_relaxed);
}

#endif
