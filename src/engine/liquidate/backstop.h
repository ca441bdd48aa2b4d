/* backstop.h - L2: the fund takes every position of a portfolio at the mark, and what is left of
 * its cash (rules.md R7, L2). Owned by the engine.
 *
 * Units.  Amounts micro-USDC. */
#ifndef ENGINE_LIQUIDATE_BACKSTOP_H
#define ENGINE_LIQUIDATE_BACKSTOP_H

#include "base/compiler.h"

struct engine;

/* Takes it in one piece, a unit a position, and says true; or, when the fund would be below its own
 * maintenance margin or beyond a bound of R1, changes nothing but the fund's funding. */
CC_MUST_USE bool backstop_assume(struct engine *engine, uint32_t portfolio, uint32_t *units);

#endif
