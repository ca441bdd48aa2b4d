#include "base/ring.h"

enum { RING_SLOTS_MIN = 64 };

static_assert((int)RING_SLOTS_MIN >= (int)RING_MESSAGE_SLOTS_MAX, "the longest message fits");

size_t ring_bytes(uint32_t slot_count, uint32_t slot_bytes)
{
    return ((size_t)slot_count + RING_TAIL) * slot_bytes;
}

void ring_init(struct ring *ring, void *memory, uint32_t slot_count, uint32_t slot_bytes)
{
    INVARIANT(slot_count >= RING_SLOTS_MIN);
    INVARIANT((slot_count & (slot_count - 1)) == 0);
    INVARIANT(slot_bytes != 0 && slot_bytes % sizeof(uint64_t) == 0);
    INVARIANT((uintptr_t)memory % CC_CACHE_LINE == 0);
    *ring = (struct ring){
        .slots = memory,
        .slot_bytes = slot_bytes,
        .slot_mask = slot_count - 1,
    };
}
