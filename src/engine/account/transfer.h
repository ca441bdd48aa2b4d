/* transfer.h - code 9: cash between two portfolios of an account (R10). Owned by the engine. */
#ifndef ENGINE_ACCOUNT_TRANSFER_H
#define ENGINE_ACCOUNT_TRANSFER_H

#include "base/compiler.h"
#include "base/status.h"

struct engine;
struct command;
struct engine_result;

/* After row suspended: row portfolio of both sides, check-on-touch of both, the rest of R11. */
CC_MUST_USE enum status transfer_cash(struct engine *engine, const struct command *command,
                                      struct engine_result *result);

#endif
