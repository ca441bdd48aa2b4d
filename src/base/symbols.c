#include "base/symbols.h"

static uint16_t find(const struct symbols *symbols, const char padded[SYMBOL_BYTES])
{
    /* acquire (pairs: symbols_add): the rows were written before the count. */
    uint32_t count = atomic_load_explicit(&symbols->count, memory_order_acquire);
    for (uint32_t i = 0; i < count; i++)
        if (memcmp(symbols->rows[i].symbol, padded, SYMBOL_BYTES) == 0)
            return symbols->rows[i].asset_id;
    return SYMBOL_NONE;
}

void symbols_add(struct symbols *symbols, const char symbol[SYMBOL_BYTES], uint16_t asset_id)
{
    INVARIANT(asset_id != SYMBOL_NONE);
    if (find(symbols, symbol) != SYMBOL_NONE)
        return;
    /* relaxed: only this thread stores it */
    uint32_t count = atomic_load_explicit(&symbols->count, memory_order_relaxed);
    INVARIANT(count < SYMBOLS_MAX);
    memcpy(symbols->rows[count].symbol, symbol, SYMBOL_BYTES);
    symbols->rows[count].asset_id = asset_id;
    /* release (pairs: find): the row comes before the count */
    atomic_store_explicit(&symbols->count, count + 1, memory_order_release);
}

uint16_t symbols_find(const struct symbols *symbols, const char *symbol, size_t count)
{
    char padded[SYMBOL_BYTES] = { 0 };
    if (count == 0 || count > SYMBOL_BYTES || memchr(symbol, '\0', count) != NULL)
        return SYMBOL_NONE;
    memcpy(padded, symbol, count);
    return find(symbols, padded);
}

uint32_t symbols_index(const struct symbols *symbols, uint16_t asset_id)
{
    /* acquire (pairs: symbols_add): the rows were written before the count. */
    uint32_t count = atomic_load_explicit(&symbols->count, memory_order_acquire);
    uint32_t index = 0;
    while (index < count && symbols->rows[index].asset_id != asset_id)
        index++;
    return index < count ? index : SYMBOLS_MAX;
}
