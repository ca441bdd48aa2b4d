/* ring.h - bounded single-producer single-consumer ring; a message takes 1 to 34 whole slots.
 *
 *   producer thread                            consumer thread
 *   ---------------                            ---------------
 *   slot = ring_claim(count) ... again         n = ring_ready()
 *   fill the slots           --- tail --->     read ring_at(0), ring_at(size of it), ...
 *   ring_publish()           <--- head ---     ring_release(slots read)
 *
 * Order.  ring_publish stores tail with release; ring_ready loads it with acquire: a slot the
 *         consumer sees is a slot the producer finished. ring_release and ring_claim do the same
 *         for head: a slot the producer claims is a slot the consumer is done with.
 * Wait.   Nothing here blocks or spins; a full ring returns NULL and the caller sheds load.
 * Owner.  A slot is the producer's from claim to publish, the consumer's from ready to release.
 *         `claimed` and `head_seen` are touched by the producer only, `tail_seen` by the consumer.
 * Units.  Positions count slots since start; 64 bits do not wrap in practice.
 * Bound.  A message takes at most RING_MESSAGE_SLOTS_MAX slots; a ring has a power of two of them.
 *
 * Contiguity. Every message is one piece of memory. Position p lies at slot p mod slot_count; a
 * message that begins near the end runs over into RING_TAIL extra slots after the last one, and
 * positions advance by its size all the same, so the front slots its rest would have taken stay
 * unused for that lap. There are no skip markers. Two live messages never meet in the tail: only
 * a message that crosses a lap boundary reaches it; two of them cross boundaries at least
 * slot_count apart, so the first slot of the earlier and the last of the later are more than
 * slot_count apart, and ring_claim never lets claimed - head exceed slot_count.
 */
#ifndef BASE_RING_H
#define BASE_RING_H

#include "base/cc.h"

enum {
    RING_MESSAGE_SLOTS_MAX = 34, /* an order batch of 64 items (roles.md, Flow control) */
    RING_TAIL = RING_MESSAGE_SLOTS_MAX - 1,
};

struct ring {
    CC_NO_SHARE _Atomic uint64_t tail; /* slots; written by the producer */
    uint64_t claimed;                  /* slots; claimed, not all of them published */
    uint64_t head_seen;                /* producer's copy of head, may lag */

    CC_NO_SHARE _Atomic uint64_t head; /* slots; written by the consumer */
    uint64_t tail_seen;                /* consumer's copy of tail, may lag */

    CC_NO_SHARE unsigned char *slots; /* constant after ring_init */
    uint32_t slot_bytes;
    uint32_t slot_mask; /* slot count - 1 */
};

/* Bytes of memory that a ring of slot_count slots needs, the tail included. */
size_t ring_bytes(uint32_t slot_count, uint32_t slot_bytes);

/* `memory` holds ring_bytes() bytes, is 64-byte aligned and outlives the ring. slot_count is a
 * power of two, at least 64, so that the longest message fits; slot_bytes a multiple of 8. */
void ring_init(struct ring *ring, void *memory, uint32_t slot_count, uint32_t slot_bytes);

/* Producer. `count` consecutive slots after those claimed before, or NULL when that many are not
 * free: then nothing is claimed. Several messages may be claimed before one ring_publish; what is
 * claimed cannot be given back. */
static inline void *ring_claim(struct ring *ring, uint32_t count)
{
    uint64_t first = ring->claimed;
    uint64_t end = first + count;

    INVARIANT(count - 1 < RING_MESSAGE_SLOTS_MAX);
    if (CC_UNLIKELY(end - ring->head_seen > (uint64_t)ring->slot_mask + 1)) {
        /* pairs: ring_release */
        ring->head_seen = atomic_load_explicit(&ring->head, memory_order_acquire);
        if (end - ring->head_seen > (uint64_t)ring->slot_mask + 1)
            return NULL;
    }
    ring->claimed = end;
    return ring->slots + (first & ring->slot_mask) * ring->slot_bytes;
}

/* Producer. Everything claimed becomes visible to the consumer at once. */
static inline void ring_publish(struct ring *ring)
{
    atomic_store_explicit(&ring->tail, ring->claimed, memory_order_release); /* pairs: ring_ready */
}

/* Producer. Slots that are claimed or published and not released, as of now; never too few. */
static inline uint64_t ring_used(struct ring *ring)
{
    /* pairs: ring_release */
    ring->head_seen = atomic_load_explicit(&ring->head, memory_order_acquire);
    return ring->claimed - ring->head_seen;
}

/* Producer. Slots that may be claimed now; never too many. */
static inline uint64_t ring_free(struct ring *ring)
{
    return (uint64_t)ring->slot_mask + 1 - ring_used(ring);
}

/* Consumer. How many slots may be read now, whole messages only; zero when empty. Looks at the
 * shared tail only when all that was seen before is released. */
static inline uint64_t ring_ready(struct ring *ring)
{
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed); /* own variable */

    if (ring->tail_seen == head)
        /* pairs: ring_publish */
        ring->tail_seen = atomic_load_explicit(&ring->tail, memory_order_acquire);
    return ring->tail_seen - head;
}

/* Consumer. The message that begins `index` slots after the oldest unreleased one. index is the
 * sum of the sizes of the messages before it: its later slots are reached by this pointer only.
 * Valid until the ring_release that covers it. */
static inline const void *ring_at(const struct ring *ring, uint64_t index)
{
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed); /* own variable */

    return ring->slots + ((head + index) & ring->slot_mask) * ring->slot_bytes;
}

/* Consumer. Gives the oldest `count` slots back: the sizes of whole messages. */
static inline void ring_release(struct ring *ring, uint64_t count)
{
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed); /* own variable */

    INVARIANT(count <= ring->tail_seen - head);
    atomic_store_explicit(&ring->head, head + count, memory_order_release); /* pairs: ring_claim */
}

#endif
