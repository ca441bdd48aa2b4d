/* start.h - the part of a start that needs no journal: options, directory, rings, sockets.
 *
 * Order. start_prepare on the main thread before any other runs; then opening.h.
 * Wait.  start_prepare blocks. */
#ifndef NODE_RUN_START_H
#define NODE_RUN_START_H

#include "node/run/market_file.h"
#include "node/run/node.h"

/* Makes topology, directory, rings and sockets, in this order: wrong options are refused before the
 * directory is made. 0 or the exit code. In both cases *node holds what was made, and start_undo
 * gives it back. */
CC_MUST_USE int start_prepare(struct node *node, struct market_file *markets);
void start_undo(struct node *node);

#endif
