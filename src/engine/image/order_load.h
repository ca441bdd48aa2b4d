/* order_load.h - section 7 of an image: orders that rest, in the book, the id map, their holdings'
 * lists and sums, and the expiry timers. Owned by the engine.
 *
 * Order.  Rows come in the order of their queues; a holding's list is put in the order of placing.
 * Bound.  Every order once, and n log n steps for the lists and timers. */
#ifndef ENGINE_IMAGE_ORDER_LOAD_H
#define ENGINE_IMAGE_ORDER_LOAD_H

#include "base/compiler.h"

struct engine;
struct image_read;

/* Into the empty table; portfolios, markets and holdings are there. */
CC_MUST_USE bool order_load(struct engine *engine, struct image_read *read);

#endif
