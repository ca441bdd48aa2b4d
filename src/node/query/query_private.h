/* query_private.h - private events of an account from the history's file, for a stream that goes on
 * after one of them (wire.md W9, resume).
 *
 * Owner. The follower's thread. */
#ifndef NODE_QUERY_QUERY_PRIVATE_H
#define NODE_QUERY_QUERY_PRIVATE_H

#include "node/query/query_task.h"

/* Puts the events after the query's seq that the file has without a hole, at most `limit`, the
 * oldest first; none while the first is still on its way there. If it never comes, because the file
 * reaches the query's sequence without it, or has a later one, the answer is REPLY_NOT_KEPT.
 * *visited becomes the rows and events that were looked at. */
void query_private_run(struct query_task *task, const struct query_sources *sources,
                       uint32_t *visited);

#endif
