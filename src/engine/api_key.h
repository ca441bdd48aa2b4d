/* api_key.h - code 34: the keyed hash of a secret that the network thread drew (W7). */
#ifndef ENGINE_API_KEY_H
#define ENGINE_API_KEY_H

#include "base/cc.h"
#include "base/status.h"

struct engine;
struct command;
struct engine_result;

/* Code 34 behind row 3 (R11). */
CC_MUST_USE enum status api_key_create(struct engine *engine, const struct command *command,
                                       struct engine_result *result);

#endif
