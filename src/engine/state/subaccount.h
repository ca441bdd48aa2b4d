/* subaccount.h - the subaccounts of all accounts, and codes 22 and 23 (R10, R11); owned by the
 * engine.
 *
 * Its portfolios have the indexes 0 to portfolio_count - 1, those without a row are CLOSED
 * (portfolio_row.h). Its record goes with the row of the last of them, which one of an ACTIVE
 * subaccount keeps; its index stays: the account has those from 0 to its subaccount_count - 1, and
 * one without a record is CLOSED, with portfolio 0. Subaccount 0 has its record as long as its
 * account is there. */
#ifndef ENGINE_STATE_SUBACCOUNT_H
#define ENGINE_STATE_SUBACCOUNT_H

#include "base/compiler.h"
#include "base/status.h"
#include "engine/table/free_rows.h"
#include "engine/table/hash_index.h"

#define SUBACCOUNT_NONE UINT32_MAX

enum { SUBACCOUNT_INDEXES_MAX = 65536 }; /* of an account: as limits.subaccounts at most */

/* clang-format off */
/*    status   may become */
#define SUBACCOUNT_STATUS_LIST(X)                                                                  \
    X(ACTIVE,  TO(CLOSED) | TO(FREE))                                                              \
    X(CLOSED,  TO(FREE))                                                                           \
    X(FREE,    TO(ACTIVE)) /* nobody's, until another one gets the record (subaccount_give_back) */
/* clang-format on */

enum subaccount_status {
#define X(name, next) SUBACCOUNT_##name,
    SUBACCOUNT_STATUS_LIST(X)
#undef X
        SUBACCOUNT_STATUS_COUNT
};

struct subaccount {
    uint64_t created_sequence;
    uint32_t account;
    uint32_t subaccount_index;    /* in its account */
    uint32_t portfolio_count;     /* ever made */
    uint32_t withdrawals_pending; /* of its portfolios (withdrawal.h) */
    uint32_t portfolio_rows;      /* of them, those that have rows */
    uint8_t status;               /* enum subaccount_status */
    uint8_t zero[3];
};

/* clang-format off */
#define SUBACCOUNT_FIELDS(X) \
    X(created_sequence) X(account) X(subaccount_index) X(status) X(portfolio_count)
#define SUBACCOUNT_FIELDS_1(X) X(created_sequence) X(account) X(subaccount_index) X(status)
#define SUBACCOUNT_CACHES(X) X(withdrawals_pending) X(portfolio_rows) X(zero)
/* clang-format on */

/* The only writer of a status after the creation. The table must allow the move (INVARIANT). */
static inline void subaccount_move(struct subaccount *subaccount, enum subaccount_status next)
{
#define TO(name)               (1u << SUBACCOUNT_##name)
#define X(name, next_statuses) next_statuses,
    static const uint8_t allowed[SUBACCOUNT_STATUS_COUNT] = { SUBACCOUNT_STATUS_LIST(X) };
#undef X
#undef TO

    INVARIANT(subaccount->status < SUBACCOUNT_STATUS_COUNT);
    INVARIANT((allowed[subaccount->status] >> next & 1u) != 0);
    subaccount->status = (uint8_t)next;
}

struct subaccount_table {
    struct subaccount *rows;       /* [slots] */
    struct hash_index map;         /* by account and index, but index 0: 1 + index in rows */
    struct hash_index by_sequence; /* those of a 22, likewise */
    struct free_rows free;
    uint32_t slots; /* as many as portfolios: each has one at least */
    uint32_t limit;
    uint32_t count;
};

struct engine;
struct image_read;
struct command;
struct engine_result;

/* Returns the bytes that subaccount_table_init needs for that many. */
size_t subaccount_table_bytes(uint32_t slots);

/* Prepares an empty table. `memory`: subaccount_table_bytes(slots) zero bytes, 64-byte aligned,
 * which outlive it. */
void subaccount_table_init(struct subaccount_table *table, void *memory, uint32_t slots);

/* The record, whatever its status, or SUBACCOUNT_NONE: the account has no such subaccount, or it is
 * CLOSED and has no record. `account`: its slot, or ACCOUNT_NONE. */
CC_MUST_USE uint32_t subaccount_find(const struct engine *engine, uint32_t account,
                                     uint32_t subaccount_index);

/* How many portfolios the subaccount has ever had, 1 of one without a record; 0: the account has no
 * such subaccount. `account`: its slot, or ACCOUNT_NONE. */
CC_MUST_USE uint32_t subaccount_portfolio_count(const struct engine *engine, uint32_t account,
                                                uint32_t subaccount_index);

/* Whether the account has this subaccount and it is not CLOSED. */
CC_MUST_USE bool subaccount_is_open(const struct engine *engine, uint32_t account,
                                    uint32_t subaccount_index);

/* The record that command `sequence` made for a 22, or SUBACCOUNT_NONE: subaccount 0 comes with its
 * account. */
CC_MUST_USE uint32_t subaccount_find_sequence(const struct engine *engine, uint64_t sequence);

/* The account's next subaccount with its portfolio 0 "Main" (R10); it fits. Gives its record. */
uint32_t subaccount_add(struct engine *engine, uint32_t account);

/* Makes the record of a subaccount FREE whose portfolios have no rows any more. */
void subaccount_give_back(struct engine *engine, uint32_t record);

/* Whether all subaccounts of the account are CLOSED. */
CC_MUST_USE bool subaccount_all_closed(const struct engine *engine, uint32_t account);

/* Codes 22 and 23 after row suspended. */
CC_MUST_USE enum status subaccount_create(struct engine *engine, const struct command *command,
                                          struct engine_result *result);
CC_MUST_USE enum status subaccount_close(struct engine *engine, const struct command *command,
                                         struct engine_result *result);

/* Section 15 of an image, into the empty table, as yet without portfolios; the accounts are there
 * and say how many they have ever had. An image that does not have it: the subaccounts that its
 * accounts count. */
CC_MUST_USE bool subaccount_load(struct engine *engine, struct image_read *read);

#endif
