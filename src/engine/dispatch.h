/* dispatch.h - which handler a code has, and what is checked and touched before it. Owned by the
 * engine.
 *
 * A row for every code that is built (request.h) and whose signer is not the node's. */
#ifndef ENGINE_DISPATCH_H
#define ENGINE_DISPATCH_H

#include "base/status.h"

struct engine;
struct command;
struct engine_result;

/* A signed command that row credential has let through: the rows after it. */
CC_MUST_USE enum status dispatch_signed(struct engine *engine, const struct command *command,
                                        struct engine_result *result);

/* A command of the node. *units: what it grants the deferred work. */
CC_MUST_USE enum status dispatch_unsigned(struct engine *engine, const struct command *command,
                                          struct engine_result *result, uint32_t *units);

#endif
