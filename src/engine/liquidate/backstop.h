/* backstop.h - L2: the fund takes every live leg of a portfolio at the mark, and their part of its
 * equity (rules.md R7, L2). Owned by the engine.
 *
 * Units.  Amounts micro-USDC. */
#ifndef ENGINE_LIQUIDATE_BACKSTOP_H
#define ENGINE_LIQUIDATE_BACKSTOP_H

#include "base/compiler.h"

struct engine;

/* Takes them in one piece, a unit a position, and says true; or, when the portfolio is below 0 or
 * the fund can not carry them, changes nothing but the fund's funding. */
CC_MUST_USE bool backstop_assume(struct engine *engine, uint32_t portfolio, uint32_t *units);

#endif
