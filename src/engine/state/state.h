/* state.h - struct engine: every table of the state machine. Private to src/engine.
 *
 * Fields marked C are caches and scratch: not in the image, made again from the rest. A table of
 * variable size has X_bytes(slots) and X_init(table, memory, slots); state.c lays them out. */
#ifndef ENGINE_STATE_STATE_H
#define ENGINE_STATE_STATE_H

#include "base/message.h"
#include "base/mix.h"
#include "base/option.h"
#include "base/request.h"
#include "engine/state/account.h"
#include "engine/state/account_position.h"
#include "engine/state/conditional.h"
#include "engine/state/credential.h"
#include "engine/state/deposit.h"
#include "engine/state/disconnect.h"
#include "engine/state/effects.h"
#include "engine/state/holding.h"
#include "engine/state/leverage.h"
#include "engine/state/liquidation_step.h"
#include "engine/state/market.h"
#include "engine/state/mmp.h"
#include "engine/state/passkey.h"
#include "engine/state/portfolio.h"
#include "engine/state/recheck.h"
#include "engine/state/result.h"
#include "engine/state/samples.h"
#include "engine/state/settlement_pass.h"
#include "engine/state/share.h"
#include "engine/state/subaccount.h"
#include "engine/state/withdrawal.h"
#include "engine/state/work_queue.h"
#include "engine/table/duplicate.h"
#include "engine/table/order.h"
#include "engine/table/order_map.h"

enum state_own_order { OWN_ORDER_TAKER, OWN_ORDER_MAKER };

/* The command that the engine is applying, and what was found so far. C. */
struct applying {
    const struct command *command;
    struct engine_sink *sink;
    uint32_t id_count;     /* ids made by it so far (R3) */
    uint32_t order_count;  /* orders that it has entered: below the sequence in a stamp */
    uint32_t portfolio;    /* of its portfolio_id after row portfolio, else PORTFOLIO_NONE */
    uint32_t credential;   /* that signed it, or CREDENTIAL_NONE */
    uint32_t account;      /* of that credential */
    uint32_t resting;      /* the order whose evidence is wanted, while it lives, else ORDER_NONE */
    uint32_t untriggered;  /* likewise, while it waits (conditional.h), else CONDITIONAL_NONE */
    uint32_t makers;       /* that the last walk met */
    uint32_t batch_makers; /* that the items of a batch have met so far, else 0 */
    uint32_t unpaid;       /* makers met by what was refused (walk_debt.h) */
    uint32_t batch_orders; /* orders that an atomic batch would make, while it is checked */
    struct engine_result *answer; /* that the evidence goes to */
};

/* The makers that the last walk met, in their order. Its execution prefetches them. C. Rows after
 * `count` are of earlier walks but valid indexes, so that prefetching them is harmless. */
enum { STATE_PATH_MAX = 4096, STATE_PATH_AHEAD = 8 };
struct path {
    uint32_t orders[STATE_PATH_MAX + STATE_PATH_AHEAD];
    uint32_t count;
};

struct engine {
    struct mix_key key;            /* C: given at init, part of the snapshot's header */
    struct option_engine capacity; /* C: laid out */
    struct option_engine options;  /* C: parsed from configuration */

    int128 deposits; /* sums since genesis (I2), ... */
    int128 faucet;
    int128 top_ups;
    int128 withdrawals_settled;
    uint64_t sequence;
    uint64_t t_ns;
    uint64_t boot;
    uint64_t rules_version;
    int64_t clock_step_ns; /* of the gap of the clock that is open (R9), 0: none */
    int64_t fee_account;
    int64_t withdrawals_pending;
    int64_t fund_paid;      /* deficits that the fund has paid ... */
    uint64_t fund_paid_day; /* ... in this UTC day (R7, L3) */
    uint64_t funding_count; /* epochs opened, all markets: raised before a portfolio can owe one */
    struct effects effects;
    uint32_t configuration_bytes; /* 0: none yet */
    uint8_t configuration[REQUEST_BODY_MAX];
    uint8_t zero[4];

    struct account_table accounts;
    struct credential_table credentials;
    struct passkey_table passkeys;
    struct subaccount_table subaccounts;
    struct portfolio_table portfolios;
    struct holding_table holdings;
    struct account_position_table account_positions; /* C */
    struct leverage_table leverages;
    struct order_table orders;
    struct order_map order_map; /* C */
    struct conditional_table conditionals;
    struct timer_heap expiries; /* C: orders with a GTT expiry, rank = placed_sequence */
    struct timer_heap dead_men; /* C: portfolios with a deadline (schedule.h), index + 1 */
    struct mmp_table mmps;
    struct disconnect_table arms;
    struct market_table markets;
    struct sample_table samples;
    struct settlement settlements[ENGINE_MARKETS_MAX]; /* in the image with the work */
    struct deposit_table deposits_seen;
    struct withdrawal_table withdrawals;
    struct duplicate duplicates;
    struct work_queue work;
    struct liquidation liquidation;
    struct recheck recheck; /* C */
    struct share share;     /* C */

    struct applying applying; /* C */
    struct path path;         /* C */
};

/* Bytes of an engine of these capacities; *resident (may be NULL) those that a start touches. */
size_t state_bytes(const struct option_engine *capacity, size_t *resident);

/* Lays an engine with empty tables out in state_bytes(capacity) zero bytes, 4096-aligned. */
struct engine *state_init(void *memory, size_t bytes, const struct option_engine *capacity);

/* Whether memory is laid out for these options (roles.md: for every 2013 of a journal). */
CC_MUST_USE bool state_is_laid_out_for(const struct engine *engine,
                                       const struct option_engine *options);

/* Puts the options of a 2013 in force; laid out for, and not below what is in use. */
void state_use_options(struct engine *engine, const struct option_engine *options);

static inline uint64_t state_option(const struct engine *engine, enum option option)
{
    return engine->options.values[option];
}

/* Index of the next id that the command makes (R3: fills, positions, sessions, keys). */
static inline uint32_t state_next_id(struct engine *engine)
{
    return engine->applying.id_count++;
}

/* The age of what is made now: a cancellation list covers the orders with a lower stamp. */
static inline uint64_t state_stamp(const struct engine *engine)
{
    return order_stamp(engine->sequence, engine->applying.order_count);
}

/* The stamp of an order that enters its queue. */
static inline uint64_t state_next_stamp(struct engine *engine)
{
    uint64_t stamp = state_stamp(engine);

    engine->applying.order_count++;
    return stamp;
}

/* Index of an order that the engine makes itself (own_order.h): after the slots of the table. */
static inline uint32_t state_own_order(const struct engine *engine, enum state_own_order which)
{
    return engine->orders.slots + 1 + (uint32_t)which;
}

/* The rows by their indexes, which are of rows in use or FREE. */
static inline struct account *state_account(const struct engine *engine, uint32_t account)
{
    INVARIANT(account < engine->accounts.count);
    return &engine->accounts.rows[account];
}

static inline struct portfolio *state_portfolio(struct engine *engine, uint32_t portfolio)
{
    INVARIANT(portfolio < engine->portfolios.count);
    return &engine->portfolios.rows[portfolio];
}

static inline struct holding *state_holding(struct engine *engine, uint32_t holding)
{
    INVARIANT(holding < engine->holdings.slots.fresh); /* HOLDING_NONE: the dummy, all zero */
    return &engine->holdings.rows[holding];
}

static inline struct market *state_market(struct engine *engine, uint32_t market)
{
    INVARIANT(market < ENGINE_MARKETS_MAX);
    return &engine->markets.rows[market];
}

/* The id of the account in a slot. */
static inline uint64_t state_account_id(const struct engine *engine, uint32_t account)
{
    return account_id_of(account, state_account(engine, account)->generation);
}

#endif
