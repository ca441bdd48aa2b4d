/* prefetch.h - brings in the lines that a command will touch, while those before it are applied.
 *
 * The tables that every command hits at a random place (duplicate set, id map, orders) are far
 * larger than a cache. The matcher calls the two stages for the commands of a drained batch, the
 * first well ahead of the second: the second reads what the first fetched.
 *
 * Order.  Only hints: no state is changed, and none of it decides anything. */
#ifndef ENGINE_TRADE_PREFETCH_H
#define ENGINE_TRADE_PREFETCH_H

struct engine;
struct command;

/* Buckets of the duplicate set and of the order-id map. */
void prefetch_buckets(const struct engine *engine, const struct command *command);

/* The order that a cancel names, as far as the bucket tells. */
void prefetch_records(const struct engine *engine, const struct command *command);

#endif
