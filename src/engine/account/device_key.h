/* device_key.h - code 33, login: the keyed hash of a secret that the network thread drew (W7). */
#ifndef ENGINE_ACCOUNT_DEVICE_KEY_H
#define ENGINE_ACCOUNT_DEVICE_KEY_H

#include "base/compiler.h"
#include "base/status.h"

struct engine;
struct command;
struct engine_result;

/* Code 33 after row credential (R11): request_completed with the id and the expiry of the new key,
 * or the status of the first condition that fails; then nothing has changed. */
CC_MUST_USE enum status device_key_create(struct engine *engine, const struct command *command,
                                          struct engine_result *result);

#endif
