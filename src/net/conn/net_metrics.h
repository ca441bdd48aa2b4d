/* net_metrics.h - the counters of a network thread, and the latency of each stage of a request.
 *
 * Owner. The net thread writes. Other threads read the copies that net_metrics_publish makes, and
 *        the stages through histogram_merge. */
#ifndef NET_CONN_NET_METRICS_H
#define NET_CONN_NET_METRICS_H

#include "base/clock.h"
#include "base/histogram.h"
#include "base/published.h"

/* Stages of a signed request, in ns since it was received (base/histogram.h). */
#define NET_STAGE_LIST(X) X(verified) X(pushed) X(sequenced) X(matched) X(released) X(sent) X(read)
enum net_stage {
#define X(name) NET_STAGE_##name,
    NET_STAGE_LIST(X)
#undef X
        NET_STAGE_COUNT
};

/* Totals since start. */
/* clang-format off */
#define NET_COUNTER_LIST(X) \
    X(connections_accepted) X(connections_closed) X(connections_open) X(connections_refused) \
    X(connections_yielded) \
    X(accept_failures) X(proxy_headers_refused) \
    X(requests) X(signed_requests) X(reads) X(problems) X(responses) \
    X(received_bytes) X(sent_bytes) X(signatures_good) X(signatures_bad) X(unknown_keys) \
    X(rate_limited) X(tables_missing) X(shadows_skipped) \
    X(commands_pushed) X(commands_dropped) X(answers) X(replies) X(timeouts) \
    X(output_pool_closed) X(output_bytes) \
    X(tls_handshakes) X(tls_handshakes_failed) X(tls_handshakes_late) X(tls_handshakes_evicted) \
    X(tls_handshake_ns) X(tls_handshakes_open) X(tls_failures) X(tls_plain_requests)
/* clang-format on */
struct net_counters {
#define X(name) uint64_t name;
    NET_COUNTER_LIST(X)
#undef X
};

enum { NET_COUNTER_COUNT = sizeof(struct net_counters) / sizeof(uint64_t) };

enum { NET_METRICS_OTHERS_MAX = 31 /* net threads beside this one */ };

struct net_metrics {
    struct net_counters counters;
    struct histogram stages[NET_STAGE_COUNT];
    struct clock_rate rate;
    struct published shown[NET_COUNTER_COUNT];                /* copies of the counters */
    const struct net_metrics *others[NET_METRICS_OTHERS_MAX]; /* which /metrics adds to these */
    uint32_t other_count;
};

/* Records that a request reached a stage, in ticks since it was received. */
static inline void net_metrics_stamp(struct net_metrics *metrics, enum net_stage stage,
                                     uint64_t delta_ticks)
{
    histogram_add(&metrics->stages[stage], clock_ticks_to_ns(metrics->rate, delta_ticks));
}

/* Copies the counters for other threads. The net thread calls it once a turn. */
void net_metrics_publish(struct net_metrics *metrics);

/* Adds the counters as of the last net_metrics_publish to *sum. Any thread. */
void net_metrics_add(const struct net_metrics *metrics, struct net_counters *sum);

#endif
