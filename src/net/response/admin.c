#include "net/response/admin.h"

void admin_livez(struct writer *writer)
{
    WRITER_TEXT(writer, "{\"live\":true}");
}

uint32_t admin_readyz(struct context *context, struct writer *writer)
{
    static const struct {
        uint32_t bit;
        const char *name;
    } reasons[] = {
        { NET_NOT_RECOVERED, "recovery" },    { NET_NOT_CLOCK, "clock" },
        { NET_NOT_FOLLOWER, "follower_lag" }, { NET_NOT_SEGMENTS, "segments" },
        { NET_NOT_INVARIANT, "invariant" },   { NET_NOT_ACCEPTING, "accepting" },
    };
    struct net_facts facts = { 0 };
    context->config->source.facts(context->config->source.context, &facts);
    if (context->draining)
        facts.not_ready |= NET_NOT_ACCEPTING;
    WRITER_TEXT(writer, "{\"ready\":");
    writer_bool(writer, facts.not_ready == 0);
    WRITER_TEXT(writer, ",\"reasons\":[");
    bool first = true;
    for (unsigned i = 0; i < CC_COUNT(reasons); i++) {
        if ((facts.not_ready & reasons[i].bit) == 0)
            continue;
        if (!first)
            WRITER_TEXT(writer, ",");
        first = false;
        writer_string(writer, reasons[i].name, strlen(reasons[i].name));
    }
    WRITER_TEXT(writer, "],\"applied\":");
    writer_uint(writer, facts.applied);
    WRITER_TEXT(writer, ",\"durable\":");
    writer_uint(writer, facts.durable);
    WRITER_TEXT(writer, ",\"lag_ms\":");
    writer_uint(writer, facts.lag_ms);
    WRITER_TEXT(writer, ",\"clock_difference_ms\":");
    writer_int(writer, facts.clock_difference_ms);
    WRITER_TEXT(writer, ",\"replay_percent\":");
    writer_uint(writer, facts.replay_percent);
    WRITER_TEXT(writer, "}");
    return facts.not_ready == 0 ? 200 : 503;
}

/* One stage, summed over all net threads. */
static void write_stage(struct writer *writer, const struct net_metrics *metrics, const char *name,
                        enum net_stage number)
{
    struct histogram sum; /* 9 KiB */
    const struct histogram *stage = &sum;
    static const struct {
        uint32_t ppm;
        const char *text;
    } quantiles[] = { { 500000, "0.5" },   { 900000, "0.9" },    { 990000, "0.99" },
                      { 999000, "0.999" }, { 999900, "0.9999" }, { 1000000, "1" } };
    histogram_clear(&sum);
    histogram_merge(&sum, &metrics->stages[number]);
    for (uint32_t i = 0; i < metrics->other_count; i++)
        histogram_merge(&sum, &metrics->others[i]->stages[number]);
    for (unsigned i = 0; i < CC_COUNT(quantiles); i++) {
        WRITER_TEXT(writer, "perpd_net_stage_ns{stage=\"");
        writer_text(writer, name);
        WRITER_TEXT(writer, "\",quantile=\"");
        writer_text(writer, quantiles[i].text);
        WRITER_TEXT(writer, "\"} ");
        writer_uint(writer, histogram_quantile(stage, quantiles[i].ppm));
        WRITER_TEXT(writer, "\n");
    }
    WRITER_TEXT(writer, "perpd_net_stage_ns_sum{stage=\"");
    writer_text(writer, name);
    WRITER_TEXT(writer, "\"} ");
    writer_uint(writer, histogram_sum(stage));
    WRITER_TEXT(writer, "\nperpd_net_stage_ns_count{stage=\"");
    writer_text(writer, name);
    WRITER_TEXT(writer, "\"} ");
    writer_uint(writer, histogram_count(stage));
    WRITER_TEXT(writer, "\n");
}

static bool is_gauge(const char *name)
{
    return strcmp(name, "connections_open") == 0 || strcmp(name, "output_bytes") == 0 ||
           strcmp(name, "tls_handshakes_open") == 0;
}

static void write_counter(struct writer *writer, const char *name, uint64_t value)
{
    bool gauge = is_gauge(name);
    WRITER_TEXT(writer, "# TYPE perpd_net_");
    writer_text(writer, name);
    writer_text(writer, gauge ? " gauge\nperpd_net_" : "_total counter\nperpd_net_");
    writer_text(writer, name);
    writer_text(writer, gauge ? " " : "_total ");
    writer_uint(writer, value);
    WRITER_TEXT(writer, "\n");
}

void admin_metrics(struct context *context, struct writer *writer)
{
    size_t room = (size_t)(writer->end - writer->at);
    if (room > NET_METRICS_BYTES)
        room = NET_METRICS_BYTES;
    size_t used =
        context->config->source.metrics(context->config->source.context, writer->at, room);
    INVARIANT(used <= room);
    writer->at += used;
    context_measure(context);
    const struct net_metrics *metrics = &context->metrics;
    struct net_counters sum = metrics->counters;
    for (uint32_t i = 0; i < metrics->other_count; i++)
        net_metrics_add(metrics->others[i], &sum);
#define X(name) write_counter(writer, #name, sum.name);
    NET_COUNTER_LIST(X)
#undef X
    WRITER_TEXT(writer, "# TYPE perpd_net_stage_ns summary\n");
#define X(name) write_stage(writer, metrics, #name, NET_STAGE_##name);
    NET_STAGE_LIST(X)
#undef X
}
