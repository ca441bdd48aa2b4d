/* json_latency.h - how long requests took, by stages, in the buckets of the histograms (json.md J6,
 * GET /latency). Net thread. */
#ifndef NET_JSON_JSON_LATENCY_H
#define NET_JSON_JSON_LATENCY_H

#include "net/conn/net_metrics.h"
#include "net/http/writer.h"

/* What all net threads have counted since `since_ns`, unix ns. Buckets without a value are left
 * out; `count` is the sum of those that are shown. At most 300 KB. */
void json_latency(const struct net_metrics *metrics, uint64_t since_ns, struct writer *writer);

#endif
