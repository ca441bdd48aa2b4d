/* faucet.h - code 2009: test money (wire.md W7). Owned by the engine. */
#ifndef ENGINE_ACCOUNT_FAUCET_H
#define ENGINE_ACCOUNT_FAUCET_H

#include "base/compiler.h"
#include "base/status.h"

/* An account gets at most ACCOUNT_FAUCET_MAX in the period that begins with its first credit. */
#define FAUCET_PERIOD_NS (UINT64_C(86400) * 1000000000)

struct engine;
struct command;
struct engine_result;

/* Its credential included. Without exchange.testnet no portfolio is there to credit. */
CC_MUST_USE enum status faucet_credit(struct engine *engine, const struct command *command,
                                      struct engine_result *result);

#endif
