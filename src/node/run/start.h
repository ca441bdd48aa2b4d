/* start.h - the part of a node's start that needs no journal: options, directory, rings, sockets.
 *
 * Order. start_prepare on the main thread before any other runs; then opening.h.
 * Wait.  start_prepare blocks. */
#ifndef NODE_RUN_START_H
#define NODE_RUN_START_H

#include "node/run/market_file.h"
#include "node/run/node.h"

/* Topology, machine, options, directory, rings, sockets, in this order: options that cannot be are
 * refused before the directory is made. 0 or the exit code; what was made is in *node either way
 * and goes with start_undo. */
CC_MUST_USE int start_prepare(struct node *node, struct market_file *markets);
void start_undo(struct node *node);

#endif
