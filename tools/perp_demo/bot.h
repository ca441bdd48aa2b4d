/* bot.h - what makers and takers share: one account, its connection, its orders, and its own books.
 *
 *   bot_place, bot_cancel, bot_read      queue requests
 *   bot_flush                            sends them in one go and takes every answer
 *
 * A bot believes only what it reads of its own orders (GET /orders/{id}): filled size and average
 * price give its position and the notional it paid. The demo compares that with the exchange.
 *
 * Owner. One process, one thread.
 * Units. Sizes and prices raw, notionals micro-USDC, signed: bought is positive. */
#ifndef PERP_DEMO_BOT_H
#define PERP_DEMO_BOT_H

#include "base/histogram.h"
#include "base/status.h"
#include "perp/client.h"
#include "perp/draft.h"
#include "perp/instrument.h"
#include "perp_demo/feed.h"

enum { BOT_SLOTS_MAX = 16, BOT_PENDING_MAX = 64, BOT_API_KEY_MAX = 64, BOT_NAME_MAX = 32 };

enum bot_action { BOT_PLACE, BOT_CANCEL, BOT_READ, BOT_CANCEL_ALL, BOT_BALANCE };

struct bot_slot {
    bool used; /* an order that may still trade, or whose end was not read yet */
    struct uuid id;
    int64_t quantity; /* signed */
    int64_t filled;   /* as last read, >= 0 */
    int64_t notional; /* of `filled`, >= 0 */
};

struct bot {
    char name[BOT_NAME_MAX];
    struct client client;
    struct key_file key;
    struct draft_portfolio portfolio;
    char api_key[BOT_API_KEY_MAX];
    struct instrument record;
    struct feed *feed;
    bool sends_frames; /* binary frames instead of JSON envelopes */
    uint64_t random;

    struct bot_slot slots[BOT_SLOTS_MAX];
    struct {
        uint8_t action; /* enum bot_action */
        uint8_t slot;
    } pending[BOT_PENDING_MAX];
    uint32_t pending_count;

    uint64_t sent;                   /* signed requests */
    uint64_t trades;                 /* reads that found a new fill */
    uint64_t problems;               /* HTTP errors */
    uint64_t statuses[STATUS_COUNT]; /* acknowledgements */
    int64_t position;
    int128 notional;             /* signed */
    int128 gross;                /* sum of absolute values */
    int64_t cash;                /* as last read by bot_balance; -1: not read */
    struct histogram round_trip; /* ns from the first byte sent to the last answer of a flush */
};

struct bot_wish {
    int64_t quantity;
    int64_t price;
    uint64_t expiry; /* 0 IOC, 1 FOK, max GTC */
    bool post_only, reduce_only;
};

/* Queues a new order in an unused slot; its id is slots[slot].id. */
void bot_place(struct bot *bot, uint32_t slot, const struct bot_wish *wish);
/* Queues the slot's placement once more, the same bytes, as a client does that lost the answer: the
 * exchange must answer duplicate_request_id. */
void bot_repeat(struct bot *bot, uint32_t slot, const struct bot_wish *wish);
void bot_cancel(struct bot *bot, uint32_t slot);
void bot_cancel_all(struct bot *bot);
/* Queues a read of the slot's order; an order found ended frees its slot. */
void bot_read(struct bot *bot, uint32_t slot);
/* Queues a read of the portfolio's cash. */
void bot_balance(struct bot *bot);

/* Sends and takes all answers. Ends the process with a message on standard error when the
 * connection fails: what a bot does not know it cannot vouch for. */
void bot_flush(struct bot *bot);

/* A number of 0..bound-1. */
uint64_t bot_draw(struct bot *bot, uint64_t bound);

/* Rounds to the market's steps. */
int64_t bot_tick(const struct bot *bot, int64_t price);
int64_t bot_lot(const struct bot *bot, int64_t size);

#endif
