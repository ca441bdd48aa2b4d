/* exchange_counters.h - counts for /metrics of what the exchange does by itself: liquidations,
 * deleveraging, funding, triggered orders, withdrawals and deferred work.
 *
 * Totals are since start and of applied commands: what a start replays is not counted.
 *
 * Owner.  Written by the follower's thread, read by any thread.
 * Order.  Relaxed on both sides: nothing is decided by them.
 * Units.  Amounts micro-USDC. */
#ifndef NODE_HISTORY_EXCHANGE_COUNTERS_H
#define NODE_HISTORY_EXCHANGE_COUNTERS_H

#include "base/published.h"
#include "base/share_list.h"
#include "engine/state/effects.h"
#include "engine/state/market.h"

enum { EXCHANGE_COUNTERS_LEVELS = 4 }; /* R7: the book, the fund, deleveraging, netting */

struct exchange_counters {
    struct published liquidated; /* portfolios that became IN_LIQUIDATION */
    struct published liquidations[EXCHANGE_COUNTERS_LEVELS]; /* effects 2113 by level */
    struct published funding_hours; /* epochs opened, summed over markets */
    struct published funding_payments;
    struct published holds;    /* of a market's index by the guard (R5) */
    struct published triggers; /* conditional orders that fired */
    struct published freezes;  /* by market maker protection */
    struct published settlements;
    struct published withdrawals_requested, withdrawals_settled, withdrawals_reverted;
    /* Gauges, as of the last sequence applied. */
    _Atomic int64_t fund_cash;
    _Atomic int64_t fee_account;
    _Atomic int64_t owed;           /* R2, solvency: by portfolios IN_LIQUIDATION */
    _Atomic int64_t solvency;       /* fund_cash + fee_account - owed; below 0: short */
    _Atomic int64_t claims;         /* as of the last audit */
    _Atomic int64_t pending_amount; /* withdrawals */
    struct published pending_count;
    struct published work_items; /* items of deferred work */
    /* In ascending asset id. The symbol is written before the count, and never changes. */
    struct exchange_counters_index {
        _Atomic uint64_t symbol[4];
        struct published publish_ns; /* of the index price; 0: none, or the market is CLOSED */
        struct published asset_id, state, mark_valid;
    } indexes[ENGINE_MARKETS_MAX];
    _Atomic uint32_t index_count;
    struct published table_used[SHARE_TABLE_COUNT][SHARE_CLASS_COUNT]; /* W8, Slots: rows */
    struct published table_size[SHARE_TABLE_COUNT];
    struct published table_alarm[SHARE_TABLE_COUNT]; /* 1: a table is 70 % full */
};

/* Adds one effect to the totals. */
void exchange_counters_count(struct exchange_counters *counters, const struct effect *effect);

/* Refreshes the gauges from the engine's state, and logs a table that has become 70 % full. */
void exchange_counters_refresh(struct exchange_counters *counters, const struct engine *engine);

/* Refreshes the sum of all claims, which visits every portfolio. */
void exchange_counters_refresh_claims(struct exchange_counters *counters,
                                      const struct engine *engine);

#endif
