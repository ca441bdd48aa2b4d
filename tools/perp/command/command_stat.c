/* command_stat.c - counts the records of a journal by code, and the sizes of its frames. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "perp/command/command.h"
#include "perp/data/chain_walk.h"
#include "perp/print/record_text.h"
#include "perp/print/report.h"

enum { CODES_MAX = 1 << 16, SIZES_MAX = 21, NS_PER_S = 1000000000 };

struct counts {
    struct {
        uint64_t records, bytes;
    } codes[CODES_MAX];
    uint64_t sizes[SIZES_MAX]; /* frames of at most 2^i bytes and more than half of that */
    uint64_t first_t_ns, last_t_ns;
    bool malformed;
};

static bool count_frame(void *context, const struct chain_frame *frame)
{
    struct counts *counts = context;
    struct frame_records records;
    struct record_view record;
    uint64_t sequence;
    unsigned size = 0;
    int found;
    while (UINT32_C(1) << size < frame->header.length)
        size++;
    INVARIANT(size < SIZES_MAX);
    counts->sizes[size]++;
    frame_records_begin(&records, &frame->header, frame->bytes);
    while ((found = frame_records_next(&records, &record, &sequence)) > 0) {
        counts->codes[record.code].records++;
        counts->codes[record.code].bytes += record.length;
        if (counts->first_t_ns == 0)
            counts->first_t_ns = record.t_ns;
        counts->last_t_ns = record.t_ns;
    }
    counts->malformed = found < 0;
    return found == 0;
}

static json_t *codes_json(const struct counts *counts)
{
    json_t *rows = json_array();
    for (uint32_t code = 0; code < CODES_MAX; code++) {
        if (counts->codes[code].records == 0)
            continue;
        (void)json_array_append_new(rows,
                                    json_pack("{s:i, s:s, s:I, s:I}", "code", (int)code, "name",
                                              record_text_code(code), "records",
                                              (json_int_t)counts->codes[code].records, "bytes",
                                              (json_int_t)counts->codes[code].bytes));
    }
    return rows;
}

static json_t *sizes_json(const struct counts *counts)
{
    json_t *rows = json_array();
    for (unsigned size = 0; size < SIZES_MAX; size++) {
        if (counts->sizes[size] > 0)
            (void)json_array_append_new(rows, json_pack("{s:I, s:I}", "bytes_at_most",
                                                        (json_int_t)(UINT64_C(1) << size), "frames",
                                                        (json_int_t)counts->sizes[size]));
    }
    return rows;
}

static void show(const struct context *context, const struct chain_walk *walk,
                 const struct counts *counts)
{
    char ratio[32] = "0", rate[32] = "0";
    uint64_t span_ns = counts->last_t_ns - counts->first_t_ns;
    if (walk->record_bytes > 0)
        snprintf(ratio, sizeof ratio, "%.3f", (double)walk->bytes / (double)walk->record_bytes);
    if (span_ns > 0)
        snprintf(rate, sizeof rate, "%.1f", (double)walk->records * NS_PER_S / (double)span_ns);
    json_t *object = json_pack(
        "{s:I, s:I, s:I, s:I, s:s, s:I, s:I, s:s, s:o, s:o}", "frames", (json_int_t)walk->frames,
        "records", (json_int_t)walk->records, "record_bytes", (json_int_t)walk->record_bytes,
        "written_bytes", (json_int_t)walk->bytes, "written_per_record_byte", ratio, "first_t_ns",
        (json_int_t)counts->first_t_ns, "last_t_ns", (json_int_t)counts->last_t_ns, "records_per_s",
        rate, "codes", codes_json(counts), "frame_sizes", sizes_json(counts));
    report_object(stdout, object, context->arguments->json);
}

int command_journal_stat(struct context *context)
{
    struct data_directory directory;
    struct chain_walk walk = { 0 };
    struct refusal refusal;
    if (!data_directory_open(context, NULL, &directory))
        return context->exit_code;
    struct counts *counts = calloc(1, sizeof *counts);
    INVARIANT(counts != NULL);
    if (chain_walk_run(&directory, &walk, count_frame, counts, &refusal) != REFUSAL_none)
        (void)data_directory_refused(context, &directory, &refusal);
    else if (counts->malformed)
        (void)context_fail(context, EXIT_CODE_rejected,
                           "frame %" PRIu64 " is whole but its records do not parse",
                           walk.end.tail.number);
    show(context, &walk, counts);
    free(counts);
    data_directory_close(&directory);
    return context->exit_code;
}
