/* conditional_load.h - section 13 of an image: the untriggered orders, and what triggered ones
 * keep. Owned by the engine. */
#ifndef ENGINE_IMAGE_CONDITIONAL_LOAD_H
#define ENGINE_IMAGE_CONDITIONAL_LOAD_H

#include "base/compiler.h"

struct engine;
struct image_read;

/* Portfolios, markets and orders are there; all wait in their trees until the work is loaded.
 * Images of version 0 have none. */
CC_MUST_USE bool conditional_load(struct engine *engine, struct image_read *read);

#endif
