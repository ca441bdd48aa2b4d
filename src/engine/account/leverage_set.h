/* leverage_set.h - code 2001: sets the leverage of a portfolio in a market (R4). Owned by the
 * engine. */
#ifndef ENGINE_ACCOUNT_LEVERAGE_SET_H
#define ENGINE_ACCOUNT_LEVERAGE_SET_H

#include "base/status.h"

struct engine;
struct command;
struct engine_result;

/* Code 2001, signed by an API key (R11). On a refusal nothing has changed. */
CC_MUST_USE enum status leverage_set(struct engine *engine, const struct command *command,
                                     struct engine_result *result);

#endif
