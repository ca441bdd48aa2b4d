/* deal.h - a fill between a loser and the holder of the other side, outside the book, by an order
 * of the engine on either side (rules.md R7, netting and L3). Owned by the engine.
 *
 * Units.  Prices and quantities raw. */
#ifndef ENGINE_LIQUIDATE_DEAL_H
#define ENGINE_LIQUIDATE_DEAL_H

#include "base/compiler.h"

struct engine;

enum { DEAL_DELEVERAGE = 3, DEAL_NETTING = 4 }; /* levels of a 2113 */

/* Both holdings' portfolios are up to date; the quantity is at most the lesser of the sizes. The
 * caller flushes. */
void deal_make(struct engine *engine, uint32_t loser, uint32_t other, uint64_t quantity,
               uint64_t price, uint8_t level);

#endif
