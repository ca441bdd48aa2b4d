/* query_keys.h - lists of an account's credentials: sessions, API keys.
 *
 * They have no limit: limits.sessions and limits.api_keys bound them, and every list fits a reply
 * buffer.
 *
 * Owner. The follower's thread, between commands. */
#ifndef NODE_QUERY_QUERY_KEYS_H
#define NODE_QUERY_QUERY_KEYS_H

#include "node/query/query_task.h"

/* Fill the reply with the live credentials of the account, in one turn. */
void query_keys_sessions(struct query_task *task, const struct query_sources *sources);
void query_keys_masters(struct query_task *task, const struct query_sources *sources);
void query_keys_api_keys(struct query_task *task, const struct query_sources *sources);

#endif
