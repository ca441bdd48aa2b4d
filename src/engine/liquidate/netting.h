/* netting.h - the live legs of a portfolio against opposite positions of its account's other
 * portfolios, before the fund or others pay (rules.md R7, Netting). Owned by the engine. */
#ifndef ENGINE_LIQUIDATE_NETTING_H
#define ENGINE_LIQUIDATE_NETTING_H

#include "base/compiler.h"

struct engine;

/* Nets all legs of an up-to-date portfolio at once, legs by maintenance margin, portfolios in the
 * order of their creation. A portfolio that is looked at is a unit. */
void netting_make(struct engine *engine, uint32_t portfolio, uint32_t *units);

#endif
