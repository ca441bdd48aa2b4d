/* dispatch.h - calls the handler of a command's code, after the checks and refreshes that come
 * before it. Owned by the engine.
 *
 * It has a row for every code that is served (request.h) and that the node does not author. */
#ifndef ENGINE_DISPATCH_H
#define ENGINE_DISPATCH_H

#include "base/status.h"

struct engine;
struct command;
struct engine_result;

/* Applies a signed command that has passed row credential: checks the rows after it and calls the
 * handler. Returns the status of the answer. */
CC_MUST_USE enum status dispatch_signed(struct engine *engine, const struct command *command,
                                        struct engine_result *result);

/* Applies a command of the node. If it grants deferred work, *units gets the number of units. */
CC_MUST_USE enum status dispatch_unsigned(struct engine *engine, const struct command *command,
                                          struct engine_result *result, uint32_t *units);

#endif
