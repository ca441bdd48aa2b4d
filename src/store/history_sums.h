/* history_sums.h - which pages the trees of the history's file have, and a sum of each: a page that
 * the disk gives back is compared with the one that was written.
 *
 *   check at the start, each commit ──learn, drop──> sums <──read── cursors, and the next commit
 *
 * Order.  A page that left the trees keeps its sum until it is learned again: cursors of before
 *         still read it.
 * Owner.  Learn, drop and has: the thread that commits. Read: any thread.
 * Wait.   A read blocks as files do.
 * Bound.  8 bytes and a bit of memory a page of the file, reserved for all that it may get.
 * Errors. 0 or -errno; -EBADMSG: it is not the page that was written. Nothing is logged. */
#ifndef STORE_HISTORY_SUMS_H
#define STORE_HISTORY_SUMS_H

#include "base/compiler.h"
#include "store/history_page.h"

struct history_sums {
    _Atomic uint64_t *sums; /* CRC32C, and above it how often the page was learned; 0: never */
    uint64_t *live;         /* a bit for each page that the trees have */
    uint64_t pages_max;
    int file;
};

/* Of a file that may get pages_max pages. */
CC_MUST_USE int history_sums_init(struct history_sums *sums, uint64_t pages_max);
void history_sums_free(struct history_sums *sums);

/* The file, which fetch and read are of. */
CC_MUST_USE int history_sums_open(struct history_sums *sums, const char *path);

/* A page with these bytes is one of the trees, or a meta page. */
CC_MUST_USE int history_sums_learn(struct history_sums *sums, uint64_t number, const uint8_t *page);

/* The page has left the trees. */
void history_sums_drop(struct history_sums *sums, uint64_t number);

CC_MUST_USE bool history_sums_has(const struct history_sums *sums, uint64_t number);

/* The sum that the page must have now; 0: it was never learned. */
CC_MUST_USE static inline uint64_t history_sums_of(const struct history_sums *sums, uint64_t number)
{
    /* relaxed: who may read the page learned of it by an acquire (history_roots_get). */
    return number < sums->pages_max
               ? atomic_load_explicit(&sums->sums[number], memory_order_relaxed)
               : 0;
}

/* Reads the bytes of the page as they are now. */
CC_MUST_USE int history_sums_fetch(const struct history_sums *sums, uint64_t number, uint8_t *page);

/* Reads the page and compares it with its sum. */
CC_MUST_USE int history_sums_read(const struct history_sums *sums, uint64_t number, uint8_t *page);

#endif
