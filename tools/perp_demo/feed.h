/* feed.h - the prices outside the exchange: a shared file, one number a market, which the oracle
 * process moves and the traders watch, as they would watch other venues. Beside them, a word of the
 * scene: that traders hurry, each turn right after the one before.
 *
 * Owner. One writer (prices: the oracle, hurry: the scene); any number of readers.
 * Units. Raw prices of the markets. */
#ifndef PERP_DEMO_FEED_H
#define PERP_DEMO_FEED_H

#include "perp_demo/listing.h"

struct feed {
    _Atomic uint64_t price[LISTING_MARKETS];
    _Atomic uint32_t hurry;
};

/* Maps the file, making it when it is not there. NULL: errno says why. Mapped until exit. */
struct feed *feed_open(const char *path);

static inline uint64_t feed_price(const struct feed *feed, uint32_t place)
{
    INVARIANT(place < LISTING_MARKETS);
    /* relaxed: one word, nothing is ordered by it. */
    return atomic_load_explicit(&feed->price[place], memory_order_relaxed);
}

static inline void feed_set(struct feed *feed, uint32_t place, uint64_t price)
{
    INVARIANT(place < LISTING_MARKETS);
    atomic_store_explicit(&feed->price[place], price, memory_order_relaxed); /* as above */
}

static inline bool feed_hurry(const struct feed *feed)
{
    return atomic_load_explicit(&feed->hurry, memory_order_relaxed) != 0; /* as above */
}

static inline void feed_set_hurry(struct feed *feed, bool hurry)
{
    atomic_store_explicit(&feed->hurry, hurry, memory_order_relaxed); /* as above */
}

#endif
