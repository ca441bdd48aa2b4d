#include "perp/data/chain_marks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "perp/invocation/exit_code.h"
#include "store/snapshot.h"
#include "store/witness.h"

enum { SLOT_READS = 3 };

static const char *const kind_names[] = {
    [MARK_SNAPSHOT] = "snapshot", [MARK_WITNESS] = "witness slot"
};

static void found(struct chain_marks *marks, enum mark_kind kind, uint64_t name, const char *what)
{
    marks->findings++;
    (void)context_fail(marks->context, EXIT_CODE_rejected, "%s %" PRIu64 ": %s", kind_names[kind],
                       name, what);
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool read_snapshots(struct chain_marks *marks)
{
    static uint64_t listed[CHAIN_MARKS_SNAPSHOTS_MAX + 1];
    struct disk *disk = marks->directory->disk;
    struct snapshot_head head;
    int count = snapshot_list(disk, listed, CHAIN_MARKS_SNAPSHOTS_MAX + 1);

    if (count < 0 && count != -ENOENT)
        return context_fail(marks->context, EXIT_CODE_problem, "%s/snapshot: %s",
                            marks->directory->path, strerror(-count));
    if (count > CHAIN_MARKS_SNAPSHOTS_MAX) {
        count = CHAIN_MARKS_SNAPSHOTS_MAX;
        found(marks, MARK_SNAPSHOT, listed[count], "not compared: there are more than 1024");
    }
    for (int i = 0; i < count; i++) {
        int failed = snapshot_read_head(disk, &marks->directory->exchange, listed[i], &head, NULL);
        if (failed == -ENOENT)
            continue; /* a running primary removed it */
        if (failed != 0) {
            found(marks, MARK_SNAPSHOT, listed[i], "not compared: its header is damaged");
            continue;
        }
        struct chain_mark *mark = &marks->rows[marks->count++];
        *mark = (struct chain_mark){
            .kind = MARK_SNAPSHOT, .name = listed[i], .sequence = head.sequence, .frame = head.frame
        };
        memcpy(mark->hash, head.frame_hash, HASH_BYTES);
    }
    return true;
}

/* A running primary may be writing the slot: it is read again before it counts as damaged. */
static int read_slot(const struct chain_marks *marks, uint32_t slot, struct witness *witness)
{
    int failed = -EBADMSG;

    for (int i = 0; i < SLOT_READS && failed == -EBADMSG; i++)
        failed =
            witness_read_slot(marks->directory->disk, &marks->directory->exchange, slot, witness);
    return failed;
}

static bool read_witness(struct chain_marks *marks)
{
    struct witness witness;

    for (uint32_t slot = 0; slot < SLOT_COUNT; slot++) {
        int failed = read_slot(marks, slot, &witness);
        if (failed == -ENOENT)
            return true; /* judged at the end */
        if (failed == -EBADMSG) {
            found(marks, MARK_WITNESS, slot,
                  "not compared: it is not whole, or of another journal");
            continue;
        }
        if (failed != 0)
            return context_fail(marks->context, EXIT_CODE_problem, "%s/witness: %s",
                                marks->directory->path, strerror(-failed));
        struct chain_mark *mark = &marks->rows[marks->count++];
        *mark = (struct chain_mark){
            .kind = MARK_WITNESS, .name = slot, .sequence = witness.sequence, .frame = witness.frame
        };
        memcpy(mark->hash, witness.hash, HASH_BYTES);
    }
    return true;
}

bool chain_marks_read(struct chain_marks *marks)
{
    const struct data_directory *directory = marks->directory;
    struct refusal refusal;

    marks->count = 0;
    marks->findings = 0;
    memset(marks->compared, 0, sizeof marks->compared);
    memset(&marks->starts, 0, sizeof marks->starts);
    if (witness_check_begin(&marks->starts, directory->disk, &directory->exchange, &refusal) !=
        REFUSAL_none)
        return data_directory_refused(marks->context, directory, &refusal);
    return read_snapshots(marks) && read_witness(marks);
}

/* ---- comparing ------------------------------------------------------------------------------- */

static void compare(struct chain_marks *marks, struct chain_mark *mark, uint64_t sequence,
                    const uint8_t hash[HASH_BYTES])
{
    char what[160];

    mark->is_seen = true;
    marks->compared[mark->kind]++;
    if (mark->sequence != sequence) {
        (void)snprintf(what, sizeof what,
                       "frame %" PRIu64 " ends with sequence %" PRIu64 ", not %" PRIu64,
                       mark->frame, sequence, mark->sequence);
        found(marks, mark->kind, mark->name, what);
    } else if (memcmp(mark->hash, hash, HASH_BYTES) != 0) {
        (void)snprintf(what, sizeof what,
                       "frame %" PRIu64 ", sequence %" PRIu64 ", has another hash", mark->frame,
                       sequence);
        found(marks, mark->kind, mark->name, what);
    }
}

void chain_marks_pass(struct chain_marks *marks, const struct chain_frame *frame)
{
    uint8_t hash[HASH_BYTES];
    bool is_hashed = false;

    for (int i = 0; i < marks->count; i++) {
        struct chain_mark *mark = &marks->rows[i];
        if (mark->frame != frame->header.number)
            continue;
        if (!is_hashed)
            hash_blake2b256(hash, frame->bytes, frame->header.length);
        is_hashed = true;
        compare(marks, mark, frame->header.last_sequence, hash);
    }
}

/* As a start does. */
static void judge_starts(struct chain_marks *marks, const struct frame_tail *end)
{
    if (!witness_check_is_older(&marks->starts, end))
        return;
    marks->findings++;
    (void)context_fail(marks->context, EXIT_CODE_rejected,
                       "an older copy than its `exchange`: `witness` is of start %" PRIu64
                       ", `exchange` of start %" PRIu64,
                       marks->starts.named.start, marks->starts.start);
}

static void judge_end(struct chain_marks *marks, const struct frame_tail *end)
{
    bool is_named = marks->end != NULL;

    for (int i = 0; i < marks->count; i++)
        is_named = is_named || marks->rows[i].kind == MARK_WITNESS;
    if (is_named && (marks->end == NULL || *marks->end == end->last_sequence))
        return;
    marks->findings++;
    if (is_named)
        (void)context_fail(marks->context, EXIT_CODE_rejected,
                           "the journal ends with sequence %" PRIu64 ", not %" PRIu64,
                           end->last_sequence, *marks->end);
    else
        (void)context_fail(marks->context, EXIT_CODE_rejected,
                           "not compared: no slot of `witness` names the end of this journal, "
                           "sequence %" PRIu64 "; --accept-end names it for a copy without one",
                           end->last_sequence);
}

void chain_marks_judge(struct chain_marks *marks, const struct frame_tail *end)
{
    uint8_t genesis[HASH_BYTES];
    char what[160];

    hash_blake2b256(genesis, marks->directory->exchange.exchange_id,
                    sizeof marks->directory->exchange.exchange_id);
    for (int i = 0; i < marks->count; i++) {
        struct chain_mark *mark = &marks->rows[i];
        if (mark->frame == 0)
            compare(marks, mark, 0, genesis);
        if (mark->is_seen)
            continue;
        (void)snprintf(what, sizeof what,
                       "not compared: it names frame %" PRIu64 ", sequence %" PRIu64
                       ", and no such frame is there; the journal ends with frame %" PRIu64,
                       mark->frame, mark->sequence, end->number);
        found(marks, mark->kind, mark->name, what);
    }
    judge_starts(marks, end);
    judge_end(marks, end);
}
