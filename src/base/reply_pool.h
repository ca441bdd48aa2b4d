/* reply_pool.h - the reply buffers of one net thread: taken by the follower, given back by net.
 *
 *   follower                                   net thread
 *   index = reply_pool_take()                  rows at reply_pool_at(index)
 *   fill reply_pool_at(index)   -- reply -->   format, then reply_pool_give(index)
 *
 * Order. A give stores with release, a take loads with acquire: a buffer that is taken is one that
 *        its former reader has finished with. The rows themselves travel with the reply ring.
 * Wait.  Nothing blocks; an empty pool gives REPLY_NO_BUFFER, which is a 503 for the client.
 * Owner. A buffer is the follower's from take until its reply is published, then net's until give.
 * Bound. REPLY_BUFFERS buffers of REPLY_BUFFER_BYTES, one bit each. */
#ifndef BASE_REPLY_POOL_H
#define BASE_REPLY_POOL_H

#include "base/query_message.h"

static_assert(REPLY_BUFFERS == 64, "one word of bits");

struct reply_pool {
    CC_NO_SHARE _Atomic uint64_t free; /* bit k: buffer k may be taken */
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

/* Follower, one thread: the lowest free buffer, or REPLY_NO_BUFFER. */
static inline uint16_t reply_pool_take(struct reply_pool *pool)
{
    /* pairs: reply_pool_give. Only this thread clears bits, so a bit seen stays set until then. */
    uint64_t free = atomic_load_explicit(&pool->free, memory_order_acquire);
    if (free == 0)
        return REPLY_NO_BUFFER;
    uint32_t index = (uint32_t)__builtin_ctzll(free);
    /* relaxed: the acquire above is the pair of the give; nothing is handed over here. */
    atomic_fetch_and_explicit(&pool->free, ~(UINT64_C(1) << index), memory_order_relaxed);
    return (uint16_t)index;
}

/* Net thread: the buffer of a reply whose rows are no longer needed. */
static inline void reply_pool_give(struct reply_pool *pool, uint32_t index)
{
    INVARIANT(index < REPLY_BUFFERS);
    /* pairs: reply_pool_take */
    uint64_t before =
        atomic_fetch_or_explicit(&pool->free, UINT64_C(1) << index, memory_order_release);
    INVARIANT((before >> index & 1) == 0);
}

#endif
