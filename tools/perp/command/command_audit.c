/* command_audit.c - proves a data directory from its first record to its last. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "perp/command/command.h"
#include "perp/data/chain_walk.h"
#include "perp/data/replay_run.h"
#include "perp/print/report.h"

static bool any_frame(void *context, const struct chain_frame *frame)
{
    (void)context;
    (void)frame;
    return true;
}

static void show(const struct context *context, const struct chain_walk *walk,
                 const struct replay_run *run)
{
    json_t *object = json_pack(
        "{s:b, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "passed", context->exit_code == 0,
        "last_sequence", (json_int_t)run->fold.sequence, "from_snapshot",
        (json_int_t)run->fold.start_sequence, "frames", (json_int_t)walk->frames, "archived_frames",
        (json_int_t)walk->archived_frames, "records", (json_int_t)run->fold.records,
        "effects_hashes", (json_int_t)run->fold.hashes, "invariant_checks", (json_int_t)run->audits,
        "snapshots", (json_int_t)run->snapshots_equal);
    INVARIANT(object != NULL);
    if (run->signatures != NULL) {
        (void)json_object_set_new(object, "signatures",
                                  json_integer((json_int_t)run->signatures_good));
        (void)json_object_set_new(object, "unsigned",
                                  json_integer((json_int_t)run->unsigned_records));
    }
    (void)json_object_set_new(object, "findings", json_integer((json_int_t)run->findings));
    char *text = json_dumps(object, JSON_COMPACT);
    INVARIANT(text != NULL);
    report_answer(stdout, text, strlen(text), context->arguments->json, NULL);
    free(text);
    json_decref(object);
}

/* First the chain and its lawful end, then the state of every record up to there. */
static void audit(struct replay_run *run)
{
    struct chain_walk walk = { 0 };
    struct refusal refusal;
    if (chain_walk_run(run->directory, &walk, any_frame, NULL, &refusal) != REFUSAL_none) {
        (void)data_directory_refused(run->context, run->directory, &refusal);
        return;
    }
    run->last_sequence = walk.end.tail.last_sequence; /* a primary may be running */
    if (!replay_run(run))
        return;
    show(run->context, &walk, run);
    fold_free(&run->fold);
}

int command_audit(struct context *context)
{
    static struct replay_run run;
    static struct eip712 eip712;
    struct data_directory directory;
    run = (struct replay_run){
        .context = context, .directory = &directory, .snapshots = true, .invariants = true
    };
    if (!replay_run_start(context, FOLD_GENESIS, &run))
        return context->exit_code;
    if (context->arguments->word_count > 0) {
        if (strcmp(context->arguments->words[0], "signatures") != 0)
            return context_fail(context, EXIT_CODE_usage, "'%.40s' is not signatures",
                                context->arguments->words[0]),
                   EXIT_CODE_usage;
        run.signatures = &eip712;
    }
    if (!data_directory_open(context, NULL, &directory))
        return context->exit_code;
    if (signature_check_init(&eip712, directory.exchange.exchange_id) != 0)
        (void)context_fail(context, EXIT_CODE_usage, "the cryptographic library does not start");
    else
        audit(&run);
    data_directory_close(&directory);
    return context->exit_code;
}
