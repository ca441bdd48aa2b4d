/* symbols.h - which asset id a market's symbol names: one writer, any number of lock-free readers.
 *
 *   matcher (or recovery)                 net threads
 *   symbols_add()     -- count -->        symbols_find()
 *
 * Order. The writer fills a row, then stores `count` with release; a reader loads `count` with
 *        acquire, so every row that it sees is complete. Rows never change and are never removed: a
 *        market keeps its symbol and its asset id for ever (rules.md R10).
 * Wait.  Nothing blocks or retries.
 * Owner. The writer calls symbols_add, any thread symbols_find.
 * Bound. SYMBOLS_MAX rows, as many as the engine has markets. Zeroed memory is an empty table. */
#ifndef BASE_SYMBOLS_H
#define BASE_SYMBOLS_H

#include "base/compiler.h"

enum {
    SYMBOLS_MAX = 128,
    SYMBOL_BYTES = 32, /* zero-padded, all may be used */
    SYMBOL_NONE = 0,   /* no market has this asset id */
};

struct symbols {
    _Atomic uint32_t count;
    struct {
        char symbol[SYMBOL_BYTES];
        uint16_t asset_id;
    } rows[SYMBOLS_MAX];
};

/* Adds a market; does nothing if it is present. The table must have room (INVARIANT). */
void symbols_add(struct symbols *symbols, const char symbol[SYMBOL_BYTES], uint16_t asset_id);

/* Returns the asset id of the symbol of `count` bytes, or SYMBOL_NONE. */
CC_MUST_USE uint16_t symbols_find(const struct symbols *symbols, const char *symbol, size_t count);

/* The row of a market, which never moves; SYMBOLS_MAX: it was not added. */
CC_MUST_USE uint32_t symbols_index(const struct symbols *symbols, uint16_t asset_id);

#endif
