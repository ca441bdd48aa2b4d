/* portfolio.h - portfolios, each one cross-margin pool (R4); owned by the engine.
 *
 * A portfolio has its index as long as its account is there: another one has it only after the
 * whole account was taken (reclaim.h). A CLOSED one may be without a row (portfolio_row.h).
 * Portfolio 0 is 0/0/0, the insurance fund.
 *
 * Units. Amounts micro-USDC. */
#ifndef ENGINE_STATE_PORTFOLIO_H
#define ENGINE_STATE_PORTFOLIO_H

#include "base/compiler.h"
#include "base/status.h"
#include "engine/state/effects.h"
#include "engine/table/free_rows.h"
#include "engine/table/hash_index.h"

enum { PORTFOLIO_NAME_BYTES = 32, PORTFOLIO_MARKETS_MAX = 64, PORTFOLIO_HEAD_BYTES = 32 };

#define PORTFOLIO_NONE     UINT32_MAX /* none; in a cancel-all: every one of the subaccount */
#define PORTFOLIO_CASH_MAX (INT64_C(1) << 60) /* R1 */

/* clang-format off */
/*    status           code  may become (rules.md R10, moves) */
#define PORTFOLIO_STATUS_LIST(X)                                    \
    X(ACTIVE,          0,    TO(IN_LIQUIDATION) | TO(CLOSED))       \
    X(IN_LIQUIDATION,  1,    TO(ACTIVE))                            \
    X(CLOSED,          2,    TO(ACTIVE))
/* clang-format on */

enum portfolio_status {
#define X(name, code, next) PORTFOLIO_##name = (code),
    PORTFOLIO_STATUS_LIST(X)
#undef X
        PORTFOLIO_STATUS_COUNT,
    PORTFOLIO_FREE = 255, /* nobody's, until another one gets the row (portfolio_give_back) */
};

/* The table in one word: a move is bit 8 * from + to. */
static const uint64_t portfolio_moves = 0
#define TO(name)            (1ull << PORTFOLIO_##name)
#define X(name, code, next) | (uint64_t)(next) << 8 * (code)
    PORTFOLIO_STATUS_LIST(X);
#undef X
#undef TO

/* Four lines: what every fill reads; what is rarely read; the sums of margin; slacks and others. */
struct portfolio {
    int64_t cash;
    uint64_t cancel_sequence; /* stamp: older orders are dead (R3, cancellation list) */
    uint64_t dead_man_ns;     /* all are, from here on, when not 0 (R10, code 25) */
    uint64_t figure_epoch;    /* risk.mark_epoch of the figures; holdings may be older, see */
    uint32_t stale_holding;   /* the one that is, HOLDING_NONE, or RECHECK_STALE_MANY */
    uint32_t changed_next;    /* list of portfolios to check (risk.h) */
    uint32_t account;         /* its slot */
    uint32_t subaccount_index;
    uint32_t open_order_count; /* resting orders, dead ones included */
    uint32_t holding_head;     /* its holdings, ascending market index */
    uint8_t holding_count;
    uint8_t status;            /* enum portfolio_status */
    bool flagged;              /* E < IM at its last check (R7) */
    bool changed;              /* is in the list of portfolios to check */
    bool cancel_queued;        /* a cancellation list of it is in the queue (work.h) */
    bool netted;               /* after the netting of its liquidation (R7) */
    bool unseen;               /* marks may have moved since a check that found E >= 0 (risk.h) */
    bool excess_queued;        /* a record of it exceeds and is in the queue (excess.h) */
    uint64_t liquidation_ns;   /* t of its last L1 action (R7), 0: none yet */
    uint64_t created_sequence; /* of the command that gave it its row */
    uint64_t release_ns;       /* while it is CLOSED: its row is looked at then (portfolio_row.h) */
    uint64_t liquidation_wake_ns; /* timer of its liquidation's pauses (R7), 0: none */
    uint8_t name[PORTFOLIO_NAME_BYTES];
    int128 value;             /* sums of its holdings' figures (margin.h): E - cash, ... */
    int128 maintenance;       /* ... MM, ... */
    int128 initial;           /* ... IM, ... */
    int128 loose;             /* ... by how much IM may be too high */
    int128 slack_maintenance; /* E - MM of the last exact check, less moves since (R7) */
    int128 slack_initial;     /* E - IM, likewise */
    uint32_t funding_count;   /* of engine.funding_count when its funding was last settled */
    uint32_t portfolio_index;
    uint32_t account_next;     /* next portfolio of the account, PORTFOLIO_NONE: last */
    uint32_t subaccount;       /* its subaccount's record (subaccount.h) */
    uint32_t conditional_head; /* its untriggered orders, oldest first (conditional.h) */
    uint32_t conditional_tail;
    uint32_t conditional_count;
    uint8_t cancel_reason;   /* of cancel_sequence: enum reason */
    bool liquidation_queued; /* its liquidation is in the queue (work.h) */
    bool moved;              /* in a market that a run ranks, and not looked at since (risk.h) */
    bool reopened;           /* it had a row before this one */
};

static_assert(sizeof(struct portfolio) == 4 * CC_CACHE_LINE, "rows stay on lines");

/* clang-format off */
#define PORTFOLIO_FIELDS(X) \
    X(slack_maintenance) X(slack_initial) X(cash) X(cancel_sequence) X(name) X(account) \
    X(subaccount_index) X(portfolio_index) X(open_order_count) X(status) X(flagged) \
    X(dead_man_ns) X(liquidation_ns) X(created_sequence) X(cancel_reason) \
    X(liquidation_wake_ns) X(netted) X(release_ns) X(reopened)
#define PORTFOLIO_CACHES(X) \
    X(holding_head) X(holding_count) X(account_next) X(value) X(maintenance) X(initial) X(loose) \
    X(figure_epoch) X(stale_holding) X(changed_next) X(changed) X(moved) X(unseen) \
    X(cancel_queued) X(funding_count) X(conditional_head) X(conditional_tail) \
    X(conditional_count) X(subaccount) X(liquidation_queued) X(excess_queued)
/* clang-format on */

/* True if the table allows the move. A status never becomes itself. */
CC_MUST_USE static inline bool portfolio_may_become(enum portfolio_status from,
                                                    enum portfolio_status to)
{
    INVARIANT((unsigned)from < PORTFOLIO_STATUS_COUNT);
    INVARIANT((unsigned)to < PORTFOLIO_STATUS_COUNT);
    return (portfolio_moves >> (8 * (unsigned)from + (unsigned)to)) & 1u;
}

/* Its next status; nothing else writes one after the creation. The effect is the caller's. */
static inline void portfolio_move(struct portfolio *portfolio, enum portfolio_status next)
{
    INVARIANT(portfolio_may_become((enum portfolio_status)portfolio->status, next));
    portfolio->status = (uint8_t)next;
}

struct portfolio_table {
    struct portfolio *rows;        /* [slots] */
    struct hash_index map;         /* by account and indexes, but 0/0: index in rows */
    struct hash_index by_sequence; /* those of a 24: index in rows */
    struct free_rows free;
    struct timer_heap releases; /* CLOSED ones by release_ns, row: index + 1 */
    uint32_t *account_prev;     /* [slots] the account's one before it; of its 0/0 nothing */
    uint32_t *withdrawals;      /* [slots] that are kept */
    uint32_t slots;
    uint32_t limit;
    uint32_t count; /* in use or FREE, portfolio 0 included */
};

struct engine;
struct image_read;
struct command;
struct engine_result;

/* Returns the bytes that portfolio_table_init needs for that many. */
size_t portfolio_table_bytes(uint32_t slots);

/* Prepares an empty table. `memory`: so many zero bytes, 64-byte aligned, which outlive it. */
void portfolio_table_init(struct portfolio_table *table, void *memory, uint32_t slots);

/* Whether its dead-man deadline has come and has not fired yet: what rests or waits is dead. */
static inline bool portfolio_dead_man_has_come(const struct portfolio *portfolio, uint64_t t_ns)
{
    return portfolio->dead_man_ns - 1 < t_ns; /* 0 is no deadline */
}

/* What effects and rows call a portfolio. */
CC_MUST_USE struct effect_portfolio_id portfolio_effect_id(const struct engine *engine,
                                                           uint32_t portfolio);

/* Index of the portfolio, whatever its status, or PORTFOLIO_NONE: there is none, or it is CLOSED
 * and has no row. `account`: its slot, or ACCOUNT_NONE. */
CC_MUST_USE uint32_t portfolio_find(const struct engine *engine, uint32_t account,
                                    uint32_t subaccount_index, uint32_t portfolio_index);

/* The one that command `sequence` made for a 24, or PORTFOLIO_NONE; never a portfolio 0. */
CC_MUST_USE uint32_t portfolio_find_sequence(const struct engine *engine, uint64_t sequence);

/* The next portfolio of the subaccount (its record); it fits. `name`: all of it, or up to a 0. */
uint32_t portfolio_add(struct engine *engine, uint32_t subaccount, const char *name);

/* A row, CLOSED, for one of the subaccount that was made and has none (portfolio_row_fits). */
uint32_t portfolio_add_again(struct engine *engine, uint32_t subaccount, uint32_t portfolio_index);

/* Makes the row of one that has nothing FREE, and what was set for it; its list is the caller's. */
void portfolio_give_back(struct engine *engine, uint32_t portfolio);

/* Makes a CLOSED portfolio ACTIVE, because cash came to it (R10), and emits 2119. */
void portfolio_wake(struct engine *engine, uint32_t portfolio);

/* Makes an ACTIVE portfolio CLOSED (R10), with its first name, and emits 2119: it is empty. */
void portfolio_end(struct engine *engine, uint32_t portfolio);

/* Sets the timer of the dead-man of a portfolio that was loaded from an image. */
void portfolio_enter_dead_man(struct engine *engine, uint32_t portfolio);

/* Code 24 after row suspended. */
CC_MUST_USE enum status portfolio_create(struct engine *engine, const struct command *command,
                                         struct engine_result *result);

/* The portfolio that codes 2001, 2002, 2003, 2009 and 2010 name at the head of their bodies, in
 * PORTFOLIO_HEAD_BYTES: their credential, then *portfolio, PORTFOLIO_NONE of one without a row. */
CC_MUST_USE enum status portfolio_of_command(const struct engine *engine,
                                             const struct command *command, uint32_t *portfolio,
                                             struct engine_result *result);

/* Codes 2003 and 2010, their credential included; portfolio_close.h has 2002. */
CC_MUST_USE enum status portfolio_reopen(struct engine *engine, const struct command *command,
                                         struct engine_result *result);
CC_MUST_USE enum status portfolio_rename(struct engine *engine, const struct command *command,
                                         struct engine_result *result);

/* Section 5 of an image, as yet without records and orders; the subaccounts are there. */
CC_MUST_USE bool portfolio_load(struct engine *engine, struct image_read *read);

#endif
