/* tally.h - what the exchange does by itself, counted for /metrics: liquidations, deleveraging,
 * funding, conditional orders that fire, withdrawals, and what waits to be done.
 *
 * Totals are since start, of what the follower has applied: what a start replays is not counted.
 *
 * Owner.  Written by the follower's thread, shown by any.
 * Order.  Relaxed on both sides: it decides nothing.
 * Units.  Amounts micro-USDC. */
#ifndef NODE_HISTORY_TALLY_H
#define NODE_HISTORY_TALLY_H

#include "engine/state/effects.h"

enum { TALLY_LEVELS = 3 }; /* R7: the book, the fund, deleveraging */

struct tally {
    _Atomic uint64_t liquidated;                 /* portfolios that became IN_LIQUIDATION */
    _Atomic uint64_t liquidations[TALLY_LEVELS]; /* effects 2113 by level */
    _Atomic uint64_t funding_hours;              /* epochs opened, of each market */
    _Atomic uint64_t funding_payments;
    _Atomic uint64_t holds;    /* markets whose index the guard held (R5) */
    _Atomic uint64_t triggers; /* conditional orders that fired */
    _Atomic uint64_t freezes;  /* of makers' protection */
    _Atomic uint64_t settlements;
    _Atomic uint64_t withdrawals_requested, withdrawals_settled, withdrawals_reverted;
    /* As of the last sequence applied. */
    _Atomic int64_t fund_cash;
    _Atomic int64_t fee_account;
    _Atomic int64_t pending_amount; /* withdrawals */
    _Atomic uint64_t pending_count;
    _Atomic uint64_t work_items; /* of deferred work */
};

void tally_tell(struct tally *tally, const struct effect *effect);

/* What stands in the state now. */
void tally_look(struct tally *tally, const struct engine *engine);

#endif
