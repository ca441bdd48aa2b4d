#include "perp/data/replay_diff.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "perp/data/chain_walk.h"
#include "perp/invocation/arguments.h"
#include "perp/invocation/exit_code.h"
#include "perp/print/record_text.h"

enum { DIFFERENT = 1000 }; /* ends the fold at a visit; above every replay_refusal */

struct digest {
    uint64_t record;  /* of the record's bytes */
    uint64_t effects; /* of the state of the effects hash after it */
};

struct digests {
    struct digest *rows;
    size_t count, capacity;
    uint64_t first;    /* sequence of rows[0] */
    struct fold *fold; /* under way */
    uint64_t different;
    bool record_differs;
};

static uint64_t short_hash(const void *bytes, size_t count)
{
    uint8_t hash[HASH_BYTES];
    hash_blake2b256(hash, bytes, count);
    return cc_load64(hash);
}

static struct digest digest_of(const struct digests *digests, const struct record_view *record)
{
    uint64_t lanes[EFFECT_LANES];
    uint8_t bytes[RECORD_BYTES_MAX];
    engine_effects_lanes(digests->fold->engine, lanes);
    return (struct digest){ short_hash(bytes, record_encode(bytes, record)),
                            short_hash(lanes, sizeof lanes) };
}

static int keep(void *context, const struct chain_frame *frame, uint64_t sequence,
                const struct record_view *record, const struct command *command,
                const struct engine_result *result)
{
    struct digests *digests = context;
    (void)frame;
    (void)command;
    (void)result;
    if (digests->count > 0 && sequence <= digests->first)
        digests->count = 0; /* the fold restarted with larger tables */
    if (digests->count == 0)
        digests->first = sequence;
    if (digests->count == digests->capacity) {
        digests->capacity = digests->capacity == 0 ? 1024 : 2 * digests->capacity;
        digests->rows = reallocarray(digests->rows, digests->capacity, sizeof digests->rows[0]);
        INVARIANT(digests->rows != NULL);
    }
    digests->rows[digests->count++] = digest_of(digests, record);
    return 0;
}

static int compare(void *context, const struct chain_frame *frame, uint64_t sequence,
                   const struct record_view *record, const struct command *command,
                   const struct engine_result *result)
{
    struct digests *digests = context;
    (void)frame;
    (void)command;
    (void)result;
    if (sequence < digests->first || sequence - digests->first >= digests->count)
        return 0; /* the other one ended before */
    const struct digest *there = &digests->rows[sequence - digests->first];
    struct digest here = digest_of(digests, record);
    if (here.record == there->record && here.effects == there->effects)
        return 0;
    digests->different = sequence;
    digests->record_differs = here.record != there->record;
    return DIFFERENT;
}

/* ---- the record in question ------------------------------------------------------------------ */

struct shown {
    uint64_t sequence;
    bool json;
};

static bool show_frame(void *context, const struct chain_frame *frame)
{
    const struct shown *shown = context;
    struct frame_records records;
    struct record_view record;
    uint64_t sequence;
    if (frame->header.last_sequence < shown->sequence)
        return true;
    frame_records_begin(&records, &frame->header, frame->bytes);
    while (frame_records_next(&records, &record, &sequence) > 0)
        if (sequence == shown->sequence)
            record_text_line(stdout, frame, sequence, &record, shown->json);
    return false;
}

static void show_record(const struct context *context, const struct data_directory *directory,
                        uint64_t sequence)
{
    struct shown shown = { sequence, context->arguments->json };
    struct chain_walk walk = { 0 };
    struct refusal refusal;
    if (!shown.json)
        printf("%s: ", directory->path);
    if (chain_walk_run(directory, &walk, show_frame, &shown, &refusal) != REFUSAL_none)
        printf("%s\n", refusal.text);
}

static void show_difference(const struct replay_run *run, const struct data_directory *other,
                            const struct digests *digests)
{
    (void)context_fail(run->context, EXIT_CODE_rejected,
                       "sequence %" PRIu64 " is the first that differs: %s", digests->different,
                       digests->record_differs ? "its record" : "its effects");
    show_record(run->context, run->directory, digests->different);
    show_record(run->context, other, digests->different);
}

void replay_diff(const struct replay_run *run, const struct data_directory *other)
{
    struct fold_config config = replay_run_config(run);
    struct fold fold;
    struct digests digests = { .fold = &fold };
    struct refusal refusal;
    config.visit = keep;
    config.context = &digests;
    if (fold_run(&config, &fold, &refusal) != REFUSAL_none) {
        (void)data_directory_refused(run->context, run->directory, &refusal);
        free(digests.rows);
        return;
    }
    uint64_t last_here = fold.sequence;
    fold_free(&fold);
    config.disk = other->disk;
    config.exchange = &other->exchange;
    config.segment_bytes = other->segment_bytes;
    config.visit = compare;
    if (fold_run(&config, &fold, &refusal) == REFUSAL_none) {
        uint64_t last_there = fold.sequence;
        uint64_t common = last_here < last_there ? last_here : last_there;
        if (run->context->arguments->json)
            printf("{\"equal_to\":%" PRIu64 ",\"last_sequence\":%" PRIu64
                   ",\"other_last_sequence\":%" PRIu64 "}\n",
                   common, last_here, last_there);
        else
            printf("equal to sequence %" PRIu64 "; %s ends at %" PRIu64 ", %s at %" PRIu64 "\n",
                   common, run->directory->path, last_here, other->path, last_there);
        fold_free(&fold);
    } else if (refusal.error == DIFFERENT) {
        show_difference(run, other, &digests);
    } else {
        (void)data_directory_refused(run->context, other, &refusal);
    }
    free(digests.rows);
}
