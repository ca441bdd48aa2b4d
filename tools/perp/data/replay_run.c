#include "perp/data/replay_run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "engine/engine.h"
#include "engine/view/audit.h"
#include "node/recover/replay.h"
#include "perp/data/image_memory.h"
#include "perp/invocation/arguments.h"
#include "perp/invocation/choice.h"
#include "perp/invocation/exit_code.h"
#include "perp/print/image_text.h"
#include "perp/print/record_text.h"

enum { INVARIANT_COUNT = 10, RULES_VERSION_AT = 8 };

bool replay_run_start(struct context *context, enum fold_start fallback, struct replay_run *run)
{
    run->start = fallback;
    if (!choice_number(context, FLAG_from_snapshot, 0, INT64_MAX, 0, &run->start_sequence))
        return false;
    if (arguments_has(context->arguments, FLAG_from_snapshot))
        run->start = run->start_sequence == 0 ? FOLD_GENESIS : FOLD_SNAPSHOT;
    return true;
}

struct fold_config replay_run_config(const struct replay_run *run)
{
    return (struct fold_config){
        .disk = run->directory->disk,
        .exchange = &run->directory->exchange,
        .segment_bytes = run->directory->segment_bytes,
        .start = run->start,
        .start_sequence = run->start_sequence,
        .last_segment = UINT64_MAX,
        .last_sequence = run->last_sequence,
        .apply = run->apply,
        .apply_context = run->apply_context,
    };
}

/* Counts a finding; true if it should be printed. */
static bool found(struct replay_run *run)
{
    run->context->exit_code = EXIT_CODE_rejected;
    return ++run->findings <= REPLAY_RUN_FINDINGS_MAX;
}

bool replay_run_equals(struct context *context, const struct data_directory *directory,
                       struct engine *engine, uint64_t sequence)
{
    struct image_text_location location;
    struct image_memory image;
    struct snapshot snapshot;
    struct refusal why;
    refusal_clear(&why);
    int failed = snapshot_read(directory->disk, &directory->exchange, sequence, &snapshot, &why);
    if (failed != 0)
        return context_fail(context, EXIT_CODE_rejected, "snapshot %" PRIu64 ": %s", sequence,
                            why.text[0] != '\0' ? why.text : strerror(-failed));
    image_memory_copy(&image, engine);
    bool differs = image_text_differs(image.sections, image.section_count, snapshot.sections,
                                      snapshot.head.section_count, &location);
    if (differs) {
        (void)context_fail(context, EXIT_CODE_rejected,
                           "snapshot %" PRIu64 " differs from the replayed state", sequence);
        image_text_difference(stderr, &location, "replayed", "snapshot");
    }
    image_memory_free(&image);
    snapshot_close(&snapshot);
    return !differs;
}

/* ---- checks ---------------------------------------------------------------------------------- */

static void begin(struct replay_run *run)
{
    run->snapshots_equal = run->audits = run->signatures_good = run->unsigned_records = 0;
    run->findings = run->last_hash_sequence = run->seen = 0;
    run->next_snapshot = run->listed_count - 1;
    run->rules_version = ENGINE_RULES_VERSION;
    if (run->heads != NULL)
        chain_heads_rewind(run->heads);
    if (run->keys != NULL)
        key_history_forget(run->keys);
}

static void check_invariants(struct replay_run *run)
{
    struct row_audit row;
    audit_read(run->fold.engine, &row, NULL);
    run->audits++;
    for (int k = 0; k < INVARIANT_COUNT; k++)
        if ((row.invariants >> k & 1) == 0 && found(run))
            (void)context_fail(run->context, EXIT_CODE_rejected,
                               "sequence %" PRIu64 ": invariant I%d does not hold",
                               run->fold.sequence, k + 1);
}

/* A running primary keeps two snapshots and removes older ones. */
static bool is_gone(const struct replay_run *run, uint64_t sequence)
{
    const struct data_directory *directory = run->directory;
    struct snapshot_head head;

    return snapshot_read_head(directory->disk, &directory->exchange, sequence, &head, NULL) ==
           -ENOENT;
}

static void check_snapshot(struct replay_run *run, uint64_t sequence)
{
    while (run->next_snapshot >= 0 && run->listed[run->next_snapshot] < sequence)
        run->next_snapshot--;
    if (run->next_snapshot < 0 || run->listed[run->next_snapshot] != sequence)
        return;
    run->next_snapshot--;
    if (is_gone(run, sequence))
        return;
    if (replay_run_equals(run->context, run->directory, run->fold.engine, sequence))
        run->snapshots_equal++;
    else
        run->findings++;
}

static void check_signature(struct replay_run *run, uint64_t sequence,
                            const struct record_view *record)
{
    const char *wrong = signature_check_record(run->signatures, run->rules_version, record);
    if (wrong != NULL && found(run))
        (void)context_fail(run->context, EXIT_CODE_rejected, "sequence %" PRIu64 ", code %u %s: %s",
                           sequence, record->code, record_text_code(record->code), wrong);
    run->signatures_good += wrong == NULL && record->kind != RECORD_UNSIGNED;
    run->unsigned_records += record->kind == RECORD_UNSIGNED;
}

static void check_signer(struct replay_run *run, uint64_t sequence,
                         const struct record_view *record, const struct engine_result *result)
{
    const char *wrong = key_history_judge(run->keys, record, result);
    if (wrong != NULL && found(run))
        (void)context_fail(run->context, EXIT_CODE_rejected, "sequence %" PRIu64 ", code %u %s: %s",
                           sequence, record->code, record_text_code(record->code), wrong);
}

static int check_record(void *context, const struct chain_frame *frame, uint64_t sequence,
                        const struct record_view *record, const struct command *command,
                        const struct engine_result *result)
{
    struct replay_run *run = context;
    (void)frame;
    if (sequence <= run->seen)
        begin(run); /* the fold did: a later 2013 has larger tables */
    run->seen = sequence;
    if (record->code == REQUEST_boot)
        run->rules_version = cc_load32(command_body(command) + RULES_VERSION_AT);
    if (run->signatures != NULL)
        check_signature(run, sequence, record);
    if (run->keys != NULL)
        check_signer(run, sequence, record, result);
    if (record->code == REQUEST_effects_hash) {
        run->last_hash_sequence = sequence;
        if (run->invariants)
            check_invariants(run);
    }
    if (run->heads != NULL)
        chain_heads_effects(run->heads, sequence, run->fold.engine);
    if (run->snapshots)
        check_snapshot(run, sequence);
    return 0;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static bool list_snapshots(struct replay_run *run)
{
    int count = 0;
    if (run->snapshots)
        count = snapshot_list(run->directory->disk, run->listed, REPLAY_RUN_SNAPSHOTS_MAX);
    if (count < 0 && count != -ENOENT)
        return context_fail(run->context, EXIT_CODE_problem, "%s/snapshot: %s",
                            run->directory->path, strerror(-count));
    run->listed_count = count < 0 ? 0 : count;
    begin(run);
    return true;
}

/* A requested end that is missing is an error. The chain has judged the end of the whole. */
static bool check_end(struct replay_run *run)
{
    if (run->last_sequence == UINT64_MAX || run->fold.sequence == run->last_sequence)
        return true;
    return context_fail(run->context, EXIT_CODE_rejected,
                        "%s: the journal ends at sequence %" PRIu64, run->directory->path,
                        run->fold.sequence);
}

bool replay_run(struct replay_run *run)
{
    struct fold_config config = replay_run_config(run);
    struct refusal refusal;
    config.visit = check_record;
    config.context = run;
    config.sink = run->keys != NULL ? &run->keys->sink : NULL;
    if (!list_snapshots(run))
        return false;
    if (fold_run(&config, &run->fold, &refusal) != REFUSAL_none) {
        (void)data_directory_refused(run->context, run->directory, &refusal);
        if (refusal.error == REPLAY_effects_hash)
            (void)context_fail(run->context, EXIT_CODE_rejected,
                               "the effects differ in a record behind sequence %" PRIu64
                               ", the last effects_hash that is equal",
                               run->last_hash_sequence);
        return false;
    }
    if (!check_end(run)) {
        fold_free(&run->fold);
        return false;
    }
    if (run->invariants)
        check_invariants(run);
    return true;
}
