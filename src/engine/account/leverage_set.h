/* leverage_set.h - code 2001: a portfolio chooses its leverage in a market (R4). Owned by the
 * engine. */
#ifndef ENGINE_ACCOUNT_LEVERAGE_SET_H
#define ENGINE_ACCOUNT_LEVERAGE_SET_H

#include "base/status.h"

struct engine;
struct command;
struct engine_result;

/* Code 2001: a portfolio's leverage in a market, on behalf of an API key. */
CC_MUST_USE enum status leverage_set(struct engine *engine, const struct command *command,
                                     struct engine_result *result);

#endif
