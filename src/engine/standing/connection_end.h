/* connection_end.h - code 2011: cancels the orders of a connection that has ended (W9). Owned by
 * the engine. */
#ifndef ENGINE_STANDING_CONNECTION_END_H
#define ENGINE_STANDING_CONNECTION_END_H

#include "base/compiler.h"

struct engine;
struct command;

/* Code 2011: removes the arm and cancels the orders of its subaccount (R10, arms). */
void connection_end(struct engine *engine, const struct command *command);

#endif
