/* deleverage.h - L3: a run that closes a portfolio against the holders of the other side (rules.md
 * R7, L3). Owned by the engine.
 *
 *   begin: prices ── per leg: rank ── fills ── rank ── ... pass 1, pass 2 ──> end: cash is paid
 *
 * Order.  Legs by maintenance margin, largest first, ties by lower asset id. A ranking meets the
 *         market's holders by portfolio and keeps the best 256 by score, ties by account,
 *         subaccount, portfolio, the fund last. A holder that trades after it was met is met
 *         again at once, so no holder leaves the ranks by moving a position between two slices.
 * Bound.  One holder met or one row passed over is a unit, a fill four. A ranking gives at least a
 *         lot, but for DELEVERAGE_FRUITLESS_MAX in a row of pass 1.
 * Units.  Prices and sizes raw, amounts micro-USDC. */
#ifndef ENGINE_LIQUIDATE_DELEVERAGE_H
#define ENGINE_LIQUIDATE_DELEVERAGE_H

#include "base/compiler.h"
#include "engine/state/portfolio.h"

struct engine;

/* Fixes the prices of the portfolio's legs; its figures are up to date, all marks valid. */
void deleverage_begin(struct engine *engine, uint32_t portfolio);

/* Goes on until the units are used up or the run is over. True: it is over, nothing is left but to
 * judge the portfolio. */
CC_MUST_USE bool deleverage_go_on(struct engine *engine, uint32_t portfolio, uint32_t *units);

#endif
