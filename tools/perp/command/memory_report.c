#include "perp/command/memory_report.h"

#include <jansson.h>
#include <stdio.h>

#include "base/region.h"
#include "perp/bench/reading.h"
#include "perp/print/report.h"

enum { SERIES_BYTES = 96, MIB = 1 << 20 };

struct rows {
    json_t *array;
    double mapped_bytes, resident_bytes;
};

static void add_row(struct rows *rows, const char *part, double mapped, double resident,
                    const char *holds)
{
    char mapped_mib[32], resident_mib[32];

    snprintf(mapped_mib, sizeof mapped_mib, "%8.1f", mapped / MIB);
    snprintf(resident_mib, sizeof resident_mib, "%8.1f", resident / MIB);
    json_t *row = json_pack("{s:s, s:I, s:I, s:s, s:s, s:s}", "part", part, "mapped_bytes",
                            (json_int_t)mapped, "resident_bytes", (json_int_t)resident,
                            "mapped_mib", mapped_mib, "resident_mib", resident_mib, "holds", holds);
    INVARIANT(row != NULL);
    (void)json_array_append_new(rows->array, row);
    rows->mapped_bytes += mapped;
    rows->resident_bytes += resident;
}

/* False when perpd does not tell. */
static bool read_part(const struct reading *reading, enum region_part part, struct rows *rows)
{
    char series[SERIES_BYTES];
    double mapped, resident;

    snprintf(series, sizeof series, "perpd_memory_mapped_bytes{part=\"%s\"}",
             region_part_name(part));
    if (!reading_value(reading, series, &mapped))
        return false;
    snprintf(series, sizeof series, "perpd_memory_resident_bytes{part=\"%s\"}",
             region_part_name(part));
    if (!reading_value(reading, series, &resident))
        return false;
    add_row(rows, region_part_name(part), mapped, resident, region_part_holds(part));
    return true;
}

static bool read_all(const struct reading *reading, struct rows *rows)
{
    double anonymous;

    for (int part = 0; part < REGION_PARTS_COUNT; part++)
        if (!read_part(reading, (enum region_part)part, rows))
            return false;
    if (!reading_value(reading, "perpd_memory_anonymous_bytes", &anonymous))
        return false;
    double rest = anonymous > rows->resident_bytes ? anonymous - rows->resident_bytes : 0;
    add_row(rows, "rest", rest, rest, "heap and stacks: journal, streams, tables of addresses");
    return true;
}

static void show(struct context *context, struct rows *rows)
{
    if (!context->arguments->json) {
        report_rows(stdout, rows->array, "part mapped_mib resident_mib holds");
        return;
    }
    json_t *object = json_pack("{s:O}", "parts", rows->array);
    INVARIANT(object != NULL);
    report_object(stdout, object, true);
}

int memory_report(struct context *context)
{
    const char *url = context->arguments->values[FLAG_admin_url];
    struct reading reading = { .text = NULL };
    struct client admin;

    if (url == NULL)
        return context_fail(context, EXIT_CODE_usage,
                            "--memory needs --admin-url, as "
                            "http://127.0.0.1:8081"),
               EXIT_CODE_usage;
    struct rows rows = { .array = json_array() };
    INVARIANT(rows.array != NULL);
    if (!client_init(&admin, url, CLIENT_TIMEOUT_MS))
        (void)context_fail(context, EXIT_CODE_usage, "--admin-url: %s", admin.error);
    else if (!reading_fetch(&reading, &admin))
        (void)context_fail(context, EXIT_CODE_connection, "%s/metrics does not answer: %s", url,
                           admin.error);
    else if (!read_all(&reading, &rows))
        (void)context_fail(context, EXIT_CODE_problem, "%s/metrics does not tell the memory", url);
    else
        show(context, &rows);
    reading_free(&reading);
    client_close(&admin);
    json_decref(rows.array);
    return context->exit_code;
}
