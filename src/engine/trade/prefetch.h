/* prefetch.h - prefetches the cache lines of a command while earlier commands are applied.
 *
 * Every command reads random slots of tables that are far larger than a cache (duplicate set, id
 * map, orders). For the commands of a drained batch the matcher calls prefetch_buckets well before
 * prefetch_records, which reads the fetched lines.
 *
 * Order.  The functions are only hints: they change no state and decide nothing. */
#ifndef ENGINE_TRADE_PREFETCH_H
#define ENGINE_TRADE_PREFETCH_H

struct engine;
struct command;

/* Prefetches the command's buckets of the duplicate set and of the order-id map. */
void prefetch_buckets(const struct engine *engine, const struct command *command);

/* Prefetches the likely order that a cancel, reduction or replacement names, from its bucket. */
void prefetch_records(const struct engine *engine, const struct command *command);

#endif
