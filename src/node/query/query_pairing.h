/* query_pairing.h - the queries of device pairing, which change the table of pairings and nothing
 * else. Follower's thread. */
#ifndef NODE_QUERY_QUERY_PAIRING_H
#define NODE_QUERY_QUERY_PAIRING_H

#include "node/query/query_task.h"

/* Runs the task's query, whose kind is one of those named pairing. */
void query_pairing_run(struct query_task *task, const struct query_sources *sources);

#endif
