/* ring.h - bounded single-producer single-consumer ring; a message takes 1 to 34 whole slots.
 *
 *   producer thread                            consumer thread
 *   ---------------                            ---------------
 *   slot = ring_claim(count) ... again         n = ring_ready()
 *   fill the slots           --- tail --->     read ring_at(0), ring_at(size of it), ...
 *   ring_publish()           <--- head ---     ring_release(slots read)
 *
 * Order. ring_publish stores tail with release and ring_ready loads it with acquire: the consumer
 *        sees a slot only after the producer has filled it. ring_release and ring_claim do the same
 *        with head: the producer reuses a slot only after the consumer's last read of it.
 * Wait.  Nothing blocks or spins. A full ring returns NULL and the caller sheds load.
 * Owner. The producer owns a slot from claim to publish, the consumer from ready to release. Only
 *        the producer accesses `claimed` and `head_seen`, only the consumer `tail_seen`.
 * Units. Positions count slots since start; 64 bits do not wrap in practice.
 * Bound. A message has at most RING_MESSAGE_SLOTS_MAX slots; slot_count is a power of two.
 *
 * Contiguity. Every message is one piece of memory. Position p is at slot p mod slot_count. A
 * message that begins near the end runs on into RING_TAIL extra slots after the last one. Positions
 * advance by its size as usual, so the slots at the front that its rest would have used stay unused
 * for that lap. There are no skip markers. Two live messages never overlap in the tail. Only a
 * message that crosses a lap boundary reaches it, and two such messages cross boundaries at least
 * slot_count apart. So the first slot of the earlier and the last slot of the later are more than
 * slot_count apart, and ring_claim never lets claimed - head exceed slot_count. */
#ifndef BASE_RING_H
#define BASE_RING_H

#include "base/compiler.h"

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

/* Returns the bytes of memory for a ring of slot_count slots, the tail included. */
size_t ring_bytes(uint32_t slot_count, uint32_t slot_bytes);

/* Initializes an empty ring in `memory`, which holds ring_bytes() bytes, is 64-byte aligned and
 * outlives the ring. slot_count is a power of two and at least 64, so that the longest message
 * fits; slot_bytes is a multiple of 8. */
void ring_init(struct ring *ring, void *memory, uint32_t slot_count, uint32_t slot_bytes);

/* Producer. Claims `count` consecutive slots after those claimed before and returns the first. NULL
 * when that many are not free; then nothing is claimed. One ring_publish may follow several claims.
 * A claim cannot be undone. */
static inline void *ring_claim(struct ring *ring, uint32_t count)
{
    uint64_t first = ring->claimed;
    uint64_t end = first + count;

    INVARIANT(count - 1 < RING_MESSAGE_SLOTS_MAX);
    if (CC_UNLIKELY(end - ring->head_seen > (uint64_t)ring->slot_mask + 1)) {
        /* acquire (pairs: ring_release): the consumer's reads of these slots come before our
         * writes. */
        ring->head_seen = atomic_load_explicit(&ring->head, memory_order_acquire);
        if (end - ring->head_seen > (uint64_t)ring->slot_mask + 1)
            return NULL;
    }
    ring->claimed = end;
    return ring->slots + (first & ring->slot_mask) * ring->slot_bytes;
}

/* Producer. Makes every claimed slot visible to the consumer at once. */
static inline void ring_publish(struct ring *ring)
{
    /* release (pairs: ring_ready): our writes to the slots come before the new tail. */
    atomic_store_explicit(&ring->tail, ring->claimed, memory_order_release);
}

/* Producer. Returns how many slots are claimed or published and not yet released, an upper
 * bound. */
static inline uint64_t ring_used(struct ring *ring)
{
    /* acquire (pairs: ring_release): the caller may write to the slots that are not counted. */
    ring->head_seen = atomic_load_explicit(&ring->head, memory_order_acquire);
    return ring->claimed - ring->head_seen;
}

/* Any thread. How many slots were published and not yet released, a moment ago: for display. */
static inline uint64_t ring_depth(const struct ring *ring)
{
    /* relaxed: nothing is decided by them. Head first, for it never passes tail. */
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    return tail > head ? tail - head : 0;
}

/* Producer. Returns how many slots can be claimed now, a lower bound. */
static inline uint64_t ring_free(struct ring *ring)
{
    return (uint64_t)ring->slot_mask + 1 - ring_used(ring);
}

/* Consumer. Returns how many slots can be read now, whole messages only; 0 when empty. It loads the
 * shared tail only when everything seen before is released. */
static inline uint64_t ring_ready(struct ring *ring)
{
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed); /* own variable */

    if (ring->tail_seen == head)
        /* acquire (pairs: ring_publish): the producer's writes to these slots come before our
         * reads. */
        ring->tail_seen = atomic_load_explicit(&ring->tail, memory_order_acquire);
    return ring->tail_seen - head;
}

/* Consumer. Returns the message that begins `index` slots after the oldest unreleased one. `index`
 * is the sum of the sizes of the messages before it; the later slots of a message are reached by
 * this pointer only. Valid until the ring_release that covers it. */
static inline const void *ring_at(const struct ring *ring, uint64_t index)
{
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed); /* own variable */

    return ring->slots + ((head + index) & ring->slot_mask) * ring->slot_bytes;
}

/* Consumer. Releases the oldest `count` slots, which are whole messages. */
static inline void ring_release(struct ring *ring, uint64_t count)
{
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed); /* own variable */

    INVARIANT(count <= ring->tail_seen - head);
    /* release (pairs: ring_claim, ring_used): our reads of the slots come before the new head. */
    atomic_store_explicit(&ring->head, head + count, memory_order_release);
}

#endif
