#include "net/conn/net_metrics.h"

void net_metrics_publish(struct net_metrics *metrics)
{
    uint32_t i = 0;
#define X(name, help) published_set(&metrics->shown[i++], metrics->counters.name);
    NET_COUNTER_LIST(X)
#undef X
}

void net_metrics_stage(const struct net_metrics *metrics, enum net_stage stage,
                       struct histogram *sum)
{
    histogram_clear(sum);
    histogram_merge(sum, &metrics->stages[stage]);
    for (uint32_t i = 0; i < metrics->other_count; i++)
        histogram_merge(sum, &metrics->others[i]->stages[stage]);
}

void net_metrics_add(const struct net_metrics *metrics, struct net_counters *sum)
{
    uint32_t i = 0;
#define X(name, help) sum->name += published_get(&metrics->shown[i++]);
    NET_COUNTER_LIST(X)
#undef X
}
