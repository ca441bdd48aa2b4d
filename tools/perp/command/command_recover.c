/* command_recover.c - accepts the end that a journal has, when its witness names a later one. */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <time.h>

#include "perp/command/command.h"
#include "perp/data/chain_walk.h"
#include "perp/data/take_up.h"
#include "perp/invocation/choice.h"
#include "perp/print/report.h"
#include "store/snapshot.h"
#include "store/witness_check.h"

enum { SNAPSHOTS_MAX = 64 };

/* One recovery under way. */
struct recovery {
    struct context *context;
    struct data_directory *directory;
    struct exchange_file exchange; /* with its keys */
    struct chain_walk walk;
    struct witness_check check;
    uint64_t wall_ns;
    const char *reason;
};

static bool any_frame(void *context, const struct chain_frame *frame)
{
    (void)context;
    (void)frame;
    return true;
}

static bool failed(const struct recovery *recovery, const char *what, int error)
{
    return context_fail(recovery->context, EXIT_CODE_problem, "%s/%s: %s",
                        recovery->directory->path, what, strerror(-error));
}

/* The walk begins after the newest whole snapshot, if there is one. */
static void begin_after_snapshot(struct recovery *recovery)
{
    uint64_t sequences[SNAPSHOTS_MAX];
    struct snapshot_head head;
    int count = snapshot_list(recovery->directory->disk, sequences, SNAPSHOTS_MAX);

    for (int i = 0; i < count; i++) {
        if (snapshot_read_head(recovery->directory->disk, &recovery->exchange, sequences[i], &head,
                               NULL) != 0)
            continue;
        recovery->walk.after_frame = head.frame;
        memcpy(recovery->walk.after_hash, head.frame_hash, HASH_BYTES);
        return;
    }
}

/* Reads the chain to its end, which must be the sequence that the operator names. */
static bool find_end(struct recovery *recovery, uint64_t sequence)
{
    struct refusal refusal;
    const struct frame_tail *end = &recovery->walk.end.tail;

    begin_after_snapshot(recovery);
    if (chain_walk_run(recovery->directory, &recovery->walk, any_frame, NULL, &refusal) !=
            REFUSAL_none ||
        witness_check_begin(&recovery->check, recovery->directory->disk, &recovery->exchange,
                            &refusal) != REFUSAL_none)
        return data_directory_refused(recovery->context, recovery->directory, &refusal);
    if (end->last_sequence != sequence)
        return context_fail(recovery->context, EXIT_CODE_rejected,
                            "the journal ends with sequence %" PRIu64 ", frame %" PRIu64
                            "; --accept-end %" PRIu64 " accepts that",
                            end->last_sequence, end->number, end->last_sequence);
    if (recovery->check.is_there && end->number >= recovery->check.named.frame &&
        !witness_check_is_older(&recovery->check, end))
        return context_fail(recovery->context, EXIT_CODE_rejected,
                            "the journal reaches its witness, frame %" PRIu64
                            ": there is no lost end to accept",
                            recovery->check.named.frame);
    return true;
}

/* The witness that fits is the last thing to appear. */
static bool accept(struct recovery *recovery)
{
    struct take_up take = { .context = recovery->context,
                            .disk = recovery->directory->disk,
                            .path = recovery->directory->path,
                            .segment_bytes = recovery->directory->segment_bytes,
                            .exchange = &recovery->exchange,
                            .end = recovery->walk.end,
                            .named = recovery->check.named,
                            .reason = recovery->reason,
                            .wall_ns = recovery->wall_ns };

    return take_up_run(&take);
}

static void show(const struct recovery *recovery)
{
    const struct frame_tail *end = &recovery->walk.end.tail;
    json_t *object = json_pack("{s:I, s:I, s:I, s:I, s:I}", "accepted_end",
                               (json_int_t)end->last_sequence, "frame", (json_int_t)end->number,
                               "witness_sequence", (json_int_t)recovery->check.named.sequence,
                               "witness_frame", (json_int_t)recovery->check.named.frame, "epoch",
                               (json_int_t)recovery->exchange.epoch);
    report_object(stdout, object, recovery->context->arguments->json);
}

static bool recover(struct recovery *recovery, uint64_t sequence)
{
    struct timespec now;
    int error = disk_lock(recovery->directory->disk);

    if (error == -EWOULDBLOCK)
        return context_fail(recovery->context, EXIT_CODE_problem, "%s is in use: stop perpd first",
                            recovery->directory->path);
    if (error == 0)
        error = exchange_file_read(recovery->directory->disk, &recovery->exchange);
    if (error != 0)
        return failed(recovery, "exchange", error);
    (void)clock_gettime(CLOCK_REALTIME, &now);
    recovery->wall_ns = (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
    return find_end(recovery, sequence) && accept(recovery);
}

int command_recover(struct context *context)
{
    const struct arguments *arguments = context->arguments;
    const char *end = arguments->values[FLAG_accept_end];
    struct data_directory directory;
    struct recovery recovery = { .context = context,
                                 .directory = &directory,
                                 .reason = arguments->values[FLAG_reason] };
    uint64_t sequence;

    if (arguments->word_count != 1 || end == NULL || recovery.reason == NULL)
        return context_fail(context, EXIT_CODE_usage, "DATA, --accept-end and --reason are needed"),
               EXIT_CODE_usage;
    if (!choice_sequence(context, end, 0, &sequence))
        return context->exit_code;
    if (!take_up_reason_is_fit(recovery.reason))
        return context_fail(context, EXIT_CODE_usage,
                            "--reason is 1 to %d printable ASCII characters", ERA_REASON_BYTES),
               EXIT_CODE_usage;
    if (!data_directory_open(context, arguments->words[0], &directory))
        return context->exit_code;
    if (recover(&recovery, sequence))
        show(&recovery);
    explicit_bzero(&recovery.exchange, sizeof recovery.exchange);
    data_directory_close(&directory);
    return context->exit_code;
}
