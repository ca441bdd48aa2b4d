/* credit.h - codes 1003 and 1006: cash from outside, for users and for the fund (R10). Owned by the
 * engine. */
#ifndef ENGINE_ACCOUNT_CREDIT_H
#define ENGINE_ACCOUNT_CREDIT_H

#include "base/status.h"

struct engine;
struct command;
struct engine_result;

/* Code 1003 (R11): credits the named portfolio, or portfolio 0 of its subaccount. */
CC_MUST_USE enum status credit_deposit(struct engine *engine, const struct command *command,
                                       struct engine_result *result);

/* Code 1006 (R11): cash for the insurance fund, 0/0/0. */
CC_MUST_USE enum status credit_fund(struct engine *engine, const struct command *command,
                                    struct engine_result *result);

#endif
