/* listing.h - the five markets of the demo: their records, first prices and tempers.
 *
 * Order. By asset id, from 1: a market's index in the demo's arrays is its asset id - 1.
 * Owner. Constant. Units. Prices and sizes raw. */
#ifndef PERP_DEMO_LISTING_H
#define PERP_DEMO_LISTING_H

#include "base/compiler.h"

enum { LISTING_MARKETS = 5 };

struct listing {
    const char *market;
    const char *record;  /* json.md J5 */
    uint64_t price;      /* of the first index */
    int64_t unit;        /* a size worth about 1,000 USDC at that price */
    uint32_t step_ppm;   /* largest own step of its walk, fifths of a second apart */
    uint32_t common_ppm; /* largest step that it shares with the others */
};

/* The market of an index, 0..LISTING_MARKETS-1. */
const struct listing *listing_at(uint32_t index);

/* The index of a symbol, or LISTING_MARKETS. */
uint32_t listing_find(const char *market);

#endif
