/* statement.h - what the exchange says of one account: its orders, fills and positions, read page
 * by page and summed by market, and what became of the requests that it acknowledged.
 *
 * Owner. The bot's thread; nothing else may be queued in its courier.
 * Units. Sizes raw, signed: bought is positive; money micro-USDC. */
#ifndef PERP_DEMO_STATEMENT_H
#define PERP_DEMO_STATEMENT_H

#include "perp_demo/bot.h"

struct statement_sum {
    int64_t count; /* rows; of orders those that were not REJECTED */
    int64_t size;
    int128 notional;
    int128 fees; /* of fills */
};

struct statement {
    struct statement_sum orders[LISTING_MARKETS]; /* GET /orders */
    struct statement_sum fills[LISTING_MARKETS];  /* GET /fills */
    int64_t odd_fees;    /* fills whose fee is that of no tier (rules.md R6) */
    int64_t out_of_turn; /* rows that do not follow the one before: repeated or in disorder */
    bool complete;       /* false: older rows are not kept in memory */
};

struct statement_proof {
    uint64_t asked, found;
    uint64_t missing;         /* GET /requests/{id} does not know it */
    uint64_t different;       /* it tells another status or sequence than the answer did */
    uint64_t untold_executed; /* of the untold: it knows them; they are in `asked` and `found` */
    uint64_t untold_unused;   /* it does not: never executed, in none of the counts above */
};

/* Reads all orders and all fills. */
void statement_read(struct bot *bot, struct statement *statement);

/* Reads the open positions; sizes by market. */
void statement_positions(struct bot *bot, int64_t sizes[LISTING_MARKETS]);

/* Asks again for every request that was answered before the first connection was lost, and for all
 * that had to be sent again. Nothing of them may be under way: what is not known then never will
 * be. */
void statement_prove(struct bot *bot, struct statement_proof *proof);

#endif
