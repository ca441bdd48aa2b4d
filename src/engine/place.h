/* place.h - codes 0 and 5, a limit and a market order: rows 7 to 35 of R11. Owned by the engine. */
#ifndef ENGINE_PLACE_H
#define ENGINE_PLACE_H

#include "base/status.h"

struct engine;
struct command;
struct engine_result;

/* Rows 0-5 have passed; turn.portfolio is the body's. A refusal from row 13 on is told as a
 * REJECTED order (2101); any refusal leaves the state as check-on-touch left it. */
CC_MUST_USE enum status place_limit(struct engine *engine, const struct command *command,
                                    struct engine_result *result);

/* The same for a market order: it matches up to the bound of its slippage and never rests. */
CC_MUST_USE enum status place_market(struct engine *engine, const struct command *command,
                                     struct engine_result *result);

#endif
