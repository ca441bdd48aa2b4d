/* adl.h - the score that ranks positions for deleveraging (rules.md R7, L3). Pure.
 *
 * Units.  Amounts micro-USDC; the score has none.
 * Bound.  R7's pr and lev are clamped to [-2^62, 2^62] (R1), so their product fits int128. */
#ifndef ENGINE_TABLE_ADL_H
#define ENGINE_TABLE_ADL_H

#include "base/money.h"

/* Returns the score of a position with this profit, cost and notional N, in a portfolio with this
 * equity. The position with the highest score is deleveraged first. */
int128 adl_score(int128 profit, int64_t cost, uint64_t notional, int128 equity);

#endif
