/* command_backup.c - copies a running exchange into a new directory, and follows it. */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

#include "base/hex.h"
#include "crypto/attest.h"
#include "perp/command/command.h"
#include "perp/data/chain_marks.h"
#include "perp/data/chain_walk.h"
#include "perp/data/frame_stream.h"
#include "perp/print/report.h"
#include "perp/request/instant.h"
#include "store/disk_real.h"
#include "store/snapshot.h"

enum { SNAPSHOTS_MAX = 16, LOST_MS = 200, TESTIFY_NS = 1000000000 };

/* One backup under way. */
struct backup {
    struct context *context;
    struct data_directory source;
    struct client admin;
    struct copy copy;
    struct archive archive; /* of the source, whose rows are copied */
    struct frame_stream stream;
    uint64_t snapshot; /* sequence; 0: none */
    bool sealed;
    struct attest_head head; /* the newest that was copied; frame 0: none */
};

static volatile sig_atomic_t is_ended;

static void end_it(int number)
{
    (void)number;
    is_ended = 1;
}

static bool lost(const struct backup *backup)
{
    return context_fail(backup->context, EXIT_CODE_problem, "%s: %s", backup->admin.authority,
                        backup->admin.error);
}

/* ---- what lies beside the frames ------------------------------------------------------------- */

static bool copy_keys(const struct backup *backup)
{
    bool found;

    return copy_file(&backup->copy, "exchange", COPY_SMALL_MAX, NULL) &&
           copy_file(&backup->copy, "origin", COPY_SMALL_MAX, &found) &&
           copy_file(&backup->copy, "signing.key", COPY_SMALL_MAX, &found) &&
           copy_file(&backup->copy, "recovered", COPY_SMALL_MAX, &found);
}

/* The newest snapshot that is whole; the frames up to it are durable, so they will be copied. */
static bool copy_snapshot(struct backup *backup)
{
    uint64_t sequences[SNAPSHOTS_MAX];
    int count = snapshot_list(backup->copy.from, sequences, SNAPSHOTS_MAX);
    struct snapshot snapshot;

    for (int i = 0; i < count && backup->snapshot == 0; i++) {
        char path[DISK_PATH_BYTES];
        bool found;
        (void)snprintf(path, sizeof path, "snapshot/%" PRIu64 ".snap", sequences[i]);
        if (!copy_file(&backup->copy, path, UINT64_MAX, &found))
            return false;
        if (!found)
            continue; /* removed in between: a newer one is there */
        if (snapshot_read(backup->copy.to, &backup->source.exchange, sequences[i], &snapshot,
                          NULL) != 0) {
            int error = snapshot_remove(backup->copy.to, sequences[i]);
            if (error != 0)
                return copy_failed(backup->context, backup->copy.to_path, path, error);
            continue;
        }
        snapshot_close(&snapshot);
        backup->snapshot = sequences[i];
    }
    return true;
}

/* Copies what the archive has beyond the copy's; the stream goes on after it. */
static bool copy_more_archive(struct backup *backup)
{
    struct archive archive;
    struct refusal refusal;
    uint64_t first = 0;
    char path[DISK_PATH_BYTES];

    refusal_clear(&refusal);
    if (archive_open(&archive, backup->copy.from, &backup->source.exchange, &refusal) !=
        REFUSAL_none)
        return data_directory_refused(backup->context, &backup->source, &refusal);
    while (first < archive.count && archive.rows[first].last_frame <= backup->stream.tail.number)
        first++;
    bool is_copied = copy_archive(&backup->copy, &archive, &backup->source.exchange, first);
    for (uint64_t i = first; i < archive.count; i++) {
        segment_path(path, archive.rows[i].segment, true);
        int error = disk_remove(backup->copy.to, path); /* a part of it that was fetched */
        if (error != 0 && error != -ENOENT)
            is_copied = copy_failed(backup->context, backup->copy.to_path, path, error);
        backup->stream.tail.number = archive.rows[i].last_frame;
        backup->stream.tail.last_sequence = archive.rows[i].last_sequence;
        memcpy(backup->stream.tail.hash, archive.rows[i].last_frame_hash, HASH_BYTES);
    }
    archive_close(&archive);
    return is_copied;
}

/* The next frame is not in the journal any more: the archive has it. */
static bool copy_archived(struct backup *backup)
{
    uint64_t before = backup->stream.tail.number;

    if (!copy_more_archive(backup))
        return false;
    return backup->stream.tail.number != before ||
           context_fail(backup->context, EXIT_CODE_rejected,
                        "frame %" PRIu64 " is neither in the journal nor in the archive",
                        before + 1);
}

/* ---- the frames ------------------------------------------------------------------------------ */

static bool seal(struct backup *backup)
{
    const struct client_request request = { .method = "POST", .target = "/admin/seal" };
    struct client_answer answer;

    if (client_call(&backup->admin, &request, &answer) != 0)
        return lost(backup);
    if (answer.status != 200)
        return context_fail(backup->context, EXIT_CODE_rejected, "POST /admin/seal: %.*s",
                            (int)(answer.body_count < 300 ? answer.body_count : 300), answer.body);
    json_t *root = json_loadb(answer.body, answer.body_count, 0, NULL);
    backup->sealed = json_is_true(json_object_get(root, "sealed"));
    json_decref(root);
    return true;
}

/* Fetches until no further frame is released. */
static bool catch_up(struct backup *backup)
{
    for (;;) {
        switch (frame_stream_fetch(&backup->stream, false)) {
        case FRAME_STREAM_FRAMES:
            continue;
        case FRAME_STREAM_END:
            return true;
        case FRAME_STREAM_GONE:
            if (!copy_archived(backup))
                return false;
            continue;
        case FRAME_STREAM_LOST:
            return lost(backup);
        case FRAME_STREAM_FAILED:
            return false;
        }
    }
}

static bool follow(struct backup *backup)
{
    uint64_t told_ns = instant_monotonic_ns(), told = backup->stream.tail.number;

    while (is_ended == 0) {
        enum frame_stream_got got = frame_stream_fetch(&backup->stream, true);
        if (got == FRAME_STREAM_FAILED || (got == FRAME_STREAM_GONE && !copy_archived(backup)))
            return false;
        if (got == FRAME_STREAM_LOST) /* perpd is stopped, or starts */
            (void)nanosleep(&(struct timespec){ .tv_nsec = LOST_MS * 1000000 }, NULL);
        if (backup->stream.tail.number == told || instant_monotonic_ns() - told_ns < TESTIFY_NS)
            continue;
        if (!frame_stream_testify(&backup->stream))
            return false;
        told_ns = instant_monotonic_ns();
        told = backup->stream.tail.number;
    }
    return true;
}

/* ---- the proof ------------------------------------------------------------------------------- */

static bool see_frame(void *context, const struct chain_frame *frame)
{
    chain_marks_pass(context, frame);
    return true;
}

/* Reads the copy from its first frame to its end, which is the witness's. */
static bool prove(struct backup *backup)
{
    static struct chain_marks marks;
    struct data_directory directory = { .path = backup->copy.to_path,
                                        .disk = backup->copy.to,
                                        .exchange = backup->source.exchange,
                                        .segment_bytes = backup->source.segment_bytes };
    struct chain_walk walk = { 0 };
    struct refusal refusal;

    marks = (struct chain_marks){ .context = backup->context, .directory = &directory };
    if (!chain_marks_read(&marks))
        return false;
    if (chain_walk_run(&directory, &walk, see_frame, &marks, &refusal) != REFUSAL_none)
        return data_directory_refused(backup->context, &directory, &refusal);
    chain_marks_judge(&marks, &walk.end.tail);
    return backup->context->exit_code == 0;
}

static void show(const struct backup *backup)
{
    const struct frame_tail *end = &backup->stream.tail;
    char hash[2 * HASH_BYTES + 1];

    hex_encode(hash, end->hash, HASH_BYTES);
    json_t *object =
        json_pack("{s:I, s:I, s:s, s:I, s:b, s:I, s:I, s:I, s:I}", "sequence",
                  (json_int_t)end->last_sequence, "frame", (json_int_t)end->number, "frame_hash",
                  hash, "snapshot", (json_int_t)backup->snapshot, "sealed", backup->sealed,
                  "fetched_frames", (json_int_t)backup->stream.frames, "fetched_bytes",
                  (json_int_t)backup->stream.bytes, "head_frame", (json_int_t)backup->head.frame,
                  "head_sequence", (json_int_t)backup->head.sequence);
    INVARIANT(object != NULL);
    report_object(stdout, object, backup->context->arguments->json);
    (void)fflush(stdout);
}

/* The witness last: a copy that was broken off has none, and no start takes it. */
static bool finish(struct backup *backup)
{
    bool beyond;

    return copy_heads(&backup->copy, backup->stream.tail.number, &backup->head, &beyond) &&
           frame_stream_testify(&backup->stream);
}

static void run(struct backup *backup)
{
    if (!seal(backup) || !copy_keys(backup) || !copy_snapshot(backup) ||
        !copy_more_archive(backup) || !catch_up(backup) || !finish(backup) || !prove(backup))
        return;
    show(backup);
    if (backup->context->arguments->values[FLAG_follow] == NULL)
        return;
    if (follow(backup) && finish(backup))
        show(backup);
}

/* Opens the admin listener; false after a printed error. */
static bool connect_admin(struct backup *backup)
{
    const char *url = backup->context->arguments->values[FLAG_admin_url];

    if (client_init(&backup->admin, url, CLIENT_TIMEOUT_MS) &&
        client_read_token(&backup->admin, backup->source.path))
        return true;
    return context_fail(backup->context, EXIT_CODE_problem, "%s", backup->admin.error);
}

int command_backup(struct context *context)
{
    static struct backup backup;
    const struct sigaction action = { .sa_handler = end_it };

    backup.context = context;
    if (context->arguments->word_count != 1 || context->arguments->values[FLAG_admin_url] == NULL)
        return context_fail(context, EXIT_CODE_usage, "DIR and --admin-url are needed"),
               EXIT_CODE_usage;
    if (!data_directory_open(context, NULL, &backup.source))
        return context->exit_code;
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    backup.copy = (struct copy){ .context = context,
                                 .from = backup.source.disk,
                                 .from_path = backup.source.path,
                                 .to_path = context->arguments->words[0] };
    if (connect_admin(&backup) && copy_claim(context, backup.copy.to_path))
        backup.copy.to = copy_make_directory(context, backup.copy.to_path);
    backup.stream = (struct frame_stream){ .context = context,
                                           .client = &backup.admin,
                                           .disk = backup.copy.to,
                                           .path = backup.copy.to_path,
                                           .exchange = &backup.source.exchange,
                                           .segment_bytes = backup.source.segment_bytes,
                                           .file = -1 };
    frame_tail_start(&backup.stream.tail, backup.source.exchange.exchange_id);
    if (backup.copy.to != NULL && frame_stream_open(&backup.stream))
        run(&backup);
    frame_stream_close(&backup.stream);
    if (backup.copy.to != NULL)
        disk_real_close(backup.copy.to);
    client_close(&backup.admin);
    data_directory_close(&backup.source);
    return context->exit_code;
}
