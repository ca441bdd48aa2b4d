/* query_keys.h - lists of an account's credentials: sessions, API keys.
 *
 * They have no limit: limits.sessions and limits.api_keys bound them, and every list fits a reply
 * buffer.
 *
 * Owner. The follower's thread, between commands. */
#ifndef NODE_QUERY_QUERY_KEYS_H
#define NODE_QUERY_QUERY_KEYS_H

#include "node/query/query_task.h"

/* Fills the reply with the account's live credentials of the query's kind, in one turn. */
void query_keys_run(struct query_task *task, const struct query_sources *sources);

#endif
