/* market_former.h - rows of section `markets` of the versions 1 to 3, made rows of today. */
#ifndef ENGINE_IMAGE_MARKET_FORMER_H
#define ENGINE_IMAGE_MARKET_FORMER_H

#include "base/compiler.h"

struct engine;
struct image_read;
struct market;

/* The bytes of a row of this version. */
CC_MUST_USE size_t market_former_bytes(uint32_t version);

/* Reads the next row. What those versions did not have is as if it had not happened yet: no limits,
 * no gap, no closing; a hold goes on with its last prices as the run. */
void market_former_load(const struct engine *engine, struct image_read *read,
                        struct market *market);

#endif
