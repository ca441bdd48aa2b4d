/* command_journal.c - lists, prints, follows and verifies the journal of a data directory. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <time.h>

#include "perp/command/command.h"
#include "perp/data/chain_walk.h"
#include "perp/data/segment_list.h"
#include "perp/invocation/choice.h"
#include "perp/print/record_text.h"
#include "perp/print/report.h"
#include "store/segment.h"
#include "store/snapshot.h"

enum { FOLLOW_PAUSE_NS = 100000000 };

/* ---- ls -------------------------------------------------------------------------------------- */

static const char *const state_names[] = {
    [SEGMENT_PREPARED] = "prepared", [SEGMENT_OPEN] = "open", [SEGMENT_SEALED] = "sealed"
};

static json_t *known(uint64_t value)
{
    return value == 0 ? json_null() : json_integer((json_int_t)value);
}

static json_t *segment_json(const struct segment_row *row)
{
    bool has_frames = row->frames > 0;
    bool has_records = has_frames && row->last_sequence >= row->first_sequence;
    json_t *stray = row->stray_offset > 0 ? json_integer((json_int_t)row->stray_offset)
                    : row->bad_header     ? json_integer(0)
                                          : json_null();
    json_t *object = json_pack(
        "{s:I, s:s, s:b, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "segment",
        (json_int_t)row->number, "state", state_names[row->state], "in_journal", row->in_journal,
        "frames", (json_int_t)row->frames, "first_frame", known(has_frames ? row->first_frame : 0),
        "last_frame", known(has_frames ? row->last_frame : 0), "first_sequence",
        known(has_records ? row->first_sequence : 0), "last_sequence",
        known(has_records ? row->last_sequence : 0), "first_boot", known(row->first_boot),
        "last_boot", known(row->last_boot), "frame_bytes", known(row->frame_bytes), "file_bytes",
        known(row->file_bytes), "archive_bytes", known(row->archive_bytes), "stray_offset", stray);
    INVARIANT(object != NULL);
    return object;
}

int command_journal_ls(struct context *context)
{
    struct data_directory directory;
    struct segment_list list;
    struct refusal refusal;
    if (!data_directory_open(context, NULL, &directory))
        return context->exit_code;
    if (segment_list_read(&directory, &list, &refusal) != REFUSAL_none) {
        (void)data_directory_refused(context, &directory, &refusal);
        data_directory_close(&directory);
        return context->exit_code;
    }
    json_t *rows = json_array();
    for (size_t i = 0; i < list.count; i++) {
        (void)json_array_append_new(rows, segment_json(&list.rows[i]));
        if (list.rows[i].bad_header)
            (void)context_fail(context, EXIT_CODE_rejected, "segment %" PRIu64 ": a wrong header",
                               list.rows[i].number);
    }
    if (context->arguments->json) {
        (void)json_dumpf(rows, stdout, JSON_COMPACT);
        printf("\n");
    } else if (list.count > 0) {
        report_rows(stdout, rows,
                    "segment state frames first_frame last_frame first_sequence last_sequence "
                    "first_boot last_boot frame_bytes file_bytes archive_bytes stray_offset");
    }
    json_decref(rows);
    segment_list_free(&list);
    data_directory_close(&directory);
    return context->exit_code;
}

/* ---- cat and follow -------------------------------------------------------------------------- */

/* Which records are shown. */
struct filter {
    uint64_t from, to; /* sequences, both included */
    uint64_t code;     /* UINT64_MAX: every code */
    uint64_t account;  /* UINT64_MAX: every account */
    bool json;
    bool malformed;
};

static bool read_filter(struct context *context, struct filter *filter)
{
    *filter = (struct filter){ .json = context->arguments->json };
    return choice_number(context, FLAG_from, 0, INT64_MAX, 0, &filter->from) &&
           choice_number(context, FLAG_to, 0, INT64_MAX, UINT64_MAX, &filter->to) &&
           choice_number(context, FLAG_code, 0, UINT16_MAX, UINT64_MAX, &filter->code) &&
           choice_number(context, FLAG_account, 0, INT64_MAX, UINT64_MAX, &filter->account);
}

static bool show_frame(void *context, const struct chain_frame *frame)
{
    struct filter *filter = context;
    struct frame_records records;
    struct record_view record;
    uint64_t sequence = 0;
    int found = 0;
    if (frame->header.first_sequence > filter->to)
        return false;
    if (frame->header.record_count == 0 || frame->header.last_sequence < filter->from)
        return true;
    frame_records_begin(&records, &frame->header, frame->bytes);
    while ((found = frame_records_next(&records, &record, &sequence)) > 0) {
        bool is_asked =
            sequence >= filter->from && sequence <= filter->to &&
            (filter->code == UINT64_MAX || filter->code == record.code) &&
            (filter->account == UINT64_MAX || record_text_names(&record, filter->account));
        if (is_asked)
            record_text_line(stdout, frame, sequence, &record, filter->json);
    }
    filter->malformed = found < 0;
    return found == 0 && ferror(stdout) == 0;
}

int command_journal_cat(struct context *context)
{
    struct data_directory directory;
    struct chain_walk walk = { 0 };
    struct filter filter;
    struct refusal refusal;
    if (!read_filter(context, &filter) || !data_directory_open(context, NULL, &directory))
        return context->exit_code;
    refusal_clear(&refusal);
    if ((filter.from > 0 &&
         chain_walk_skip(&directory, &walk, filter.from, &refusal) != REFUSAL_none) ||
        chain_walk_run(&directory, &walk, show_frame, &filter, &refusal) != REFUSAL_none)
        (void)data_directory_refused(context, &directory, &refusal);
    else if (filter.malformed)
        (void)context_fail(context, EXIT_CODE_rejected,
                           "frame %" PRIu64 " is whole but its records do not parse",
                           walk.end.tail.number);
    data_directory_close(&directory);
    return context->exit_code;
}

/* Reads the frame expected at `at` or, after zeros, first in the next segment. 1: it is whole and
 * chains; 0: not yet. */
static int read_next(const struct data_directory *directory, struct journal_position *at,
                     uint8_t *bytes, struct chain_frame *frame)
{
    for (int place = 0; place < 2; place++) {
        char path[DISK_PATH_BYTES];
        struct segment_header header;
        uint64_t segment = at->segment + (uint64_t)place;
        uint64_t offset = place == 0 ? at->offset : SEGMENT_FRAMES_OFFSET;
        segment_path(path, segment, true);
        int file = disk_open(directory->disk, path, 0);
        if (file < 0)
            continue;
        int64_t count = disk_read(directory->disk, file, 0, bytes, SEGMENT_FRAMES_OFFSET);
        bool is_ours = count == SEGMENT_FRAMES_OFFSET && segment_decode(&header, bytes) == 0 &&
                       segment_belongs(&header, &directory->exchange, segment);
        if (is_ours)
            count = disk_read(directory->disk, file, offset, bytes, FRAME_BYTES_MAX);
        disk_close(directory->disk, file);
        if (!is_ours || count <= 0 ||
            frame_decode(&frame->header, bytes, (size_t)count,
                         exchange_file_journal(&directory->exchange, segment), segment,
                         header.block_bytes) != 0 ||
            !frame_chains(&at->tail, &frame->header))
            continue;
        frame->bytes = bytes;
        frame->segment = segment;
        frame->offset = offset;
        frame->archived = false;
        frame_tail_advance(&at->tail, &frame->header, bytes);
        at->segment = segment;
        at->offset = offset + frame->header.length;
        return 1;
    }
    return 0;
}

/* Shows the records after *at that have become durable: those of frames that a later frame names,
 * or all after a closing frame. */
static bool show_durable(const struct data_directory *directory, struct journal_position *at,
                         uint8_t *bytes, struct filter *filter)
{
    struct journal_position ahead = *at;
    struct chain_frame frame;
    uint64_t durable = 0;
    while (read_next(directory, &ahead, bytes, &frame) == 1) {
        if (frame.header.durable_frame > durable)
            durable = frame.header.durable_frame;
        if (frame.header.record_count == 0)
            durable = frame.header.number;
    }
    while (at->tail.number < durable && read_next(directory, at, bytes, &frame) == 1)
        if (!show_frame(filter, &frame))
            return false;
    return fflush(stdout) == 0;
}

static bool is_before(void *context, const struct chain_frame *frame)
{
    const uint64_t *from = context;
    return frame->header.last_sequence < *from;
}

int command_journal_follow(struct context *context)
{
    static uint8_t bytes[FRAME_BYTES_MAX];
    const struct timespec pause = { .tv_nsec = FOLLOW_PAUSE_NS };
    struct data_directory directory;
    struct chain_walk walk = { 0 };
    struct filter filter;
    struct refusal refusal;
    if (!read_filter(context, &filter) || !data_directory_open(context, NULL, &directory))
        return context->exit_code;
    uint64_t from = filter.from == 0 ? UINT64_MAX : filter.from; /* 0: what comes from now on */
    refusal_clear(&refusal);
    if ((filter.from > 0 &&
         chain_walk_skip(&directory, &walk, filter.from, &refusal) != REFUSAL_none) ||
        chain_walk_run(&directory, &walk, is_before, &from, &refusal) != REFUSAL_none) {
        (void)data_directory_refused(context, &directory, &refusal);
        data_directory_close(&directory);
        return context->exit_code;
    }
    struct journal_position at = walk.ended ? walk.before : walk.end;
    while (at.tail.last_sequence < filter.to && show_durable(&directory, &at, bytes, &filter))
        (void)nanosleep(&pause, NULL);
    data_directory_close(&directory);
    return context->exit_code;
}

/* ---- verify ---------------------------------------------------------------------------------- */

struct check {
    uint64_t last_t_ns;
    uint64_t segments; /* seen */
    uint64_t segment;
    uint64_t bad_sequence; /* 0: none */
    const char *bad;
};

/* A whole frame that chains was written by perpd; its records must parse and their times rise. */
static bool check_frame(void *context, const struct chain_frame *frame)
{
    struct check *check = context;
    struct frame_records records;
    struct record_view record;
    uint64_t sequence = frame->header.first_sequence;
    int found;
    check->segments += check->segments == 0 || frame->segment != check->segment;
    check->segment = frame->segment;
    frame_records_begin(&records, &frame->header, frame->bytes);
    while ((found = frame_records_next(&records, &record, &sequence)) > 0) {
        if (record.t_ns <= check->last_t_ns) {
            check->bad = "its time does not rise";
            break;
        }
        check->last_t_ns = record.t_ns;
    }
    if (found < 0)
        check->bad = "its records do not parse";
    if (check->bad != NULL)
        check->bad_sequence = found < 0 ? records.sequence : sequence;
    return check->bad == NULL;
}

/* The walk begins after the frame of --from-snapshot. */
static bool start_at_snapshot(struct context *context, const struct data_directory *directory,
                              struct chain_walk *walk, uint64_t *sequence)
{
    struct snapshot_head head;
    struct refusal why;
    if (!choice_number(context, FLAG_from_snapshot, 0, INT64_MAX, 0, sequence))
        return false;
    if (*sequence == 0)
        return true;
    refusal_clear(&why);
    int failed = snapshot_read_head(directory->disk, &directory->exchange, *sequence, &head, &why);
    if (failed != 0)
        return context_fail(context, EXIT_CODE_rejected, "snapshot %" PRIu64 ": %s", *sequence,
                            why.text[0] != '\0' ? why.text : strerror(-failed));
    walk->after_frame = head.frame;
    memcpy(walk->after_hash, head.frame_hash, HASH_BYTES);
    return true;
}

static void show_verified(const struct context *context, const struct chain_walk *walk,
                          const struct check *check, uint64_t from_sequence, const char *wrong)
{
    json_t *object = json_pack(
        "{s:b, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:b, s:I, s:I, s:I}", "whole", wrong == NULL,
        "from_sequence", (json_int_t)from_sequence, "last_sequence",
        (json_int_t)walk->end.tail.last_sequence, "last_frame", (json_int_t)walk->end.tail.number,
        "segments", (json_int_t)check->segments, "frames", (json_int_t)walk->frames,
        "archived_frames", (json_int_t)walk->archived_frames, "records", (json_int_t)walk->records,
        "durable_frame", (json_int_t)walk->durable_frame, "clean_stop", walk->clean_stop,
        "torn_bytes", (json_int_t)walk->torn_bytes, "end_segment", (json_int_t)walk->end.segment,
        "end_offset", (json_int_t)walk->end.offset);
    INVARIANT(object != NULL);
    if (wrong != NULL)
        (void)json_object_set_new(object, "wrong", json_string(wrong));
    report_object(stdout, object, context->arguments->json);
}

int command_journal_verify(struct context *context)
{
    struct data_directory directory;
    struct chain_walk walk = { 0 };
    struct check check = { 0 };
    struct refusal refusal;
    uint64_t sequence = 0;
    if (!data_directory_open(context, NULL, &directory))
        return context->exit_code;
    if (start_at_snapshot(context, &directory, &walk, &sequence)) {
        const char *wrong = NULL;
        if (chain_walk_run(&directory, &walk, check_frame, &check, &refusal) != REFUSAL_none) {
            (void)data_directory_refused(context, &directory, &refusal);
            wrong = refusal.text;
        } else if (check.bad != NULL) {
            (void)context_fail(context, EXIT_CODE_rejected,
                               "sequence %" PRIu64 ", frame %" PRIu64 ", segment %" PRIu64 ": %s",
                               check.bad_sequence, walk.end.tail.number, check.segment, check.bad);
            wrong = check.bad;
        }
        show_verified(context, &walk, &check, sequence, wrong);
    }
    data_directory_close(&directory);
    return context->exit_code;
}
