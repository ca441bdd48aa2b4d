/* share.h - how much of each bounded table an account may have (W8, slots): its class by what it
 * brought in, and the rows that it and its class have. Owned by the engine.
 *
 *   net deposits, cash ── a deposit, the faucet, a withdrawal, a revert ──> funding ──> class
 *   a row comes or goes ──> counts of the account, used of its class (share_count.h)
 *
 * The classes are nested: the bound of a class holds for it and those below it together. Account 0
 * is exempt: its class is full.
 *
 * Units. Amounts micro-USDC. */
#ifndef ENGINE_STATE_SHARE_H
#define ENGINE_STATE_SHARE_H

#include "base/compiler.h"
#include "base/share_list.h"

/* What an unfunded account may have at most, whatever the options. */
enum {
    SHARE_UNFUNDED_SUBACCOUNTS = 1,
    SHARE_UNFUNDED_PORTFOLIOS = 2,
    SHARE_UNFUNDED_CREDENTIALS = 8,
};

/* The keys that an account is made with: its master key and its session. */
enum { SHARE_CREATION_CREDENTIALS = 2 };

/* Rows that an account may keep, whatever the class that a withdrawal brings it to; of keys and
 * sessions SHARE_UNFUNDED_CREDENTIALS, of subaccounts and portfolios as many as an unfunded one. */
enum {
    SHARE_FALL_ORDERS = 64,
    SHARE_FALL_POSITIONS = 16,
    SHARE_FALL_ARMS = 8,
    SHARE_FALL_WITHDRAWALS = 16,
};

#define SHARE_FUNDING_UNKNOWN INT64_MIN /* while an image is loaded that is older than funding */

/* One table: the rows of each class, and how many a class and those below it may have. `extra` are
 * those of used that an account has beyond share_base. */
struct share_use {
    uint32_t used[SHARE_CLASS_COUNT], extra[SHARE_CLASS_COUNT];
    uint32_t bound[SHARE_CLASS_COUNT];
    uint32_t newcomers; /* of bound, what only unfunded accounts may have; 0 where nobody is */
};

struct share {
    struct share_use tables[SHARE_TABLE_COUNT];
};

/* Rows that an account of the class finds while its class has room for them at all. What accounts
 * have beyond them is together at most half of what the class may have, so that a few that take
 * all they may leave the others theirs. UINT32_MAX: there is no such rule. */
extern const uint32_t share_base[SHARE_CLASS_COUNT][SHARE_TABLE_COUNT];

struct engine;

/* The options have changed, or the engine has none yet: bounds, classes and sums follow. */
void share_use_options(struct engine *engine);

/* All rows are gone: an image is about to bring its own. */
void share_clear(struct engine *engine);

/* An account is new: its class is that of no deposit. Its row is counted. */
void share_begin(struct engine *engine, uint32_t account);

/* What account `account` has brought in, or taken out, has changed: its class follows. */
void share_refund(struct engine *engine, uint32_t account);

/* The rows that one account may have in a table by its own bounds, whatever others have: those of
 * W8 over all its portfolios, and those of an unfunded account. UINT32_MAX: there is none. For
 * leverages and mmps it is the bound of both together. */
CC_MUST_USE uint32_t share_cap(const struct engine *engine, uint32_t account,
                               enum share_table table);

/* How many rows of a table of `size` rows each class and those below it may have. */
void share_bounds(const struct engine *engine, uint32_t size, uint32_t bound[SHARE_CLASS_COUNT]);

/* The size of a table, and of its rows those of accounts of the class. */
uint32_t share_size(const struct engine *engine, enum share_table table);
uint32_t share_used(const struct engine *engine, enum share_table table, enum share_class class);

/* Whether the account may have `count` more rows: by its own bounds, by the share of its class, and
 * because there is room. */
CC_MUST_USE bool share_fits(const struct engine *engine, uint32_t account, enum share_table table,
                            uint32_t count);

/* The same of an account that is to be made: unfunded, or of the class that all are. */
CC_MUST_USE bool share_fits_new(const struct engine *engine, enum share_table table,
                                uint32_t count);

/* Whether a withdrawal of `amount` may lower the class of the account: the first table of which it
 * has more rows, with that of the withdrawal, than it may keep in every class and than the classes
 * below its own from the new one on have room for. SHARE_TABLE_COUNT: there is none. */
CC_MUST_USE enum share_table share_stops_fall(const struct engine *engine, uint32_t account,
                                              uint64_t amount);

#endif
