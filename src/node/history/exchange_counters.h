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

#include "engine/state/effects.h"

enum { EXCHANGE_COUNTERS_LEVELS = 3 }; /* R7: the book, the fund, deleveraging */

struct exchange_counters {
    _Atomic uint64_t liquidated; /* portfolios that became IN_LIQUIDATION */
    _Atomic uint64_t liquidations[EXCHANGE_COUNTERS_LEVELS]; /* effects 2113 by level */
    _Atomic uint64_t funding_hours; /* epochs opened, summed over markets */
    _Atomic uint64_t funding_payments;
    _Atomic uint64_t holds;    /* of a market's index by the guard (R5) */
    _Atomic uint64_t triggers; /* conditional orders that fired */
    _Atomic uint64_t freezes;  /* by market maker protection */
    _Atomic uint64_t settlements;
    _Atomic uint64_t withdrawals_requested, withdrawals_settled, withdrawals_reverted;
    /* Gauges, as of the last sequence applied. */
    _Atomic int64_t fund_cash;
    _Atomic int64_t fee_account;
    _Atomic int64_t pending_amount; /* withdrawals */
    _Atomic uint64_t pending_count;
    _Atomic uint64_t work_items; /* items of deferred work */
};

/* Adds one effect to the totals. */
void exchange_counters_count(struct exchange_counters *counters, const struct effect *effect);

/* Refreshes the gauges from the engine's state. */
void exchange_counters_refresh(struct exchange_counters *counters, const struct engine *engine);

#endif
