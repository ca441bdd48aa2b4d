/* query.h - what a query answers from the replica: rows into a buffer of the pool.
 *
 * Owner. The follower's thread, between commands. */
#ifndef NODE_QUERY_H
#define NODE_QUERY_H

#include "base/reply_pool.h"
#include "engine/engine.h"
#include "node/ended.h"

enum {
    QUERY_DEPTH_MAX = 1000,      /* levels a side (wire.md W7) */
    QUERY_INVARIANTS_ALL = 0x3F, /* I1..I6 */
};

/* Runs the query and fills the rest of *reply: rows in a buffer of `pool`, or a problem (404s, or
 * not_ready when the pool is empty or the answer may have been dropped). */
void query_run(const struct engine *engine, const struct ended *ended, const struct query *query,
               struct reply_pool *pool, struct reply *reply);

#endif
