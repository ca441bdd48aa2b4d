/* reclaim.h - the slot of an old account that brought in nothing goes to a newcomer (W8, slots).
 *
 *   unfunded, oldest first (account.h) ── older than limits.unfunded_life_s, nothing of worth ──>
 *   closed (2119), with all its credentials (2118) ──> its rows are FREE
 *
 * An account with cash, an order, a position, or a withdrawal that is kept is never taken, however
 * little that is: it goes after the others, and is looked at again when its time has passed once
 * more. No request of its owner changes when its turn comes.
 *
 * Bound. A call looks at RECLAIM_LOOKS_MAX accounts and takes RECLAIM_MOST of them. */
#ifndef ENGINE_ACCOUNT_RECLAIM_H
#define ENGINE_ACCOUNT_RECLAIM_H

#include "base/compiler.h"

enum { RECLAIM_LOOKS_MAX = 64, RECLAIM_MOST = 4 };

struct engine;

/* Takes accounts until a new one fits (account_fits). False: it does not, nothing more can be taken
 * as yet. */
CC_MUST_USE bool reclaim_for_new(struct engine *engine);

#endif
