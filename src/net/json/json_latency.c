#include "net/json/json_latency.h"

static void write_buckets(const struct histogram *stage, struct writer *writer)
{
    bool first = true;

    for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        uint64_t count = histogram_count_between(stage, i, i + 1);
        if (count == 0)
            continue;
        writer_text(writer, first ? "[" : ",[");
        first = false;
        writer_uint(writer, histogram_bucket_max(i));
        WRITER_TEXT(writer, ",");
        writer_uint(writer, count);
        WRITER_TEXT(writer, "]");
    }
}

static void write_stage(const struct net_metrics *metrics, enum net_stage number, const char *name,
                        struct writer *writer)
{
    struct histogram stage; /* 9 KiB */

    net_metrics_stage(metrics, number, &stage);
    WRITER_TEXT(writer, "{\"stage\":\"");
    writer_text(writer, name);
    WRITER_TEXT(writer, "\",\"count\":");
    writer_uint(writer, histogram_count_between(&stage, 0, HISTOGRAM_BUCKETS));
    WRITER_TEXT(writer, ",\"sum_ns\":");
    writer_uint(writer, histogram_sum(&stage));
    WRITER_TEXT(writer, ",\"buckets\":[");
    write_buckets(&stage, writer);
    WRITER_TEXT(writer, "]}");
}

void json_latency(const struct net_metrics *metrics, uint64_t since_ns, struct writer *writer)
{
    static const char *const names[] = {
#define X(name) [NET_STAGE_##name] = #name,
        NET_STAGE_LIST(X)
#undef X
    };

    WRITER_TEXT(writer, "{\"since_ns\":");
    writer_uint(writer, since_ns);
    WRITER_TEXT(writer, ",\"stages\":[");
    for (unsigned i = 0; i < NET_STAGE_COUNT; i++) {
        if (i > 0)
            WRITER_TEXT(writer, ",");
        write_stage(metrics, i, names[i], writer);
    }
    WRITER_TEXT(writer, "]}");
}
