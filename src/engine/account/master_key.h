/* master_key.h - codes 16, 17, 19, 20 and 28 to 31: an account gets and loses master keys (R10,
 * R11). */
#ifndef ENGINE_ACCOUNT_MASTER_KEY_H
#define ENGINE_ACCOUNT_MASTER_KEY_H

#include "base/compiler.h"
#include "base/status.h"

struct engine;
struct command;
struct engine_result;

/* Codes 16, 19, 28 and 30 after row credential: an admin key of the account brings another key.
 * master_key_added, or the status of the first condition that fails; then nothing has changed. */
CC_MUST_USE enum status master_key_add(struct engine *engine, const struct command *command,
                                       struct engine_result *result);

/* Codes 17, 20, 29 and 31 after row credential: the key ends, and with it the sessions that it
 * made. It costs what the sessions of the account do (session_revoke_all). As above, with
 * master_key_removed. */
CC_MUST_USE enum status master_key_remove(struct engine *engine, const struct command *command,
                                          struct engine_result *result);

#endif
