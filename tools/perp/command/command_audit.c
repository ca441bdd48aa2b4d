/* command_audit.c - proves a data directory from its first record to its last. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>

#include "perp/command/command.h"
#include "perp/data/chain_marks.h"
#include "perp/data/chain_walk.h"
#include "perp/data/replay_run.h"
#include "perp/invocation/choice.h"
#include "perp/print/report.h"

enum { CHECKPOINT_SEQUENCES = 65536 };

/* One audit under way. */
struct auditing {
    struct replay_run run;
    struct chain_marks marks;
    struct chain_heads heads;
    struct key_history keys;
    uint64_t end;         /* with --accept-end */
    uint64_t checkpoints; /* that the sequences passed must hold */
};

static bool see_frame(void *context, const struct chain_frame *frame)
{
    struct auditing *audit = context;
    chain_marks_pass(&audit->marks, frame);
    chain_heads_pass(&audit->heads, frame);
    return true;
}

/* A 2015 follows each multiple at which at least two more sequences are there: the first may be
 * the 2014 of a start. */
static void check_checkpoints(struct auditing *audit)
{
    const struct fold *fold = &audit->run.fold;
    uint64_t last = fold->sequence < 2 ? 0 : (fold->sequence - 2) / CHECKPOINT_SEQUENCES;
    uint64_t before =
        fold->start_sequence == 0 ? 0 : (fold->start_sequence - 1) / CHECKPOINT_SEQUENCES;

    audit->checkpoints = last > before ? last - before : 0;
    if (fold->hashes >= audit->checkpoints)
        return;
    audit->run.findings++;
    (void)context_fail(audit->run.context, EXIT_CODE_rejected,
                       "%" PRIu64 " checkpoints (2015) are there, and %" PRIu64 " must be",
                       fold->hashes, audit->checkpoints);
}

static void show(const struct auditing *audit, const struct chain_walk *walk)
{
    const struct replay_run *run = &audit->run;
    const struct chain_marks *marks = &audit->marks;
    json_t *object = json_pack(
        "{s:b, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "passed",
        run->context->exit_code == 0, "last_sequence", (json_int_t)run->fold.sequence,
        "from_snapshot", (json_int_t)run->fold.start_sequence, "frames", (json_int_t)walk->frames,
        "archived_frames", (json_int_t)walk->archived_frames, "records",
        (json_int_t)run->fold.records, "effects_hashes", (json_int_t)run->fold.hashes,
        "invariant_checks", (json_int_t)run->audits, "snapshots", (json_int_t)run->snapshots_equal,
        "snapshot_frames", (json_int_t)marks->compared[MARK_SNAPSHOT], "witness_slots",
        (json_int_t)marks->compared[MARK_WITNESS], "heads", (json_int_t)audit->heads.compared);
    INVARIANT(object != NULL);
    if (run->signatures != NULL) {
        (void)json_object_set_new(object, "signatures",
                                  json_integer((json_int_t)run->signatures_good));
        (void)json_object_set_new(object, "unsigned",
                                  json_integer((json_int_t)run->unsigned_records));
    }
    json_int_t findings =
        (json_int_t)run->findings + (json_int_t)marks->findings + (json_int_t)audit->heads.findings;
    (void)json_object_set_new(object, "findings", json_integer(findings));
    report_object(stdout, object, run->context->arguments->json);
}

/* First the chain, its lawful end and what names frames of it, then the state of every record up
 * to there. */
static void prove(struct auditing *audit)
{
    struct replay_run *run = &audit->run;
    struct chain_walk walk = { 0 };
    struct refusal refusal;
    if (!chain_marks_read(&audit->marks) ||
        !chain_heads_read(&audit->heads, run->context->arguments->values[FLAG_head]))
        return;
    if (chain_walk_run(run->directory, &walk, see_frame, audit, &refusal) != REFUSAL_none) {
        (void)data_directory_refused(run->context, run->directory, &refusal);
        return;
    }
    chain_marks_judge(&audit->marks, &walk.end.tail);
    chain_heads_judge(&audit->heads);
    run->last_sequence = walk.end.tail.last_sequence; /* a primary may be running */
    if (run->start == FOLD_GENESIS) { /* keys that were revoked before a snapshot are not in it */
        key_history_init(&audit->keys);
        run->keys = &audit->keys;
    }
    bool is_replayed = replay_run(run);
    key_history_free(&audit->keys);
    if (!is_replayed)
        return;
    check_checkpoints(audit);
    show(audit, &walk);
    fold_free(&run->fold);
}

/* Reads words and flags; false after a printed error. */
static bool read_arguments(struct context *context, struct auditing *audit,
                           const struct eip712 *eip712)
{
    const struct arguments *arguments = context->arguments;
    const char *end = arguments->values[FLAG_accept_end];

    if (!replay_run_start(context, FOLD_GENESIS, &audit->run))
        return false;
    if (arguments->word_count > 0) {
        if (strcmp(arguments->words[0], "signatures") != 0)
            return context_fail(context, EXIT_CODE_usage, "'%.40s' is not signatures",
                                arguments->words[0]);
        audit->run.signatures = eip712;
    }
    if (end == NULL)
        return true;
    if (!choice_sequence(context, end, 0, &audit->end))
        return false;
    audit->marks.end = &audit->end;
    return true;
}

int command_audit(struct context *context)
{
    static struct auditing audit;
    static struct eip712 eip712;
    struct data_directory directory;
    audit.run = (struct replay_run){
        .context = context, .directory = &directory, .snapshots = true, .invariants = true
    };
    audit.run.heads = &audit.heads;
    audit.heads.context = context;
    audit.heads.directory = &directory;
    audit.marks.context = context;
    audit.marks.directory = &directory;
    if (!read_arguments(context, &audit, &eip712) ||
        !data_directory_open(context, NULL, &directory))
        return context->exit_code;
    if (signature_check_init(&eip712, directory.exchange.exchange_id) != 0)
        (void)context_fail(context, EXIT_CODE_usage, "the cryptographic library does not start");
    else
        prove(&audit);
    chain_heads_free(&audit.heads);
    data_directory_close(&directory);
    return context->exit_code;
}
