/* segment_pool.h - segments prepared ahead of the journal, made at a bounded rate, of retired ones
 * if there are any.
 *
 *   background thread                          journal thread
 *   segment_pool_step(now) --- ready -------> segment_pool_pop(number) = file
 *     .next, zeros, header, sync,   <-- taken ---
 *     rename, sync of the folder
 *   segment_pool_retire(low): LOW.seg, when the next is due, becomes its .next and is zeroed
 *
 * Order.  step stores `ready` with release after the file is in its slot; take loads it with
 *         acquire. take stores `taken` with release when the slot is empty; step mirrors it.
 * Wait.   take never blocks; step blocks for one chunk of zeros or one sync.
 * Owner.  A file taken is the journal's to close.
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
    uint64_t first;        /* number of the first segment that will be taken */
    uint64_t existing_end; /* segments [first, existing_end) are in journal/ already */
    uint64_t bytes_per_s;  /* 0: unbounded */
    uint32_t segment_bytes;
    uint32_t ahead; /* 1..SEGMENT_POOL_AHEAD_MAX segments kept ready */
};

struct segment_pool;

/* A pool that has made nothing yet; NULL without memory. Ends with segment_pool_destroy, which
 * closes what was never taken. */
CC_MUST_USE struct segment_pool *segment_pool_create(const struct segment_pool_config *config);
void segment_pool_destroy(struct segment_pool *pool);

/* Does one piece of preparation if one is due: gives the bytes written (1 for a piece without
 * bytes), 0 when nothing is due, or -errno when the machine refused: then segment_pool_error says
 * so too and the segment is begun again after SEGMENT_POOL_RETRY_NS. Background thread. */
CC_MUST_USE int segment_pool_step(struct segment_pool *pool, uint64_t now_ns);

/* When the next piece is due on step's clock: `now_ns` of the last step or later; UINT64_MAX while
 * enough segments are ready (look again after a take). Background thread. */
CC_MUST_USE uint64_t segment_pool_due_ns(const struct segment_pool *pool);

/* Steps, without heed of the rate, until `ahead` segments are ready: for a start and for tests.
 * 0 or -errno. */
CC_MUST_USE int segment_pool_fill(struct segment_pool *pool, uint64_t now_ns);

/* Gives the pool a segment that nobody needs any more: sealed, listed by the archive, below what a
 * recovery from either kept snapshot reads and what the follower has applied. It must be the lowest
 * of journal/ that was not retired yet (INVARIANT: the one after the last retired while that
 * waits, and none being written). It keeps its name until it is used; `archive` and `snapshot` are
 * synced before that, so that no power loss takes what stands for it. A crash at any point leaves
 * its name with all its frames, or no such name. Background thread. */
void segment_pool_retire(struct segment_pool *pool, uint64_t number);

/* Segments retired and not yet used. Background thread. */
CC_MUST_USE uint64_t segment_pool_retired(const struct segment_pool *pool);

/* The file of the next segment, which must be `number` (INVARIANT), opened for direct writes, and
 * its block in *block_bytes; -EAGAIN while it is not ready. Journal thread. */
CC_MUST_USE int segment_pool_pop(struct segment_pool *pool, uint64_t number, uint32_t *block_bytes);

/* Segments ready to be taken, and the last failure (0 once a segment was made after it). Any
 * thread. */
CC_MUST_USE uint32_t segment_pool_ready(const struct segment_pool *pool);
CC_MUST_USE int segment_pool_error(const struct segment_pool *pool);

#endif
