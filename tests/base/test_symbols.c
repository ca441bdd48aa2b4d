/* Symbols of markets: exact, whole (rules.md R10: for ever), and readers beside the writer. */
#include <pthread.h>
#include <stdio.h>

#include "base/symbols.h"
#include "check.h"

static struct symbols symbols;

static const struct {
    int line;
    const char *name, *symbol;
    uint32_t count;
    uint16_t asset_id;
} rows[] = {
    { __LINE__, "there", "BTC-PERP", 8, 1 },
    { __LINE__, "another", "ETH-PERP", 8, 65534 },
    { __LINE__, "31 bytes", "ABCDEFGHIJKLMNOPQRSTUVWXYZ-PERP", 31, 9 },
    { __LINE__, "32 bytes", "ABCDEFGHIJKLMNOPQRSTUVWXYZ1-PERP", 32, 10 },
    { __LINE__, "33 bytes", "ABCDEFGHIJKLMNOPQRSTUVWXYZ1-PERPX", 33, SYMBOL_NONE },
    { __LINE__, "the beginning of one", "BTC-PER", 7, SYMBOL_NONE },
    { __LINE__, "one and more", "BTC-PERPS", 9, SYMBOL_NONE },
    { __LINE__, "case counts", "btc-perp", 8, SYMBOL_NONE },
    { __LINE__, "empty", "", 0, SYMBOL_NONE },
    { __LINE__, "one and a zero byte", "BTC-PERP\0", 9, SYMBOL_NONE },
};

static void add(struct symbols *table, const char *text, uint16_t asset_id)
{
    char symbol[SYMBOL_BYTES] = { 0 };
    memcpy(symbol, text, strlen(text));
    symbols_add(table, symbol, asset_id);
}

static void symbols_are_exact(void)
{
    CHECK(symbols_find(&symbols, "BTC-PERP", 8) == SYMBOL_NONE);
    add(&symbols, "BTC-PERP", 1);
    add(&symbols, "ETH-PERP", 65534);
    add(&symbols, "ABCDEFGHIJKLMNOPQRSTUVWXYZ-PERP", 9);
    add(&symbols, "ABCDEFGHIJKLMNOPQRSTUVWXYZ1-PERP", 10);
    add(&symbols, "BTC-PERP", 1); /* told again by a start */
    CHECK(symbols.count == 4);
    for (size_t i = 0; i < CC_COUNT(rows); i++)
        CHECK_ROW(&rows[i],
                  symbols_find(&symbols, rows[i].symbol, rows[i].count) == rows[i].asset_id);
}

static struct symbols shared;
static atomic_bool stop;

/* What is found is whole, and what was found once stays. */
static void *read_shared(void *argument)
{
    uint32_t seen = 0;
    while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
        for (uint32_t i = 0; i < SYMBOLS_MAX; i++) {
            char text[SYMBOL_BYTES];
            int count = snprintf(text, sizeof text, "M%u-PERP", i);
            uint16_t found = symbols_find(&shared, text, (size_t)count);
            CHECK(found == SYMBOL_NONE || found == i + 1);
            CHECK(found != SYMBOL_NONE || i >= seen);
            if (found != SYMBOL_NONE && i == seen)
                seen++;
        }
    }
    *(uint32_t *)argument = seen;
    return NULL;
}

static void readers_see_whole_rows(void)
{
    pthread_t reader;
    uint32_t seen = 0;
    CHECK(pthread_create(&reader, NULL, read_shared, &seen) == 0);
    for (uint32_t i = 0; i < SYMBOLS_MAX; i++) {
        char text[SYMBOL_BYTES];
        (void)snprintf(text, sizeof text, "M%u-PERP", i);
        add(&shared, text, (uint16_t)(i + 1));
    }
    for (uint32_t i = 0; i < SYMBOLS_MAX; i++) {
        char text[SYMBOL_BYTES];
        int count = snprintf(text, sizeof text, "M%u-PERP", i);
        CHECK(symbols_find(&shared, text, (size_t)count) == i + 1);
    }
    atomic_store(&stop, true);
    CHECK(pthread_join(reader, NULL) == 0);
    CHECK(seen <= SYMBOLS_MAX);
}

int main(void)
{
    symbols_are_exact();
    readers_see_whole_rows();
    return 0;
}
