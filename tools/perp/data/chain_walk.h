/* chain_walk.h - every frame of a data directory from a place on, and what stands behind the last.
 *
 * The end is judged as a start judges it (store/chain.h): a tail that nobody was promised is
 * lawful, a missing frame that a later one or a snapshot names durable is damage.
 *
 * Owner. The command's thread. Bound. Memory: three segments. */
#ifndef PERP_DATA_CHAIN_WALK_H
#define PERP_DATA_CHAIN_WALK_H

#include "perp/data/data_directory.h"
#include "store/chain.h"

/* Sees each frame in order; false ends the walk. */
typedef bool chain_walk_visit(void *context, const struct chain_frame *frame);

struct chain_walk {
    uint64_t after_frame; /* in: the walk begins behind it; 0: at the first */
    uint8_t after_hash[HASH_BYTES];
    uint64_t frames, records;
    uint64_t bytes;           /* of the frames, padding included */
    uint64_t record_bytes;    /* of their records */
    uint64_t archived_frames; /* of them read from the archive */
    uint64_t newest_boot;
    uint64_t durable_frame; /* the largest that the newest boot names */
    bool clean_stop;        /* the last frame is a closing one */
    bool ended;             /* by the visitor */
    uint64_t torn_bytes;    /* of blocks behind the end that are not zero */
    struct journal_position end;
    struct journal_position
        before; /* with `ended`: where the frame stands that the visitor ended at */
};

/* Walks. A refusal says the place of the first damage. */
CC_MUST_USE enum refusal_kind chain_walk_run(const struct data_directory *directory,
                                             struct chain_walk *walk, chain_walk_visit *visit,
                                             void *context, struct refusal *refusal);

/* Sets the beginning of a walk to the end of the last archived segment that lies wholly below
 * `sequence`, if there is one. */
CC_MUST_USE enum refusal_kind chain_walk_skip(const struct data_directory *directory,
                                              struct chain_walk *walk, uint64_t sequence,
                                              struct refusal *refusal);

#endif
