/* cancel_list.h - orders that are dead at once and leave later (R3, cancellation list): a list is a
 * stamp, and covers the orders that are older. Owned by the engine.
 *
 *   side in a market ─┐
 *   portfolio ────────┼─ a stamp each: orders with a lower one no longer trade
 *   account ──────────┘  the work queue removes them in the order of placing */
#ifndef ENGINE_STATE_CANCEL_LIST_H
#define ENGINE_STATE_CANCEL_LIST_H

#include "engine/state/state.h"

enum { CANCEL_LIST_AT_ONCE = 64 }; /* so many portfolios of an account are no work for later */

enum cancel_sides { CANCEL_BOTH, CANCEL_BUYS, CANCEL_SELLS };

/* Puts the resting orders of the portfolio in this market (MARKET_NONE: in all) on the lists of
 * their sides: dead at once, released by deferred work. */
void cancel_list_sides(struct engine *engine, uint32_t portfolio, uint32_t market,
                       enum cancel_sides sides, uint8_t reason);

/* Puts all of them on the list of the portfolio (liquidation, dead-man, disconnect, operator). */
void cancel_list_portfolio(struct engine *engine, uint32_t portfolio, uint8_t reason);

/* A list that was made at this stamp: those of the sides in one market, or for all (MARKET_NONE)
 * that of the portfolio, are renewed to it where older, and what it covers is released. */
void cancel_list_older(struct engine *engine, uint32_t portfolio, uint32_t market, uint64_t stamp,
                       uint8_t reason);

/* Whether the account's list covers an order of this market and age. */
static inline bool cancel_list_covers(const struct engine *engine, uint32_t index, uint32_t market,
                                      uint64_t stamp)
{
    if (CC_LIKELY(engine->work.account_lists == 0))
        return false;
    const struct account *account = &engine->accounts.rows[index];
    return account->cancel_queued && stamp < account->cancel_sequence &&
           (account->cancel_market == ACCOUNT_MARKETS_ALL || account->cancel_market == market);
}

#endif
