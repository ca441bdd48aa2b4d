/* account_position.h - what an account holds in a market over all its portfolios (rules.md R4,
 * tiers of entry). Owned by the engine.
 *
 * Only an account with more than one portfolio has records. One is made with the first (portfolio,
 * market) record of the pair and freed with the last, so that the table never fills before that of
 * holdings.
 *
 * Owner.  Index 0 is a dummy and never given.
 * Units.  Sizes raw. */
#ifndef ENGINE_STATE_ACCOUNT_POSITION_H
#define ENGINE_STATE_ACCOUNT_POSITION_H

#include "base/compiler.h"
#include "engine/state/account.h"
#include "engine/table/hash_index.h"
#include "engine/table/slot_table.h"

enum { ACCOUNT_POSITION_NONE = 0 };

struct account_position {
    uint64_t size;  /* sum of |s| of its holdings */
    uint32_t count; /* of its holdings */
    uint32_t account;
    uint32_t map_slot;
    uint32_t next; /* in the free list */
    uint16_t market;
    uint8_t zero[6];
};

struct account_position_table {
    struct account_position *rows; /* [slots.laid_out + 1]; 0 is the dummy */
    struct hash_index map;
    struct slot_table slots; /* limit: engine.positions */
};

struct engine;

size_t account_position_table_bytes(uint32_t slots);
void account_position_table_init(struct account_position_table *table, void *memory,
                                 uint32_t slots);

/* True if the account has had more than one portfolio: the market records of its portfolios, those
 * of no other account, are counted here, also when one alone has a row. */
static inline bool account_position_counts(const struct account *account)
{
    return CC_UNLIKELY(account->has_many);
}

/* The account of this portfolio gets its second one: the first one's holdings are counted. */
void account_position_begin(struct engine *engine, uint32_t portfolio);

/* The account's size in the market (index), 0 without a record. */
CC_MUST_USE uint64_t account_position_size(const struct engine *engine, uint32_t account,
                                           uint32_t market);

/* A new holding (its index), without a position yet, is counted and joins the list of its account's
 * holdings, in no order. Nothing happens to one of an account with one portfolio. */
void account_position_enter(struct engine *engine, uint32_t holding);

/* A holding that entered, without a position, is given back. */
void account_position_leave(struct engine *engine, uint32_t holding);

/* The size of one of the holdings changes. */
void account_position_move(struct engine *engine, uint32_t index, int64_t before, int64_t after);

#endif
