/* command_compare.c - measures two builds or two configurations in turns and says whether one is
 * slower. */
#include <stdio.h>

#include "perp/bench/comparison.h"
#include "perp/bench/sheet.h"
#include "perp/command/command.h"
#include "perp/invocation/choice.h"

enum { ROUNDS_DEFAULT = 5, ROUNDS_MIN = 3, TOLERANCE_DEFAULT = 5, PATH_BYTES = 512 };

static const struct figure {
    const char *path, *unit;
    bool more_is_better;
} FIGURES[] = {
    { "accepted_per_s", "/s", true },
    { "latency_us.p50", "us", false },
    { "latency_us.p99", "us", false },
    { "service_us.p50", "us", false },
    { "server.process_cpu_us_per_accepted", "us", false },
};

static struct bench_settings sides[2];
static struct trial trial;
static char paths[2][PATH_BYTES];
static double values[2][CC_COUNT(FIGURES)][COMPARISON_ROUNDS_MAX];
static bool is_known[CC_COUNT(FIGURES)];

/* PATH, KEY=VALUE,... or PATH,KEY=VALUE,...: a perpd and options of it. */
static bool read_side(struct context *context, int side)
{
    const char *at = context->arguments->words[side];
    char key[PATH_BYTES], value[PATH_BYTES];

    if (!bench_settings_read(context, &sides[side]))
        return false;
    while (*at != '\0') {
        size_t count = strcspn(at, ","), name = strcspn(at, "=");
        if (count == 0 || count >= PATH_BYTES || name == 0)
            return context_fail(context, EXIT_CODE_usage,
                                "a side is PATH, KEY=VALUE,KEY=VALUE or PATH,KEY=VALUE");
        if (name < count) {
            snprintf(key, sizeof key, "%.*s", (int)name, at);
            snprintf(value, sizeof value, "%.*s", (int)(count - name - 1), at + name + 1);
            if (!bench_settings_option(context, &sides[side], key, value))
                return false;
        } else if (at != context->arguments->words[side]) {
            return context_fail(context, EXIT_CODE_usage, "'%.60s' is neither KEY=VALUE nor first",
                                at);
        } else {
            snprintf(paths[side], sizeof paths[side], "%.*s", (int)count, at);
            sides[side].perpd = paths[side];
        }
        at += count + (at[count] == ',');
    }
    return true;
}

/* One pass of a side on a perpd of its own. False after a printed error. */
static bool measure(struct context *context, int side, uint32_t round, uint32_t rounds)
{
    bool is_open = trial_open(&trial, context, &sides[side]);

    snprintf(trial.label, sizeof trial.label, "round %u of %u, %c", round + 1, rounds, 'A' + side);
    json_t *pass = is_open ? trial_pass(&trial, sides[side].schedule.rate_per_s) : NULL;
    trial_close(&trial);
    if (pass == NULL)
        return false;
    bool is_valid = json_is_true(json_object_get(pass, "valid"));
    for (size_t i = 0; i < CC_COUNT(FIGURES); i++) {
        double value = 0;
        bool is_number = sheet_number(pass, FIGURES[i].path, &value) && value > 0;
        values[side][i][round] = value;
        is_known[i] = is_number && (is_known[i] || (round == 0 && side == 0)); /* of all */
    }
    json_decref(pass);
    return is_valid || context_fail(context, EXIT_CODE_problem,
                                    "%c did not reach the rate: choose a lower one, or "
                                    "--schedule closed",
                                    'A' + side);
}

static const char *verdict_of(const struct comparison *comparison, const struct figure *figure,
                              double tolerance)
{
    if (comparison_is_worse(comparison, figure->more_is_better, tolerance))
        return "worse";
    return comparison_is_better(comparison, figure->more_is_better) ? "better" : "not shown";
}

/* The rows of all figures; whether one is worse. */
static bool judge(uint32_t rounds, uint64_t seed, double tolerance, json_t *rows)
{
    bool is_worse = false;

    for (size_t i = 0; i < CC_COUNT(FIGURES); i++) {
        if (!is_known[i])
            continue;
        struct comparison found = comparison_make(values[0][i], values[1][i], rounds, seed);
        const char *verdict = verdict_of(&found, &FIGURES[i], tolerance);
        json_t *row = json_pack("{s:s, s:s, s:f, s:f, s:f, s:f, s:f, s:f, s:s}", "figure",
                                FIGURES[i].path, "unit", FIGURES[i].unit, "a", found.median_a, "b",
                                found.median_b, "ratio", found.ratio, "low", found.low, "high",
                                found.high, "p_value", found.p_value, "verdict", verdict);
        INVARIANT(row != NULL && json_array_append_new(rows, row) == 0);
        is_worse = is_worse || strcmp(verdict, "worse") == 0;
    }
    return is_worse;
}

static void show(const json_t *rows)
{
    const json_t *row;
    size_t i;

    printf("%-36s %11s %11s %7s %17s %8s  %s\n", "figure", "A", "B", "B/A", "99 % interval",
           "sign p", "B is");
    json_array_foreach(rows, i, row)
    {
        printf("%-36s %11.1f %11.1f %7.3f %8.3f-%8.3f %8.4f  %s\n",
               json_string_value(json_object_get(row, "figure")),
               json_real_value(json_object_get(row, "a")),
               json_real_value(json_object_get(row, "b")),
               json_real_value(json_object_get(row, "ratio")),
               json_real_value(json_object_get(row, "low")),
               json_real_value(json_object_get(row, "high")),
               json_real_value(json_object_get(row, "p_value")),
               json_string_value(json_object_get(row, "verdict")));
    }
}

int command_bench_compare(struct context *context)
{
    uint64_t tolerance;

    if (!choice_number(context, FLAG_tolerance, 0, 1000, TOLERANCE_DEFAULT, &tolerance) ||
        !read_side(context, 0) || !read_side(context, 1))
        return context->exit_code;
    bool has_rounds = arguments_has(context->arguments, FLAG_repeats);
    uint32_t rounds = has_rounds ? sides[0].repeats : ROUNDS_DEFAULT;
    if (rounds < ROUNDS_MIN || sides[0].is_remote || sides[0].steps > 1)
        return context_fail(context, EXIT_CODE_usage,
                            "two perpd are started here in turns: no --url, no ramp, and "
                            "--repeats of at least %d",
                            ROUNDS_MIN),
               EXIT_CODE_usage;
    for (uint32_t round = 0; round < rounds; round++)
        for (int turn = 0; turn < 2; turn++) /* A B, B A, A B: what drifts is in both */
            if (!measure(context, (turn + (int)round) % 2, round, rounds))
                return context->exit_code;
    json_t *rows = json_array();
    bool is_worse = judge(rounds, sides[0].seed, (double)tolerance / 100, rows);
    if (context->arguments->json) {
        (void)json_dumpf(rows, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
        printf("\n");
    } else {
        show(rows);
    }
    json_decref(rows);
    return is_worse ? EXIT_CODE_rejected : EXIT_CODE_accepted;
}
