/* cancel.h - codes 3 and 4: one order, or all of a portfolio's. Owned by the engine.
 *
 * A cancel-all makes its orders unmatchable at once and leaves their removal to deferred work. */
#ifndef ENGINE_CANCEL_H
#define ENGINE_CANCEL_H

#include "base/status.h"

struct engine;
struct command;
struct engine_result;

/* Rows 0-5 have passed; turn.portfolio is the body's. */
CC_MUST_USE enum status cancel_order(struct engine *engine, const struct command *command,
                                     struct engine_result *result);

/* The same; turn.portfolio is PORTFOLIO_NONE for "every portfolio of the subaccount". */
CC_MUST_USE enum status cancel_all(struct engine *engine, const struct command *command,
                                   struct engine_result *result);

#endif
