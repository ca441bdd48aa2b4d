/* watch.h - the invariants of R2 that are about what a command does: I7, I8 and I10. Owned by the
 * engine; the caller has one for each engine.
 *
 *   watch_begin ──> engine_apply, each effect to watch_effect ──> watch_end: what failed
 *
 * I7 and I8 are read off single effects and need no begin: watch_effect checks them whenever it is
 * called. I10, the bystander's bound, compares each portfolio before and after one command.
 *
 * Units.  Amounts micro-USDC.
 * Bound.  begin and end visit every portfolio and holding once, and end again the holders of a
 *         market whose index moved; an effect visits the holders of a market when that is why it
 *         was emitted, else O(1).
 * Owner.  The caller gives the memory. Nothing of the engine is changed. */
#ifndef ENGINE_VIEW_WATCH_H
#define ENGINE_VIEW_WATCH_H

#include "base/compiler.h"
#include "engine/state/market.h"
#include "engine/view/audit.h"

struct command;
struct effect;

/* Of one portfolio in the watched command. */
struct watch_row {
    int128 equity;  /* at the index, before */
    int128 allowed; /* by which it may fall */
};

struct watch {
    struct watch_row *rows; /* [capacity], by portfolio number; NULL: I7 and I8 alone */
    uint32_t capacity;
    uint32_t count; /* portfolios before the command */
    bool is_begun;
    uint64_t indexes[ENGINE_MARKETS_MAX]; /* of which moves are counted already */
    struct audit_verdict verdict;
};

/* Notes what every portfolio has, before a command. */
void watch_begin(struct watch *watch, const struct engine *engine);

/* Every effect of the command that a sink gets, at once: fills, cash rows, funding payments, marks,
 * market states and withdrawals must be among them. */
void watch_effect(struct watch *watch, const struct effect *effect);

/* After the command. True if nothing failed since the last call; else *verdict says what did and
 * where. */
CC_MUST_USE bool watch_end(struct watch *watch, const struct engine *engine,
                           const struct command *command, struct audit_verdict *verdict);

#endif
