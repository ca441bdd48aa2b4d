/* book_venue.h - the object of the book benchmarks: order table, id map, books and duplicate set of
 * the engine, connected as matching connects them, without accounts and risk. */
#ifndef BENCH_BOOK_VENUE_H
#define BENCH_BOOK_VENUE_H

#include <stdlib.h>
#include <sys/mman.h>

#include "book_command.h"
#include "engine/table/book.h"
#include "engine/table/duplicate.h"
#include "engine/table/order.h"
#include "engine/table/order_map.h"

enum {
    LADDER_TICKS = 1 << 16,
    BOOKS_MAX = 32,
    AHEAD = 8, /* commands between two steps of prefetching */
    PREFETCH_FROM = 65536,
    PAST_MS = 30000,
    FUTURE_MS = 5000,
    DUPLICATE_SLOTS = 1 << 22,
    IDS_PER_MS = 93,
};

static const uint64_t START_MS = 1760000000000;

static const struct mix_key VENUE_KEY = { 0x243F6A8885A308D3, 0x13198A2E03707344 };

struct venue {
    struct order_table table;
    struct order_map map;
    struct book books[BOOKS_MAX];
    struct book_pages pages;
    struct duplicate set;
    struct book_trades trades;
    uint32_t candidates[4 * AHEAD]; /* of the prefetching, by command number */
    uint32_t book_count;
    void *memory;
    size_t bytes;
};

static inline void *map_memory(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (memory == MAP_FAILED)
        abort();
    madvise(memory, bytes, MADV_HUGEPAGE);
    return memory;
}

static inline size_t aligned(size_t bytes)
{
    return (bytes + 4095) & ~(size_t)4095;
}

static inline struct venue *venue_make(uint32_t book_count, uint32_t order_slots, bool duplicates)
{
    struct venue *venue = calloc(1, sizeof *venue);
    size_t sizes[3] = {
        aligned(order_table_bytes(order_slots)), aligned(order_map_bytes(order_slots)),
        duplicates ? aligned(duplicate_bytes(DUPLICATE_SLOTS, PAST_MS + FUTURE_MS, 0)) : 0
    };
    size_t book_size = aligned(book_bytes(LADDER_TICKS));

    if (venue == NULL)
        abort();
    uint32_t page_count = book_count * 2 * (LADDER_TICKS / BOOK_PAGE_LEVELS + 1);
    venue->bytes = sizes[0] + sizes[1] + sizes[2] + book_count * book_size +
                   aligned(book_pages_bytes(page_count));
    venue->memory = map_memory(venue->bytes);
    unsigned char *at = venue->memory;
    venue->book_count = book_count;
    order_table_init(&venue->table, at, order_slots);
    order_map_init(&venue->map, at += sizes[0], order_slots, venue->table.hot);
    at += sizes[1];
    if (duplicates)
        duplicate_init(&venue->set, at, DUPLICATE_SLOTS, PAST_MS + FUTURE_MS, 0);
    at += sizes[2];
    book_pages_init(&venue->pages, at + book_count * book_size, page_count);
    for (uint32_t b = 0; b < book_count; b++, at += book_size)
        book_init(&venue->books[b], at, LADDER_TICKS, venue->table.hot, &venue->pages);
    return venue;
}

static inline void venue_free(struct venue *venue)
{
    munmap(venue->memory, venue->bytes);
    free(venue);
}

static inline uint64_t venue_hash(const struct order *order)
{
    return mix_id(VENUE_KEY, order->account, (const uint8_t *)order->id);
}

static inline void venue_end(struct venue *venue, uint32_t index, enum order_state state)
{
    order_move(&venue->table.hot[index], order_filled(&venue->table, index), state);
    order_map_remove(&venue->map, VENUE_KEY, index);
    order_release(&venue->table, index);
}

/* Trades `quantity` of a limit order against the other side. Returns the rest. */
static inline uint64_t venue_match(struct venue *venue, const struct book_command *command,
                                   uint64_t quantity)
{
    struct book *book = &venue->books[command->book];
    enum order_side side = (enum order_side)command->side;
    enum order_side opposite = book_opposite(side);
    uint32_t tick = book_tick(book, side, command->price);

    while (quantity > 0 && book_crosses(book, side, tick)) {
        uint32_t best = book_best(book, opposite);
        uint32_t maker = book_head(book, opposite, best);
        struct order *order = &venue->table.hot[maker];
        uint64_t traded = order->remaining < quantity ? order->remaining : quantity;
        order_prefetch(&venue->table, order->next);
        book_trade(&venue->trades, order->stamp, command->number, book_price(book, opposite, best),
                   traded);
        quantity -= traded;
        bool gone = book_fill(book, maker, traded);
        order_add_fill(&venue->table, maker, traded, 0);
        if (gone) {
            order_map_remove(&venue->map, VENUE_KEY, maker);
            order_release(&venue->table, maker);
        }
    }
    return quantity;
}

static inline void venue_rest(struct venue *venue, const struct book_command *command,
                              uint32_t index, uint64_t quantity)
{
    struct book *book = &venue->books[command->book];
    struct order *order = &venue->table.hot[index];

    order->tick = book_tick(book, (enum order_side)order->side, command->price);
    order->remaining = quantity;
    order->stamp = command->number;
    if (!book_insert(book, index))
        abort();
}

static inline void venue_new(struct venue *venue, const struct book_command *command)
{
    uint64_t quantity = venue_match(venue, command, command->quantity);

    if (quantity == 0)
        return;
    uint32_t index = order_alloc(&venue->table);
    struct order *order = &venue->table.hot[index];
    if (index == ORDER_NONE)
        abort();
    order->id[0] = command->id[0];
    order->id[1] = command->id[1];
    order->market = command->book;
    order->side = command->side;
    venue_rest(venue, command, index, quantity);
    order_move(order, 0, ORDER_OPEN);
    order_map_insert(&venue->map, command->hash, index);
}

static inline void venue_apply(struct venue *venue, const struct book_command *command)
{
    if (command->op == BOOK_NEW) {
        venue_new(venue, command);
        return;
    }
    uint32_t index = order_map_find(&venue->map, command->target_hash, 0, command->target);
    struct book *book = &venue->books[command->book];
    if (index == ORDER_NONE)
        abort();
    if (command->op == BOOK_REDUCE) {
        book_reduce(book, index, command->quantity);
        return;
    }
    book_remove(book, index);
    if (command->op == BOOK_CANCEL) {
        venue_end(venue, index, ORDER_CANCELED);
        return;
    }
    uint64_t quantity = venue_match(venue, command, command->quantity);
    if (quantity == 0)
        venue_end(venue, index, ORDER_CANCELED);
    else
        venue_rest(venue, command, index, quantity);
}

#endif
