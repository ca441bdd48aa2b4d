/* risk.h - whose margin is short: the checks of R7. Owned by the engine.
 *
 * A portfolio is checked exactly when it is refreshed at marks it has not seen, and at the end of
 * every command that changed its cash, positions or orders. In between, a scan of each changed mark
 * subtracts from two slacks (E - MM and E - IM of the last exact check) what the move can have cost
 * at most, and checks exactly only when one is below zero.
 *
 * A portfolio below its maintenance margin, or in liquidation, is judged (judge.h): at once by a
 * refresh and by a scan, at the end of a flush after a change, by ascending portfolio.
 *
 * Order.  Marks do not move inside a command's own effect, so `flagged` keeps what the refresh
 *         found until risk_flush: a walk and its execution see the same.
 * Units.  Amounts micro-USDC. */
#ifndef ENGINE_RISK_RISK_H
#define ENGINE_RISK_RISK_H

#include "base/compiler.h"

struct engine;

/* Check-on-touch: brings the portfolio's figures to the current marks and checks it exactly. Called
 * before its cash, equity or positions are read or changed. Costs a comparison when nothing
 * moved. */
void risk_refresh(struct engine *engine, uint32_t portfolio);

/* The fund's cash moved while it was not being refreshed. Updates its slacks, pays no funding and
 * judges nothing. */
void risk_fund_moved(struct engine *engine);

/* Checks every changed portfolio exactly and gives back holdings that have become empty. At the end
 * of a command's own effect and of each slice of work. */
void risk_flush(struct engine *engine);

/* The same for those that changed since `last` was the newest of the list: while their records are
 * near. Call it only if no code before the next flush reads `flagged`. */
void risk_flush_until(struct engine *engine, uint32_t last);

/* One unit of a mark scan: the position of this holding (R7, fast exact scan). */
void risk_scan(struct engine *engine, uint32_t holding, bool exact);

#endif
