/* withdraw.h - codes 10 and 1004: a withdrawal is requested, and settled or reverted (R10, R11).
 * Owned by the engine. */
#ifndef ENGINE_ACCOUNT_WITHDRAW_H
#define ENGINE_ACCOUNT_WITHDRAW_H

#include "base/status.h"

struct engine;
struct command;
struct engine_result;

/* Code 10. The caller has checked row portfolio and called risk_refresh. */
CC_MUST_USE enum status withdraw_request(struct engine *engine, const struct command *command,
                                         struct engine_result *result);

/* Code 1004. */
CC_MUST_USE enum status withdraw_settle(struct engine *engine, const struct command *command,
                                        struct engine_result *result);

#endif
