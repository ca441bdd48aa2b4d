/* work_load.h - section 11 of an image: the deferred work, head first. Owned by the engine. */
#ifndef ENGINE_WORK_WORK_LOAD_H
#define ENGINE_WORK_WORK_LOAD_H

#include "base/compiler.h"

struct engine;
struct image_read;

/* Into the empty queue; all the tables are there. */
CC_MUST_USE bool work_load(struct engine *engine, struct image_read *read);

/* What the items of the oldest kinds have beyond kind and index (struct work_handler). */
CC_MUST_USE bool work_load_timers(struct engine *engine, uint32_t index, struct image_read *read);
CC_MUST_USE bool work_load_scan(struct engine *engine, uint32_t index, struct image_read *read);
CC_MUST_USE bool work_load_cancel(struct engine *engine, uint32_t index, struct image_read *read);
CC_MUST_USE bool work_load_list(struct engine *engine, uint32_t index, struct image_read *read);

#endif
