/* witness_check.h - whether a chain has what the witness and the snapshots name (journal.md,
 * Recovery, step 5).
 *
 *   begin: read the file ──> pass: each frame of the chain ──> judge: the end of the chain
 *
 * For recovery and the offline readers. Blocking; writes nothing. */
#ifndef STORE_WITNESS_CHECK_H
#define STORE_WITNESS_CHECK_H

#include "store/frame.h"
#include "store/refusal.h"
#include "store/witness.h"

/* The frame that a snapshot ends with: a chain that passes it must have it with this hash. */
struct frame_mark {
    uint64_t snapshot; /* its sequence */
    uint64_t frame;
    uint8_t hash[HASH_BYTES];
};

struct witness_check {
    struct witness named;           /* by the newest slot */
    uint64_t start;                 /* the boot of `exchange` */
    bool is_logged;                 /* the caller's, as marks: a cluster's log knows the end */
    struct slot_location slots;     /* as found */
    bool is_there;                  /* a slot is whole and of this journal */
    bool is_met;                    /* the chain came past the frame ... */
    uint8_t hash[HASH_BYTES];       /* ... and this is its hash there */
    const struct frame_mark *marks; /* the caller's, set after begin; they outlive the check */
    uint32_t mark_count;
    const struct frame_mark *unlike; /* the first whose frame passed with another hash */
};

/* Reads `witness`. Refused only as REFUSAL_machine: that no slot is whole is judged later. */
CC_MUST_USE enum refusal_kind witness_check_begin(struct witness_check *check, struct disk *disk,
                                                  const struct exchange_file *exchange,
                                                  struct refusal *refusal);

/* Shows it a frame of the chain: the tail after that frame. */
void witness_check_pass(struct witness_check *check, const struct frame_tail *tail);

/* Whether a start that `exchange` counts left no trace: each writes its number into the witness
 * first, and the chain that ends with `end` has no frame of it either. So all but `exchange` is an
 * older copy. False if a slot is damaged: it may have been the one. */
CC_MUST_USE bool witness_check_is_older(const struct witness_check *check,
                                        const struct frame_tail *end);

/* Judges a chain that ends with `end`. `is_needed`: a journal like this one must have a witness. */
CC_MUST_USE enum refusal_kind witness_check_judge(const struct witness_check *check,
                                                  const struct frame_tail *end, bool is_needed,
                                                  struct refusal *refusal);

#endif
