/* liquidation_load.h - section 19 of an image: what the head of the queue is in the middle of, and
 * the items and timers of liquidation made again. Owned by the engine. */
#ifndef ENGINE_LIQUIDATE_LIQUIDATION_LOAD_H
#define ENGINE_LIQUIDATE_LIQUIDATION_LOAD_H

#include "base/compiler.h"

struct engine;
struct image_sink;
struct image_read;

/* Appends the section to an image. */
void liquidation_load_image(const struct engine *engine, struct image_sink *sink);

/* Loads the section, after all tables and before the deferred work. False: refused, as the read
 * says. */
CC_MUST_USE bool liquidation_load(struct engine *engine, struct image_read *read);

/* An item of WORK_LIQUIDATION (struct work_handler). */
CC_MUST_USE bool liquidation_load_item(struct engine *engine, uint32_t portfolio,
                                       struct image_read *read);

#endif
