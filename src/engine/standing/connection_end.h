/* connection_end.h - code 2011: a connection has ended and its grace has passed (W9). Owned by the
 * engine. */
#ifndef ENGINE_STANDING_CONNECTION_END_H
#define ENGINE_STANDING_CONNECTION_END_H

#include "base/compiler.h"

struct engine;
struct command;

/* Code 2011: the arm is gone, and so are the orders of its subaccount (R10, arms). */
void connection_end(struct engine *engine, const struct command *command);

#endif
