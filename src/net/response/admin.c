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
        { NET_NOT_CLOCK_GAP, "clock_gap" },
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
    if (facts.clock_gap_ns != 0) {
        WRITER_TEXT(writer, ",\"clock_gap_ns\":");
        writer_int(writer, facts.clock_gap_ns);
    }
    WRITER_TEXT(writer, "}");
    return facts.not_ready == 0 ? 200 : 503;
}

void admin_cluster(struct context *context, struct writer *writer)
{
    const struct net_source *source = &context->config->source;
    size_t room = (size_t)(writer->end - writer->at);

    writer->at += source->cluster(source->context, writer->at,
                                  room < NET_METRICS_BYTES ? room : NET_METRICS_BYTES);
}

void admin_handover(struct writer *writer, const char *node)
{
    WRITER_TEXT(writer, "{\"node\":\"");
    writer_text(writer, node);
    WRITER_TEXT(writer, "\"}");
}

void admin_maintenance(struct writer *writer, uint64_t at_ns)
{
    WRITER_TEXT(writer, "{");
    if (at_ns != 0) {
        WRITER_TEXT(writer, "\"maintenance_at_ns\":");
        writer_uint(writer, at_ns);
    }
    WRITER_TEXT(writer, "}");
}

/* `perpd_net_NAME{stage="STAGE"` */
static void write_stage_name(struct writer *writer, const char *name, const char *stage)
{
    WRITER_TEXT(writer, "perpd_net_");
    writer_text(writer, name);
    WRITER_TEXT(writer, "{stage=\"");
    writer_text(writer, stage);
    WRITER_TEXT(writer, "\"");
}

static void write_stage_value(struct writer *writer, const char *name, const char *stage,
                              uint64_t value)
{
    write_stage_name(writer, name, stage);
    WRITER_TEXT(writer, "} ");
    writer_uint(writer, value);
    WRITER_TEXT(writer, "\n");
}

/* Quantiles since the start. */
static void write_stage(struct writer *writer, const struct net_metrics *metrics, const char *name,
                        enum net_stage number)
{
    struct histogram stage; /* 9 KiB */
    static const struct {
        uint32_t ppm;
        const char *text;
    } quantiles[] = { { 500000, "0.5" },   { 900000, "0.9" },    { 990000, "0.99" },
                      { 999000, "0.999" }, { 999900, "0.9999" }, { 1000000, "1" } };
    net_metrics_stage(metrics, number, &stage);
    for (unsigned i = 0; i < CC_COUNT(quantiles); i++) {
        write_stage_name(writer, "stage_ns", name);
        WRITER_TEXT(writer, ",quantile=\"");
        writer_text(writer, quantiles[i].text);
        WRITER_TEXT(writer, "\"} ");
        writer_uint(writer, histogram_quantile(&stage, quantiles[i].ppm));
        WRITER_TEXT(writer, "\n");
    }
    write_stage_value(writer, "stage_ns_sum", name, histogram_sum(&stage));
    write_stage_value(writer, "stage_ns_count", name, histogram_count(&stage));
}

/* Cumulative buckets, from whose differences a scraper computes the quantiles of any time: two an
 * octave from 1 us to 17 s. `le` is the greatest value of the bucket, in ns. */
static void write_stage_buckets(struct writer *writer, const struct net_metrics *metrics,
                                const char *name, enum net_stage number)
{
    enum { STEP = 1 << (HISTOGRAM_SUB_BITS - 1), LEAST_BITS = 10, MOST_BITS = 34 };
    struct histogram stage; /* 9 KiB */
    uint32_t begin = 0, last = histogram_bucket(UINT64_C(1) << MOST_BITS);
    uint64_t sum = 0;

    net_metrics_stage(metrics, number, &stage);
    for (uint32_t end = histogram_bucket(1 << LEAST_BITS); end <= last; end += STEP) {
        sum += histogram_count_between(&stage, begin, end);
        begin = end;
        write_stage_name(writer, "stage_latency_ns_bucket", name);
        WRITER_TEXT(writer, ",le=\"");
        writer_uint(writer, histogram_bucket_max(end - 1));
        WRITER_TEXT(writer, "\"} ");
        writer_uint(writer, sum);
        WRITER_TEXT(writer, "\n");
    }
    sum += histogram_count_between(&stage, begin, HISTOGRAM_BUCKETS);
    write_stage_name(writer, "stage_latency_ns_bucket", name);
    WRITER_TEXT(writer, ",le=\"+Inf\"} ");
    writer_uint(writer, sum);
    WRITER_TEXT(writer, "\n");
    write_stage_value(writer, "stage_latency_ns_sum", name, histogram_sum(&stage));
    write_stage_value(writer, "stage_latency_ns_count", name, sum);
}

static bool is_gauge(const char *name)
{
    return strcmp(name, "connections_open") == 0 || strcmp(name, "output_bytes") == 0 ||
           strcmp(name, "tls_handshakes_open") == 0;
}

static void write_counter(struct writer *writer, const char *name, const char *help, uint64_t value)
{
    bool gauge = is_gauge(name);
    WRITER_TEXT(writer, "# HELP perpd_net_");
    writer_text(writer, name);
    writer_text(writer, gauge ? " " : "_total ");
    writer_text(writer, help);
    WRITER_TEXT(writer, "\n# TYPE perpd_net_");
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
#define X(name, help) write_counter(writer, #name, help, sum.name);
    NET_COUNTER_LIST(X)
#undef X
    WRITER_TEXT(writer, "# HELP perpd_net_stage_ns From the receipt of a request to each stage.\n"
                        "# TYPE perpd_net_stage_ns summary\n");
#define X(name) write_stage(writer, metrics, #name, NET_STAGE_##name);
    NET_STAGE_LIST(X)
#undef X
    WRITER_TEXT(writer, "# HELP perpd_net_stage_latency_ns The same in cumulative buckets.\n"
                        "# TYPE perpd_net_stage_latency_ns histogram\n");
#define X(name) write_stage_buckets(writer, metrics, #name, NET_STAGE_##name);
    NET_STAGE_LIST(X)
#undef X
}
