/* discarded.h - frames that this node wrote as a leader and the log does not have: they are kept in
 * discarded/, then cut (replication.md, A node). None of their records was acknowledged.
 *
 *   discarded/TERM-FIRST-LAST.frames: the frames one after the other, each with its padding
 *
 * Main thread, blocking. A crash at any point repeats it with the same result. */
#ifndef STORE_DISCARDED_H
#define STORE_DISCARDED_H

#include "store/recovery.h"
#include "store/segment_set.h"

/* A location where the chain may end. */
struct discarded_end {
    struct frame_tail tail;
    uint64_t segment, offset; /* of the next frame */
    bool is_closed;           /* it is a closing frame */
};

/* The newest RECOVERY_TAILS_MAX of them. */
struct discarded_tails;

CC_MUST_USE struct discarded_tails *discarded_tails_make(void); /* NULL without memory */
void discarded_tails_free(struct discarded_tails *tails);       /* NULL: nothing */

/* Notes the end of the chain's next frame. */
void discarded_note(struct discarded_tails *tails, const struct frame_tail *tail, uint64_t segment,
                    uint64_t offset, bool is_closed);

/* Asks config->agree, and finds the location that it names. `last`: the end of the chain, which is
 * kept as it is when no frame was noted. */
CC_MUST_USE enum refusal_kind discarded_agree(const struct discarded_tails *tails,
                                              const struct recovery_config *config,
                                              const struct frame_tail *last, uint64_t least,
                                              struct discarded_end *end, struct refusal *refusal);

/* Writes the frames from `end` to `last` to discarded/, durable when it returns, and counts them in
 * `result`. */
CC_MUST_USE enum refusal_kind discarded_keep(struct segment_set *set,
                                             const struct discarded_end *end,
                                             const struct frame_tail *last,
                                             struct recovery_result *result);

#endif
