/* unwind.h - the fund sells what it took, 5 to 15 % of each position in every other second, by
 * chance (rules.md R7, Fund). Owned by the engine. */
#ifndef ENGINE_LIQUIDATE_UNWIND_H
#define ENGINE_LIQUIDATE_UNWIND_H

#include "base/compiler.h"

enum { UNWIND_DISTANCE_PPM = 1000, UNWIND_PERCENT_LEAST = 5, UNWIND_PERCENTS = 11 };

struct engine;
struct image_read;

/* The market's second was made: queues the unwinding of the fund's position there. */
void unwind_second(struct engine *engine, uint32_t market);

/* WORK_UNWIND: a slice of the market's order, and what follows the last slice. */
CC_MUST_USE bool unwind_unit(struct engine *engine, uint32_t market, uint32_t *units);
void unwind_finish(struct engine *engine, uint32_t market);
CC_MUST_USE bool unwind_load_item(struct engine *engine, uint32_t market, struct image_read *read);

#endif
