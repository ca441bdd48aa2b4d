/* address_claims.h - how many of one thing each client address holds in the whole process, for
 * limits that all network threads share.
 *
 *   net threads ── address_claims_add, address_claims_drop ──> slots that all of them count
 *
 * A claim is in a slot of its own until it is dropped. It is counted in the row of its address
 * first, and all counts of the address are summed afterwards. If two threads claim at one time, at
 * least one of them sees both claims, so no limit is passed. If both see both, both are refused.
 *
 * Wait.  Nothing blocks. A row that another thread changes meanwhile is looked at again.
 * Owner. A slot is one thread's; rows are all threads'.
 * Bound. `slot_count` claims and four rows for each, mapped at the start. A claim looks at the
 *        32 rows of a bucket, which the keyed hash of its address chooses. */
#ifndef BASE_ADDRESS_CLAIMS_H
#define BASE_ADDRESS_CLAIMS_H

#include "base/compiler.h"
#include "base/mix.h"

struct address_claims {
    uint32_t *slots; /* 1 + the row that a slot's claim is counted in; 0: it has none. NULL: before
                      * address_claims_init */
    struct address_claim_row *rows;
    uint32_t slot_count;
    uint32_t bucket_mask;
    struct mix_key hash_key;
};

/* 0 or -ENOMEM. The claims must be all zeros before. */
CC_MUST_USE int address_claims_init(struct address_claims *claims, uint32_t slot_count,
                                    struct mix_key hash_key);
void address_claims_free(struct address_claims *claims);

/* Claims for the address in the caller's slot, which is free. Returns how many claims the address
 * has with it. 0: it has `most` already, or all rows of its bucket are other addresses' (if every
 * claim is of another address a bucket has 8 on average), and the slot stays free. */
CC_MUST_USE uint32_t address_claims_add(struct address_claims *claims, uint32_t slot,
                                        uint64_t address, uint32_t most);

/* Ends the claim of the caller's slot. */
void address_claims_drop(struct address_claims *claims, uint32_t slot);

#endif
