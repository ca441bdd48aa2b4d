/* history_cache.h - pages of the history's file as they were written, in memory.
 *
 * A page that was read once is not read again while its sum is the same, whatever the disk does to
 * it meanwhile.
 *
 * Owner.  One thread at a time.
 * Wait.   Reads block as files do.
 * Errors. Those of history_sums_read. */
#ifndef STORE_HISTORY_CACHE_H
#define STORE_HISTORY_CACHE_H

#include "store/history_sums.h"

enum { HISTORY_CACHE_PAGES = 256 };

struct history_cache {
    const struct history_sums *sums;
    uint64_t numbers[HISTORY_CACHE_PAGES]; /* of the page in each place */
    uint64_t of[HISTORY_CACHE_PAGES];      /* its sum; 0: no page */
    uint8_t (*pages)[HISTORY_PAGE_BYTES];
};

/* 0 or -ENOMEM. */
CC_MUST_USE int history_cache_init(struct history_cache *cache, const struct history_sums *sums);
void history_cache_free(struct history_cache *cache);

/* The page will be read from the disk again, whichever it is. */
void history_cache_forget(struct history_cache *cache);

/* A page of the trees; *page is valid until the next call. */
CC_MUST_USE int history_cache_get(struct history_cache *cache, uint64_t number,
                                  const uint8_t **page);

#endif
