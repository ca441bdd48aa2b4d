/* book_pages.h - the pages of levels that all books take from one pool (engine.ladder_pages).
 *
 * A page is named by its first line of the pool; 0 is the page of zeros, which nothing writes to.
 *
 * Owner. The engine.
 * Bound. A page above the limit is refused; the count of used pages alone decides. */
#ifndef ENGINE_TABLE_BOOK_PAGES_H
#define ENGINE_TABLE_BOOK_PAGES_H

#include "base/compiler.h"

enum {
    BOOK_TICKS_MAX = 1 << 24,
    BOOK_PAGE_LEVELS = 256,
    BOOK_PAGE_WORDS = BOOK_PAGE_LEVELS / 64,
};

struct book_level {
    uint32_t head; /* first order of the queue; ORDER_NONE: the level is empty */
    uint32_t tail;
    uint64_t quantity; /* sum of `remaining` of its orders, dead ones included */
};

/* Levels of neighbouring ticks. Those without an order are zero bytes. */
struct book_page {
    struct book_level levels[BOOK_PAGE_LEVELS];
    uint32_t order_counts[BOOK_PAGE_LEVELS];
    uint64_t words[BOOK_PAGE_WORDS]; /* one bit per level */
    uint32_t next_free;              /* of a free page: the next one, as in a directory; 0: none */
    uint32_t spare[7];
};

static_assert(sizeof(struct book_page) % CC_CACHE_LINE == 0, "a page is whole lines");

/* The pages of all books together (engine.ladder_pages). */
struct book_pages {
    uint8_t *pool;      /* page 0 is zeros and stays so */
    uint32_t free;      /* the last page given back, as in a directory; 0: none */
    uint32_t untouched; /* pages from this one on were never used */
    uint32_t capacity;  /* pages of the pool beside page 0 */
    uint32_t used;
    uint32_t limit; /* at most the capacity */
};

/* Returns the bytes of a pool of `capacity` pages, 1 to BOOK_TICKS_MAX. */
size_t book_pages_bytes(uint32_t capacity);

/* Prepares a pool with no page in use and the limit `capacity`. `memory` has
 * book_pages_bytes(capacity) zero bytes, 64-byte aligned, and outlives the pool. */
void book_pages_init(struct book_pages *pages, void *memory, uint32_t capacity);

/* Hands out a page of zeros, the last one freed before one that was never used. Returns its line;
 * 0 at the limit, and then nothing changes. */
CC_MUST_USE uint32_t book_pages_alloc(struct book_pages *pages);

/* Frees a page that is all zeros again. */
void book_pages_free(struct book_pages *pages, uint32_t line);

/* The page that begins at a line of the pool. */
static inline struct book_page *book_pages_at(uint8_t *pool, uint32_t line)
{
    return (struct book_page *)(void *)(pool + (size_t)line * CC_CACHE_LINE);
}

#endif
