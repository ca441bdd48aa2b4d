/* etcd_ask.h - one question to etcd and the wait for its answer: for starts and for tools.
 *
 * Wait.   Until the answer, or for `life_ns`. Answers of other requests in flight are lost: ask on
 *         an etcd that has none.
 * Errors. What etcd_submit answers, -ETIMEDOUT without an answer in time, else 0 and done->result.
 *         What `done` points to is valid until the next call on this etcd. */
#ifndef REPL_ETCD_ASK_H
#define REPL_ETCD_ASK_H

#include "repl/etcd_call.h"

/* Asks anything but a watch. */
CC_MUST_USE int etcd_ask(struct etcd *etcd, const struct etcd_request *request, uint64_t life_ns,
                         struct etcd_done *done);

/* The row of one key: done->row_count is 0 if it is not there. */
CC_MUST_USE int etcd_ask_key(struct etcd *etcd, struct etcd_bytes key, uint64_t life_ns,
                             struct etcd_done *done);

/* Up to `limit` rows from `key` on, below `end`. */
CC_MUST_USE int etcd_ask_range(struct etcd *etcd, struct etcd_bytes key, struct etcd_bytes end,
                               uint32_t limit, uint64_t life_ns, struct etcd_done *done);

CC_MUST_USE int etcd_ask_transaction(struct etcd *etcd, const struct etcd_transaction *transaction,
                                     uint64_t life_ns, struct etcd_done *done);

#endif
