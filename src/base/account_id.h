/* account_id.h - what an account's id is made of: its slot in the table of accounts, and the
 * generation of that slot.
 *
 *   63       62 ............. 32 31 ............ 0
 *   derived  generation          slot
 *
 * A slot that is given to another account gets the next generation, so an id is never used again
 * (R1). Whatever is kept by account outside the engine is indexed by the slot, and where it names
 * its owner it names the whole id. A number with bit 63 is no account's: it is derived from a key
 * (W5). */
#ifndef BASE_ACCOUNT_ID_H
#define BASE_ACCOUNT_ID_H

#include "base/compiler.h"

enum { ACCOUNT_ID_GENERATION_AT = 32 };

#define ACCOUNT_ID_DERIVED        (UINT64_C(1) << 63)
/* The last account of a slot: then it is not given again. Ids stay below 2^53: exact as doubles. */
#define ACCOUNT_ID_GENERATION_MAX ((1 << 21) - 1)

static inline uint32_t account_id_slot(uint64_t id)
{
    return (uint32_t)id;
}

static inline uint64_t account_id_of(uint32_t slot, uint32_t generation)
{
    return (uint64_t)generation << ACCOUNT_ID_GENERATION_AT | slot;
}

/* What mix_id takes of the number that a request id is kept under: orders are found by the slot. */
static inline uint64_t account_id_hashed(uint64_t account)
{
    return (account & ACCOUNT_ID_DERIVED) != 0 ? account : account_id_slot(account);
}

#endif
