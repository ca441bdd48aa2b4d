/* command_restore.c - makes a data directory of a copy, up to a sequence or a time. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/hex.h"
#include "crypto/attest.h"
#include "perp/command/command.h"
#include "perp/data/chain_heads.h"
#include "perp/data/chain_marks.h"
#include "perp/data/chain_walk.h"
#include "perp/data/copy.h"
#include "perp/data/take_up.h"
#include "perp/invocation/choice.h"
#include "perp/print/report.h"
#include "perp/request/instant.h"
#include "store/disk_real.h"
#include "store/segment.h"
#include "store/snapshot.h"

enum { SNAPSHOTS_MAX = 64, PATH_BYTES = 4096 };

/* One restore under way. */
struct restore {
    struct context *context;
    struct data_directory source;
    const char *path;      /* DATA */
    char part[PATH_BYTES]; /* what becomes DATA when it is whole and proven */
    uint64_t last_sequence, last_ns;
    bool has_sequence; /* --to is one */
    const char *reason;
    struct chain_heads heads;    /* of the source */
    uint64_t heads_met;          /* signed heads that its frames met */
    struct chain_marks marks;    /* of the source, then of the result */
    struct journal_position end; /* of what is restored */
    bool is_all;                 /* the copy has nothing after it */
    struct copy copy;
    struct archive archive;        /* of the source; then the rows that are copied as they are */
    struct exchange_file exchange; /* of the result */
    int file;                      /* segment under way; -1: none */
    uint64_t segment;
    uint64_t snapshot; /* sequence of the newest; 0: none */
};

/* ---- where it ends --------------------------------------------------------------------------- */

static bool is_later(const struct restore *restore, const struct chain_frame *frame)
{
    struct frame_records records;
    struct record_view record;
    uint64_t sequence = 0;

    if (frame->header.last_sequence > restore->last_sequence)
        return true;
    frame_records_begin(&records, &frame->header, frame->bytes);
    while (frame_records_next(&records, &record, &sequence) > 0)
        if (record.t_ns > restore->last_ns)
            return true;
    return false;
}

static bool see_frame(void *context, const struct chain_frame *frame)
{
    struct restore *restore = context;

    if (is_later(restore, frame))
        return false;
    chain_marks_pass(&restore->marks, frame);
    chain_heads_pass(&restore->heads, frame);
    return true;
}

static bool see_chain(void *context, const struct chain_frame *frame)
{
    chain_heads_pass(context, frame);
    return true;
}

/* Whether the whole copy, of which a part is restored, meets the heads that somebody kept: who
 * writes a chain of his own can take away what lies beside it, and not those. */
static bool meets_kept(struct restore *restore, const char *path)
{
    struct chain_walk walk = { 0 };
    struct refusal refusal;

    if (!chain_heads_read(&restore->heads, path))
        return false;
    if (chain_walk_run(&restore->source, &walk, see_chain, &restore->heads, &refusal) !=
        REFUSAL_none)
        return data_directory_refused(restore->context, &restore->source, &refusal);
    chain_heads_judge(&restore->heads);
    restore->heads_met = restore->heads.compared;
    chain_heads_free(&restore->heads);
    restore->heads =
        (struct chain_heads){ .context = restore->context, .directory = &restore->source };
    return restore->context->exit_code == 0;
}

/* Whether --to names an end. */
static bool is_part(const struct restore *restore)
{
    return restore->last_sequence != UINT64_MAX || restore->last_ns != UINT64_MAX;
}

/* Reads the copy up to the end that is asked for. A copy that is to be restored whole must reach
 * its witness, its heads and those of the file `kept` (NULL: none). */
static bool find_end(struct restore *restore, const char *kept)
{
    struct chain_walk walk = { 0 };
    struct refusal refusal;

    restore->marks =
        (struct chain_marks){ .context = restore->context, .directory = &restore->source };
    if (!chain_heads_read(&restore->heads, kept))
        return false;
    if (!is_part(restore) && !chain_marks_read(&restore->marks))
        return false;
    if (chain_walk_run(&restore->source, &walk, see_frame, restore, &refusal) != REFUSAL_none)
        return data_directory_refused(restore->context, &restore->source, &refusal);
    restore->is_all = !walk.ended;
    restore->end = walk.ended ? walk.before : walk.end;
    if (restore->is_all && !is_part(restore)) {
        chain_marks_judge(&restore->marks, &restore->end.tail);
        chain_heads_judge(&restore->heads);
        restore->heads_met = restore->heads.compared;
    }
    if (restore->context->exit_code != 0)
        return false;
    if (restore->is_all && restore->has_sequence &&
        restore->end.tail.last_sequence < restore->last_sequence)
        return context_fail(restore->context, EXIT_CODE_rejected, "%s ends with sequence %" PRIu64,
                            restore->source.path, restore->end.tail.last_sequence);
    return restore->end.tail.number != 0 ||
           context_fail(restore->context, EXIT_CODE_rejected, "no frame of %s ends so early",
                        restore->source.path);
}

/* ---- the frames ------------------------------------------------------------------------------ */

/* The header of a segment of the source, from wherever it is. 0 or -errno. */
static int read_header(struct restore *restore, uint64_t segment,
                       uint8_t out[SEGMENT_FRAMES_OFFSET])
{
    struct refusal refusal;
    char path[DISK_PATH_BYTES];

    segment_path(path, segment, true);
    int file = disk_open(restore->source.disk, path, 0);
    if (file >= 0) {
        int64_t count = disk_read(restore->source.disk, file, 0, out, SEGMENT_FRAMES_OFFSET);
        disk_close(restore->source.disk, file);
        return count == SEGMENT_FRAMES_OFFSET ? 0 : -EIO;
    }
    uint8_t *bytes = segment_memory(restore->source.segment_bytes);
    if (bytes == NULL)
        return -ENOMEM;
    refusal_clear(&refusal);
    enum refusal_kind kind =
        archive_load(&restore->archive, restore->source.disk, &restore->source.exchange, segment,
                     restore->source.segment_bytes, bytes, &refusal);
    memcpy(out, bytes, SEGMENT_FRAMES_OFFSET);
    free(bytes);
    return kind == REFUSAL_none ? 0 : -EBADMSG;
}

static int end_segment(struct restore *restore)
{
    int error = restore->file < 0 ? 0 : disk_sync(restore->copy.to, restore->file);

    if (restore->file >= 0)
        disk_close(restore->copy.to, restore->file);
    restore->file = -1;
    return error;
}

static int begin_segment(struct restore *restore, uint64_t segment)
{
    uint8_t header[SEGMENT_FRAMES_OFFSET];
    char path[DISK_PATH_BYTES];
    int error = end_segment(restore);

    if (error == 0)
        error = read_header(restore, segment, header);
    if (error != 0)
        return error;
    segment_path(path, segment, true);
    restore->file = disk_open(restore->copy.to, path, DISK_CREATE);
    restore->segment = segment;
    if (restore->file < 0)
        return restore->file;
    error = disk_allocate(restore->copy.to, restore->file, restore->source.segment_bytes);
    return error == 0 ? disk_write(restore->copy.to, restore->file, 0, header, sizeof header)
                      : error;
}

static bool write_frame(void *context, const struct chain_frame *frame)
{
    struct restore *restore = context;
    int error = 0;

    if (frame->header.number > restore->end.tail.number)
        return false;
    if (restore->file < 0 || restore->segment != frame->segment)
        error = begin_segment(restore, frame->segment);
    if (error == 0)
        error = disk_write(restore->copy.to, restore->file, frame->offset, frame->bytes,
                           frame->header.length);
    return error == 0 || copy_failed(restore->context, restore->part, "journal", error);
}

/* Archived segments that end before the last frame are copied as they are; the others are written
 * frame by frame, so that the last one is in the journal. */
static bool copy_frames(struct restore *restore)
{
    struct chain_walk walk = { 0 };
    struct refusal refusal;
    uint64_t whole = 0;

    refusal_clear(&refusal);
    if (archive_open(&restore->archive, restore->source.disk, &restore->source.exchange,
                     &refusal) != REFUSAL_none)
        return data_directory_refused(restore->context, &restore->source, &refusal);
    while (whole < restore->archive.count &&
           restore->archive.rows[whole].last_frame < restore->end.tail.number)
        whole++;
    if (whole > 0) {
        walk.after_frame = restore->archive.rows[whole - 1].last_frame;
        memcpy(walk.after_hash, restore->archive.rows[whole - 1].last_frame_hash, HASH_BYTES);
    }
    if (chain_walk_run(&restore->source, &walk, write_frame, restore, &refusal) != REFUSAL_none)
        return data_directory_refused(restore->context, &restore->source, &refusal);
    int error = end_segment(restore);
    if (error == 0)
        error = disk_sync_folder(restore->copy.to, "journal");
    if (error != 0)
        return copy_failed(restore->context, restore->part, "journal", error);
    restore->archive.count = whole;
    return restore->context->exit_code == 0 &&
           copy_archive(&restore->copy, &restore->archive, &restore->source.exchange, 0);
}

/* ---- what lies beside them ------------------------------------------------------------------- */

/* `exchange` is not copied: take_up_run writes it, and a start refuses frames without it. */
static bool copy_keys(const struct restore *restore)
{
    bool found;

    return copy_file(&restore->copy, "origin", COPY_SMALL_MAX, &found) &&
           copy_file(&restore->copy, "signing.key", COPY_SMALL_MAX, &found) &&
           copy_file(&restore->copy, "recovered", COPY_SMALL_MAX, &found);
}

/* The newest whole snapshot of what is restored; its end gets one of its own. */
static bool copy_snapshot(struct restore *restore)
{
    uint64_t sequences[SNAPSHOTS_MAX];
    int count = snapshot_list(restore->copy.from, sequences, SNAPSHOTS_MAX);
    struct snapshot snapshot;

    for (int i = 0; i < count && restore->snapshot == 0; i++) {
        char path[DISK_PATH_BYTES];
        if (sequences[i] > restore->end.tail.last_sequence ||
            snapshot_read(restore->copy.from, &restore->source.exchange, sequences[i], &snapshot,
                          NULL) != 0)
            continue;
        bool is_before = snapshot.head.frame <= restore->end.tail.number;
        snapshot_close(&snapshot);
        if (!is_before)
            continue;
        (void)snprintf(path, sizeof path, "snapshot/%" PRIu64 ".snap", sequences[i]);
        if (!copy_file(&restore->copy, path, UINT64_MAX, NULL))
            return false;
        restore->snapshot = sequences[i];
    }
    int error = disk_sync_folder(restore->copy.to, "snapshot");
    return error == 0 || copy_failed(restore->context, restore->part, "snapshot", error);
}

static bool take_up(struct restore *restore)
{
    struct take_up take = { .context = restore->context,
                            .disk = restore->copy.to,
                            .path = restore->part,
                            .segment_bytes = restore->source.segment_bytes,
                            .exchange = &restore->exchange,
                            .end = restore->end,
                            .reason = restore->reason,
                            .wall_ns = instant_now_ns(),
                            .keeps_heads = true };
    struct slot_location slots;

    if (witness_read(restore->source.disk, &restore->source.exchange, &take.named, &slots) != 0)
        take.named = (struct witness){ 0 };
    int error = exchange_file_read(restore->copy.from, &restore->exchange); /* with secret_key */
    if (error != 0)
        return copy_failed(restore->context, restore->copy.from_path, "exchange", error);
    restore->snapshot = restore->end.tail.last_sequence;
    return take_up_run(&take);
}

/* ---- the proof, and the name ----------------------------------------------------------------- */

static bool see_result(void *context, const struct chain_frame *frame)
{
    chain_marks_pass(context, frame);
    return true;
}

/* Reads the result from its first frame to its end. */
static bool prove(struct restore *restore)
{
    struct data_directory result = { .path = restore->part,
                                     .disk = restore->copy.to,
                                     .exchange = restore->exchange,
                                     .segment_bytes = restore->source.segment_bytes };
    struct chain_walk walk = { 0 };
    struct refusal refusal;

    restore->marks = (struct chain_marks){ .context = restore->context, .directory = &result };
    if (!chain_marks_read(&restore->marks))
        return false;
    if (chain_walk_run(&result, &walk, see_result, &restore->marks, &refusal) != REFUSAL_none)
        return data_directory_refused(restore->context, &result, &refusal);
    chain_marks_judge(&restore->marks, &walk.end.tail);
    if (walk.end.tail.number != restore->end.tail.number ||
        memcmp(walk.end.tail.hash, restore->end.tail.hash, HASH_BYTES) != 0)
        return context_fail(restore->context, EXIT_CODE_rejected,
                            "%s does not end with frame %" PRIu64, restore->part,
                            restore->end.tail.number);
    return restore->context->exit_code == 0;
}

/* Gives the result its name; rename(2) takes the place of an empty directory only. */
static bool name_it(const struct restore *restore)
{
    char parent[PATH_BYTES];

    if (rename(restore->part, restore->path) != 0)
        return context_fail(restore->context, EXIT_CODE_problem, "%s: %s", restore->path,
                            strerror(errno));
    (void)snprintf(parent, sizeof parent, "%s/..", restore->path);
    int folder = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int error = folder < 0 || fsync(folder) != 0 ? errno : 0;
    if (folder >= 0)
        close(folder);
    return error == 0 ||
           context_fail(restore->context, EXIT_CODE_problem, "%s: %s", parent, strerror(error));
}

static void show(const struct restore *restore, const struct attest_head *head)
{
    const struct frame_tail *end = &restore->end.tail;
    char hash[2 * HASH_BYTES + 1];

    hex_encode(hash, end->hash, HASH_BYTES);
    json_t *object = json_pack(
        "{s:I, s:I, s:s, s:b, s:I, s:I, s:I, s:I, s:I}", "sequence", (json_int_t)end->last_sequence,
        "frame", (json_int_t)end->number, "frame_hash", hash, "whole_copy", restore->is_all,
        "snapshot", (json_int_t)restore->snapshot, "epoch", (json_int_t)restore->exchange.epoch,
        "head_frame", (json_int_t)head->frame, "head_sequence", (json_int_t)head->sequence,
        "heads_met", (json_int_t)restore->heads_met);
    INVARIANT(object != NULL);
    report_object(stdout, object, restore->context->arguments->json);
}

static void run(struct restore *restore)
{
    struct attest_head head;
    const char *kept = restore->context->arguments->values[FLAG_head];
    bool beyond;

    bool is_apart = kept != NULL && is_part(restore);
    if ((is_apart && !meets_kept(restore, kept)) || !find_end(restore, is_apart ? NULL : kept))
        return;
    restore->copy = (struct copy){ .context = restore->context,
                                   .from = restore->source.disk,
                                   .from_path = restore->source.path,
                                   .to_path = restore->part };
    if (copy_claim(restore->context, restore->part))
        restore->copy.to = copy_make_directory(restore->context, restore->part);
    if (restore->copy.to == NULL)
        return;
    bool is_made = copy_frames(restore) && copy_snapshot(restore) &&
                   copy_heads(&restore->copy, restore->end.tail.number, &head, &beyond) &&
                   copy_keys(restore) && take_up(restore) && prove(restore);
    disk_real_close(restore->copy.to);
    archive_close(&restore->archive);
    if (is_made && name_it(restore))
        show(restore, &head);
}

/* Reads words and flags; false after a printed error. */
static bool read_arguments(struct context *context, struct restore *restore)
{
    const struct arguments *arguments = context->arguments;
    const char *to = arguments->values[FLAG_to];
    const char *reason = arguments->values[FLAG_reason];

    restore->last_sequence = restore->last_ns = UINT64_MAX;
    restore->reason = reason == NULL ? "restored from a copy" : reason;
    if (arguments->word_count != 2)
        return context_fail(context, EXIT_CODE_usage, "DIR and DATA are needed");
    if (!take_up_reason_is_fit(restore->reason))
        return context_fail(context, EXIT_CODE_usage,
                            "--reason is 1 to %d printable ASCII characters", ERA_REASON_BYTES);
    restore->path = arguments->words[1];
    int length = snprintf(restore->part, sizeof restore->part, "%s.restoring", restore->path);
    if (length < 0 || (size_t)length >= sizeof restore->part ||
        restore->path[strlen(restore->path) - 1] == '/')
        return context_fail(context, EXIT_CODE_usage, "DATA is too long a name, or ends with /");
    if (to == NULL)
        return true;
    if (strchr(to, 'T') != NULL)
        return instant_parse(to, &restore->last_ns) ||
               context_fail(context, EXIT_CODE_usage,
                            "--to %s is no time like 2026-08-19T05:47:11Z", to);
    restore->has_sequence = true;
    return choice_sequence(context, to, 1, &restore->last_sequence);
}

/* DATA must not be there, or be empty: told before anything is read. */
static bool is_free(const struct restore *restore)
{
    if (rmdir(restore->path) == 0 || errno == ENOENT)
        return true;
    return context_fail(restore->context, EXIT_CODE_problem, "%s: %s", restore->path,
                        errno == ENOTEMPTY || errno == EEXIST ? "it holds files already"
                                                              : strerror(errno));
}

int command_restore(struct context *context)
{
    static struct restore restore;

    restore.context = context;
    restore.file = -1;
    if (!read_arguments(context, &restore) || !is_free(&restore) ||
        !data_directory_open(context, context->arguments->words[0], &restore.source))
        return context->exit_code;
    restore.heads.context = context;
    restore.heads.directory = &restore.source;
    run(&restore);
    chain_heads_free(&restore.heads);
    explicit_bzero(&restore.exchange, sizeof restore.exchange);
    data_directory_close(&restore.source);
    return context->exit_code;
}
