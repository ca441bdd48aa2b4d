/* amend.h - codes 1 and 2: a resting order made smaller, or replaced (R3). Owned by the engine.
 *
 *   reduction     keeps id and place; all of it, or more: a cancel
 *   replacement   keeps its id; its place too when the price stays and the size does not grow;
 *                 else it leaves its queue and enters anew, as a placement would
 *
 * Any refusal leaves the order and all that is counted of it as they were. */
#ifndef ENGINE_AMEND_H
#define ENGINE_AMEND_H

#include "base/status.h"

struct engine;
struct command;
struct engine_result;

/* Rows 6 to 16; rows 0-5 have passed, turn.portfolio is the body's. */
CC_MUST_USE enum status amend_reduce(struct engine *engine, const struct command *command,
                                     struct engine_result *result);

/* Rows 6 to 35. */
CC_MUST_USE enum status amend_replace(struct engine *engine, const struct command *command,
                                      struct engine_result *result);

#endif
