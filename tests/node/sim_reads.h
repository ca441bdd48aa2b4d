/* sim_reads.h - what a client may expect to read of an order whose placing was acknowledged: the
 * order by id, its place in the list, its fills, and the request. */
#ifndef TESTS_NODE_SIM_READS_H
#define TESTS_NODE_SIM_READS_H

#include "base/query_message.h"
#include "sim_link.h"
#include "sim_traffic.h"

/* One of these reads, by `random`, of an acknowledged placement. Token and stamp are the caller's.
 */
void sim_reads_ask(struct query *query, const struct traffic_sent *sent, uint64_t random);

/* What is wrong with the reply to the link's query, or NULL; remembers what was shown. *filled
 * tells that the order shown has fills. */
const char *sim_reads_judge(const struct sim_link *link, const struct reply *reply,
                            const uint8_t *rows, struct traffic_sent *sent, bool *filled);

#endif
