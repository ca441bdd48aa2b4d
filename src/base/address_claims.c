#include "base/address_claims.h"

#include <errno.h>
#include <stdlib.h>

struct address_claim {
    _Atomic uint64_t address;
    _Atomic bool is_claimed;
};

int address_claims_init(struct address_claims *claims, uint32_t slot_count)
{
    claims->slots = calloc(slot_count, sizeof *claims->slots);
    claims->slot_count = slot_count;
    return claims->slots == NULL ? -ENOMEM : 0;
}

void address_claims_free(struct address_claims *claims)
{
    free(claims->slots);
    claims->slots = NULL;
}

/* Raises `high` above the slot. */
static void note_high(struct address_claims *claims, uint32_t slot)
{
    uint32_t high = atomic_load(&claims->high);
    while (high <= slot && !atomic_compare_exchange_weak(&claims->high, &high, slot + 1))
        ;
}

uint32_t address_claims_count(const struct address_claims *claims, uint64_t address)
{
    uint32_t high = atomic_load(&claims->high); /* pairs: note_high */
    uint32_t count = 0;
    for (uint32_t i = 0; i < high; i++) {
        const struct address_claim *claim = &claims->slots[i];
        if (atomic_load(&claim->is_claimed)) /* pairs: address_claims_add */
            count += atomic_load_explicit(&claim->address, memory_order_relaxed) == address;
    }
    return count;
}

bool address_claims_add(struct address_claims *claims, uint32_t slot, uint64_t address,
                        uint32_t most)
{
    INVARIANT(slot < claims->slot_count && !atomic_load(&claims->slots[slot].is_claimed));
    note_high(claims, slot);
    /* relaxed: read after `is_claimed`. */
    atomic_store_explicit(&claims->slots[slot].address, address, memory_order_relaxed);
    /* In one order with the loads of address_claims_count: of two threads one sees the other's. */
    atomic_store(&claims->slots[slot].is_claimed, true);
    if (address_claims_count(claims, address) <= most)
        return true;
    address_claims_drop(claims, slot);
    return false;
}

void address_claims_drop(struct address_claims *claims, uint32_t slot)
{
    INVARIANT(slot < claims->slot_count && atomic_load(&claims->slots[slot].is_claimed));
    atomic_store_explicit(&claims->slots[slot].is_claimed, false, memory_order_release);
}
