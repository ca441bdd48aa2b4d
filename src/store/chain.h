/* chain.h - the frames of a data directory in order, read only, from the archive and then the
 * journal: for a start from an old snapshot, the snapshotter, replay and audit.
 *
 * Nothing is cut, zeroed or locked: a primary may be writing after `last_segment`. Each frame is
 * whole and chains to the one before, or the chain ends there.
 *
 * Wait.   Blocking. Bound. Memory: two segments. */
#ifndef STORE_CHAIN_H
#define STORE_CHAIN_H

#include "store/archive.h"
#include "store/journal.h"

struct chain;

struct chain_config {
    struct disk *disk;
    const struct exchange_file *exchange; /* outlives the chain */
    uint32_t segment_bytes;
    /* The last frame that is already known, and its hash. 0: begin at the first frame; after_hash
     * is not read. */
    uint64_t after_frame;
    uint8_t after_hash[HASH_BYTES];
    uint64_t last_segment; /* frames of later segments are not read; UINT64_MAX: all */
};

/* One frame of the chain; valid until the next call. */
struct chain_frame {
    struct frame_header header;
    const uint8_t *bytes; /* header.length of them */
    uint64_t segment;
    uint64_t offset;
    bool archived; /* read from the archive */
};

/* Opens the chain after `after_frame`. Refused when no file holds that frame or its hash differs,
 * when a segment after it is missing from both archive and journal, or when segment_set or archive
 * refuses. On a refusal *out is NULL. */
CC_MUST_USE enum refusal_kind chain_open(struct chain **out, const struct chain_config *config,
                                         struct refusal *refusal);
void chain_close(struct chain *chain);

/* Reads the next frame. Returns 1; 0 at the end of the chain (chain_position says where it is); -1
 * when a file is refused, with the `refusal` of chain_open filled. A frame that is missing inside
 * the archive, or before the last segment, is a refusal. */
CC_MUST_USE int chain_next(struct chain *chain, struct chain_frame *out);

/* Returns where the next frame is expected: where recovery_run or a journal would continue. */
CC_MUST_USE struct journal_position chain_position(const struct chain *chain);

#endif
