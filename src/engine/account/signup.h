/* signup.h - codes 11 and 12: a new account under a Secp256k1 master key or a passkey, with its
 * first session. */
#ifndef ENGINE_ACCOUNT_SIGNUP_H
#define ENGINE_ACCOUNT_SIGNUP_H

#include "base/compiler.h"
#include "base/status.h"

struct engine;
struct command;
struct engine_result;

/* R11, codes 11 and 12: creation_rejected changes nothing; when only the session fails the account
 * stays (account_created_session_failed). */
CC_MUST_USE enum status signup_create(struct engine *engine, const struct command *command,
                                      struct engine_result *result);

#endif
