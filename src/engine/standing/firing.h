/* firing.h - fires an untriggered order when its price has come: one unit of WORK_TRIGGER (rules.md
 * R8). Owned by the engine.
 *
 * Order.  Refreshes its owner, emits 2114, cancels the others of its OCO group, then places it as
 *         any order (place_request) under its own id. It becomes that order, or is REJECTED.
 * Bound.  One unit, and one for each maker that its walk met. */
#ifndef ENGINE_STANDING_FIRING_H
#define ENGINE_STANDING_FIRING_H

#include "base/compiler.h"

struct engine;

/* Of the kind WORK_TRIGGER (work.h). */
CC_MUST_USE bool firing_unit(struct engine *engine, uint32_t batch, uint32_t *units);

#endif
