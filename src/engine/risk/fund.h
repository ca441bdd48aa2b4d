/* fund.h - the insurance fund, portfolio 0/0/0: what it pays and takes (rules.md R7). Owned by the
 * engine.
 *
 * Its cash may be below zero: that is the deficit. 2117 reports its begin and its end at the ledger
 * row that causes it, for any cause (R7, the steps of L2 and L3).
 *
 * Units.  Amounts micro-USDC. */
#ifndef ENGINE_RISK_FUND_H
#define ENGINE_RISK_FUND_H

#include "base/compiler.h"

enum { FUND_PORTFOLIO = 0, FUND_DAY_PART = 20 };

struct engine;

/* Adds to the fund's cash, kind `fund`, with no other side; 0 does nothing. */
void fund_pay(struct engine *engine, int64_t amount);

/* Moves `amount` from the portfolio to the fund, or from it when negative: the portfolio's row
 * first, both of kind `fund`. */
void fund_transfer(struct engine *engine, uint32_t portfolio, int64_t amount);

/* Called after a ledger row of the fund (ledger_post). Emits 2117 if a deficit begins or ends. */
void fund_moved(struct engine *engine, int64_t amount);

/* True if the fund has a deficit: its cash is below 0. */
CC_MUST_USE bool fund_is_short(const struct engine *engine);

/* R2, solvency: fund cash + fee_account - owed, micro-USDC. */
CC_MUST_USE int128 fund_solvency(const struct engine *engine);

/* R10: the solvency is below 0: profits wait. */
CC_MUST_USE bool fund_exchange_is_short(const struct engine *engine);

/* The fund pays all that the portfolio's cash lacks, counted in its day (R7). */
void fund_pay_deficit(struct engine *engine, uint32_t portfolio);

/* What the fund may still pay today: a twentieth of its cash, less what it has paid (R7, L3). */
CC_MUST_USE int64_t fund_allowance(struct engine *engine);

#endif
