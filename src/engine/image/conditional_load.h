/* conditional_load.h - loads section 13 of an image: the untriggered orders, and the origins of
 * triggered ones. Owned by the engine. */
#ifndef ENGINE_IMAGE_CONDITIONAL_LOAD_H
#define ENGINE_IMAGE_CONDITIONAL_LOAD_H

#include "base/compiler.h"

struct engine;
struct image_read;

/* Fills the empty table of untriggered orders. Portfolios, markets and orders are loaded. Every row
 * enters its tree; the work is loaded later. An image without the section (version 0) has no rows.
 * False: read->wrong says why, and the engine is of no further use. */
CC_MUST_USE bool conditional_load(struct engine *engine, struct image_read *read);

#endif
