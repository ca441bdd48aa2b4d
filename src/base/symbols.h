/* symbols.h - which asset id a market's symbol names: one writer, any number of lock-free readers.
 *
 *   matcher (or recovery)                 net threads
 *   symbols_add()     -- count -->        symbols_find()
 *
 * Order. A row is written before `count` is stored with release; a reader loads `count` with
 *        acquire: a row it sees is complete. Rows are never changed or taken out, for a market
 *        keeps its symbol and its asset id for ever (rules.md R10).
 * Wait.  Nothing blocks or retries.
 * Owner. symbols_add is the writer's; symbols_find any thread's.
 * Bound. SYMBOLS_MAX rows, as many as the engine has markets. Zeroed memory is an empty table. */
#ifndef BASE_SYMBOLS_H
#define BASE_SYMBOLS_H

#include "base/cc.h"

enum {
    SYMBOLS_MAX = 128,
    SYMBOL_BYTES = 32, /* zero-padded, at most 31 used */
    SYMBOL_NONE = 0,   /* no market has this asset id */
};

struct symbols {
    _Atomic uint32_t count;
    struct {
        char symbol[SYMBOL_BYTES];
        uint16_t asset_id;
    } rows[SYMBOLS_MAX];
};

/* Adds a market; one that is there already stays as it is. Room is there (INVARIANT). */
void symbols_add(struct symbols *symbols, const char symbol[SYMBOL_BYTES], uint16_t asset_id);

/* The asset id of the `count` bytes at `symbol`, or SYMBOL_NONE. */
CC_MUST_USE uint16_t symbols_find(const struct symbols *symbols, const char *symbol, size_t count);

#endif
