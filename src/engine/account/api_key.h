/* api_key.h - codes 34 and 35: the keyed hash of a secret that the network thread drew (W7). */
#ifndef ENGINE_ACCOUNT_API_KEY_H
#define ENGINE_ACCOUNT_API_KEY_H

#include "base/compiler.h"
#include "base/status.h"

struct engine;
struct command;
struct engine_result;

/* Codes 34 and 35 after row suspended (R11). */
CC_MUST_USE enum status api_key_create(struct engine *engine, const struct command *command,
                                       struct engine_result *result);
CC_MUST_USE enum status api_key_revoke(struct engine *engine, const struct command *command,
                                       struct engine_result *result);

#endif
