/* portfolio_close.h - code 2002: closes an empty portfolio (R10). Owned by the engine. */
#ifndef ENGINE_ACCOUNT_PORTFOLIO_CLOSE_H
#define ENGINE_ACCOUNT_PORTFOLIO_CLOSE_H

#include "base/status.h"

struct engine;
struct command;
struct engine_result;

/* Code 2002, its credential included (R11). On a refusal nothing has changed. */
CC_MUST_USE enum status portfolio_close(struct engine *engine, const struct command *command,
                                        struct engine_result *result);

#endif
