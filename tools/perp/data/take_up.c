#include "perp/data/take_up.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hex.h"
#include "node/recover/fold.h"
#include "perp/data/copy.h"
#include "perp/invocation/exit_code.h"
#include "store/segment.h"
#include "store/small_file.h"

enum { NOTES_MAX = 65536, LINE_MAX_BYTES = 512, PIECE_BYTES = 1 << 20 };

bool take_up_reason_is_fit(const char *reason)
{
    size_t length = strlen(reason);

    for (size_t i = 0; i < length; i++)
        if (reason[i] < ' ' || reason[i] > '~')
            return false;
    return length > 0 && length <= ERA_REASON_BYTES;
}

static bool failed(const struct take_up *take, const char *what, int error)
{
    return copy_failed(take->context, take->path, what, error);
}

/* The state behind the end: the exchange that goes on from it begins with its snapshot. It counts
 * as one of the journal of before, so nothing depends on when a crash comes. */
static bool keep_state(const struct take_up *take)
{
    struct refusal refusal;

    return fold_snapshot(take->disk, take->exchange, take->segment_bytes, UINT64_MAX, &refusal) ==
               REFUSAL_none ||
           context_fail(take->context, EXIT_CODE_rejected, "%s: %s", take->path, refusal.text);
}

/* Adds a line to the file `recovered`: what was accepted, and why. */
static bool keep_reason(const struct take_up *take)
{
    static char notes[NOTES_MAX];
    const struct frame_tail *end = &take->end.tail;
    char hash[2 * HASH_BYTES + 1];
    int64_t used = small_file_read(take->disk, "recovered", notes, sizeof notes);

    if (used == -ENOENT)
        used = 0;
    if (used < 0)
        return failed(take, "recovered", (int)used);
    if (used > NOTES_MAX - LINE_MAX_BYTES)
        return failed(take, "recovered", -EFBIG);
    hex_encode(hash, end->hash, HASH_BYTES);
    used += snprintf(notes + used, LINE_MAX_BYTES,
                     "wall_ns=%" PRIu64 " sequence=%" PRIu64 " frame=%" PRIu64
                     " frame_hash=%s witness_frame=%" PRIu64 " witness_sequence=%" PRIu64
                     " epoch=%" PRIu64 " reason=%s\n",
                     take->wall_ns, end->last_sequence, end->number, hash, take->named.frame,
                     take->named.sequence, take->exchange->epoch, take->reason);
    int error = small_file_replace(take->disk, "recovered", notes, (size_t)used);
    return error == 0 || failed(take, "recovered", error);
}

/* The heads of what is given up stay, but under a name that no audit and no start reads: the frames
 * after the end get the same numbers again. */
static bool set_heads_aside(const struct take_up *take)
{
    char name[SMALL_FILE_NAME_MAX];

    if (take->keeps_heads)
        return true;
    (void)snprintf(name, sizeof name, "heads.%" PRIu64, take->exchange->epoch);
    int error = disk_rename(take->disk, "heads", name);
    return error == 0 || error == -ENOENT || failed(take, "heads", error);
}

/* Zeroes a segment from `offset` on where it is not zero. 0, -ENOENT without it, or -errno. */
static int clear_segment(const struct take_up *take, uint64_t segment, uint64_t offset)
{
    char path[DISK_PATH_BYTES];
    uint8_t *piece = malloc(PIECE_BYTES);
    int error = piece == NULL ? -ENOMEM : 0;
    int64_t count = 1;

    segment_path(path, segment, true);
    int file = error == 0 ? disk_open(take->disk, path, DISK_WRITE) : error;
    if (file < 0) {
        free(piece);
        return file;
    }
    for (; error == 0 && offset < take->segment_bytes; offset += (uint64_t)count) {
        uint64_t rest = take->segment_bytes - offset;
        count = disk_read(take->disk, file, offset, piece, rest < PIECE_BYTES ? rest : PIECE_BYTES);
        if (count <= 0) {
            error = (int)count;
            break;
        }
        if (cc_is_zero(piece, (size_t)count))
            continue;
        memset(piece, 0, (size_t)count);
        error = disk_write(take->disk, file, offset, piece, (size_t)count);
    }
    if (error == 0)
        error = disk_sync(take->disk, file);
    disk_close(take->disk, file);
    free(piece);
    return error;
}

/* What lies after the end was never promised, or is given up. */
static bool clear_rest(const struct take_up *take)
{
    uint64_t offset = take->end.offset;
    int error = 0;

    for (uint64_t n = take->end.segment; error == 0; n++, offset = SEGMENT_FRAMES_OFFSET)
        error = clear_segment(take, n, offset);
    return error == -ENOENT || failed(take, "journal", error);
}

/* The row of `origin`. An end may be taken up again: who can tell that nothing came after it? */
static bool add_row(struct take_up *take)
{
    const struct frame_tail *end = &take->end.tail;
    struct exchange_file *exchange = take->exchange;
    bool is_begun = take->end.offset > SEGMENT_FRAMES_OFFSET;
    struct era_row row = { .frame = end->number,
                           .sequence = end->last_sequence,
                           .next_segment = take->end.segment + is_begun,
                           .wall_ns = take->wall_ns };

    memcpy(row.frame_hash, end->hash, sizeof row.frame_hash);
    memcpy(row.former_id, exchange->journal_id, sizeof row.former_id);
    disk_random(take->disk, row.journal_id, sizeof row.journal_id);
    memcpy(row.reason, take->reason, strlen(take->reason));
    int error = era_add(take->disk, exchange, &row);
    if (error != 0)
        return failed(take, "origin", error);
    memcpy(exchange->journal_id, row.journal_id, sizeof exchange->journal_id);
    return true;
}

static bool testify(const struct take_up *take)
{
    const struct frame_tail *end = &take->end.tail;
    struct witness witness = { .frame = end->number,
                               .sequence = end->last_sequence,
                               .boot = take->exchange->boot,
                               .wall_ns = take->named.wall_ns };
    struct slot_location all = { 0 };

    memcpy(witness.hash, end->hash, sizeof witness.hash);
    int error = witness_write(take->disk, take->exchange, &witness, &all); /* every slot */
    return error == 0 || failed(take, "witness", error);
}

/* The states of before a staged start are those of markets that will be halted. */
static bool drop_restart(const struct take_up *take)
{
    int error = disk_remove(take->disk, "restart");

    return error == 0 || error == -ENOENT || failed(take, "restart", error);
}

bool take_up_run(struct take_up *take)
{
    struct exchange_file *exchange = take->exchange;

    if (take->end.tail.number == 0)
        return context_fail(take->context, EXIT_CODE_rejected, "%s holds no frame to go on after",
                            take->path);
    if (!keep_state(take))
        return false;
    exchange->epoch++;
    if (!clear_rest(take) || !keep_reason(take) || !set_heads_aside(take) || !drop_restart(take) ||
        !add_row(take))
        return false;
    exchange->is_former = true; /* written whole: no slot names the former journal */
    int error = exchange_file_write(take->disk, exchange);
    if (error == 0)
        error = era_read(take->disk, exchange, NULL);
    return (error == 0 || failed(take, "exchange", error)) && testify(take);
}
