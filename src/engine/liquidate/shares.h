/* shares.h - what each live leg of a portfolio carries of its equity, or of its deficit (rules.md
 * R7, L3, prices). Owned by the engine.
 *
 * Equity is shared by maintenance margin. A deficit is borne where it arose: by the losses of the
 * legs; what no leg shows by maintenance margin, at most the lowest tier's of its notional.
 *
 * Units.  Amounts micro-USDC; a share below 0 is a deficit. */
#ifndef ENGINE_LIQUIDATE_SHARES_H
#define ENGINE_LIQUIDATE_SHARES_H

#include "engine/liquidate/legs.h"

/* Of a portfolio that is up to date; shares[legs->count]. */
void shares_make(const struct engine *engine, uint32_t portfolio, const struct legs *legs,
                 int128 *shares);

#endif
