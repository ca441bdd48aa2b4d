/* start.h - a node's start: what needs no journal, recovery, the commands of a start.
 *
 * Order. start_prepare on the main thread before any other runs; start_recover on the journal's;
 *        start_open on the matcher's, once the phase is NODE_RECOVERED.
 * Wait.  start_prepare and start_recover block; start_open does not. */
#ifndef NODE_START_H
#define NODE_START_H

#include "node/market_file.h"
#include "node/node.h"

/* Topology, machine, options, directory, rings, sockets, in this order: options that cannot be are
 * refused before the directory is made. 0 or the exit code; what was made is in *node either way
 * and goes with start_undo. */
CC_MUST_USE int start_prepare(struct node *node, struct market_file *markets);
void start_undo(struct node *node);

/* Replays the journal and links the rings; the phase says how it went. */
void start_recover(struct node *node);

/* Sequences the commands of the start once the clock allows: 1 when it has, 0 when it is to be
 * asked again or has failed, which the phase says. */
uint32_t start_open(struct node *node);

#endif
