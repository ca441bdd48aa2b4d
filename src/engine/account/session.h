/* session.h - codes 13 to 15, and the session part of 11 and 12 (R11, R10). A logout is code 14,
 * which may end a device key too. */
#ifndef ENGINE_ACCOUNT_SESSION_H
#define ENGINE_ACCOUNT_SESSION_H

#include "base/compiler.h"
#include "base/status.h"

struct engine;
struct command;
struct engine_result;

/* What a new session is asked to be. */
struct session_ask {
    const uint8_t *public_key; /* 32 bytes */
    uint64_t expires_ns;       /* 0: the default life from now */
    int32_t pin;               /* -1: none */
    uint8_t scope;             /* enum credential_scope, unchecked */
};

/* Makes a session of the account under credential `parent`: session_created and the members of
 * *result, or the status and reason of the first condition of code 13 that fails. Row credential
 * and pads are the caller's. */
CC_MUST_USE enum status session_open(struct engine *engine, const struct command *command,
                                     uint32_t parent, const struct session_ask *ask,
                                     struct engine_result *result);

/* Codes 13 to 15 after row credential. 15 costs what its sessions do, at most limits.sessions:
 * about 0.3 us each, so 20 us with the default and 1 ms with the 4,096 that the option allows at
 * most. */
CC_MUST_USE enum status session_create(struct engine *engine, const struct command *command,
                                       struct engine_result *result);
CC_MUST_USE enum status session_revoke(struct engine *engine, const struct command *command,
                                       struct engine_result *result);
CC_MUST_USE enum status session_revoke_all(struct engine *engine, const struct command *command,
                                           struct engine_result *result);

#endif
