/* prefetch.h - prefetches the cache lines of a command while earlier commands are applied.
 *
 * Every command reads random slots of tables that are far larger than a cache (duplicate set, id
 * map, orders). For the commands of a drained batch the matcher calls prefetch_buckets well before
 * prefetch_records, which reads the fetched lines.
 *
 * Order.  The functions are only hints: they change no state and decide nothing. */
#ifndef ENGINE_TRADE_PREFETCH_H
#define ENGINE_TRADE_PREFETCH_H

#include "base/compiler.h"

struct engine;
struct command;

/* Prefetches the cache lines of a record, from its first on. */
static inline void prefetch_lines(const void *record, size_t bytes)
{
    for (size_t line = 0; line < bytes; line += CC_CACHE_LINE)
        CC_PREFETCH((const char *)record + line);
}

/* Prefetches the command's buckets of the duplicate set and of the order-id map. */
void prefetch_buckets(const struct engine *engine, const struct command *command);

/* Prefetches the likely order that a cancel, reduction or replacement names, from its bucket. */
void prefetch_records(const struct engine *engine, const struct command *command);

#endif
