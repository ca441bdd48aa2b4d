/* command_time.c - compares this machine's clock with the exchange's. */
#include <jansson.h>
#include <stdio.h>

#include "perp/command/command.h"
#include "perp/invocation/choice.h"
#include "perp/print/report.h"
#include "perp/request/clock_sample.h"
#include "perp/request/instant.h"

enum { SAMPLES_DEFAULT = 8, SAMPLES_MAX = 1000, TEXT_MAX = 512 };

static bool read_window(struct context *context, struct clock_window *window)
{
    struct client_answer answer;
    if (!context_get(context, "/api/v1/exchange", false, &answer))
        return false;
    json_t *root = json_loadb(answer.body, answer.body_count, 0, NULL);
    const json_t *member = json_object_get(root, "request_id_window_ms");
    const json_t *past = json_object_get(member, "past"),
                 *future = json_object_get(member, "future");
    bool good = json_is_integer(past) && json_is_integer(future);
    window->past_ms = json_integer_value(past);
    window->future_ms = json_integer_value(future);
    json_decref(root);
    return good || context_fail(context, EXIT_CODE_problem,
                                "the answer of /api/v1/exchange has no request_id_window_ms");
}

static bool take_sample(struct context *context, struct clock_sample *sample)
{
    struct client_answer answer;
    /* In this order a wait between the two makes the round trip longer, never the offset wrong. */
    uint64_t begun_ns = instant_monotonic_ns(), sent_ns = instant_now_ns();
    if (!context_get(context, "/api/v1/time", false, &answer))
        return false;
    uint64_t round_trip_ns = instant_monotonic_ns() - begun_ns;
    json_t *root = json_loadb(answer.body, answer.body_count, 0, NULL);
    const json_t *time_ns = json_object_get(root, "time_ns");
    bool good = json_is_integer(time_ns);
    *sample = clock_sample_make(sent_ns, round_trip_ns, (uint64_t)json_integer_value(time_ns));
    json_decref(root);
    return good ||
           context_fail(context, EXIT_CODE_problem, "the answer of /api/v1/time has no time_ns");
}

static int show(struct context *context, const struct clock_sample *sample,
                const struct clock_window *window, uint64_t samples)
{
    static const struct {
        const char *name, *text;
        int exit_code;
    } verdicts[] = {
        [CLOCK_OK] = { "ok", NULL, EXIT_CODE_accepted },
        [CLOCK_DRIFTING] = { "drifting",
                             "more than half of the window of request ids is used up: set this "
                             "machine's clock",
                             EXIT_CODE_drifting },
        [CLOCK_REFUSED] = { "refused",
                            "the exchange refuses ids of this clock: set it (NTP keeps it right)",
                            EXIT_CODE_clock },
    };
    enum clock_verdict verdict = clock_sample_judge(sample, window);
    char text[TEXT_MAX];
    snprintf(
        text, sizeof text,
        "{\"time_ms\":%llu,\"time_ns\":%llu,\"offset_ns\":%lld,\"uncertainty_ns\":%lld,"
        "\"round_trip_ns\":%lld,\"samples\":%llu,\"window_past_ms\":%lld,\"window_future_ms\":%lld,"
        "\"verdict\":\"%s\"}",
        (unsigned long long)(sample->exchange_ns / 1000000),
        (unsigned long long)sample->exchange_ns, (long long)sample->offset_ns,
        (long long)(sample->round_trip_ns / 2), (long long)sample->round_trip_ns,
        (unsigned long long)samples, (long long)window->past_ms, (long long)window->future_ms,
        verdicts[verdict].name);
    report_answer(stdout, text, strlen(text), context->arguments->json, NULL);
    if (verdicts[verdict].text != NULL)
        fprintf(stderr, "perp time: %s\n", verdicts[verdict].text);
    return verdicts[verdict].exit_code;
}

int command_time_offset(struct context *context)
{
    struct clock_sample best = { .round_trip_ns = INT64_MAX }, sample;
    struct clock_window window;
    uint64_t samples;
    /* The first request opens the connection: its round trip would be longer. */
    if (!choice_number(context, FLAG_count, 1, SAMPLES_MAX, SAMPLES_DEFAULT, &samples) ||
        !read_window(context, &window))
        return context->exit_code;
    for (uint64_t i = 0; i < samples; i++) {
        if (!take_sample(context, &sample))
            return context->exit_code;
        if (sample.round_trip_ns < best.round_trip_ns)
            best = sample;
    }
    return show(context, &best, &window, samples);
}
