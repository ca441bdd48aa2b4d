#include "perp_demo/maker.h"

#include "perp/request/instant.h"

enum {
    FULL_UNITS = 1500,     /* what a maker may hold in a market, about 1,500,000 USDC */
    LADDER_LEVELS = 3,     /* a side */
    LADDER_FIRST_PPM = 60, /* from the middle to the first level */
    LADDER_STEP_PPM = 80,  /* between levels */
    LADDER_SLACK_PPM = 25, /* a level nearer than this to its place stays */
    LADDER_SKEW_PPM = 60,  /* a full inventory moves the middle by this much */
    LADDER_LEAST = 3,      /* units: a level with less is filled up */
    LADDER_REDUCES = 6,    /* one of so many levels that stay is made smaller */
    GRID_STEP_PPM = 250,   /* between lines */
    GRID_LINES = 4,        /* a side, beyond the nearest line */
    GRID_SLOTS = 12,       /* those that went astray are in the others until canceled */
    INVENTORY_SLOTS = 6,
    INVENTORY_LEAN_PPM = 150, /* a full inventory moves its price by this much */
    INVENTORY_HALF_PPM = 45,  /* half spread */
    INVENTORY_LIFE_MS = 3000,
    QUOTER_SLOTS = 6,
    QUOTER_NEAREST_PPM = 8, /* never nearer to the price outside than this */
};

static int64_t unit(uint32_t market)
{
    return listing_at(market)->unit;
}

/* The share of a full inventory that is held, in ppm, at most 1,000,000 either way. */
static int64_t held_ppm(const struct bot *bot, uint32_t market)
{
    int64_t full = FULL_UNITS * unit(market);
    int64_t ppm = (int64_t)((int128)bot->books[market].position * 1000000 / full);
    return ppm > 1000000 ? 1000000 : ppm < -1000000 ? -1000000 : ppm;
}

static int64_t price_outside(const struct bot *bot, uint32_t market)
{
    return (int64_t)feed_price(bot->feed, market);
}

/* The price outside, leaning against the inventory by at most `most_ppm`. */
static int64_t middle(const struct bot *bot, uint32_t market, int64_t most_ppm)
{
    int64_t price = price_outside(bot, market);
    return price - bot_part(price, bot_part(most_ppm, held_ppm(bot, market)));
}

static bool has_room(const struct bot *bot, uint32_t market, bool sell)
{
    int64_t held = held_ppm(bot, market);
    return sell ? held > -1000000 : held < 1000000;
}

static void quote(struct bot *bot, uint32_t slot, uint32_t market, int64_t price, int64_t size)
{
    struct bot_wish wish = {
        .market = market, .quantity = size, .price = price, .expiry = UINT64_MAX, .post_only = true
    };
    bot_place(bot, slot, &wish);
}

static void flush(struct bot *bot)
{
    if (bot->courier.count > 0)
        bot_flush(bot);
}

static int64_t distance(int64_t a, int64_t b)
{
    return a < b ? b - a : a - b;
}

static void tend_level(struct bot *bot, uint32_t slot, uint32_t market, uint32_t level, bool sell)
{
    const struct bot_slot *order = &bot->slots[slot];
    int64_t base = middle(bot, market, LADDER_SKEW_PPM);
    int64_t away = bot_part(base, LADDER_FIRST_PPM + (int64_t)level * LADDER_STEP_PPM);
    int64_t price = bot_tick(bot, market, sell ? base + away : base - away, sell);
    int64_t size = unit(market) * (6 + (int64_t)bot_draw(bot, 6)) * (level + 1);
    bool room = has_room(bot, market, sell);
    if (!order->used && room) {
        quote(bot, slot, market, price, sell ? -size : size);
        return;
    }
    if (!order->used)
        return;
    if (!room)
        bot_cancel(bot, slot);
    else if (distance(price, order->price) > bot_part(base, LADDER_SLACK_PPM) ||
             order->remaining < LADDER_LEAST * unit(market))
        bot_replace(bot, slot, price, size);
    else if (order->remaining > LADDER_LEAST * unit(market) && bot_draw(bot, LADDER_REDUCES) == 0)
        bot_reduce(bot, slot, unit(market)); /* keeps its priority */
    bot_read(bot, slot);                     /* after it on one connection: it sees the outcome */
}

void maker_ladder(struct bot *bot)
{
    uint32_t market = bot->turn % LISTING_MARKETS;
    for (uint32_t i = 0; i < 2 * LADDER_LEVELS; i++)
        tend_level(bot, market * 2 * LADDER_LEVELS + i, market, i / 2, i % 2 == 1);
    flush(bot);
}

static bool stands_on(const struct bot *bot, uint32_t market, int64_t line, bool sell)
{
    bool stands = false;
    for (uint32_t i = 0; i < GRID_SLOTS; i++) {
        const struct bot_slot *order = &bot->slots[market * GRID_SLOTS + i];
        stands = stands || (order->used && order->price == line && (order->sign < 0) == sell);
    }
    return stands;
}

static uint32_t free_slot(const struct bot *bot, uint32_t first, uint32_t count)
{
    uint32_t slot = first;
    while (slot < first + count && bot->slots[slot].used)
        slot++;
    return slot < first + count ? slot : BOT_SLOTS_MAX;
}

void maker_grid(struct bot *bot)
{
    uint32_t market = bot->turn % LISTING_MARKETS, first = market * GRID_SLOTS;
    int64_t price = price_outside(bot, market);
    int64_t step = bot_part((int64_t)listing_at(market)->price, GRID_STEP_PPM);
    step = step / bot->records[market].tick * bot->records[market].tick;
    int64_t line = price / step;
    for (uint32_t slot = first; slot < first + GRID_SLOTS; slot++) {
        const struct bot_slot *order = &bot->slots[slot];
        if (!order->used)
            continue;
        bool astray = distance(order->price, price) > step * (GRID_LINES + 2) ||
                      (order->sign < 0) != (order->price > price);
        if (astray)
            bot_cancel(bot, slot);
        bot_read(bot, slot);
    }
    for (int64_t i = 0; i < 2 * GRID_LINES; i++) {
        bool sell = i % 2 == 1;
        int64_t at = (sell ? line + 2 + i / 2 : line - 1 - i / 2) * step;
        uint32_t slot = free_slot(bot, first, GRID_SLOTS);
        if (slot < BOT_SLOTS_MAX && has_room(bot, market, sell) &&
            !stands_on(bot, market, at, sell))
            quote(bot, slot, market, at, unit(market) * (sell ? -20 : 20));
    }
    flush(bot);
}

void maker_inventory(struct bot *bot)
{
    uint32_t market = bot->turn % LISTING_MARKETS, first = market * INVENTORY_SLOTS;
    int64_t fair = middle(bot, market, INVENTORY_LEAN_PPM), held = held_ppm(bot, market);
    /* Wider with what is held: more of it is more to lose. */
    int64_t half =
        bot_part(fair, INVENTORY_HALF_PPM + bot_part(INVENTORY_HALF_PPM, held < 0 ? -held : held));
    uint32_t bid = free_slot(bot, first, INVENTORY_SLOTS / 2);
    uint32_t ask = free_slot(bot, first + INVENTORY_SLOTS / 2, INVENTORY_SLOTS / 2);
    for (uint32_t slot = first; slot < first + INVENTORY_SLOTS; slot++) {
        if (!bot->slots[slot].used)
            continue;
        bot_cancel(bot, slot);
        bot_read(bot, slot);
    }
    struct bot_wish wish = { .market = market,
                             .expiry = instant_now_ns() + (uint64_t)INVENTORY_LIFE_MS * 1000000,
                             .post_only = true };
    int64_t size = unit(market) * (8 + (int64_t)bot_draw(bot, 5));
    if (bid < BOT_SLOTS_MAX && has_room(bot, market, false)) {
        wish.quantity = size;
        wish.price = bot_tick(bot, market, fair - half, false);
        bot_place(bot, bid, &wish);
    }
    if (ask < BOT_SLOTS_MAX && has_room(bot, market, true)) {
        wish.quantity = -size;
        wish.price = bot_tick(bot, market, fair + half, true);
        bot_place(bot, ask, &wish);
    }
    flush(bot);
}

/* One side of the quoter: stays where it is best already, else goes to the best price or a tick
 * beyond it, but not through the price outside. */
static void quote_best(struct bot *bot, uint32_t market, bool sell)
{
    uint32_t first = market * QUOTER_SLOTS + (sell ? QUOTER_SLOTS / 2 : 0);
    int64_t outside = price_outside(bot, market), tick = bot->records[market].tick;
    int64_t best = sell ? bot->best[market].ask : bot->best[market].bid;
    int64_t limit = outside + bot_part(outside, sell ? QUOTER_NEAREST_PPM : -QUOTER_NEAREST_PPM);
    limit = bot_tick(bot, market, limit, sell);
    int64_t price = best == 0 ? limit : sell ? best - tick : best + tick;
    if (sell ? price < limit : price > limit)
        price = limit;
    uint32_t slot = free_slot(bot, first, QUOTER_SLOTS / 2);
    bool stands = false;
    for (uint32_t i = first; i < first + QUOTER_SLOTS / 2; i++) {
        const struct bot_slot *order = &bot->slots[i];
        if (!order->used)
            continue;
        bool stays = order->price == best && !(sell ? best < limit : best > limit);
        if (!stays)
            bot_cancel(bot, i);
        stands = stands || stays;
        bot_read(bot, i);
    }
    if (!stands && slot < BOT_SLOTS_MAX && has_room(bot, market, sell))
        quote(bot, slot, market, price,
              unit(market) * (2 + (int64_t)bot_draw(bot, 3)) * (sell ? -1 : 1));
}

void maker_quoter(struct bot *bot)
{
    uint32_t market = bot->turn % LISTING_MARKETS;
    quote_best(bot, market, false);
    quote_best(bot, market, true);
    bot_look(bot, (market + 1) % LISTING_MARKETS); /* the book that the next turn quotes in */
    flush(bot);
}
