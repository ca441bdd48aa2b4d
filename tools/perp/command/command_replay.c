/* command_replay.c - replays the journal to a sequence, compares hashes on the way, and times the
 * commands. */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/decimal.h"
#include "base/hex.h"
#include "node/recover/replay.h"
#include "perp/bench/kind_times.h"
#include "perp/command/command.h"
#include "perp/data/replay_diff.h"
#include "perp/data/replay_run.h"
#include "perp/invocation/choice.h"
#include "perp/print/record_text.h"
#include "perp/print/report.h"
#include "perp/request/instant.h"

enum { EMPTY_SAMPLES = 10001, PATH_BYTES = 4096 };

/* ---- --timing -------------------------------------------------------------------------------- */

struct timing {
    struct clock_rate rate;
    uint64_t empty_ticks; /* the median of a time with nothing between its begin and its end */
    uint64_t begin_ticks; /* of the first command */
    uint64_t end_ticks;   /* of the last one */
    uint64_t sequence;    /* the last one applied */
    struct kind_times kinds;
};

/* What was before has ended, and what comes has not begun. */
static uint64_t ordered_ticks(void)
{
    __builtin_ia32_lfence();
    uint64_t ticks = clock_ticks();
    __builtin_ia32_lfence();
    return ticks;
}

static int by_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

static bool timing_begin(struct timing *timing)
{
    static uint32_t samples[EMPTY_SAMPLES];

    *timing = (struct timing){ .rate = clock_calibrate() };
    for (int i = 0; i < EMPTY_SAMPLES; i++) {
        uint64_t begin = ordered_ticks();
        samples[i] = (uint32_t)(ordered_ticks() - begin);
    }
    qsort(samples, EMPTY_SAMPLES, sizeof samples[0], by_value);
    timing->empty_ticks = samples[EMPTY_SAMPLES / 2];
    return kind_times_init(&timing->kinds);
}

/* A fold_apply. One that began again with larger tables is timed from its new begin. */
static void timed_apply(void *context, struct engine *engine, const struct command *command,
                        struct engine_sink *sink, struct engine_result *result)
{
    struct timing *timing = context;
    uint64_t begin = ordered_ticks();

    engine_apply(engine, command, sink, result);
    uint64_t end = ordered_ticks();
    if (result->sequence <= timing->sequence)
        kind_times_clear(&timing->kinds);
    if (timing->kinds.all->count == 0)
        timing->begin_ticks = begin;
    uint64_t ticks = end - begin > timing->empty_ticks ? end - begin - timing->empty_ticks : 0;
    kind_times_add(&timing->kinds, command->code, clock_ticks_to_ns(timing->rate, ticks));
    timing->end_ticks = end;
    timing->sequence = result->sequence;
}

/* Replay: reading, verifying and rebuilding the records too. Engine: its own time alone. */
static void set_timing(json_t *object, const struct timing *timing)
{
    const struct hdr *all = timing->kinds.all;
    uint64_t whole = timing->end_ticks - timing->begin_ticks;
    double replay_s = (double)clock_ticks_to_ns(timing->rate, whole) / 1e9;
    double engine_s = all->sum / 1e9;

    (void)json_object_set_new(object, "replay_s", json_real(replay_s));
    (void)json_object_set_new(
        object, "replay_commands_per_s",
        replay_s > 0 ? json_integer((json_int_t)((double)all->count / replay_s)) : json_null());
    (void)json_object_set_new(
        object, "engine_commands_per_s",
        engine_s > 0 ? json_integer((json_int_t)((double)all->count / engine_s)) : json_null());
    (void)json_object_set_new(object, "tick_ns",
                              json_real((double)timing->rate.ns_per_tick_q32 / 4294967296.0));
    (void)json_object_set_new(object, "empty_ticks", json_integer((json_int_t)timing->empty_ticks));
    (void)json_object_set_new(object, "timing", kind_times_rows(&timing->kinds));
}

static FILE *open_result(struct context *context, const char *folder, const char *name)
{
    char path[PATH_BYTES];
    int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *out = length > 0 && (size_t)length < sizeof path ? fopen(path, "we") : NULL;

    if (out == NULL)
        (void)context_fail(context, EXIT_CODE_usage, "%s: %s", path, strerror(errno));
    return out;
}

/* timing.hlog has an interval for each kind, timing.hgrm all commands. */
static bool write_timing(struct context *context, const char *folder, const struct timing *timing)
{
    uint64_t length_ns = clock_ticks_to_ns(timing->rate, timing->end_ticks - timing->begin_ticks);
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return context_fail(context, EXIT_CODE_usage, "%s: %s", folder, strerror(errno));
    FILE *log = open_result(context, folder, "timing.hlog");
    if (log == NULL)
        return false;
    bool is_written = kind_times_log(&timing->kinds, log, instant_now_ns(), length_ns);
    if (fclose(log) != 0 || !is_written)
        return context_fail(context, EXIT_CODE_usage, "timing.hlog: it could not be written");
    FILE *table = open_result(context, folder, "timing.hgrm");
    if (table == NULL)
        return false;
    hdr_write_percentiles(timing->kinds.all, table);
    return fclose(table) == 0 ||
           context_fail(context, EXIT_CODE_usage, "timing.hgrm: %s", strerror(errno));
}

/* ---- the state ------------------------------------------------------------------------------- */

static void set_hex(json_t *object, const char *name, const uint8_t hash[HASH_BYTES])
{
    char text[2 * HASH_BYTES + 1];
    hex_encode(text, hash, HASH_BYTES);
    (void)json_object_set_new(object, name, json_string(text));
}

static void set_hashes(json_t *object, struct engine *engine)
{
    uint8_t hash[HASH_BYTES];
    engine_effects_hash(engine, hash);
    set_hex(object, "effects_hash", hash);
    fold_image_hash(engine, hash);
    set_hex(object, "image_hash", hash);
}

static void show(const struct context *context, const struct replay_run *run)
{
    const struct fold *fold = &run->fold;
    json_t *object = json_pack(
        "{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "sequence", (json_int_t)fold->sequence, "t_ns",
        (json_int_t)engine_time(fold->engine), "from_snapshot", (json_int_t)fold->start_sequence,
        "records", (json_int_t)fold->records, "effects_hashes_equal", (json_int_t)fold->hashes,
        "frame", (json_int_t)fold->frame, "boot", (json_int_t)fold->boot);
    INVARIANT(object != NULL);
    if (run->snapshots)
        (void)json_object_set_new(object, "snapshots_equal",
                                  json_integer((json_int_t)run->snapshots_equal));
    if (arguments_has(context->arguments, FLAG_hash))
        set_hashes(object, fold->engine);
    if (run->apply != NULL)
        set_timing(object, run->apply_context);
    report_object(stdout, object, context->arguments->json);
}

/* The state at a snapshot's sequence, made without it, against the snapshot. */
static void against_snapshot(struct replay_run *run, uint64_t sequence)
{
    run->last_sequence = sequence;
    if (!replay_run(run))
        return;
    if (replay_run_equals(run->context, run->directory, run->fold.engine, sequence))
        show(run->context, run);
    fold_free(&run->fold);
}

static void replay(struct replay_run *run)
{
    if (!replay_run(run))
        return;
    show(run->context, run);
    fold_free(&run->fold);
}

static void replay_timed(struct replay_run *run)
{
    struct context *context = run->context;
    const char *folder = context->arguments->values[FLAG_results];
    struct timing *timing = malloc(sizeof *timing);

    if (timing == NULL || !timing_begin(timing)) {
        (void)context_fail(context, EXIT_CODE_usage, "no memory");
    } else {
        run->apply = timed_apply;
        run->apply_context = timing;
        replay(run);
        if (folder != NULL && context->exit_code == 0)
            (void)write_timing(context, folder, timing);
        kind_times_free(&timing->kinds);
    }
    free(timing);
}

static bool flags_fit(struct context *context)
{
    const struct arguments *arguments = context->arguments;
    bool is_diff = arguments_has(arguments, FLAG_diff);
    bool is_timed = arguments_has(arguments, FLAG_timing);

    if (!is_diff && arguments->word_count > 0)
        return context_fail(context, EXIT_CODE_usage, "OTHER is for --diff");
    if (is_diff && is_timed)
        return context_fail(context, EXIT_CODE_usage,
                            "--timing is for a replay that compares no state: without --diff");
    if (!is_timed && arguments_has(arguments, FLAG_results))
        return context_fail(context, EXIT_CODE_usage, "--results is for --timing");
    return true;
}

static void diff(struct replay_run *run)
{
    struct context *context = run->context;
    const char *other = context->arguments->word_count > 0 ? context->arguments->words[0] : NULL;
    struct data_directory directory;
    int64_t sequence;
    if (other == NULL) {
        run->snapshots = true;
        replay(run);
    } else if (decimal_parse(other, strlen(other), 0, 1, INT64_MAX, &sequence) == DECIMAL_OK) {
        against_snapshot(run, (uint64_t)sequence);
    } else if (data_directory_open(context, other, &directory)) {
        replay_diff(run, &directory);
        data_directory_close(&directory);
    }
}

int command_replay(struct context *context)
{
    static struct replay_run run;
    struct data_directory directory;
    bool is_diff = arguments_has(context->arguments, FLAG_diff);
    run = (struct replay_run){ .context = context, .directory = &directory };
    if (!replay_run_start(context, is_diff ? FOLD_GENESIS : FOLD_NEWEST, &run) ||
        !choice_number(context, FLAG_to, 1, INT64_MAX, UINT64_MAX, &run.last_sequence))
        return context->exit_code;
    if (!flags_fit(context))
        return context->exit_code;
    if (!data_directory_open(context, NULL, &directory))
        return context->exit_code;
    if (is_diff)
        diff(&run);
    else if (arguments_has(context->arguments, FLAG_timing))
        replay_timed(&run);
    else
        replay(&run);
    data_directory_close(&directory);
    return context->exit_code;
}
