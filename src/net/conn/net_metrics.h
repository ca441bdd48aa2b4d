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
/*    name                      help of /metrics */
#define NET_COUNTER_LIST(X) \
    X(connections_accepted,    "Connections accepted.") \
    X(connections_closed,      "Connections that ended.") \
    X(connections_open,        "Connections that are open.") \
    X(connections_refused,     "Connections closed because there were too many.") \
    X(connections_yielded,     "Connections closed for others, of the address with most.") \
    X(accept_failures,         "Connections that could not be accepted.") \
    X(proxy_headers_refused,   "Connections closed for a wrong PROXY header.") \
    X(requests,                "Requests received.") \
    X(signed_requests,         "Signed requests received.") \
    X(reads,                   "Reads received.") \
    X(problems,                "Answers with a problem object.") \
    X(responses,               "Answers written.") \
    X(received_bytes,          "Bytes received.") \
    X(sent_bytes,              "Bytes sent.") \
    X(signatures_good,         "Signatures that verified.") \
    X(signatures_bad,          "Signatures that did not verify.") \
    X(unknown_keys,            "Requests of keys that are not known.") \
    X(rate_limited,            "Requests refused by a limit of rate.") \
    X(tables_missing,          "Verifications under keys without a table.") \
    X(second_verdicts,         "Signatures of what is no order, verified by a second path.") \
    X(second_differences,      "Those that the second path did not call good: alarm.") \
    X(shadows_skipped,         "Verdicts not compared for want of room.") \
    X(commands_pushed,         "Commands handed to the matcher.") \
    X(commands_dropped,        "Commands refused because the matcher had no room.") \
    X(answers,                 "Answers of the matcher.") \
    X(outcomes_unknown,        "Commands whose answer did not come in time from the cluster.") \
    X(replies,                 "Replies of the follower.") \
    X(timeouts,                "Connections closed for being slow.") \
    X(output_pool_closed,      "Connections closed because the output pool was full.") \
    X(output_bytes,            "Bytes that wait to be sent.") \
    X(tls_handshakes,          "TLS handshakes completed.") \
    X(tls_handshakes_failed,   "TLS handshakes that failed.") \
    X(tls_handshakes_late,     "TLS handshakes not completed in time.") \
    X(tls_handshakes_evicted,  "TLS handshakes given up for newer ones.") \
    X(tls_handshake_ns,        "Time spent on TLS handshakes, in ns.") \
    X(tls_handshakes_open,     "TLS handshakes that are under way.") \
    X(tls_failures,            "TLS connections that broke.") \
    X(tls_plain_requests,      "Plain HTTP requests on the TLS listener.")
/* clang-format on */
struct net_counters {
#define X(name, help) uint64_t name;
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
    const struct net_metrics *others[NET_METRICS_OTHERS_MAX]; /* of the other net threads */
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

/* Sets *sum to a stage of this net thread and the others together. */
void net_metrics_stage(const struct net_metrics *metrics, enum net_stage stage,
                       struct histogram *sum);

/* Adds the counters as of the last net_metrics_publish to *sum. Any thread. */
void net_metrics_add(const struct net_metrics *metrics, struct net_counters *sum);

#endif
