/* capacity.h - checks that a configuration has room for what the tables hold. The node calls it at
 * a start. */
#ifndef ENGINE_VIEW_CAPACITY_H
#define ENGINE_VIEW_CAPACITY_H

#include "base/compiler.h"
#include "base/option.h"

struct engine;

/* True if every table holds no more than `options` allows: a restart may change capacities, but
 * never below use (roles.md, Configuration). False: *option is the first that is too small. */
CC_MUST_USE bool capacity_suffices(const struct engine *engine, const struct option_engine *options,
                                   enum option *option);

#endif
