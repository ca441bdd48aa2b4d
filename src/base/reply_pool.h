/* reply_pool.h - the reply buffers of one net thread: the follower allocates them, net frees them.
 *
 *   follower                                   net thread
 *   index = reply_pool_alloc()                  rows at reply_pool_at(index)
 *   fill reply_pool_at(index)   -- reply -->   format, then reply_pool_free(index)
 *
 * Order. Freeing stores with release and allocating loads with acquire: the follower writes a
 *        buffer only after net's last read of it. The reply ring publishes the rows themselves.
 * Wait.  Nothing blocks. An empty pool returns REPLY_NO_BUFFER, and the client gets a 503; net
 *        sends no more queries than there are buffers.
 * Owner. The follower owns a buffer until it publishes the reply, then net until it frees the
 *        buffer.
 * Bound. REPLY_BUFFERS buffers of REPLY_BUFFER_BYTES, one bit each. */
#ifndef BASE_REPLY_POOL_H
#define BASE_REPLY_POOL_H

#include "base/query_message.h"

static_assert(REPLY_BUFFERS == 64, "one word of bits");

struct reply_pool {
    CC_NO_SHARE _Atomic uint64_t free; /* bit k: buffer k is free */
    uint8_t *memory;                   /* constant: REPLY_POOL_BYTES, 16-byte aligned */
};

#define REPLY_POOL_BYTES ((size_t)REPLY_BUFFERS * REPLY_BUFFER_BYTES)

static inline void reply_pool_init(struct reply_pool *pool, void *memory)
{
    pool->memory = memory;
    atomic_init(&pool->free, UINT64_MAX);
}

static inline uint8_t *reply_pool_at(const struct reply_pool *pool, uint32_t index)
{
    INVARIANT(index < REPLY_BUFFERS);
    return pool->memory + (size_t)index * REPLY_BUFFER_BYTES;
}

/* Returns the lowest free buffer, or REPLY_NO_BUFFER. Called by the follower only. */
static inline uint16_t reply_pool_alloc(struct reply_pool *pool)
{
    /* acquire (pairs: reply_pool_free): net's reads of the buffer come before our writes. Only this
     * thread clears bits, so a bit that is seen stays set. */
    uint64_t free = atomic_load_explicit(&pool->free, memory_order_acquire);
    if (free == 0)
        return REPLY_NO_BUFFER;
    uint32_t index = (uint32_t)__builtin_ctzll(free);
    /* relaxed: nothing is published here; the acquire above orders the reuse. */
    atomic_fetch_and_explicit(&pool->free, ~(UINT64_C(1) << index), memory_order_relaxed);
    return (uint16_t)index;
}

/* Frees the buffer of a reply whose rows are no longer needed. Called by the net thread only. */
static inline void reply_pool_free(struct reply_pool *pool, uint32_t index)
{
    INVARIANT(index < REPLY_BUFFERS);
    /* release (pairs: reply_pool_alloc): our reads of the rows come before its reuse. */
    uint64_t before =
        atomic_fetch_or_explicit(&pool->free, UINT64_C(1) << index, memory_order_release);
    INVARIANT((before >> index & 1) == 0);
}

#endif
