/* book.h - one market's resting orders: two ladders of price levels. Owned by the engine.
 *
 *   ladder index   0   1   2  ...  top          an order rests at `tick` of its own side
 *   asks, price    0   1   2  ...  top          best = lowest index on either side, so both
 *   bids, price   top ...  2   1    0           sides are one code path
 *
 * Order.  Price, then queue: an insert adds an order at the end of its level. A walk takes the
 *         best level first (book_best, book_next), each from head to tail (book_head, order.next).
 * Units.  Prices in ticks of the market, quantities raw. `tick` is always a ladder index of the
 *         side it is used with; book_mirror converts it to the index on the other side.
 * Bound.  2^24 ticks. A page is 256 neighbouring levels of a side and is in use while one of its
 *         levels has an order. All books take their pages from one pool (book_pages). An insert
 *         that needs a page above the limit is refused. Only the count of used pages decides:
 *         which page of the pool a level gets is seen by nobody.
 * Memory. A side has a directory, 4 bytes a page; the levels without orders share one page of
 *         zeros, which nothing writes to. A level has 16 bytes, so four levels share a line; its
 *         count of orders lies apart from it. Directories and pool start as zero bytes that are not
 *         touched before their first use. */
#ifndef ENGINE_TABLE_BOOK_H
#define ENGINE_TABLE_BOOK_H

#include "base/compiler.h"
#include "engine/table/book_pages.h"
#include "engine/table/order.h"

enum {
    BOOK_BITMAP_DEPTH = 4, /* 64^4 = 2^24 */
};

#define BOOK_TICK_NONE UINT32_MAX /* greater than any index */

struct book_side {
    uint8_t *pool;                           /* book_pages.pool */
    uint32_t *directory;                     /* per page: its line of the pool; 0: zeros */
    uint64_t *bitmap[BOOK_BITMAP_DEPTH - 1]; /* [d]: one bit per word of the depth below */
    uint32_t best;                           /* lowest index with an order, or BOOK_TICK_NONE */
    uint32_t order_count;
    uint64_t spare[2]; /* a side is one line */
};

static_assert(sizeof(struct book_side) == CC_CACHE_LINE, "a side is one line");

struct book {
    struct book_side sides[2]; /* by enum order_side */
    struct order *orders;      /* order_table.hot */
    struct book_pages *pages;
    uint32_t top; /* highest index */
};

struct book_depth {
    uint64_t price_ticks;
    uint64_t quantity;
    uint32_t order_count;
};

/* Returns the bytes that both directories need for prices 0 to ladder_ticks - 1.
 * 2 <= ladder_ticks <= BOOK_TICKS_MAX. */
size_t book_bytes(uint32_t ladder_ticks);

/* Prepares an empty book. `memory` has book_bytes(ladder_ticks) zero bytes, 64-byte aligned, and
 * outlives the book. `orders` is the hot array of the order table. All books share `pages`. */
void book_init(struct book *book, void *memory, uint32_t ladder_ticks, struct order *orders,
               struct book_pages *pages);

/* Adds an order at the end of its level's queue. The caller has set its side, tick and remaining
 * (> 0); it is in no queue. False when it needs a page above the limit; then nothing changes. */
CC_MUST_USE bool book_insert(struct book *book, uint32_t order);

/* Removes a resting order from its queue. Its `remaining` does not change. */
void book_remove(struct book *book, uint32_t order);

/* Subtracts 0 < quantity < remaining from a resting order. It keeps its position in the queue. */
void book_reduce(struct book *book, uint32_t order, uint64_t quantity);

/* True if the page of `tick` has an order: an insert there needs no other page. */
CC_MUST_USE bool book_has_page(const struct book *book, enum order_side side, uint32_t tick);

/* True if the removal of an order at `tick` would free its page: the page has no other order. */
CC_MUST_USE bool book_frees_page(const struct book *book, enum order_side side, uint32_t tick);

/* Sets *quantity to the sum of the orders ahead of a resting order in its level. Walks the queue
 * toward both ends at once, at most `steps` orders each way. False when it reached neither end;
 * then *quantity is not written. */
CC_MUST_USE bool book_ahead(const struct book *book, uint32_t order, uint32_t steps,
                            uint64_t *quantity);

/* Subtracts a filled quantity, 0 < quantity <= remaining, from a resting order. True when nothing
 * is left: the order is then out of its queue, with remaining 0. */
bool book_fill(struct book *book, uint32_t order, uint64_t quantity);

/* Returns the next level with orders after `tick` (further from the spread), or BOOK_TICK_NONE. */
CC_MUST_USE uint32_t book_next(const struct book *book, enum order_side side, uint32_t tick);

/* Writes the best levels to `rows`, best first, at most `row_count`. Quantities include dead
 * orders. Returns the number of rows written. */
uint32_t book_depth(const struct book *book, enum order_side side, struct book_depth *rows,
                    uint32_t row_count);

/* Audits one side, for tests and checkpoints: best, queues, sums, counts and bitmap agree, and
 * stamps rise within a level (INVARIANT). Returns the number of pages that the side uses. */
uint32_t book_check_side(const struct book *book, enum order_side side);

static inline enum order_side book_opposite(enum order_side side)
{
    return side == ORDER_LONG ? ORDER_SHORT : ORDER_LONG;
}

/* Returns the index of the same price on the other side. */
static inline uint32_t book_mirror(const struct book *book, uint32_t tick)
{
    return book->top - tick;
}

/* Returns the side's index of a price, price_ticks <= top. The function is its own inverse:
 * book_price. */
static inline uint32_t book_tick(const struct book *book, enum order_side side,
                                 uint32_t price_ticks)
{
    return side == ORDER_LONG ? book->top - price_ticks : price_ticks;
}

static inline uint32_t book_price(const struct book *book, enum order_side side, uint32_t tick)
{
    return book_tick(book, side, tick);
}

/* The best level's index, or BOOK_TICK_NONE. */
static inline uint32_t book_best(const struct book *book, enum order_side side)
{
    return book->sides[side].best;
}

/* True if an order of `side` at its index `tick` would meet the best opposite level. */
static inline bool book_crosses(const struct book *book, enum order_side side, uint32_t tick)
{
    return book->sides[book_opposite(side)].best <= book_mirror(book, tick);
}

/* The page of a level to read: that of zeros if the level's page is not in use. */
static inline struct book_page *book_page(const struct book_side *side, uint32_t tick)
{
    uint32_t line = side->directory[tick / BOOK_PAGE_LEVELS];

    return book_pages_at(side->pool, line);
}

static inline struct book_level *book_level_at(const struct book_side *side, uint32_t tick)
{
    return &book_page(side, tick)->levels[tick % BOOK_PAGE_LEVELS];
}

/* First order of a level, or ORDER_NONE. */
static inline uint32_t book_head(const struct book *book, enum order_side side, uint32_t tick)
{
    return book_level_at(&book->sides[side], tick)->head;
}

/* The quantity and the count of a level, as the effect book_level shows them: 0 and 0 if empty. */
static inline uint64_t book_quantity(const struct book *book, enum order_side side, uint32_t tick)
{
    return book_level_at(&book->sides[side], tick)->quantity;
}

static inline uint32_t book_order_count(const struct book *book, enum order_side side,
                                        uint32_t tick)
{
    return book_page(&book->sides[side], tick)->order_counts[tick % BOOK_PAGE_LEVELS];
}

/* Prefetches the level where an order would rest. */
static inline void book_prefetch_level(const struct book *book, enum order_side side, uint32_t tick)
{
    const struct book_page *page = book_page(&book->sides[side], tick);

    CC_PREFETCH(&page->levels[tick % BOOK_PAGE_LEVELS]);
    CC_PREFETCH(&page->order_counts[tick % BOOK_PAGE_LEVELS]);
}

/* Prefetches the last order of that level, which an insert links (after book_prefetch_level). */
static inline void book_prefetch_tail(const struct book *book, enum order_side side, uint32_t tick)
{
    CC_PREFETCH(&book->orders[book_level_at(&book->sides[side], tick)->tail]);
}

/* Prefetches the neighbours of an order, which its removal links (after order_prefetch). */
static inline void book_prefetch_neighbours(const struct book *book, const struct order *order)
{
    CC_PREFETCH(&book->orders[order->next]);
    CC_PREFETCH(&book->orders[order->prev]);
}

#endif
