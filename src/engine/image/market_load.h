/* market_load.h - section 8 of an image: the markets, their books empty. Owned by the engine. */
#ifndef ENGINE_IMAGE_MARKET_LOAD_H
#define ENGINE_IMAGE_MARKET_LOAD_H

#include "base/compiler.h"

struct engine;
struct image_read;

/* Into the empty table. The orders come later (order_load). */
CC_MUST_USE bool market_load(struct engine *engine, struct image_read *read);

#endif
