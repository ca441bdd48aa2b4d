#include "perp/bench/sheet.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/version.h"

/* Figures of a pass whose median is of interest. */
static const char *const MEDIANS[] = {
    "answered_per_s",   "accepted_per_s",
    "latency_us.p50",   "latency_us.p99",
    "latency_us.p99_9", "latency_us.max",
    "service_us.p50",   "service_us.p99",
    "service_us.p99_9", "server.process_cpu_us_per_accepted",
};

static void put(json_t *object, const char *name, json_t *value)
{
    INVARIANT(value != NULL && json_object_set_new(object, name, value) == 0);
}

bool sheet_number(const json_t *object, const char *path, double *value)
{
    char name[64];

    while (*path != '\0') {
        size_t count = strcspn(path, ".");
        snprintf(name, sizeof name, "%.*s", (int)count, path);
        object = json_object_get(object, name);
        path += count + (path[count] == '.');
    }
    *value = json_number_value(object);
    return json_is_number(object);
}

static json_t *settings_of(const struct trial *trial)
{
    static const char *const acks[] = { "brief", "full", "binary" };
    const struct bench_settings *settings = trial->settings;
    json_t *mix = json_object(), *options = json_array();
    bool is_corpus = settings->corpus != NULL;

    for (unsigned i = 0; i < CORPUS_KIND_COUNT; i++)
        if (settings->weights[i] != 0)
            put(mix, corpus_kind_name(i), json_integer(settings->weights[i]));
    for (uint32_t i = 0; i < settings->option_count; i++)
        (void)json_array_append_new(options, json_string(settings->options[i]));
    return json_pack(
        "{s:s, s:o, s:i, s:i, s:o, s:i, s:i, s:i, s:o, s:o, s:s, s:s, s:s, s:s, s:I, s:o}",
        "schedule", is_corpus ? "corpus" : schedule_name(settings->schedule.kind), "rate",
        settings->schedule.kind == SCHEDULE_closed ? json_null()
                                                   : json_real(settings->schedule.rate_per_s),
        "burst", (int)settings->schedule.burst, "steps", (int)settings->steps, "ramp_to",
        settings->ramp_to == 0 ? json_null() : json_real(settings->ramp_to), "seconds",
        (int)settings->seconds, "warm_up_seconds", (int)settings->warm_up, "connections",
        (int)settings->connections, "accounts",
        is_corpus ? json_null() : json_integer(settings->account_count), "mix",
        is_corpus ? (json_decref(mix), json_null()) : mix, "transport",
        settings->is_stream ? "WebSocket" : "HTTP/1.1", "body",
        is_corpus            ? "corpus"
        : settings->is_frame ? "frame"
                             : "json",
        "ack", is_corpus ? "corpus" : acks[settings->ack], "signing",
        is_corpus                ? "corpus"
        : settings->signs_inline ? "inline"
                                 : "ahead",
        "seed", (json_int_t)settings->seed, "perpd_options", options);
}

json_t *sheet_begin(struct trial *trial)
{
    struct machine machine;
    char now[32];
    time_t seconds = time(NULL);
    struct tm parts;

    machine_read(&machine);
    (void)strftime(now, sizeof now, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&seconds, &parts));
    json_t *sheet = json_pack(
        "{s:s, s:s, s:s, s:o, s:i, s:o, s:{s:s, s:s, s:i, s:o}}", "run", "perp bench", "perp",
        version_text, "begun", now, "settings", settings_of(trial), "pipeline",
        (int)trial->settings->pipeline, "exchange", trial_exchange(trial), "machine", "processor",
        machine.processor, "kernel", machine.kernel, "cores", (int)machine.cores,
        "libsodium_verify_us", json_real((double)(int64_t)trial->calibration_ns / 1e3));
    INVARIANT(sheet != NULL);
    return sheet;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static json_t *median_of(const json_t *passes, const char *path)
{
    size_t count = json_array_size(passes), known = 0;
    double values[BENCH_REPEATS_MAX];

    for (size_t i = 0; i < count && i < BENCH_REPEATS_MAX; i++)
        known += sheet_number(json_array_get(passes, i), path, &values[known]);
    if (known == 0)
        return json_null();
    qsort(values, known, sizeof *values, by_value);
    return json_pack("{s:f, s:f, s:f, s:i}", "median",
                     (values[(known - 1) / 2] + values[known / 2]) / 2, "least", values[0], "most",
                     values[known - 1], "of", (int)known);
}

static bool is_valid(const json_t *pass)
{
    return json_is_true(json_object_get(pass, "valid"));
}

/* The last rate that was reached before the first that was not. */
static json_t *knee_of(const json_t *passes)
{
    const json_t *pass, *last = NULL;
    size_t i;

    json_array_foreach(passes, i, pass)
    {
        if (!is_valid(pass))
            break;
        last = pass;
    }
    if (last == NULL)
        return json_null();
    return json_pack("{s:O, s:O, s:b}", "rate", json_object_get(last, "rate_wanted"), "latency_us",
                     json_object_get(last, "latency_us"), "was_passed",
                     i < json_array_size(passes));
}

bool sheet_end(json_t *sheet, json_t *passes, bool is_ramp)
{
    json_t *medians = json_object(), *pass;
    bool valid = json_array_size(passes) > 0;
    json_int_t accepted = 0;
    size_t i;

    json_array_foreach(passes, i, pass)
    {
        accepted += json_integer_value(json_object_get(pass, "accepted"));
        valid = valid && (is_valid(pass) || (is_ramp && i > 0));
    }
    for (i = 0; !is_ramp && i < CC_COUNT(MEDIANS); i++)
        put(medians, MEDIANS[i], median_of(passes, MEDIANS[i]));
    put(sheet, "knee", is_ramp ? knee_of(passes) : json_null());
    put(sheet, "median", medians);
    put(sheet, "passes", passes);
    put(sheet, "valid", json_boolean(valid));
    return valid && accepted > 0;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static const char *word(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));

    return text == NULL ? "unknown" : text;
}

static void show_value(FILE *out, const json_t *object, const char *path, int width, int decimals)
{
    double value;

    if (sheet_number(object, path, &value))
        fprintf(out, " %*.*f", width, decimals, value);
    else
        fprintf(out, " %*s", width, "-");
}

static void show_distribution(FILE *out, const json_t *pass, const char *name, const char *title)
{
    static const char *const columns[] = { "p50", "p90", "p99", "p99_9", "max" };
    char path[64];

    fprintf(out, "  %-34s", title);
    for (size_t i = 0; i < CC_COUNT(columns); i++) {
        snprintf(path, sizeof path, "%s.%s", name, columns[i]);
        show_value(out, pass, path, 10, 1);
    }
    fprintf(out, "\n");
}

static void show_counts(FILE *out, const json_t *pass)
{
    static const char *const columns[] = { "due",    "sent",       "answered",
                                           "unsent", "unanswered", "accepted" };

    for (size_t i = 0; i < CC_COUNT(columns); i++) {
        double value;
        if (sheet_number(pass, columns[i], &value))
            fprintf(out, "%s%.0f %s", i == 0 ? "  " : ", ", value, columns[i]);
        else
            fprintf(out, "%s%s unknown", i == 0 ? "  " : ", ", columns[i]);
    }
    fprintf(out, "\n");
}

static void show_outcomes(FILE *out, const json_t *pass)
{
    json_t *value;
    const char *name;
    bool begun = false;

    fprintf(out, "  outcomes:");
    json_object_foreach(json_object_get(pass, "outcomes"), name, value)
    {
        fprintf(out, "%s %s %lld", begun ? "," : "", name, json_integer_value(value));
        begun = true;
    }
    fprintf(out, "\n");
}

static void show_worst(FILE *out, const json_t *pass)
{
    const json_t *row;
    size_t i;

    fprintf(out, "  worst     due s   latency us   service us   verified    matched        ack  "
                 "kind    outcome\n");
    json_array_foreach(json_object_get(pass, "worst"), i, row)
    {
        double due_us = json_number_value(json_object_get(row, "due_us"));
        fprintf(out, "  %5zu %9.3f", i + 1, due_us / 1e6);
        show_value(out, row, "latency_us", 12, 1);
        show_value(out, row, "service_us", 12, 1);
        show_value(out, row, "stages_us.verified", 10, 1);
        show_value(out, row, "stages_us.matched", 10, 1);
        show_value(out, row, "stages_us.ack", 10, 1);
        const char *kind = json_string_value(json_object_get(row, "kind"));
        const char *outcome = json_string_value(json_object_get(row, "outcome"));
        fprintf(out, "  %-7s %s\n", kind == NULL ? "unsent" : kind,
                outcome == NULL ? "no answer" : outcome);
    }
}

static void show_pass(FILE *out, const json_t *pass, size_t number, size_t count)
{
    fprintf(out, "\npass %zu of %zu: %s", number, count, is_valid(pass) ? "valid" : "NOT VALID");
    fprintf(out, ", wanted");
    show_value(out, pass, "rate_wanted", 1, 0);
    fprintf(out, "/s, answered");
    show_value(out, pass, "answered_per_s", 1, 0);
    fprintf(out, "/s, accepted");
    show_value(out, pass, "accepted_per_s", 1, 0);
    fprintf(out, "/s\n");
    show_counts(out, pass);
    show_outcomes(out, pass);
    fprintf(out, "  %-34s %10s %10s %10s %10s %10s\n", "us", "p50", "p90", "p99", "p99.9", "max");
    show_distribution(out, pass, "latency_us", "latency, from when it was due");
    show_distribution(out, pass, "service_us", "service, from when it was sent");
    show_distribution(out, pass, "send_delay_us", "due to sent");
    for (unsigned i = 0; i < ANSWER_STAGE_COUNT; i++) {
        char path[64], title[64];
        snprintf(path, sizeof path, "ack_stages_us.%s", answer_stage_name(i));
        snprintf(title, sizeof title, "server, received to %s", answer_stage_name(i));
        show_distribution(out, pass, path, title);
    }
    fprintf(out, "  server: CPU us an accepted request");
    show_value(out, pass, "server.process_cpu_us_per_accepted", 1, 1);
    fprintf(out, "; load before");
    show_value(out, pass, "machine.load_before", 1, 2);
    fprintf(out, " after");
    show_value(out, pass, "machine.load_after", 1, 2);
    fprintf(out, ", steal %%");
    show_value(out, pass, "machine.steal_percent", 1, 2);
    fprintf(out, "\n");
    show_worst(out, pass);
}

static void show_medians(FILE *out, const json_t *sheet)
{
    const json_t *medians = json_object_get(sheet, "median");

    fprintf(out, "\n%-38s %12s %12s %12s\n", "of all passes", "median", "least", "most");
    for (size_t i = 0; i < CC_COUNT(MEDIANS); i++) {
        const json_t *row = json_object_get(medians, MEDIANS[i]);
        fprintf(out, "%-38s", MEDIANS[i]);
        show_value(out, row, "median", 12, 1);
        show_value(out, row, "least", 12, 1);
        show_value(out, row, "most", 12, 1);
        fprintf(out, "\n");
    }
}

void sheet_show(FILE *out, const json_t *sheet)
{
    const json_t *exchange = json_object_get(sheet, "exchange");
    const json_t *machine = json_object_get(sheet, "machine");
    const json_t *passes = json_object_get(sheet, "passes"), *pass;
    double value;
    size_t i;

    fprintf(out, "perpd %s (%s), durability %s, topology %s, verifier %s\n",
            word(exchange, "commit"), word(exchange, "build"), word(exchange, "durability"),
            word(exchange, "topology"), word(exchange, "verifier"));
    fprintf(out, "%s, %lld cores, libsodium verifies in", word(machine, "processor"),
            json_integer_value(json_object_get(machine, "cores")));
    show_value(out, machine, "libsodium_verify_us", 1, 1);
    fprintf(out, " us here\n");
    json_array_foreach(passes, i, pass)
    {
        show_pass(out, pass, i + 1, json_array_size(passes));
    }
    if (json_array_size(passes) > 1 && json_object_size(json_object_get(sheet, "median")) > 0)
        show_medians(out, sheet);
    if (sheet_number(sheet, "knee.rate", &value))
        fprintf(out, "\nknee: %.0f/s is the last rate that was reached%s\n", value,
                json_is_true(json_object_get(json_object_get(sheet, "knee"), "was_passed"))
                    ? ""
                    : "; the ramp ended before the knee");
    if (!json_is_true(json_object_get(sheet, "valid")))
        fprintf(out, "\nNOT VALID: less than %d %% of the due requests had an answer\n",
                LOAD_VALID_PERCENT);
}
