/* capacity.h - whether the tables' use lets a configuration in; asked by the node at a start. */
#ifndef ENGINE_VIEW_CAPACITY_H
#define ENGINE_VIEW_CAPACITY_H

#include "base/compiler.h"
#include "base/option.h"

struct engine;

/* Capacities may change at a restart, never below use (roles.md, Configuration): true when
 * every table holds no more than `options` allows. Otherwise *option is the first that is short. */
CC_MUST_USE bool capacity_suffices(const struct engine *engine, const struct option_engine *options,
                                   enum option *option);

#endif
