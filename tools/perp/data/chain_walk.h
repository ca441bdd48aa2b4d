/* chain_walk.h - walks the frames of a data directory from a given one on, and judges its end.
 *
 * The end is judged as at a start (store/chain.h). A tail that was never acknowledged is lawful. A
 * missing frame that a later frame or a snapshot names durable is damage.
 *
 * Owner. The command's thread.
 * Bound. Memory: three segments. */
#ifndef PERP_DATA_CHAIN_WALK_H
#define PERP_DATA_CHAIN_WALK_H

#include "perp/data/data_directory.h"
#include "store/chain.h"

/* Sees each frame in order; false ends the walk. */
typedef bool chain_walk_visit(void *context, const struct chain_frame *frame);

struct chain_walk {
    uint64_t after_frame; /* in: the walk begins after it; 0: at the first */
    uint8_t after_hash[HASH_BYTES];
    uint64_t frames, records;
    uint64_t bytes;           /* of the frames, padding included */
    uint64_t record_bytes;    /* of their records */
    uint64_t archived_frames; /* of them read from the archive */
    uint64_t newest_boot;
    uint64_t durable_frame; /* the largest that the newest boot names */
    bool clean_stop;        /* the last frame is a closing one */
    bool ended;             /* by the visitor */
    uint64_t torn_bytes;    /* of blocks after the end that are not zero */
    struct journal_position end;
    struct journal_position
        before; /* with `ended`: location of the frame at which the visitor ended the walk */
};

/* Walks. A refusal names the location of the first damage. */
CC_MUST_USE enum refusal_kind chain_walk_run(const struct data_directory *directory,
                                             struct chain_walk *walk, chain_walk_visit *visit,
                                             void *context, struct refusal *refusal);

/* Starts a walk at the end of the last archived segment that is wholly below `sequence`, if there
 * is one. */
CC_MUST_USE enum refusal_kind chain_walk_skip(const struct data_directory *directory,
                                              struct chain_walk *walk, uint64_t sequence,
                                              struct refusal *refusal);

#endif
