/* adl.h - the score that ranks positions for deleveraging (rules.md R7, L3): profit by cost. The
 * leverage is left out, for a deposit would dilute it. Pure.
 *
 * Units.  Amounts micro-USDC; the score has none.
 * Bound.  The score is clamped to [-2^62, 2^62] (R1). */
#ifndef ENGINE_TABLE_ADL_H
#define ENGINE_TABLE_ADL_H

#include "base/money.h"

#define ADL_SCORE_MAX ((int128)1 << 62)

/* Returns the score of a position with this profit and cost. The position with the highest score is
 * deleveraged first. */
int128 adl_score(int128 profit, int64_t cost);

#endif
