/* risk.h - whose margin is short: the checks of R7. Owned by the engine.
 *
 * A portfolio is checked exactly when it is touched at marks it has not seen, and at the end of
 * every command that changed its cash, positions or orders. In between, a scan of each changed mark
 * subtracts from two slacks (E - MM and E - IM of the last exact check) what the move can have cost
 * at most, and checks exactly only when one is below zero.
 *
 * Whoever is found below its maintenance margin, or in liquidation, is judged (liquidation.h): at
 * once by a touch and by a scan, at the end of a flush after a change, by ascending portfolio.
 *
 * Order.  Marks do not move inside a command's own effect, so `flagged` stays what the touch found
 *         until risk_flush: a walk and its execution see the same.
 * Units.  Amounts micro-USDC. */
#ifndef ENGINE_RISK_RISK_H
#define ENGINE_RISK_RISK_H

#include "base/compiler.h"

struct engine;

/* Check-on-touch: brings the portfolio's figures to the current marks and checks it exactly. Called
 * before its cash, equity or positions are read or changed. Costs a comparison when nothing
 * moved. */
void risk_refresh(struct engine *engine, uint32_t portfolio);

/* The fund's cash moved in the middle of something that is no touch of it: its slacks follow, its
 * funding is not settled and nothing is judged. */
void risk_fund_moved(struct engine *engine);

/* Checks every changed portfolio exactly and gives back holdings that have become empty. At the end
 * of a command's own effect and of each slice of work. */
void risk_flush(struct engine *engine);

/* The same for those that changed since `last` was the newest of the list: while their records are
 * near. `flagged` must decide nothing more before the flush. */
void risk_flush_until(struct engine *engine, uint32_t last);

/* One unit of a mark scan: the position of this holding (R7, fast exact scan). */
void risk_scan(struct engine *engine, uint32_t holding, bool exact);

#endif
