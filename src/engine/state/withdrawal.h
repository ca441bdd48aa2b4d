/* withdrawal.h - the withdrawals of all portfolios, pending and ended (R10). Owned by the engine.
 *
 *   10 ──> pending ── 1004 settled: the cash leaves │ reverted: it is the portfolio's again
 *          └─ its amount is in engine.withdrawals_pending
 *
 * withdraw.h has codes 10 and 1004.
 * A row is found by its id, which R3's rule makes of t, sequence and the index among the ids of its
 * command. One that has ended is kept until no request id that could repeat its 10 passes the
 * window, counted from its end: the duplicate answers with its id (W5). Then a command takes it
 * out, whatever it is.
 *
 * Units.  Amounts micro-USDC, times unix ns.
 * Bound.  A command takes out at most WITHDRAWAL_RELEASES_MAX ended ones. */
#ifndef ENGINE_STATE_WITHDRAWAL_H
#define ENGINE_STATE_WITHDRAWAL_H

#include "base/compiler.h"
#include "base/status.h"
#include "engine/table/hash_index.h"
#include "engine/table/slot_table.h"
#include "engine/table/timer_heap.h"

enum { WITHDRAWAL_NONE = 0, WITHDRAWAL_RELEASES_MAX = 4 };

#define WITHDRAWAL_MIN         UINT64_C(1000000)  /* 1 USDC (R10) */
#define WITHDRAWAL_PENDING_MAX (INT64_C(1) << 62) /* all together */

struct withdrawal {
    uint64_t created_sequence;
    uint64_t created_ns;
    uint64_t amount;
    uint64_t ended_sequence; /* of its 1004, 0: pending */
    uint64_t release_ns;     /* t from which it need not be kept, when it has ended */
    uint32_t portfolio;
    uint32_t id_index; /* of its id among those of its command (R3) */
    uint32_t next;     /* all in order of creation; in the free list: next free */
    uint32_t prev;
    uint32_t map_slot;
    uint8_t destination[20]; /* where it goes; decides nothing here */
};

/* clang-format off */
#define WITHDRAWAL_FIELDS(X) \
    X(created_sequence) X(created_ns) X(amount) X(ended_sequence) X(release_ns) X(portfolio) \
    X(id_index) X(destination)
#define WITHDRAWAL_CACHES(X) X(next) X(prev) X(map_slot)
/* clang-format on */

struct withdrawal_table {
    struct withdrawal *rows;    /* [slots.laid_out + 1]; 0 is the dummy */
    struct hash_index map;      /* by created_sequence: a command makes at most one */
    struct timer_heap releases; /* those that have ended, by release_ns */
    struct slot_table slots;    /* limit: engine.deposits */
    uint32_t head;              /* oldest */
    uint32_t tail;
};

struct engine;
struct image_read;
struct row_withdrawal;
struct command;
struct engine_result;

/* Returns the bytes that withdrawal_table_init needs for that many. */
size_t withdrawal_table_bytes(uint32_t slots);

/* Prepares an empty table. `memory`: withdrawal_table_bytes(slots) zero bytes, 64-byte aligned,
 * which outlive it. */
void withdrawal_table_init(struct withdrawal_table *table, void *memory, uint32_t slots);

/* The kept one that command `sequence` made, pending or not, or WITHDRAWAL_NONE. */
CC_MUST_USE uint32_t withdrawal_find_sequence(const struct engine *engine, uint64_t sequence);

/* The kept one with this id, or WITHDRAWAL_NONE. */
CC_MUST_USE uint32_t withdrawal_find(const struct engine *engine, const uint8_t id[16]);

/* The kept one that was created before `at`; of WITHDRAWAL_NONE the newest. WITHDRAWAL_NONE: there
 * is none. */
CC_MUST_USE uint32_t withdrawal_older(const struct engine *engine, uint32_t at);

/* What an operator is shown of a kept one. How it has ended is in no state: `outcome` is pending or
 * settled. False: the row is nobody's. */
CC_MUST_USE bool withdrawal_read(const struct engine *engine, uint32_t at,
                                 struct row_withdrawal *row);

/* Its id: R3's rule. */
void withdrawal_id(const struct withdrawal *withdrawal, uint8_t id[16]);

/* Whether the sum of what is pending has room for this amount. */
CC_MUST_USE bool withdrawal_fits(const struct engine *engine, uint64_t amount);

/* Keeps a copy of the row as the newest; its table has room. The sum of what is pending is the
 * caller's. Returns its index. */
uint32_t withdrawal_add(struct engine *engine, const struct withdrawal *row);

/* Code 1004 of a pending one: it has ended, and is kept until its release_ns. */
void withdrawal_end(struct engine *engine, uint32_t withdrawal);

/* Frees at most WITHDRAWAL_RELEASES_MAX of those whose release_ns has come. Called before each
 * command. */
void withdrawal_release_ended(struct engine *engine);

/* Section 16 of an image, into the empty table; the portfolios are there. */
CC_MUST_USE bool withdrawal_load(struct engine *engine, struct image_read *read);

#endif
