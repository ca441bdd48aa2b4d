/* bench_settings.h - what the command line of `perp bench` asks for, read and checked.
 *
 * Units. Requests/s, ns where a name ends so.
 * Owner. The command's thread. */
#ifndef PERP_BENCH_BENCH_SETTINGS_H
#define PERP_BENCH_BENCH_SETTINGS_H

#include "perp/bench/schedule.h"
#include "perp/bench/workload.h"
#include "perp/invocation/context.h"

enum {
    BENCH_CONNECTIONS_MAX = 16384,
    BENCH_SECONDS_MAX = 86400,
    BENCH_REPEATS_MAX = 1000,
    BENCH_STEPS_MAX = 100,
    BENCH_RATE_MAX = 10000000,
    BENCH_OPTIONS_MAX = 16,
    BENCH_OPTION_BYTES = 160,
};

struct bench_settings {
    struct schedule schedule; /* of a pass; its rate is that of the first step of a ramp */
    double ramp_to;           /* 0: no ramp */
    uint32_t steps;           /* of a ramp */
    uint64_t seconds, warm_up;
    uint32_t repeats, connections, pipeline, account_count;
    uint32_t weights[CORPUS_KIND_COUNT];
    bool is_frame, is_stream, signs_inline, is_remote;
    bool is_list; /* the exchange is of several machines */
    enum workload_ack ack;
    uint64_t seed;
    const char *market, *price, *perpd, *results, *corpus, *admin_url, *data, *beside;
    /* For perpd, closed by NULL. */
    const char *options[BENCH_OPTIONS_MAX + 1];
    char texts[BENCH_OPTIONS_MAX][BENCH_OPTION_BYTES];
    uint32_t option_count;
};

/* Reads the flags of `bench run` and `bench gen`. False after a printed error. */
CC_MUST_USE bool bench_settings_read(struct context *context, struct bench_settings *settings);

/* Adds an option of perpd, of the form --key=value. False after a printed error. */
CC_MUST_USE bool bench_settings_option(struct context *context, struct bench_settings *settings,
                                       const char *key, const char *value);

#endif
