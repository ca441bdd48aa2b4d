/* query_request.h - what became of a request, and a signed receipt of it (journal.md, Receipts).
 *
 *   id ──> row of the history ──> outcome
 *                 └─ sequence ──> journal: frame and record ──> receipt, signed
 *
 * Owner. The follower's thread, which reads the journal's files: a step reads at most 1 MiB. */
#ifndef NODE_QUERY_QUERY_REQUEST_H
#define NODE_QUERY_QUERY_REQUEST_H

#include "node/query/query_task.h"

/* Goes on with QUERY_request or QUERY_receipt. True: the task is done with. A step that reads the
 * journal costs as many rows as a query may visit in a turn. */
CC_MUST_USE bool query_request_step(struct query_task *task, const struct query_sources *sources,
                                    uint32_t *rows_left);

#endif
