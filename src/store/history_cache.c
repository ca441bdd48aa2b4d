#include "store/history_cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int history_cache_init(struct history_cache *cache, const struct history_sums *sums)
{
    memset(cache, 0, sizeof *cache);
    cache->sums = sums;
    cache->pages = malloc((size_t)HISTORY_CACHE_PAGES * HISTORY_PAGE_BYTES);
    return cache->pages != NULL ? 0 : -ENOMEM;
}

void history_cache_free(struct history_cache *cache)
{
    free(cache->pages);
    cache->pages = NULL;
}

void history_cache_forget(struct history_cache *cache)
{
    memset(cache->of, 0, sizeof cache->of);
}

int history_cache_get(struct history_cache *cache, uint64_t number, const uint8_t **page)
{
    uint32_t place = (uint32_t)(number % HISTORY_CACHE_PAGES);
    uint64_t sum = history_sums_of(cache->sums, number);

    *page = cache->pages[place];
    if (sum != 0 && cache->of[place] == sum && cache->numbers[place] == number)
        return 0;
    cache->of[place] = 0;
    int failed = history_sums_read(cache->sums, number, cache->pages[place]);
    if (failed != 0)
        return failed;
    cache->of[place] = sum;
    cache->numbers[place] = number;
    return 0;
}
