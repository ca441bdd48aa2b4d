/* segment_pool.h - segments prepared ahead of the journal, at a bounded rate, from retired ones if
 * there are any.
 *
 *   background thread                          journal thread
 *   segment_pool_step(now) --- ready -------> segment_pool_pop(number) = file
 *     .next, zeros, header, sync,   <-- taken ---
 *     rename, sync of the folder
 *   segment_pool_retire(low): LOW.seg, when the next is due, becomes its .next and is zeroed
 *
 * Order.  step stores `ready` with release after the file is in its slot; pop loads it with
 *         acquire. pop stores `taken` with release when the slot is empty; step mirrors it.
 * Wait.   pop never blocks; step blocks for one chunk of zeros or one sync.
 * Owner.  The journal closes a file that it popped.
 * Bound.  One step writes SEGMENT_POOL_CHUNK_BYTES; at most SEGMENT_POOL_AHEAD_MAX files wait. */
#ifndef STORE_SEGMENT_POOL_H
#define STORE_SEGMENT_POOL_H

#include "store/segment.h"

enum {
    SEGMENT_POOL_AHEAD_MAX = 4,
    SEGMENT_POOL_AHEAD_DEFAULT = 2,
    SEGMENT_POOL_CHUNK_BYTES = 1 << 20,
    SEGMENT_POOL_RATE_DEFAULT = 64 << 20, /* bytes/s; roles.md, Journal */
    SEGMENT_POOL_RETRY_NS = 1000000000    /* after the machine refused (disk full) */
};

struct segment_pool_config {
    struct disk *disk;
    const struct exchange_file *exchange; /* outlives the pool */
    uint64_t boot;
    uint64_t first;        /* number of the first segment that will be popped */
    uint64_t existing_end; /* segments [first, existing_end) are in journal/ already */
    uint64_t bytes_per_s;  /* 0: unbounded */
    uint32_t segment_bytes;
    uint32_t ahead; /* 1..SEGMENT_POOL_AHEAD_MAX segments kept ready */
};

struct segment_pool;

/* Makes an empty pool; NULL without memory. segment_pool_destroy closes files that were not
 * popped. */
CC_MUST_USE struct segment_pool *segment_pool_create(const struct segment_pool_config *config);
void segment_pool_destroy(struct segment_pool *pool);

/* Prepares segment 0 of a new directory, for the start `boot`. Blocking. 0 or -errno. */
CC_MUST_USE int segment_pool_make_first(struct disk *disk, const struct exchange_file *exchange,
                                        uint64_t boot, uint32_t segment_bytes);

/* Does one piece of preparation if one is due. Returns the bytes written (1 for a piece without
 * bytes), 0 if nothing is due, or -errno if the machine refused; segment_pool_error then says so
 * too, and the segment is begun again after SEGMENT_POOL_RETRY_NS. Background thread. */
CC_MUST_USE int segment_pool_step(struct segment_pool *pool, uint64_t now_ns);

/* Returns when the next piece is due on step's clock, not before the last step's `now_ns`;
 * UINT64_MAX while enough segments are ready (ask again after a pop). Background thread. */
CC_MUST_USE uint64_t segment_pool_due_ns(const struct segment_pool *pool);

/* Steps without regard to the rate until `ahead` segments are ready: for a start and for tests.
 * Returns 0 or -errno. */
CC_MUST_USE int segment_pool_fill(struct segment_pool *pool, uint64_t now_ns);

/* Gives the pool a segment that is no longer needed: sealed, listed by the archive, below what a
 * recovery from either kept snapshot reads, and applied by the follower. It must be the lowest of
 * journal/ that is not retired yet (INVARIANT: the next after the last one retired while that
 * waits, and none being written). It keeps its name until the pool uses it. The pool syncs
 * `archive` and `snapshot` first, so that a power loss cannot take the copy as well. A crash at any
 * point leaves the name with all its frames, or no such name. Background thread. */
void segment_pool_retire(struct segment_pool *pool, uint64_t number);

/* Returns the number of segments retired and not yet used. Background thread. */
CC_MUST_USE uint64_t segment_pool_retired(const struct segment_pool *pool);

/* Returns the file of the next segment, opened for direct writes, and its block in *block_bytes;
 * -EAGAIN while it is not ready. The next segment must be `number` (INVARIANT). Journal thread. */
CC_MUST_USE int segment_pool_pop(struct segment_pool *pool, uint64_t number, uint32_t *block_bytes);

/* Return the number of segments that are ready, and the last failure (0 once a segment was made
 * after it). Any thread. */
CC_MUST_USE uint32_t segment_pool_ready(const struct segment_pool *pool);
CC_MUST_USE int segment_pool_error(const struct segment_pool *pool);

#endif
