/* fold.h - computes the state at a sequence of the journal: loads the newest usable snapshot, or
 * none, and applies the records after it to one engine (journal.md, Archive and Snapshot).
 *
 *   snapshot/ ─> engine <── archive/, journal/ up to last_segment or last_sequence
 *                  └──> fold_write_snapshot: SEQUENCE.snap, read and verified
 *
 * Used by the snapshotter's child, by `perp` (replay, audit, snapshot dump, recover, restore), and
 * by tests. The primary may run at the same time: only writers of a snapshot write to the
 * directory.
 *
 * Wait.   Blocking.
 * Bound.  Memory: one engine, one image, two segments. */
#ifndef NODE_RECOVER_FOLD_H
#define NODE_RECOVER_FOLD_H

#include "engine/engine.h"
#include "engine/image/image_load.h"
#include "node/recover/rebuild.h"
#include "store/chain.h"
#include "store/snapshot.h"

/* Where a fold begins. */
enum fold_start {
    FOLD_NEWEST,  /* the newest whole snapshot at or below the target, else genesis */
    FOLD_GENESIS, /* the first record; the archive if segments are retired */
    FOLD_SNAPSHOT /* the snapshot of `start_sequence` and no other */
};

/* Called after each applied record. A value other than 0 ends the fold with REFUSAL_record_refused
 * and that value as refusal->error. May be NULL. */
typedef int fold_visit(void *context, const struct chain_frame *frame, uint64_t sequence,
                       const struct record_view *record, const struct command *command,
                       const struct engine_result *result);

/* In the place of engine_apply, which it calls: to time it. */
typedef void fold_apply(void *context, struct engine *engine, const struct command *command,
                        struct engine_sink *sink, struct engine_result *result);

struct fold_config {
    struct disk *disk;
    const struct exchange_file *exchange;
    uint32_t segment_bytes;
    enum fold_start start;
    uint64_t start_sequence;
    uint64_t last_segment;    /* UINT64_MAX: as far as the chain goes */
    uint64_t last_sequence;   /* UINT64_MAX: likewise; a record above is not applied */
    struct engine_sink *sink; /* takes the effects of each record; NULL: none */
    fold_visit *visit;
    void *context;
    fold_apply *apply; /* NULL: engine_apply */
    void *apply_context;
    const _Atomic bool *give_up; /* NULL: never */
};

struct fold {
    struct engine *engine;
    void *memory;
    size_t memory_bytes;
    uint64_t start_sequence; /* of the first snapshot; 0: genesis */
    uint64_t sequence;       /* the last one applied */
    uint64_t frame;          /* the last whole frame whose records were all applied */
    uint8_t frame_hash[HASH_BYTES];
    uint64_t boot;      /* of that frame */
    uint64_t frame_end; /* sequence that frame ends with: a snapshot needs sequence == frame_end */
    uint64_t records;   /* applied */
    uint64_t hashes;    /* records 2015 compared and equal */
    uint64_t journal_bytes; /* of frames read */
    struct journal_position position;
};

/* Folds. On a refusal nothing is left to free. A 2014 of another rules_version than this binary's,
 * and a 2015 that differs, are refused as at a start. */
CC_MUST_USE enum refusal_kind fold_run(const struct fold_config *config, struct fold *out,
                                       struct refusal *refusal);
void fold_free(struct fold *fold);

/* Fills the sections of a snapshot in the form that image_load takes. Returns their number. */
uint32_t fold_parts(const struct snapshot *snapshot,
                    struct image_part parts[SNAPSHOT_SECTIONS_MAX]);

/* BLAKE2b-256 of the canonical image of any engine. */
void fold_image_hash(struct engine *engine, uint8_t out[HASH_BYTES]);

/* Writes the engine's image as a snapshot at (sequence, frame), reads it back, loads it into a
 * fresh engine and compares the images. `head` gets the head that was written. On a failure the
 * folder keeps what it had. */
CC_MUST_USE enum refusal_kind fold_write_snapshot(struct engine *engine, struct disk *disk,
                                                  const struct exchange_file *exchange,
                                                  const struct frame_tail *tail,
                                                  struct snapshot_head *head,
                                                  struct refusal *refusal);

/* Folds from the newest snapshot to the end of the chain, or of a segment (UINT64_MAX: of none),
 * and writes the snapshot of that state. On a refusal the folder keeps what it had. */
CC_MUST_USE enum refusal_kind fold_snapshot(struct disk *disk, const struct exchange_file *exchange,
                                            uint32_t segment_bytes, uint64_t last_segment,
                                            struct refusal *refusal);

#endif
