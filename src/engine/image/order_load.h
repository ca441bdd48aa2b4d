/* order_load.h - loads section 7 of an image: the resting orders. Owned by the engine.
 *
 * An order enters the book, the id map, its holding's list and sums, and the expiry timers.
 *
 * Order.  Rows come in the order of their queues. The list of a holding is sorted by placing.
 * Bound.  Every order once, and O(n log n) steps for the lists and timers. */
#ifndef ENGINE_IMAGE_ORDER_LOAD_H
#define ENGINE_IMAGE_ORDER_LOAD_H

#include "base/compiler.h"

struct engine;
struct image_read;

/* Fills the empty table of orders. Portfolios, markets and holdings are loaded. False: read->wrong
 * says why, and the engine is of no further use. */
CC_MUST_USE bool order_load(struct engine *engine, struct image_read *read);

#endif
