#include "perp/bench/bench_settings.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "perp/invocation/arguments.h"
#include "perp/invocation/choice.h"
#include "perp/invocation/exit_code.h"

enum { DEFAULT_RATE = 1000, DEFAULT_SECONDS = 5, PART_MAX = 1000000 };

static bool number(struct context *context, uint32_t flag, uint64_t least, uint64_t most,
                   uint64_t missing, uint32_t *value)
{
    uint64_t wide;

    if (!choice_number(context, flag, least, most, missing, &wide))
        return false;
    *value = (uint32_t)wide;
    return true;
}

/* A number above 0 and the sign that ends it. */
static bool read_part(const char **at, char end, double most, double *value)
{
    char *stop;

    *value = strtod(*at, &stop);
    bool is_right = stop != *at && isfinite(*value) && *value > 0 && *value <= most && *stop == end;
    *at = stop + (*stop != '\0');
    return is_right;
}

static bool read_ramp(const char *at, struct bench_settings *settings)
{
    double steps;

    if (!read_part(&at, ':', BENCH_RATE_MAX, &settings->schedule.rate_per_s) ||
        !read_part(&at, ':', BENCH_RATE_MAX, &settings->ramp_to) ||
        !read_part(&at, '\0', BENCH_STEPS_MAX, &steps))
        return false;
    settings->steps = (uint32_t)steps;
    return settings->steps >= 2 && settings->steps == steps &&
           settings->ramp_to > settings->schedule.rate_per_s;
}

static bool read_schedule(struct context *context, struct bench_settings *settings)
{
    const char *text = context->arguments->values[FLAG_schedule];
    struct schedule *schedule = &settings->schedule;
    double burst = 1;

    schedule->burst = 1;
    settings->steps = 1;
    if (text == NULL || strcmp(text, "constant") == 0) {
        schedule->kind = SCHEDULE_constant;
    } else if (strcmp(text, "poisson") == 0) {
        schedule->kind = SCHEDULE_poisson;
    } else if (strcmp(text, "closed") == 0) {
        schedule->kind = SCHEDULE_closed;
    } else if (strncmp(text, "bursts:", 7) == 0) {
        text += 7;
        schedule->kind = SCHEDULE_bursts;
        if (!read_part(&text, '\0', SCHEDULE_BURST_MAX, &burst) || burst != floor(burst))
            return context_fail(context, EXIT_CODE_usage,
                                "--schedule bursts:N needs a whole number of 1 to %d",
                                SCHEDULE_BURST_MAX);
        schedule->burst = (uint32_t)burst;
    } else if (strncmp(text, "ramp:", 5) == 0) {
        if (!read_ramp(text + 5, settings))
            return context_fail(context, EXIT_CODE_usage,
                                "--schedule ramp:FROM:TO:STEPS needs rates with FROM below TO and "
                                "2 to %d steps",
                                BENCH_STEPS_MAX);
    } else {
        return context_fail(context, EXIT_CODE_usage,
                            "--schedule '%.60s' is none of constant, poisson, bursts:N, closed, "
                            "ramp:FROM:TO:STEPS",
                            text);
    }
    return true;
}

static bool read_rate(struct context *context, struct bench_settings *settings)
{
    const char *text = context->arguments->values[FLAG_rate];
    bool has_own = settings->schedule.kind == SCHEDULE_closed || settings->steps > 1;

    if (text != NULL && has_own)
        return context_fail(context, EXIT_CODE_usage, "--rate does not go with this --schedule");
    if (settings->steps > 1)
        return true;
    settings->schedule.rate_per_s = DEFAULT_RATE;
    return text == NULL || read_part(&text, '\0', BENCH_RATE_MAX, &settings->schedule.rate_per_s) ||
           context_fail(context, EXIT_CODE_usage,
                        "--rate '%.60s' is no rate above 0, at most %d a second",
                        context->arguments->values[FLAG_rate], BENCH_RATE_MAX);
}

/* "place=57,cancel=33": the parts of each kind; kinds that are not named have none. */
static bool read_mix(struct context *context, struct bench_settings *settings)
{
    const char *at = context->arguments->values[FLAG_mix];

    if (at == NULL) {
        settings->weights[CORPUS_place] = 1;
        return true;
    }
    for (;;) {
        size_t count = strcspn(at, "=");
        unsigned kind = 0;
        while (kind < CORPUS_KIND_COUNT && (strlen(corpus_kind_name(kind)) != count ||
                                            memcmp(corpus_kind_name(kind), at, count) != 0))
            kind++;
        char *end = NULL;
        unsigned long part = at[count] == '=' ? strtoul(at + count + 1, &end, 10) : 0;
        if (kind == CORPUS_KIND_COUNT || part == 0 || part > PART_MAX ||
            settings->weights[kind] != 0 || (*end != '\0' && *end != ','))
            return context_fail(context, EXIT_CODE_usage,
                                "--mix takes parts as place=57,cancel=33,amend=5,market=5; also "
                                "read: whole numbers of 1 to %d, each kind once",
                                PART_MAX);
        settings->weights[kind] = (uint32_t)part;
        if (*end == '\0')
            return true;
        at = end + 1;
    }
}

static bool read_form(struct context *context, struct bench_settings *settings)
{
    const struct arguments *arguments = context->arguments;
    const char *ack = arguments->values[FLAG_ack], *sign = arguments->values[FLAG_sign];

    settings->is_frame = arguments_has(arguments, FLAG_binary);
    settings->ack = settings->is_frame ? WORKLOAD_BINARY : WORKLOAD_FULL;
    if (ack != NULL) {
        if (strcmp(ack, "full") == 0)
            settings->ack = WORKLOAD_FULL;
        else if (strcmp(ack, "brief") == 0)
            settings->ack = WORKLOAD_BRIEF;
        else if (strcmp(ack, "binary") != 0)
            return context_fail(context, EXIT_CODE_usage,
                                "--ack '%.60s' is none of full, brief, binary", ack);
        else if (!settings->is_frame)
            return context_fail(context, EXIT_CODE_usage, "--ack binary needs --binary");
    }
    settings->signs_inline = sign != NULL && strcmp(sign, "inline") == 0;
    if (sign != NULL && !settings->signs_inline && strcmp(sign, "ahead") != 0)
        return context_fail(context, EXIT_CODE_usage, "--sign '%.60s' is neither ahead nor inline",
                            sign);
    settings->is_stream = arguments_has(arguments, FLAG_websocket);
    if (settings->is_stream && settings->is_frame)
        return context_fail(context, EXIT_CODE_usage,
                            "--websocket: a stream takes signed requests as text, not --binary");
    if (settings->is_stream && settings->weights[CORPUS_read] != 0)
        return context_fail(context, EXIT_CODE_usage,
                            "--websocket: a stream takes signed requests only, no reads");
    return !settings->is_stream || settings->corpus == NULL ||
           context_fail(context, EXIT_CODE_usage,
                        "--websocket: a corpus holds requests of HTTP, which no stream takes");
}

bool bench_settings_option(struct context *context, struct bench_settings *settings,
                           const char *key, const char *value)
{
    char *text = settings->texts[settings->option_count];

    if (settings->option_count == BENCH_OPTIONS_MAX)
        return context_fail(context, EXIT_CODE_usage, "more than %d options for perpd",
                            BENCH_OPTIONS_MAX);
    if (snprintf(text, BENCH_OPTION_BYTES, "--%s=%s", key, value) >= BENCH_OPTION_BYTES)
        return context_fail(context, EXIT_CODE_usage, "an option for perpd is too long: %.60s",
                            key);
    settings->options[settings->option_count++] = text;
    return true;
}

/* --set node.topology=shared,net.threads=1 */
static bool read_options(struct context *context, struct bench_settings *settings)
{
    const char *at = context->arguments->values[FLAG_set];
    char key[BENCH_OPTION_BYTES], value[BENCH_OPTION_BYTES];

    while (at != NULL && *at != '\0') {
        size_t count = strcspn(at, ","), name = strcspn(at, "=");
        if (name == 0 || name >= count || count >= sizeof key)
            return context_fail(context, EXIT_CODE_usage,
                                "--set takes options of perpd as KEY=VALUE,KEY=VALUE");
        snprintf(key, sizeof key, "%.*s", (int)name, at);
        snprintf(value, sizeof value, "%.*s", (int)(count - name - 1), at + name + 1);
        if (!bench_settings_option(context, settings, key, value))
            return false;
        at += count + (at[count] == ',');
    }
    return true;
}

/* What only one of the two kinds of target has. */
static bool check_target(struct context *context, const struct bench_settings *settings)
{
    static const enum flag local[] = { FLAG_perpd, FLAG_durability, FLAG_set };

    if (!settings->is_remote)
        return settings->admin_url == NULL ||
               context_fail(context, EXIT_CODE_usage, "--admin-url is for an exchange of --url");
    for (size_t i = 0; i < CC_COUNT(local); i++)
        if (arguments_has(context->arguments, local[i]))
            return context_fail(context, EXIT_CODE_usage,
                                "--perpd, --durability and --set are for a perpd that this command "
                                "starts: leave out --url");
    if (strncmp(context->settings->values[SETTING_url], "http://", 7) != 0 ||
        strstr(context->settings->values[SETTING_url], ",https://") != NULL)
        return context_fail(context, EXIT_CODE_usage,
                            "the load is sent over http:// only; TLS is not built here");
    if (settings->is_list && settings->is_stream)
        return context_fail(context, EXIT_CODE_usage,
                            "--websocket: streams go to one address; a list is for HTTP");
    return settings->admin_url == NULL || settings->data != NULL ||
           context_fail(context, EXIT_CODE_usage,
                        "--admin-url needs --data, the directory whose token opens it");
}

bool bench_settings_read(struct context *context, struct bench_settings *settings)
{
    const char *const *values = context->arguments->values;
    const char *durability = values[FLAG_durability];

    *settings = (struct bench_settings){ .is_remote = context_is_set(context, SETTING_url),
                                         .is_list = context_is_set(context, SETTING_url) &&
                                                    strchr(context->settings->values[SETTING_url],
                                                           ',') != NULL,
                                         .market = values[FLAG_market],
                                         .price = values[FLAG_price],
                                         .perpd = values[FLAG_perpd],
                                         .results = values[FLAG_results],
                                         .corpus = values[FLAG_corpus],
                                         .admin_url = values[FLAG_admin_url],
                                         .data = values[FLAG_data],
                                         .beside = values[FLAG_beside] };
    if (settings->market == NULL)
        settings->market = "BTC-PERP";
    if (!choice_number(context, FLAG_seconds, 1, BENCH_SECONDS_MAX, DEFAULT_SECONDS,
                       &settings->seconds) ||
        !choice_number(context, FLAG_warm_up, 0, BENCH_SECONDS_MAX, 1, &settings->warm_up) ||
        !number(context, FLAG_repeats, 1, BENCH_REPEATS_MAX, 1, &settings->repeats) ||
        !number(context, FLAG_connections, 1, BENCH_CONNECTIONS_MAX, 64, &settings->connections) ||
        !number(context, FLAG_pipeline, 1, LOAD_DEPTH_MAX, 1, &settings->pipeline) ||
        !number(context, FLAG_accounts, 1, 100000, 16, &settings->account_count) ||
        !choice_number(context, FLAG_seed, 0, INT64_MAX, 1, &settings->seed) ||
        !read_schedule(context, settings) || !read_rate(context, settings) ||
        !read_mix(context, settings) || !read_form(context, settings) ||
        !check_target(context, settings))
        return false;
    if (settings->connections * settings->pipeline > LOAD_PLACES_MAX)
        return context_fail(context, EXIT_CODE_usage,
                            "--connections times --pipeline is more than %d", LOAD_PLACES_MAX);
    if (settings->corpus != NULL && (settings->repeats > 1 || settings->steps > 1))
        return context_fail(context, EXIT_CODE_usage,
                            "--corpus is replayed once: its requests act once");
    settings->schedule.length_ns = settings->seconds * UINT64_C(1000000000);
    settings->schedule.seed = settings->seed;
    return (durability == NULL ||
            bench_settings_option(context, settings, "store.durability", durability)) &&
           read_options(context, settings);
}
