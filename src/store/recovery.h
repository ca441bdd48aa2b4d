/* recovery.h - reads the chain of a data directory, cuts what was never acknowledged, refuses
 * damage below that, and hands every record to the caller (journal.md, Recovery).
 *
 *   archive/ k .. f-1 ──> journal/ f .. open segment ──> prepared ones
 *      apply, read only      check, cut, apply              zeroed if need be
 *
 * The journal's files are numbered without a gap from the lowest one, f. The segments below f were
 * retired; the archive's list ends at f or above, and a segment in both is read from the journal. A
 * directory that was started once always has a segment in journal/.
 *
 * Runs at start in the main thread, blocking, before any other role; exchange_file_open came first
 * (step 1's lock). b is the number of the first frame that is missing; D is the largest
 * durable_frame that the newest boot left. If b <= D, an acknowledged frame is damaged: refused,
 * and nothing is written. If b > D, the tail was never acknowledged: it is zeroed and synced. So is
 * it refused when the chain ends below the frame that `witness` names, has another frame there or
 * where a snapshot names one (snapshot_ahead), or when no slot of `witness` is whole.
 *
 * A list of the archive that is missing, damaged, or ends below f is made again from the archive's
 * files (archive_mend).
 *
 * Bound.  Memory: two segments and one frame. Time: each segment of the journal from the start
 *         position on is read twice (scan, apply), each archived one once. */
#ifndef STORE_RECOVERY_H
#define STORE_RECOVERY_H

#include "store/journal.h"
#include "store/refusal.h"
#include "store/witness_check.h"

/* Called with each record of the chain, in order, with its journalled t. A result other than 0 ends
 * recovery with REFUSAL_record_refused and refusal->error = that value (the caller's: a 2014 of
 * another rules_version, a 2015 that differs). Nothing of step 8 is written then. */
typedef int recovery_apply(void *context, uint64_t sequence, uint64_t frame,
                           const struct record_view *record);

enum { RECOVERY_TAILS_MAX = 1024 };

/* In a cluster: asked once, when the chain has been read and before anything is written, which
 * frame of it is the last that the log has too. `tails` are the newest `count` ends of the chain,
 * oldest first, at least one. Sets *keep to the number of one of them. `least` is a frame that was
 * durable here: if this journal lost it, the log must have it. A refusal ends recovery. */
typedef enum refusal_kind recovery_agree(void *context, const struct frame_tail *tails,
                                         uint32_t count, uint64_t least, uint64_t *keep,
                                         struct refusal *refusal);

struct recovery_config {
    struct disk *disk;
    struct exchange_file *exchange; /* read; boot is raised and written at the end */
    uint32_t segment_bytes;
    recovery_apply *apply;
    void *context;
    /* The frame with which the caller's state ends (a snapshot's), and its hash. 0: the chain is
     * read from its beginning; after_hash is not read. */
    uint64_t after_frame;
    uint8_t after_hash[HASH_BYTES];
    uint64_t durable_frame;         /* known durable otherwise: a snapshot covers it; 0: none */
    const struct frame_mark *marks; /* of the snapshots that are there, in any order */
    uint32_t mark_count;
    recovery_agree
        *agree; /* NULL: not in a cluster. Else frames that the log has not are written to
                              `discarded`, then cut; and a frame that is missing although it was
                              durable is none to refuse: the log has it */
};

struct recovery_result {
    struct journal_position position; /* where the journal continues; its tail is known while
                                         the records of the journal are applied */
    uint64_t boot;                    /* of this start, written to `exchange` */
    uint64_t segment_end;             /* segments [position.segment, segment_end) are prepared */
    uint64_t durable_frame;           /* D as found; after_frame counts as found */
    uint64_t frames;                  /* read and applied */
    uint64_t archived_frames;         /* of them from the archive */
    uint64_t records;
    uint64_t last_t_ns;                       /* of the last record; 0 without records */
    uint64_t cut_bytes;                       /* that were not zero and are now */
    uint64_t cut_frames;                      /* whole frames among them */
    uint64_t discarded_frames;                /* of them, kept in `discarded` */
    uint64_t discarded_first, discarded_last; /* sequences of their records; 0: none */
    bool clean_stop;                          /* the chain ends with a closing frame */
    struct witness witness;                   /* that the start found; frame 0: none, or no frame */
    struct slot_location witness_slots;       /* of `witness`, as it is now */
    uint32_t witness_damaged;                 /* slots that were not whole, bit by bit; mended */
    uint32_t exchange_damaged;                /* the same of `exchange` */
    uint64_t archive_relisted; /* segments, if archive/index was made again; else 0 */
    uint64_t archive_first;    /* segment that archive/index begins with; 0 without segments */
    bool is_upgraded;          /* the directory had the former format */
};

/* Runs steps 1 (headers) and 3 to 8, and removes unfinished snapshots. Also refused: after_frame is
 * missing (snapshot_ahead), a segment is missing between archive and journal or after the archive,
 * a directory with a boot number has no segment. On REFUSAL_frame_damaged and every refusal before
 * the cut, nothing was written but a list of the archive. After REFUSAL_machine the directory is as
 * a crash would leave it, and a later run has the same result. */
CC_MUST_USE enum refusal_kind recovery_run(const struct recovery_config *config,
                                           struct recovery_result *result, struct refusal *refusal);

#endif
