#include "perp_demo/taker.h"

#include <stdio.h>

enum {
    TAKES = 4,         /* orders of a taker in one pipeline */
    REACH_PPM = 1000,  /* how far through the price outside a taker goes */
    ODD_ORDERS = 40,   /* one of so many does something that is refused, or is sent twice */
    MARKET_ORDERS = 3, /* one of so many is a market order */
    SLIPPAGE_PPM = 2000,
    FULL_UNITS = 400, /* what a taker holds at most, about */
    WHALE_REACH_PPM = 4000,
    WHALE_UNITS = 100, /* and up to twice as many more */
    WHALE_FULL_UNITS = 2000,
};

/* The further from flat, the likelier the way back. */
static bool buys(struct bot *bot, uint32_t market, int64_t full_units)
{
    int64_t full = full_units * listing_at(market)->unit;
    int64_t held_ppm = (int64_t)((int128)bot->books[market].position * 1000000 / full);
    return (int64_t)bot_draw(bot, 1000000) < 500000 - bot_part(500000, held_ppm);
}

static struct bot_wish wish_for(struct bot *bot, uint32_t market, int64_t size, bool buy,
                                int64_t reach_ppm)
{
    int64_t price = (int64_t)feed_price(bot->feed, market), reach = bot_part(price, reach_ppm);
    return (struct bot_wish){
        .market = market,
        .quantity = buy ? size : -size,
        .price = bot_tick(bot, market, buy ? price + reach : price - reach, !buy),
    };
}

/* An order that the exchange must refuse. */
static bool make_odd(struct bot *bot, struct bot_wish *wish)
{
    bool buy = wish->quantity > 0;
    switch (bot_draw(bot, ODD_ORDERS)) {
    case 0: /* outside the price band */
        wish->price =
            bot_tick(bot, wish->market, bot_part(wish->price, buy ? 1300000 : 700000), !buy);
        return true;
    case 1: /* crosses, and may not */
        wish->post_only = true;
        wish->expiry = UINT64_MAX;
        return true;
    case 2: /* fill or kill, more than the book holds */
        wish->expiry = 1;
        wish->quantity *= 400;
        return true;
    default:
        return false;
    }
}

/* Sends one order and, after it, the read that shows its outcome. */
static void trade_slot(struct bot *bot, uint32_t slot)
{
    uint32_t market = (uint32_t)bot_draw(bot, LISTING_MARKETS);
    int64_t size = listing_at(market)->unit * (int64_t)(5 + bot_draw(bot, 36)) / 10;
    struct bot_wish wish = wish_for(bot, market, size, buys(bot, market, FULL_UNITS), REACH_PPM);
    wish.at_market = bot_draw(bot, MARKET_ORDERS) == 0;
    wish.slippage_ppm = (uint32_t)bot_draw(bot, 2) * SLIPPAGE_PPM;
    bool odd = !wish.at_market && make_odd(bot, &wish);
    bot_place(bot, slot, &wish);
    if (!odd && bot_draw(bot, ODD_ORDERS) == 0)
        bot_repeat(bot, slot, &wish);
    bot_read(bot, slot);
    if (odd)
        bot_cancel(bot, slot); /* should the exchange have let it rest */
}

static void report_positions(struct bot *bot, uint32_t slots)
{
    for (uint32_t slot = 0; slot < slots; slot++) {
        struct bot_slot *taken = &bot->slots[slot];
        int64_t size = taken->sign * taken->filled;
        if (!taken->used && size != 0)
            printf("trade %u %lld %lld\n", taken->market, (long long)size,
                   (long long)taken->notional);
        if (!taken->used)
            taken->filled = 0;
    }
    fflush(stdout);
}

void taker_crowd(struct bot *bot)
{
    for (uint32_t slot = 0; slot < TAKES; slot++) {
        if (bot->slots[slot].used)
            bot_read(bot, slot); /* an answer was not_ready: read again */
        else
            trade_slot(bot, slot);
    }
    bot_flush(bot);
    report_positions(bot, TAKES);
}

void taker_whale(struct bot *bot)
{
    uint32_t market = (uint32_t)bot_draw(bot, LISTING_MARKETS);
    if (bot->slots[0].used) {
        bot_read(bot, 0);
    } else {
        int64_t size =
            listing_at(market)->unit * (int64_t)(WHALE_UNITS + bot_draw(bot, 2 * WHALE_UNITS));
        struct bot_wish wish =
            wish_for(bot, market, size, buys(bot, market, WHALE_FULL_UNITS), WHALE_REACH_PPM);
        bot_place(bot, 0, &wish);
        bot_read(bot, 0);
    }
    bot_flush(bot);
    report_positions(bot, 1);
}
