/* market_load.h - loads section 8 of an image: the markets, with empty books. Owned by the
 * engine. */
#ifndef ENGINE_IMAGE_MARKET_LOAD_H
#define ENGINE_IMAGE_MARKET_LOAD_H

#include "base/compiler.h"

struct engine;
struct image_read;

/* Fills the empty table of markets. order_load adds the orders later. False: read->wrong says why,
 * and the engine is of no further use. */
CC_MUST_USE bool market_load(struct engine *engine, struct image_read *read);

#endif
