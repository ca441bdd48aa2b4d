#include "store/recovery.h"

#include <errno.h>
#include <inttypes.h>

#include "store/chain.h"
#include "store/discarded.h"
#include "store/segment_set.h"
#include "store/snapshot.h"

/* One recovery under way. */
struct recovery {
    const struct recovery_config *config;
    struct recovery_result *result;
    struct refusal *refusal;
    struct segment_set set;
    struct journal_position start; /* where the chain is read from in the journal */
    uint64_t archived_frame;       /* the last in the archive; 0: none */
    struct frame_tail tail;        /* of the chain as far as it was read */
    uint64_t segment;              /* the location after the tail */
    uint64_t offset;
    uint64_t boot_max;      /* of everything seen */
    uint64_t newest_boot;   /* B */
    uint64_t durable_frame; /* D */
    struct witness_check witness;
    struct discarded_tails *tails; /* of a cluster; else NULL */
    bool closed;                   /* the tail is a closing frame */
    bool dirty;                    /* something after the chain is not zero */
};

/* ---- one frame's records --------------------------------------------------------------------- */

static enum refusal_kind frame_apply(struct recovery *recovery, const struct frame_header *header,
                                     const uint8_t *bytes, uint64_t segment, uint64_t offset)
{
    const struct recovery_config *config = recovery->config;
    struct frame_records records;
    struct record_view record;
    uint64_t sequence = 0;
    int found;

    recovery->refusal->segment = segment;
    recovery->refusal->offset = offset;
    frame_records_begin(&records, header, bytes);
    while ((found = frame_records_next(&records, &record, &sequence)) > 0) {
        int error = config->apply(config->context, sequence, header->number, &record);

        recovery->result->last_t_ns = record.t_ns;
        if (error == 0)
            continue;
        recovery->refusal->error = error;
        return refusal_set(recovery->refusal, REFUSAL_record_refused,
                           "sequence %" PRIu64 ", code %u, in frame %" PRIu64 ", segment %" PRIu64
                           ", offset %" PRIu64,
                           sequence, record.code, header->number, segment, offset);
    }
    if (found < 0)
        return refusal_set(recovery->refusal, REFUSAL_record_malformed,
                           "frame %" PRIu64 ", segment %" PRIu64 ", offset %" PRIu64,
                           header->number, segment, offset);
    return REFUSAL_none;
}

/* ---- the witness ----------------------------------------------------------------------------- */

static enum refusal_kind witness_find(struct recovery *recovery)
{
    const struct recovery_config *config = recovery->config;
    enum refusal_kind kind =
        witness_check_begin(&recovery->witness, config->disk, config->exchange, recovery->refusal);

    recovery->witness.marks = config->marks;
    recovery->witness.mark_count = config->mark_count;
    recovery->witness.is_logged = config->agree != NULL;
    return kind;
}

static enum refusal_kind witness_judge(struct recovery *recovery)
{
    bool holds_records = recovery->tail.number > 0 || recovery->dirty;

    if (recovery->tails != NULL && recovery->witness.unlike == NULL &&
        recovery->tail.number < recovery->witness.named.frame)
        return REFUSAL_none; /* the log has it (chain_agree) */
    recovery->refusal->segment = recovery->segment;
    recovery->refusal->offset = recovery->offset;
    return witness_check_judge(&recovery->witness, &recovery->tail,
                               holds_records && !recovery->config->exchange->is_former,
                               recovery->refusal);
}

/* Writes the end of the chain, which is durable by now. Its time is the last known one: nobody has
 * judged this start's clock yet. */
static enum refusal_kind witness_keep(struct recovery *recovery)
{
    const struct recovery_config *config = recovery->config;
    struct recovery_result *result = recovery->result;
    uint64_t found_ns = recovery->witness.is_there ? recovery->witness.named.wall_ns : 0;
    struct witness witness = {
        .frame = recovery->tail.number,
        .sequence = recovery->tail.last_sequence,
        .boot = result->boot,
        .wall_ns = found_ns > result->last_t_ns ? found_ns : result->last_t_ns,
    };

    memcpy(witness.hash, recovery->tail.hash, sizeof witness.hash);
    result->witness_slots = recovery->witness.slots;
    int error = witness_write(config->disk, config->exchange, &witness, &result->witness_slots);
    return error < 0 ? refusal_machine(recovery->refusal, "writing witness", error) : REFUSAL_none;
}

/* ---- step 2: where the chain is read from ---------------------------------------------------- */

/* The archive's list must end where the journal begins, or within it. */
static enum refusal_kind archive_check(struct recovery *recovery)
{
    const struct recovery_config *config = recovery->config;
    const struct segment_set *set = &recovery->set;
    struct archive archive = { 0 };
    enum refusal_kind kind = archive_mend(&archive, config->disk, config->exchange,
                                          config->segment_bytes, set->count > 0 ? set->first : 0,
                                          &recovery->result->archive_relisted, recovery->refusal);
    bool is_new = config->exchange->boot == 0 && config->after_frame == 0;
    uint64_t end = 0;

    if (kind != REFUSAL_none)
        return kind;
    if (archive.count > 0) {
        const struct archive_row *last = &archive.rows[archive.count - 1];

        end = last->segment + 1;
        recovery->result->archive_first = archive.rows[0].segment;
        recovery->archived_frame = last->last_frame;
    }
    archive_close(&archive);
    if (set->count == 0 && (!is_new || end > 0))
        return refusal_set(recovery->refusal, REFUSAL_segment_missing, "journal/ holds none");
    if ((end == 0 && set->first == 0) || (end >= set->first && segment_set_has(set, end)))
        return REFUSAL_none;
    recovery->refusal->segment = end;
    if (end == 0)
        return refusal_set(recovery->refusal, REFUSAL_segment_missing,
                           "the journal begins with segment %" PRIu64
                           ", and archive/ holds none of those below",
                           set->first);
    return refusal_set(recovery->refusal, REFUSAL_segment_missing,
                       "the archive ends with segment %" PRIu64 ", the journal holds %" PRIu64
                       " to %" PRIu64,
                       end - 1, set->first, set->first + set->count - 1);
}

/* Applies the frames after after_frame that were retired already. */
static enum refusal_kind archive_apply(struct recovery *recovery, struct chain *chain)
{
    struct recovery_result *result = recovery->result;
    enum refusal_kind kind = REFUSAL_none;
    struct chain_frame frame;
    int found;

    while (kind == REFUSAL_none && (found = chain_next(chain, &frame)) != 0) {
        if (found < 0)
            return recovery->refusal->kind;
        result->frames++;
        result->archived_frames++;
        result->records += frame.header.record_count;
        struct journal_position position = chain_position(chain);
        witness_check_pass(&recovery->witness, &position.tail);
        kind = frame_apply(recovery, &frame.header, frame.bytes, frame.segment, frame.offset);
    }
    return kind;
}

static enum refusal_kind start_find(struct recovery *recovery)
{
    const struct recovery_config *config = recovery->config;
    struct chain_config behind = {
        .disk = config->disk,
        .exchange = config->exchange,
        .segment_bytes = config->segment_bytes,
        .after_frame = config->after_frame,
        .last_segment = recovery->set.first > 0 ? recovery->set.first - 1 : 0,
    };
    enum refusal_kind kind = archive_check(recovery);
    struct chain *chain;

    memcpy(behind.after_hash, config->after_hash, sizeof behind.after_hash);
    if (kind == REFUSAL_none)
        kind = chain_open(&chain, &behind, recovery->refusal);
    if (kind != REFUSAL_none)
        return kind;
    recovery->start = chain_position(chain);
    witness_check_pass(&recovery->witness, &recovery->start.tail);
    if (recovery->start.segment < recovery->set.first) {
        kind = archive_apply(recovery, chain);
        recovery->start = chain_position(chain);
        recovery->start.segment = recovery->set.first;
        recovery->start.offset = SEGMENT_FRAMES_OFFSET;
    }
    chain_close(chain);
    recovery->tail = recovery->start.tail;
    recovery->segment = recovery->start.segment;
    recovery->offset = recovery->start.offset;
    recovery->boot_max = recovery->tail.boot;
    recovery->newest_boot = recovery->tail.boot;
    recovery->durable_frame = config->after_frame;
    if (recovery->tails != NULL && recovery->tail.number > 0)
        discarded_note(recovery->tails, &recovery->tail, recovery->segment, recovery->offset, true);
    return kind;
}

/* ---- steps 3 and 4: the chain, and what lies after it --------------------------------------- */

static void boot_seen(struct recovery *recovery, uint64_t boot, uint64_t durable_frame)
{
    if (boot > recovery->boot_max)
        recovery->boot_max = boot;
    if (boot > recovery->newest_boot) {
        recovery->newest_boot = boot;
        recovery->durable_frame = durable_frame;
    } else if (boot == recovery->newest_boot && durable_frame > recovery->durable_frame) {
        recovery->durable_frame = durable_frame;
    }
}

/* Takes the frame that is at (segment, offset), whose bytes these are, if it belongs there. */
static bool chain_extend(struct recovery *recovery, const uint8_t *bytes, size_t available,
                         uint64_t segment, uint64_t offset)
{
    struct segment_note *note = segment_set_note(&recovery->set, segment);
    struct frame_header header;
    if (frame_decode(&header, bytes, available,
                     exchange_file_journal(recovery->set.exchange, segment), segment,
                     note->block_bytes) < 0 ||
        !frame_chains(&recovery->tail, &header))
        return false;
    frame_tail_advance(&recovery->tail, &header, bytes);
    witness_check_pass(&recovery->witness, &recovery->tail);
    if (recovery->tails != NULL)
        discarded_note(recovery->tails, &recovery->tail, segment, offset + header.length,
                       header.record_count == 0);
    boot_seen(recovery, header.boot, header.durable_frame);
    if (note->first_frame == UINT64_MAX)
        note->first_frame = header.number;
    recovery->closed = header.record_count == 0;
    recovery->segment = segment;
    recovery->offset = offset + header.length;
    recovery->result->frames++;
    recovery->result->records += header.record_count;
    return true;
}

/* At a zero block or the segment's end the chain may go on in the next segment. */
static enum refusal_kind chain_cross(struct recovery *recovery, bool *crossed)
{
    struct segment_set *set = &recovery->set;
    uint32_t block_bytes = segment_set_note(set, recovery->segment)->block_bytes;
    uint64_t next = recovery->segment + 1;
    enum refusal_kind kind;
    size_t count;

    *crossed = false;
    if (!segment_set_has(set, next) || (recovery->offset < set->segment_bytes &&
                                        !cc_is_zero(set->bytes + recovery->offset, block_bytes)))
        return REFUSAL_none;
    kind = segment_set_peek(set, next, &count);
    if (kind == REFUSAL_none)
        *crossed = chain_extend(recovery, set->frame_bytes, count, next, SEGMENT_FRAMES_OFFSET);
    return kind;
}

static enum refusal_kind chain_read(struct recovery *recovery)
{
    struct segment_set *set = &recovery->set;
    bool crossed = segment_set_has(set, recovery->segment);

    while (crossed) {
        enum refusal_kind kind = segment_set_load(set, recovery->segment);

        if (kind != REFUSAL_none)
            return kind;
        while (recovery->offset < set->segment_bytes &&
               chain_extend(recovery, set->bytes + recovery->offset,
                            set->segment_bytes - recovery->offset, recovery->segment,
                            recovery->offset))
            continue;
        kind = chain_cross(recovery, &crossed);
        if (kind != REFUSAL_none)
            return kind;
    }
    return REFUSAL_none;
}

/* Looks at every block of the loaded segment from `offset` on. A frame of a boot below the tail's
 * is a leftover and has no say. */
static void blocks_scan(struct recovery *recovery, uint64_t segment, uint64_t offset)
{
    struct segment_set *set = &recovery->set;
    const uint32_t block_bytes = segment_set_note(set, segment)->block_bytes;

    for (; offset < set->segment_bytes; offset += block_bytes) {
        const uint8_t *bytes = set->bytes + offset;
        struct frame_header header;

        if (cc_is_zero(bytes, block_bytes))
            continue;
        recovery->dirty = true;
        if (frame_decode(&header, bytes, set->segment_bytes - offset,
                         exchange_file_journal(set->exchange, segment), segment, block_bytes) < 0)
            continue;
        recovery->result->cut_frames++;
        if (header.boot >= recovery->tail.boot)
            boot_seen(recovery, header.boot, header.durable_frame);
    }
}

static enum refusal_kind tail_scan(struct recovery *recovery)
{
    uint64_t offset = recovery->offset;

    for (uint64_t n = recovery->segment; segment_set_has(&recovery->set, n); n++) {
        enum refusal_kind kind = segment_set_load(&recovery->set, n);

        if (kind != REFUSAL_none)
            return kind;
        blocks_scan(recovery, n, offset);
        offset = SEGMENT_FRAMES_OFFSET;
    }
    return REFUSAL_none;
}

/* In a cluster: keeps the frames that the log does not have, and ends the chain before them. */
static enum refusal_kind chain_agree(struct recovery *recovery)
{
    uint64_t least = recovery->durable_frame;
    struct discarded_end end;

    if (recovery->tails == NULL)
        return REFUSAL_none;
    if (recovery->witness.is_there && recovery->witness.named.frame > least)
        least = recovery->witness.named.frame;
    enum refusal_kind kind = discarded_agree(recovery->tails, recovery->config, &recovery->tail,
                                             least, &end, recovery->refusal);
    if (kind != REFUSAL_none || end.tail.number == recovery->tail.number)
        return kind;
    kind = discarded_keep(&recovery->set, &end, &recovery->tail, recovery->result);
    if (kind != REFUSAL_none)
        return kind;
    recovery->tail = end.tail;
    recovery->segment = end.segment;
    recovery->offset = end.offset;
    recovery->closed = end.is_closed;
    recovery->dirty = true;
    return REFUSAL_none;
}

/* ---- steps 5 and 6: refuse, or cut ----------------------------------------------------------- */

static enum refusal_kind damage_refuse(struct recovery *recovery)
{
    uint64_t durable_frame = recovery->config->agree != NULL ? 0 : recovery->durable_frame;

    /* What was archived was sealed: the frame after it was durable. */
    if (recovery->archived_frame > 0 && recovery->archived_frame + 1 > durable_frame)
        durable_frame = recovery->archived_frame + 1;
    if (recovery->config->durable_frame > durable_frame)
        durable_frame = recovery->config->durable_frame;
    if (recovery->tail.number + 1 > durable_frame)
        return REFUSAL_none;
    recovery->refusal->segment = recovery->segment;
    recovery->refusal->offset = recovery->offset;
    return refusal_set(recovery->refusal, REFUSAL_frame_damaged,
                       "frame %" PRIu64 ", expected in segment %" PRIu64 " at offset %" PRIu64
                       ", is missing or wrong, but frame %" PRIu64 " was durable in boot %" PRIu64,
                       recovery->tail.number + 1, recovery->segment, recovery->offset,
                       durable_frame, recovery->newest_boot);
}

/* Zeros every block of the loaded segment from `offset` on that is not, in runs. */
static int blocks_zero(struct recovery *recovery, int file, uint64_t offset, uint32_t block_bytes)
{
    struct segment_set *set = &recovery->set;
    int error = 0;

    memset(set->frame_bytes, 0, set->frame_bytes_max);
    while (error == 0 && offset < set->segment_bytes) {
        uint64_t end = offset;

        while (end < set->segment_bytes && end - offset < set->frame_bytes_max &&
               !cc_is_zero(set->bytes + end, block_bytes))
            end += block_bytes;
        if (end > offset)
            error = disk_write(set->disk, file, offset, set->frame_bytes, end - offset);
        recovery->result->cut_bytes += end - offset;
        offset = end > offset ? end : offset + block_bytes;
    }
    return error;
}

/* Syncs even where all is zero already: those zeros may be a killed run's that never landed. */
static enum refusal_kind segment_cut(struct recovery *recovery, uint64_t number, uint64_t offset)
{
    struct segment_set *set = &recovery->set;
    enum refusal_kind kind = recovery->dirty ? segment_set_load(set, number) : REFUSAL_none;
    int error = 0;
    int file;

    if (kind != REFUSAL_none)
        return kind;
    file = segment_set_edit(set, number);
    if (file < 0)
        return refusal_machine(recovery->refusal, "opening a segment", file);
    if (recovery->dirty)
        error = blocks_zero(recovery, file, offset, segment_set_note(set, number)->block_bytes);
    if (error == 0)
        error = disk_sync(set->disk, file);
    disk_close(set->disk, file);
    segment_set_unload(set);
    return error < 0 ? refusal_machine(recovery->refusal, "zeroing a segment's tail", error)
                     : REFUSAL_none;
}

static enum refusal_kind tail_cut(struct recovery *recovery)
{
    uint64_t offset = recovery->offset;

    for (uint64_t n = recovery->segment; segment_set_has(&recovery->set, n); n++) {
        enum refusal_kind kind = segment_cut(recovery, n, offset);

        if (kind != REFUSAL_none)
            return kind;
        offset = SEGMENT_FRAMES_OFFSET;
    }
    return REFUSAL_none;
}

/* Syncs every segment from that of frame D to that of the tail: from here on the whole chain is
 * known durable, and the next frame says so. */
static enum refusal_kind chain_sync(struct recovery *recovery)
{
    struct segment_set *set = &recovery->set;

    for (uint64_t n = recovery->start.segment; n <= recovery->segment && segment_set_has(set, n);
         n++) {
        int error;
        int file;

        if (n < recovery->segment &&
            segment_set_note(set, n + 1)->first_frame <= recovery->durable_frame)
            continue; /* all its frames are below D */
        file = segment_set_edit(set, n);
        if (file < 0)
            return refusal_machine(recovery->refusal, "opening a segment", file);
        error = disk_sync(set->disk, file);
        disk_close(set->disk, file);
        if (error < 0)
            return refusal_machine(recovery->refusal, "syncing a segment", error);
    }
    return REFUSAL_none;
}

/* ---- step 7: apply --------------------------------------------------------------------------- */

/* Walks the chain once more; it is as long as before, or the disk changed under us. */
static enum refusal_kind chain_apply(struct recovery *recovery)
{
    struct segment_set *set = &recovery->set;
    uint64_t number = recovery->start.tail.number;
    uint64_t segment = recovery->start.segment;
    uint64_t offset = recovery->start.offset;

    recovery->result->position.tail = recovery->tail;
    while (number < recovery->tail.number) {
        struct frame_header header;
        enum refusal_kind kind = segment_set_load(set, segment);
        const uint8_t *bytes = set->bytes + offset;

        if (kind != REFUSAL_none)
            return kind;
        if (offset < set->segment_bytes &&
            frame_decode(&header, bytes, set->segment_bytes - offset,
                         exchange_file_journal(set->exchange, segment), segment,
                         segment_set_note(set, segment)->block_bytes) == 0 &&
            header.number == number + 1) {
            kind = frame_apply(recovery, &header, bytes, segment, offset);
            if (kind != REFUSAL_none)
                return kind;
            number++;
            offset += header.length;
            continue;
        }
        if (segment == recovery->segment)
            return refusal_machine(recovery->refusal, "reading the chain again", -EIO);
        segment++;
        offset = SEGMENT_FRAMES_OFFSET;
    }
    return REFUSAL_none;
}

/* ---- step 8 and the whole -------------------------------------------------------------------- */

/* The first segment exists before the first boot number: a directory with a boot number
 * and no segment has lost its journal. */
static enum refusal_kind first_segment_make(struct recovery *recovery)
{
    const struct recovery_config *config = recovery->config;

    if (recovery->set.count > 0)
        return REFUSAL_none;
    recovery->set.count = 1;
    int error = segment_pool_make_first(config->disk, config->exchange, recovery->result->boot,
                                        config->segment_bytes);
    return error < 0 ? refusal_machine(recovery->refusal, "making segment 0", error) : REFUSAL_none;
}

static enum refusal_kind boot_begin(struct recovery *recovery)
{
    struct exchange_file *exchange = recovery->config->exchange;
    struct recovery_result *result = recovery->result;
    uint64_t boot = exchange->boot;
    enum refusal_kind kind;
    int error;

    boot = recovery->boot_max > boot ? recovery->boot_max : boot;
    boot = recovery->set.boot_max > boot ? recovery->set.boot_max : boot;
    result->boot = boot + 1;
    kind = segment_set_head_blanks(&recovery->set, result->boot);
    if (kind == REFUSAL_none)
        kind = first_segment_make(recovery);
    if (kind != REFUSAL_none)
        return kind;
    error = snapshot_remove_parts(recovery->config->disk); /* their space; they never count */
    if (error < 0)
        return refusal_machine(recovery->refusal, "removing an unfinished snapshot", error);
    /* What is in journal/ may be a killed process's, its name never synced. */
    error = disk_sync_folder(recovery->config->disk, "journal");
    if (error < 0)
        return refusal_machine(recovery->refusal, "syncing journal", error);
    /* The witness first: a directory whose `exchange` has slots must have one, of this start. */
    exchange->boot = result->boot;
    kind = witness_keep(recovery);
    if (kind != REFUSAL_none)
        return kind;
    result->is_upgraded = exchange->is_former;
    result->exchange_damaged = exchange->slots.damaged;
    error = exchange_file_write(recovery->config->disk, exchange);
    return error < 0 ? refusal_machine(recovery->refusal, "writing exchange", error) : REFUSAL_none;
}

static void result_fill(const struct recovery *recovery)
{
    struct recovery_result *result = recovery->result;

    result->durable_frame = recovery->durable_frame;
    result->clean_stop = recovery->closed;
    result->witness = recovery->witness.named;
    result->witness_damaged = recovery->witness.is_there ? recovery->witness.slots.damaged : 0;
    result->segment_end = recovery->set.first + recovery->set.count;
    result->position.tail = recovery->tail;
    result->position.segment = recovery->segment;
    result->position.offset = recovery->offset;
    if (recovery->offset == recovery->set.segment_bytes ||
        recovery->segment < exchange_file_first_segment(recovery->config->exchange)) {
        result->position.segment++;
        result->position.offset = SEGMENT_FRAMES_OFFSET;
    }
    if (result->segment_end < result->position.segment)
        result->segment_end = result->position.segment;
}

enum refusal_kind recovery_run(const struct recovery_config *config, struct recovery_result *result,
                               struct refusal *refusal)
{
    static enum refusal_kind (*const steps[])(struct recovery *) = {
        witness_find,  start_find, chain_read, chain_agree, tail_scan,  damage_refuse,
        witness_judge, tail_cut,   chain_sync, chain_apply, boot_begin,
    };
    struct recovery recovery = {
        .config = config,
        .result = result,
        .refusal = refusal,
    };
    enum refusal_kind kind;

    INVARIANT(config->segment_bytes >= SEGMENT_BYTES_MIN &&
              config->segment_bytes % SEGMENT_FRAMES_OFFSET == 0);
    memset(result, 0, sizeof *result);
    refusal_clear(refusal);
    if (config->agree != NULL && (recovery.tails = discarded_tails_make()) == NULL)
        return refusal_machine(refusal, "memory for the ends of frames", -ENOMEM);
    kind = segment_set_open(&recovery.set, config->disk, config->exchange, config->segment_bytes,
                            refusal);
    for (size_t i = 0; kind == REFUSAL_none && i < CC_COUNT(steps); i++)
        kind = steps[i](&recovery);
    if (kind == REFUSAL_none)
        result_fill(&recovery);
    segment_set_close(&recovery.set);
    discarded_tails_free(recovery.tails);
    return kind;
}
