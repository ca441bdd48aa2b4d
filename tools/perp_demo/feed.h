/* feed.h - the price outside the exchange: one number in a shared file, which the oracle process
 * moves and the makers and takers watch, as they would watch other venues.
 *
 * Owner. One writer (the oracle); any number of readers.
 * Units. Raw price of the market. */
#ifndef PERP_DEMO_FEED_H
#define PERP_DEMO_FEED_H

#include "base/cc.h"

struct feed {
    _Atomic uint64_t price;
};

/* Maps the file, making it when it is not there. NULL: errno says why. Mapped until exit. */
struct feed *feed_open(const char *path);

static inline uint64_t feed_price(const struct feed *feed)
{
    /* relaxed: one word, nothing is ordered by it. */
    return atomic_load_explicit(&feed->price, memory_order_relaxed);
}

static inline void feed_set(struct feed *feed, uint64_t price)
{
    atomic_store_explicit(&feed->price, price, memory_order_relaxed); /* relaxed: as above */
}

#endif
