/* address_claims.h - how many of one thing each client address holds in the whole process, for
 * limits that all network threads share.
 *
 *   net threads ── address_claims_add, address_claims_drop ──> slots that all of them count
 *
 * A claim is in a slot of its own until it is dropped. It is written first and counted afterwards:
 * of two threads that claim at a time at least one sees both claims, so a limit is never passed.
 * Both may see both, and then both are refused.
 *
 * Wait.  Nothing blocks or retries.
 * Owner. A slot is one thread's; any thread counts.
 * Bound. `slot_count` claims, allocated at the start. A claim looks at the slots up to the highest
 *        that was ever used. */
#ifndef BASE_ADDRESS_CLAIMS_H
#define BASE_ADDRESS_CLAIMS_H

#include "base/compiler.h"

struct address_claims {
    struct address_claim *slots; /* NULL: before address_claims_init */
    uint32_t slot_count;
    _Atomic uint32_t high; /* slots that were ever used are below it */
};

/* 0 or -ENOMEM. The claims must be all zeros before. */
CC_MUST_USE int address_claims_init(struct address_claims *claims, uint32_t slot_count);
void address_claims_free(struct address_claims *claims);

/* Claims for the address in the caller's slot, which is free. False: it has `most` claims already,
 * and the slot stays free. */
CC_MUST_USE bool address_claims_add(struct address_claims *claims, uint32_t slot, uint64_t address,
                                    uint32_t most);

/* How many claims the address has. */
CC_MUST_USE uint32_t address_claims_count(const struct address_claims *claims, uint64_t address);

/* Ends the claim of the caller's slot. */
void address_claims_drop(struct address_claims *claims, uint32_t slot);

#endif
