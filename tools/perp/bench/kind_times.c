#include "perp/bench/kind_times.h"

#include <jansson.h>
#include <stdlib.h>

#include "perp/print/record_text.h"

bool kind_times_init(struct kind_times *times)
{
    memset(times, 0, sizeof *times);
    times->all = calloc(1, sizeof *times->all);
    return times->all != NULL;
}

void kind_times_free(struct kind_times *times)
{
    for (uint32_t i = 0; i < times->kind_count; i++)
        free(times->kinds[i]);
    free(times->all);
    memset(times, 0, sizeof *times);
}

void kind_times_clear(struct kind_times *times)
{
    for (uint32_t i = 0; i < times->kind_count; i++)
        hdr_clear(times->kinds[i]);
    hdr_clear(times->all);
}

static struct hdr *kind_of(struct kind_times *times, uint16_t code)
{
    if (code >= KIND_TIMES_CODES)
        return NULL;
    if (times->kind_of[code] != 0)
        return times->kinds[times->kind_of[code] - 1];
    struct hdr *hdr = times->kind_count < KIND_TIMES_MAX ? calloc(1, sizeof *hdr) : NULL;
    if (hdr == NULL)
        return NULL;
    times->codes[times->kind_count] = code;
    times->kinds[times->kind_count] = hdr;
    times->kind_of[code] = (uint8_t)++times->kind_count;
    return hdr;
}

void kind_times_add(struct kind_times *times, uint16_t code, uint64_t time_ns)
{
    struct hdr *hdr = kind_of(times, code);

    if (hdr != NULL)
        hdr_add(hdr, time_ns);
    hdr_add(times->all, time_ns);
}

static json_t *row(const char *name, const struct hdr *hdr)
{
    double mean = hdr->count == 0 ? 0 : hdr->sum / (double)hdr->count;

    return json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "command", name, "count",
                     (json_int_t)hdr->count, "mean_ns", (json_int_t)mean, "p50_ns",
                     (json_int_t)hdr_quantile(hdr, 0.5), "p90_ns",
                     (json_int_t)hdr_quantile(hdr, 0.9), "p99_ns",
                     (json_int_t)hdr_quantile(hdr, 0.99), "p999_ns",
                     (json_int_t)hdr_quantile(hdr, 0.999), "max_ns", (json_int_t)hdr->max);
}

json_t *kind_times_rows(const struct kind_times *times)
{
    json_t *rows = json_array();

    for (uint32_t code = 0; code < KIND_TIMES_CODES; code++) {
        uint8_t kind = times->kind_of[code];
        if (kind != 0 && times->kinds[kind - 1]->count != 0)
            (void)json_array_append_new(rows, row(record_text_code(code), times->kinds[kind - 1]));
    }
    (void)json_array_append_new(rows, row("all", times->all));
    return rows;
}

bool kind_times_log(const struct kind_times *times, FILE *out, uint64_t begin_unix_ns,
                    uint64_t length_ns)
{
    hdr_log_begin(out, begin_unix_ns);
    bool is_written = hdr_log_write(times->all, out, "all", 0, length_ns);
    for (uint32_t i = 0; i < times->kind_count && is_written; i++)
        is_written =
            times->kinds[i]->count == 0 ||
            hdr_log_write(times->kinds[i], out, record_text_code(times->codes[i]), 0, length_ns);
    return is_written;
}
