#include "perp/bench/figures.h"

#include <stdio.h>
#include <stdlib.h>

static const struct {
    const char *name;
    double share;
} QUANTILES[] = {
    { "p50", 0.5 }, { "p90", 0.9 }, { "p99", 0.99 }, { "p99_9", 0.999 }, { "p99_99", 0.9999 },
};

static void put(json_t *object, const char *name, json_t *value)
{
    INVARIANT(value != NULL && json_object_set_new(object, name, value) == 0);
}

static void put_count(json_t *object, const char *name, uint64_t count)
{
    put(object, name, json_integer((json_int_t)count));
}

/* Three decimals are enough of every figure here, and keep the file readable. */
static json_t *real(double value)
{
    return json_real((double)(int64_t)(value * 1000 + (value < 0 ? -0.5 : 0.5)) / 1000);
}

static json_t *distribution(const struct hdr *hdr)
{
    json_t *object = json_object();

    if (hdr->count == 0) {
        json_decref(object);
        return json_null();
    }
    put_count(object, "count", hdr->count);
    for (size_t i = 0; i < CC_COUNT(QUANTILES); i++)
        put(object, QUANTILES[i].name, real((double)hdr_quantile(hdr, QUANTILES[i].share) / 1e3));
    put(object, "max", real((double)hdr->max / 1e3));
    put(object, "mean", real(hdr->sum / (double)hdr->count / 1e3));
    return object;
}

void figures_fill(const struct load *load, struct hdr *latency, struct hdr *service)
{
    hdr_clear(latency);
    hdr_clear(service);
    for (uint32_t i = 0; i < load->due_count; i++) {
        uint64_t service_ns = load_service_ns(load, &load->rows[i]);
        hdr_add(latency, load_latency_ns(load, &load->rows[i]));
        if (service_ns != LOAD_NEVER)
            hdr_add(service, service_ns);
    }
}

static bool is_answered(const struct load_row *row)
{
    return row->done_ns != LOAD_NEVER;
}

/* Done: the exchange did what was asked, or answered the read. */
static bool is_accepted(const struct load *load, const struct load_row *row)
{
    const char *word = load->outcomes->words[row->answer.outcome];

    return is_answered(row) && row->answer.http == 200 &&
           (row->answer.outcome == STATUS_request_completed || strcmp(word, "read") == 0);
}

static void put_outcomes(json_t *object, const struct load *load)
{
    uint64_t words[OUTCOMES_MAX] = { 0 }, kinds[CORPUS_KIND_COUNT] = { 0 };
    uint64_t accepted[CORPUS_KIND_COUNT] = { 0 }, https[600] = { 0 };
    json_t *outcomes = json_object(), *by_kind = json_object(), *http = json_object();
    char name[16];

    for (uint32_t i = 0; i < load->due_count; i++) {
        const struct load_row *row = &load->rows[i];
        if (row->sent_ns != LOAD_NEVER)
            kinds[row->kind]++;
        if (!is_answered(row))
            continue;
        words[row->answer.outcome]++;
        accepted[row->kind] += is_accepted(load, row);
        https[row->answer.http < CC_COUNT(https) ? row->answer.http : 0]++;
    }
    for (uint32_t i = 0; i < load->outcomes->count; i++)
        if (words[i] != 0)
            put_count(outcomes, load->outcomes->words[i], words[i]);
    for (uint32_t i = 0; i < CC_COUNT(https); i++)
        if (https[i] != 0) {
            snprintf(name, sizeof name, "%u", i);
            put_count(http, name, https[i]);
        }
    for (unsigned i = 0; i < CORPUS_KIND_COUNT; i++)
        if (kinds[i] != 0)
            put(by_kind, corpus_kind_name(i),
                json_pack("{s:I, s:I}", "sent", (json_int_t)kinds[i], "accepted",
                          (json_int_t)accepted[i]));
    put(object, "kinds", by_kind);
    put(object, "outcomes", outcomes);
    put(object, "http", http);
}

static uint64_t count_accepted(const struct load *load)
{
    uint64_t count = 0;

    for (uint32_t i = 0; i < load->due_count; i++)
        count += is_accepted(load, &load->rows[i]);
    return count;
}

static void put_counts(json_t *object, const struct figures_pass *pass)
{
    const struct load *load = pass->load;
    bool is_open = load->due_ns != NULL;
    double seconds = (double)load->took_ns / 1e9;
    uint64_t accepted = count_accepted(load);

    put(object, "rate_wanted", is_open ? real(pass->rate_wanted) : json_null());
    put(object, "due", is_open ? json_integer(load->due_count) : json_null());
    put_count(object, "sent", load->sent);
    put_count(object, "answered", load->answered);
    put(object, "unsent", is_open ? json_integer(load->due_count - load->sent) : json_null());
    put_count(object, "unanswered", load->sent - load->answered);
    put(object, "valid", json_boolean(load_is_valid(load)));
    put(object, "seconds", real(seconds));
    put(object, "answered_per_s", real(load->answered / seconds));
    put_count(object, "accepted", accepted);
    put(object, "accepted_per_s", real((double)accepted / seconds));
    put_count(object, "lost_connections", load->lost_connections);
    put_count(object, "resent", load->resent);
}

/* From the due moment to the send: what the generator and full connections add. */
static json_t *send_delays(const struct load *load, struct hdr *hdr)
{
    hdr_clear(hdr);
    for (uint32_t i = 0; i < load->due_count; i++)
        if (load->rows[i].sent_ns != LOAD_NEVER)
            hdr_add(hdr, load->rows[i].sent_ns - load->rows[i].due_ns);
    return distribution(hdr);
}

/* As the acknowledgements tell them. */
static json_t *ack_stages(const struct load *load, struct hdr *hdr)
{
    json_t *object = json_object();

    for (unsigned stage = 0; stage < ANSWER_STAGE_COUNT; stage++) {
        hdr_clear(hdr);
        for (uint32_t i = 0; i < load->due_count; i++)
            if (is_answered(&load->rows[i]) && load->rows[i].answer.stage_ns[stage] != 0)
                hdr_add(hdr, load->rows[i].answer.stage_ns[stage]);
        put(object, answer_stage_name(stage), distribution(hdr));
    }
    return object;
}

static json_t *bucket_bound(const struct figures_pass *pass, const char *labels, double share,
                            uint64_t *count)
{
    double ns = reading_quantile(&pass->before.reading, &pass->after.reading,
                                 "perpd_net_stage_latency_ns", labels, share, count);

    return ns < 0 ? json_null() : real(ns / 1e3);
}

/* As the histograms of /metrics grew. */
static json_t *server_stages(const struct figures_pass *pass)
{
    static const char *const stages[] = { "verified", "pushed", "sequenced", "matched",
                                          "released", "sent",   "read" };
    json_t *object = json_object();

    if (pass->before.reading.text == NULL || pass->after.reading.text == NULL) {
        json_decref(object);
        return json_null();
    }
    for (size_t i = 0; i < CC_COUNT(stages); i++) {
        char labels[64];
        uint64_t count;
        snprintf(labels, sizeof labels, "stage=\"%s\"", stages[i]);
        json_t *p50 = bucket_bound(pass, labels, 0.5, &count);
        json_t *p99 = bucket_bound(pass, labels, 0.99, &count);
        put(object, stages[i],
            json_pack("{s:I, s:o, s:o}", "count", (json_int_t)count, "p50_at_most", p50,
                      "p99_at_most", p99));
    }
    return object;
}

static json_t *grown(const struct figures_pass *pass, const char *series, double scale)
{
    double then, now;

    if (!reading_value(&pass->before.reading, series, &then) ||
        !reading_value(&pass->after.reading, series, &now))
        return json_null();
    return real((now - then) * scale);
}

static json_t *thread_times(const struct figures_pass *pass, double scale)
{
    static const char NAME[] = "perpd_thread_cpu_seconds_total";
    json_t *object = json_object();
    char labels[READING_NAME_MAX], series[2 * READING_NAME_MAX], thread[64];

    for (uint32_t i = 0; reading_next(&pass->after.reading, NAME, i, labels); i++) {
        snprintf(series, sizeof series, "%s{%s}", NAME, labels);
        if (sscanf(labels, "thread=\"%63[^\"]\"", thread) == 1)
            put(object, thread, grown(pass, series, scale));
    }
    return object;
}

static json_t *server_figures(const struct figures_pass *pass)
{
    uint64_t accepted = count_accepted(pass->load);
    json_t *object = json_object();

    put(object, "process_cpu_us_per_accepted",
        pass->is_local && accepted != 0
            ? real((double)(pass->after.process_cpu_us - pass->before.process_cpu_us) /
                   (double)accepted)
            : json_null());
    put(object, "thread_cpu_us_per_accepted",
        pass->after.reading.text != NULL && accepted != 0
            ? thread_times(pass, 1e6 / (double)accepted)
            : json_null());
    put(object, "journal_record_bytes", grown(pass, "perpd_journal_record_bytes_total", 1));
    put(object, "journal_written_bytes", grown(pass, "perpd_journal_written_bytes_total", 1));
    put(object, "signatures_without_table", grown(pass, "perpd_net_tables_missing_total", 1));
    return object;
}

static json_t *machine_figures(const struct figures_pass *pass)
{
    double steal = machine_steal(&pass->before.machine, &pass->after.machine);
    double load_before = pass->before.machine.load_1min, load_after = pass->after.machine.load_1min;

    return json_pack("{s:o, s:o, s:o}", "load_before",
                     load_before < 0 ? json_null() : real(load_before), "load_after",
                     load_after < 0 ? json_null() : real(load_after), "steal_percent",
                     steal < 0 ? json_null() : real(steal * 100));
}

/* Each second of due moments: how many, how many answered, how late. */
static json_t *timeline(const struct load *load, struct hdr *hdr)
{
    json_t *rows = json_array();
    uint32_t at = 0;

    for (uint64_t second = 0; at < load->due_count; second++) {
        uint64_t due = 0, answered = 0;
        hdr_clear(hdr);
        for (; at < load->due_count && load->rows[at].due_ns / 1000000000 == second; at++) {
            due++;
            answered += is_answered(&load->rows[at]);
            hdr_add(hdr, load_latency_ns(load, &load->rows[at]));
        }
        json_t *row =
            json_pack("{s:I, s:I, s:I, s:o}", "second", (json_int_t)second, "due", (json_int_t)due,
                      "answered", (json_int_t)answered, "latency_us", distribution(hdr));
        INVARIANT(row != NULL && json_array_append_new(rows, row) == 0);
    }
    return rows;
}

static json_t *time_or_null(uint64_t ns)
{
    return ns == LOAD_NEVER ? json_null() : real((double)ns / 1e3);
}

static json_t *worst_row(const struct load *load, uint32_t index)
{
    const struct load_row *row = &load->rows[index];
    json_t *stages = json_object();

    for (unsigned i = 0; i < ANSWER_STAGE_COUNT; i++) {
        uint32_t ns = is_answered(row) ? row->answer.stage_ns[i] : 0;
        put(stages, answer_stage_name(i), ns == 0 ? json_null() : real(ns / 1e3));
    }
    return json_pack(
        "{s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "index", (json_int_t)index, "kind",
        row->sent_ns == LOAD_NEVER ? json_null() : json_string(corpus_kind_name(row->kind)),
        "due_us", time_or_null(row->due_ns), "sent_us", time_or_null(row->sent_ns), "done_us",
        time_or_null(row->done_ns), "latency_us", time_or_null(load_latency_ns(load, row)),
        "service_us", time_or_null(load_service_ns(load, row)), "outcome",
        is_answered(row) ? json_string(load->outcomes->words[row->answer.outcome]) : json_null(),
        "stages_us", stages);
}

/* The latest first; of equals the earlier due. */
static json_t *worst(const struct load *load)
{
    uint32_t found[FIGURES_WORST], count = 0;
    json_t *rows = json_array();

    for (uint32_t i = 0; i < load->due_count; i++) {
        uint64_t latency_ns = load_latency_ns(load, &load->rows[i]);
        uint32_t place = count;
        while (place > 0 && load_latency_ns(load, &load->rows[found[place - 1]]) < latency_ns)
            place--;
        if (place == FIGURES_WORST)
            continue;
        if (count < FIGURES_WORST)
            count++;
        memmove(&found[place + 1], &found[place], (count - place - 1) * sizeof *found);
        found[place] = i;
    }
    for (uint32_t i = 0; i < count; i++) {
        json_t *row = worst_row(load, found[i]);
        INVARIANT(row != NULL && json_array_append_new(rows, row) == 0);
    }
    return rows;
}

json_t *figures_make(const struct figures_pass *pass, const struct hdr *latency,
                     const struct hdr *service)
{
    json_t *object = json_object();
    struct hdr *hdr = malloc(sizeof *hdr);

    INVARIANT(object != NULL && hdr != NULL);
    put_counts(object, pass);
    put(object, "latency_us", distribution(latency));
    put(object, "service_us", distribution(service));
    put(object, "send_delay_us", send_delays(pass->load, hdr));
    put_outcomes(object, pass->load);
    put(object, "ack_stages_us", ack_stages(pass->load, hdr));
    put(object, "server_stages_us", server_stages(pass));
    put(object, "server", server_figures(pass));
    put(object, "machine", machine_figures(pass));
    put(object, "timeline", timeline(pass->load, hdr));
    put(object, "worst", worst(pass->load));
    free(hdr);
    return object;
}
