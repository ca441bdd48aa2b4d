/* faucet.h - code 2009: test money (wire.md W7). Owned by the engine. */
#ifndef ENGINE_ACCOUNT_FAUCET_H
#define ENGINE_ACCOUNT_FAUCET_H

#include "base/compiler.h"
#include "base/status.h"

/* What an account gets in the 24 h that begin with its first credit, micro-USDC. */
#define FAUCET_LIMIT     (INT64_C(100000) * 1000000)
#define FAUCET_PERIOD_NS (UINT64_C(86400) * 1000000000)

struct engine;
struct command;
struct engine_result;

/* Its credential included. Without exchange.testnet no portfolio is there to credit. */
CC_MUST_USE enum status faucet_credit(struct engine *engine, const struct command *command,
                                      struct engine_result *result);

#endif
