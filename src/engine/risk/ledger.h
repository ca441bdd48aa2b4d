/* ledger.h - changes the cash of portfolios, each change a ledger row (2104). Owned by the engine.
 *
 * Units.  Amounts micro-USDC. */
#ifndef ENGINE_RISK_LEDGER_H
#define ENGINE_RISK_LEDGER_H

#include "engine/state/effects.h"

/* Adds `amount` to the cash and emits its ledger row (2104); an amount of 0 does nothing (R2). The
 * caller has checked R1's bound. `ref`: see struct effect_cash. Slacks are the caller's business
 * (risk). */
void ledger_post(struct engine *engine, uint32_t portfolio, enum effect_cash_kind kind,
                 int64_t amount, uint64_t ref);

#endif
