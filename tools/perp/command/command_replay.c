/* command_replay.c - replays the journal to a sequence and compares hashes on the way. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>

#include "base/decimal.h"
#include "base/hex.h"
#include "node/recover/replay.h"
#include "perp/command/command.h"
#include "perp/data/replay_diff.h"
#include "perp/data/replay_run.h"
#include "perp/invocation/choice.h"
#include "perp/print/record_text.h"
#include "perp/print/report.h"

static void set_hex(json_t *object, const char *name, const uint8_t hash[HASH_BYTES])
{
    char text[2 * HASH_BYTES + 1];
    hex_encode(text, hash, HASH_BYTES);
    (void)json_object_set_new(object, name, json_string(text));
}

static void set_hashes(json_t *object, struct engine *engine)
{
    uint64_t lanes[EFFECT_LANES];
    uint8_t hash[HASH_BYTES];
    engine_effects_lanes(engine, lanes);
    hash_blake2b256(hash, lanes, sizeof lanes);
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
    if (!is_diff && context->arguments->word_count > 0)
        return context_fail(context, EXIT_CODE_usage, "OTHER is for --diff"), EXIT_CODE_usage;
    if (!data_directory_open(context, NULL, &directory))
        return context->exit_code;
    if (is_diff)
        diff(&run);
    else
        replay(&run);
    data_directory_close(&directory);
    return context->exit_code;
}
