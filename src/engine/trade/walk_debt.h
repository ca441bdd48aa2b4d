/* walk_debt.h - what refused orders have made the matcher walk: a debt of their account, in time
 * (wire.md W8, refused walks). Owned by the engine.
 *
 *   refused ── makers met beyond the free ones ──> walk_paid_ns ── above the burst ──> the peek
 *
 * An account pays by the time that passes: a maker costs so many ns, by the class. All unfunded
 * accounts pay a second time together, in account 0, so that their number does not matter.
 *
 * Units. Times unix ns. */
#ifndef ENGINE_TRADE_WALK_DEBT_H
#define ENGINE_TRADE_WALK_DEBT_H

#include "base/compiler.h"

enum { WALK_DEBT_FREE = 16 }; /* makers of each command that its token has paid */

struct engine;

/* The account owes for `makers` more, at the engine's t. */
void walk_debt_add(struct engine *engine, uint32_t account, uint32_t makers);

/* Returns in how many ms, rounded up, the account may enter orders; 0: at t. */
CC_MUST_USE uint64_t walk_debt_wait_ms(const struct engine *engine, uint32_t account,
                                       uint64_t t_ns);

#endif
