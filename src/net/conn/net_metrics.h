/* net_metrics.h - what a network thread counts: totals, and how long each stage of a request took.
 *
 * Owner. The net thread writes. Other threads read the copies of net_metrics_publish, and the
 *        stages through histogram_merge. */
#ifndef NET_CONN_NET_METRICS_H
#define NET_CONN_NET_METRICS_H

#include "base/clock.h"
#include "base/histogram.h"
#include "base/published.h"

/* Stages of a signed request, each in ns since it was received (base/histogram.h). */
#define NET_STAGE_LIST(X) X(verified) X(pushed) X(sequenced) X(matched) X(released) X(sent) X(read)
enum net_stage {
#define X(name) NET_STAGE_##name,
    NET_STAGE_LIST(X)
#undef X
        NET_STAGE_COUNT
};

/* Totals since start. One writer, the net thread, which shows them to others once a turn. */
/* clang-format off */
#define NET_COUNTER_LIST(X) \
    X(connections_accepted) X(connections_closed) X(connections_open) X(accept_failures) \
    X(requests) X(signed_requests) X(reads) X(problems) X(responses) \
    X(received_bytes) X(sent_bytes) X(signatures_good) X(signatures_bad) X(unknown_keys) \
    X(rate_limited) X(tables_missing) X(shadows_skipped) \
    X(commands_pushed) X(commands_dropped) X(answers) X(replies) X(timeouts) \
    X(output_pool_closed) X(output_bytes)
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
    const struct net_metrics *others[NET_METRICS_OTHERS_MAX]; /* whose sums /metrics adds */
    uint32_t other_count;
};

/* Counts a stage of a request, in ticks since it was received. */
static inline void net_metrics_stamp(struct net_metrics *metrics, enum net_stage stage,
                                     uint64_t delta_ticks)
{
    histogram_add(&metrics->stages[stage], clock_ticks_to_ns(metrics->rate, delta_ticks));
}

/* Copies the counters to where other threads may read them. */
void net_metrics_publish(struct net_metrics *metrics);

/* Adds the counters as of the last net_metrics_publish to *sum. Any thread. */
void net_metrics_add(const struct net_metrics *metrics, struct net_counters *sum);

#endif
