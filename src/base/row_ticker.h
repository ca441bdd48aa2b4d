/* row_ticker.h - binary row of a market at a glance (see row.h).
 *
 * Owner. As in row.h: the follower until the reply is published, then net.
 * Units. Prices and sizes are raw, with the market's decimals in the row; notional micro-USDC. */
#ifndef BASE_ROW_TICKER_H
#define BASE_ROW_TICKER_H

#include "base/compiler.h"

/* A price of 0: there is none. The day is 1,440 minutes; the row's time is in the last of them. */
struct row_ticker {
    char market[32];
    uint64_t book_seq;
    uint64_t last_price; /* of the last trade, however old */
    uint64_t mark_price;
    uint64_t index_price;
    uint64_t bid_price, ask_price;
    uint64_t open, high, low; /* of the day's trades */
    uint64_t volume;          /* of the day; it and the notional end at INT64_MAX */
    uint64_t notional;
    uint64_t trade_count;   /* of the day */
    uint64_t open_interest; /* the sum of the long positions */
    uint8_t price_decimals;
    uint8_t size_decimals;
    uint8_t zero[6];
};

#endif
