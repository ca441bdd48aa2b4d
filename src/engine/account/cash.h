/* cash.h - what may leave a portfolio and what may come to it (rules.md R4, R5, R7, R10). Owned by
 * the engine.
 *
 * Cash moves in ledger_post alone, which makes the row of the ledger; this is what is asked
 * before, for the codes that move it outside trading.
 *
 * Units. Amounts micro-USDC. */
#ifndef ENGINE_ACCOUNT_CASH_H
#define ENGINE_ACCOUNT_CASH_H

#include "base/compiler.h"
#include "engine/state/effects.h"

struct engine;

/* R4: amount <= free - stress; after risk_refresh. Nothing is free IN_LIQUIDATION. */
CC_MUST_USE bool cash_is_free(struct engine *engine, uint32_t portfolio, uint64_t amount);

/* R1: the cash of a user's portfolio with this amount more stays in its bound. */
CC_MUST_USE bool cash_fits(const struct engine *engine, uint32_t portfolio, uint64_t amount);

/* Subtracts from, or adds to, a refreshed portfolio, and emits its ledger row. A credit to a CLOSED
 * one opens it first (R10). It is checked at the end of the command's own effect (R7). */
void cash_debit(struct engine *engine, uint32_t portfolio, enum effect_cash_kind kind,
                int64_t amount);
void cash_credit(struct engine *engine, uint32_t portfolio, enum effect_cash_kind kind,
                 int64_t amount);

/* R10, withdrawable_now: what may leave the portfolio now, micro-USDC: its `withdrawable` (R4) less
 * stress, at least 0; while the exchange is short at most its account's net deposits. 0 while it is
 * being liquidated. */
CC_MUST_USE int64_t cash_withdrawable_now(const struct engine *engine, uint32_t portfolio,
                                          int128 withdrawable);

#endif
