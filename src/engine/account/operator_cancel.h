/* operator_cancel.h - code 1007: the operator ends one order, or all of a portfolio, a subaccount
 * or an account (R10). Owned by the engine. */
#ifndef ENGINE_ACCOUNT_OPERATOR_CANCEL_H
#define ENGINE_ACCOUNT_OPERATOR_CANCEL_H

#include "base/compiler.h"
#include "base/status.h"

struct engine;
struct command;
struct engine_result;

/* The conditions of R11 after row credential. Bound: as many portfolios as the account has, with
 * one step for each record of them. */
CC_MUST_USE enum status operator_cancel(struct engine *engine, const struct command *command,
                                        struct engine_result *result);

#endif
