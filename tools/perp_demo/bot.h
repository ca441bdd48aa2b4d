/* bot.h - what the traders share: one account, its orders in all markets, and its own books.
 *
 *   bot_place, bot_amend, bot_cancel, bot_read ...   queue requests
 *   bot_flush                                        sends them in one go and takes every answer
 *
 * A bot believes only what it reads of its own orders (GET /orders/{id}): filled size and average
 * price give its positions and the notionals it paid. The demo compares that with the exchange.
 *
 * Owner. One process, one thread.
 * Units. Sizes and prices raw, notionals micro-USDC, signed: bought is positive. */
#ifndef PERP_DEMO_BOT_H
#define PERP_DEMO_BOT_H

#include "perp/request/instrument.h"
#include "perp_demo/courier.h"
#include "perp_demo/feed.h"

enum { BOT_SLOTS_MAX = 96, BOT_NAME_MAX = 32 };

struct bot_slot {
    bool used;     /* an order that may still trade, or whose end was not read yet */
    bool accepted; /* counted in accepted_orders */
    bool unsure;   /* whether it was ever placed was not answered: a read tells */
    uint8_t market;
    struct uuid id;
    int64_t sign;      /* 1 bought, -1 sold */
    int64_t price;     /* as last accepted or read, 0: a market order */
    int64_t remaining; /* as above, >= 0 */
    int64_t filled;    /* as last read, >= 0 */
    int64_t notional;  /* of `filled`, >= 0 */
};

struct bot_book {
    int64_t position;
    int128 notional; /* signed */
    int128 gross;    /* sum of absolute values */
};

struct bot_best {
    int64_t bid, ask; /* 0: none */
};

struct bot {
    char name[BOT_NAME_MAX];
    struct courier courier;
    struct key_file key;
    struct draft_portfolio portfolio;
    struct instrument records[LISTING_MARKETS];
    struct feed *feed;
    uint64_t random;
    uint32_t turn; /* turns done */

    struct bot_slot slots[BOT_SLOTS_MAX];
    struct bot_book books[LISTING_MARKETS];
    struct bot_best best[LISTING_MARKETS]; /* as last seen by bot_look */

    uint64_t sent;                   /* signed requests */
    uint64_t trades;                 /* reads that found a new fill */
    uint64_t problems;               /* HTTP errors */
    uint64_t postponed;              /* reads answered not_ready: made again */
    uint64_t accepted_orders;        /* orders that a placement made, each counted once */
    uint64_t statuses[STATUS_COUNT]; /* acknowledgements */
    int64_t cash;                    /* as last read by bot_balance; -1: not read */
};

struct bot_wish {
    uint32_t market;
    int64_t quantity; /* signed */
    int64_t price;
    uint64_t expiry; /* 0 IOC, 1 FOK, max GTC */
    bool post_only, reduce_only;
    bool at_market;        /* a market order: price and expiry are not used */
    uint32_t slippage_ppm; /* of a market order; 0: the market's own bound */
};

/* Queues a new order in an unused slot; its id is slots[slot].id. */
void bot_place(struct bot *bot, uint32_t slot, const struct bot_wish *wish);
/* Queues the slot's placement once more, the same bytes, as a client does that lost the answer: the
 * exchange must answer duplicate_request_id, or execute it if it dropped the first. */
void bot_repeat(struct bot *bot, uint32_t slot, const struct bot_wish *wish);
/* Queues other terms for the slot's resting post-only order: a new price and what shall remain of
 * it (code 2). It keeps its priority when the price stays and the size does not grow. */
void bot_replace(struct bot *bot, uint32_t slot, int64_t price, int64_t remaining);
/* Queues a reduction, refused unless the order remains as last read (code 1). */
void bot_reduce(struct bot *bot, uint32_t slot, int64_t reduce_by);
void bot_cancel(struct bot *bot, uint32_t slot);
/* Every order of the account, in all markets. */
void bot_cancel_all(struct bot *bot);
/* Queues a read of the slot's order; an order found ended frees its slot. */
void bot_read(struct bot *bot, uint32_t slot);
/* Queues a look at the best prices of a market. */
void bot_look(struct bot *bot, uint32_t market);
/* Queues any other signed request; its status is counted. */
void bot_post(struct bot *bot, struct draft *draft);

/* Sends and takes all answers. Ends the process with a message on standard error when the
 * connection fails for longer than the courier's patience. */
void bot_flush(struct bot *bot);

/* Reads the portfolio's cash, with nothing else queued; -1 in `cash`: it cannot be read. */
void bot_balance(struct bot *bot);

/* The notional of a filled size at an average price as JSON has it, with 8 decimals more than a
 * price: their product is the notional to less than half a micro-USDC below 10^8 raw of size, so
 * the nearest integer is exact. */
int64_t bot_notional(int64_t filled, int64_t average);

/* Ends the process with a message. */
_Noreturn void bot_die(const struct bot *bot, const char *what);

/* A number of 0..bound-1. */
uint64_t bot_draw(struct bot *bot, uint64_t bound);

/* The share `ppm` of a value. */
int64_t bot_part(int64_t value, int64_t ppm);

/* Rounds a price to the market's tick: away from the middle, a buy down and a sale up. */
int64_t bot_tick(const struct bot *bot, uint32_t market, int64_t price, bool sell);

#endif
