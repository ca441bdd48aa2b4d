/* prefetch.h - prefetches the cache lines of a command while earlier commands are applied.
 *
 * Every command reads random slots of tables that are far larger than a cache (duplicate set, id
 * map, orders). For the commands of a drained batch the matcher calls prefetch_buckets well before
 * prefetch_records, which reads the fetched lines.
 *
 * Order.  The functions are only hints: they change no state and decide nothing. */
#ifndef ENGINE_TRADE_PREFETCH_H
#define ENGINE_TRADE_PREFETCH_H

#include "engine/state/portfolio.h"

struct engine;
struct command;

/* Prefetches the cache lines of a record, from its first on. */
static inline void prefetch_lines(const void *record, size_t bytes)
{
    for (size_t line = 0; line < bytes; line += CC_CACHE_LINE)
        CC_PREFETCH((const char *)record + line);
}

/* Prefetches all of a portfolio but the line of what is rarely read. */
static inline void prefetch_portfolio(const struct portfolio *portfolio)
{
    static_assert(offsetof(struct portfolio, value) == 2 * CC_CACHE_LINE &&
                      offsetof(struct portfolio, slack_maintenance) == 3 * CC_CACHE_LINE,
                  "the line between is not needed");
    CC_PREFETCH(portfolio);
    CC_PREFETCH(&portfolio->value);
    CC_PREFETCH(&portfolio->slack_maintenance);
}

/* Prefetches the command's buckets of the duplicate set and of the order-id map. */
void prefetch_buckets(const struct engine *engine, const struct command *command);

/* Prefetches the likely order that a cancel, reduction or replacement names, from its bucket. */
void prefetch_records(const struct engine *engine, const struct command *command);

#endif
