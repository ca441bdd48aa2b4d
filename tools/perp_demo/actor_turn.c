/* actor_turn.c - what the three roles do in one turn. */
#include <stdio.h>

#include "perp/instant.h"
#include "perp/verdict.h"
#include "perp_demo/actor.h"

enum {
    LEVELS = 3,             /* of each side of a maker */
    TAKES = 4,              /* orders of a taker in one pipeline */
    MAKER_SPREAD_PPM = 60,  /* from the middle to the first level */
    LEVEL_STEP_PPM = 80,    /* between levels */
    SKEW_MAX_PPM = 60,      /* a full inventory moves the middle by this much */
    TAKER_REACH_PPM = 1000, /* how far through the middle a taker goes */
    STEP_PPM = 150,         /* largest step of the random walk, fifths of a second apart */
    ODD_ORDERS = 40,        /* one of so many taker turns does something that is refused */
};

/* What a maker may hold: 100,000 raw is 1 BTC. */
#define INVENTORY_MAX(bot) (400 * (bot)->record.lot * 1000)

static int64_t part(int64_t value, int64_t ppm)
{
    return (int64_t)((int128)value * ppm / 1000000);
}

static void quote(struct bot *bot, uint32_t slot, int64_t middle, uint32_t level, bool sell)
{
    int64_t away = part(middle, MAKER_SPREAD_PPM + (int64_t)level * LEVEL_STEP_PPM +
                                    (int64_t)bot_draw(bot, 20));
    /* Some hundredths of a BTC, more behind. */
    int64_t size = bot->record.lot * (int64_t)(2000 + bot_draw(bot, 4000)) * (level + 1);
    struct bot_wish wish = {
        .price = bot_tick(bot, sell ? middle + away : middle - away),
        .quantity = sell ? -size : size,
        .expiry = UINT64_MAX,
        .post_only = true,
    };
    bot_place(bot, slot, &wish);
}

/* Two sets of slots: the quotes of one are canceled and read while those of the other are placed,
 * all in one pipeline. */
void actor_turn_maker(struct bot *bot)
{
    int64_t price = (int64_t)feed_price(bot->feed), full = INVENTORY_MAX(bot);
    bool free_slot[BOT_SLOTS_MAX];
    for (uint32_t slot = 0; slot < 4 * LEVELS; slot++) {
        free_slot[slot] = !bot->slots[slot].used;
        if (free_slot[slot])
            continue;
        bot_cancel(bot, slot);
        bot_read(bot, slot); /* behind the cancel on one connection: it sees the end */
    }
    int64_t held = bot->position > full ? full : bot->position < -full ? -full : bot->position;
    int64_t middle = price - part(price, SKEW_MAX_PPM * held / full);
    for (uint32_t quoted = 0, slot = 0; quoted < 2 * LEVELS && slot < 4 * LEVELS; slot++) {
        if (!free_slot[slot])
            continue;
        bool sell = quoted % 2 == 1;
        if (sell ? bot->position > -full : bot->position < full)
            quote(bot, slot, middle, quoted / 2, sell);
        quoted++;
    }
    if (bot->pending_count > 0)
        bot_flush(bot);
}

/* An order that the exchange must refuse, or one sent twice: rejections belong to every day. */
static bool odd_order(struct bot *bot, struct bot_wish *wish)
{
    switch (bot_draw(bot, ODD_ORDERS)) {
    case 0:
        wish->price = bot_tick(bot, part(wish->price, wish->quantity > 0 ? 1300000 : 700000));
        return true; /* outside the price band */
    case 1:
        wish->post_only = true;
        wish->expiry = UINT64_MAX;
        return true; /* crosses, and may not */
    case 2:
        wish->expiry = 1;
        wish->quantity *= 100;
        return true; /* fill or kill, more than the book holds */
    default:
        return false;
    }
}

/* One order of a taker and, behind it, the read that says what became of it. */
static void take(struct bot *bot, uint32_t slot)
{
    int64_t price = (int64_t)feed_price(bot->feed), reach = part(price, TAKER_REACH_PPM);
    /* The further from flat, the likelier the way back. */
    int64_t lean =
        500000 - part(500000, (int64_t)((int128)bot->position * 1000000 / INVENTORY_MAX(bot)));
    bool buy = (int64_t)bot_draw(bot, 1000000) < lean;
    struct bot_wish wish = {
        .quantity = bot->record.lot * (int64_t)(500 + bot_draw(bot, 3500)) * (buy ? 1 : -1),
        .price = bot_tick(bot, buy ? price + reach : price - reach),
        .expiry = 0,
    };
    bool odd = odd_order(bot, &wish);
    bot_place(bot, slot, &wish);
    if (!odd && bot_draw(bot, ODD_ORDERS) == 0)
        bot_repeat(bot, slot, &wish);
    bot_read(bot, slot);
    if (odd)
        bot_cancel(bot, slot); /* should the exchange have let it rest */
}

void actor_turn_taker(struct bot *bot)
{
    for (uint32_t slot = 0; slot < TAKES; slot++) {
        if (bot->slots[slot].used)
            bot_read(bot, slot); /* an answer was not_ready: read again */
        else
            take(bot, slot);
    }
    bot_flush(bot);
    for (uint32_t slot = 0; slot < TAKES; slot++) {
        const struct bot_slot *taken = &bot->slots[slot];
        if (!taken->used && taken->filled > 0)
            printf("trade %lld %lld\n",
                   (long long)(taken->quantity < 0 ? -taken->filled : taken->filled),
                   (long long)taken->notional);
        bot->slots[slot].filled = 0;
    }
    fflush(stdout);
}

void actor_turn_oracle(struct bot *bot)
{
    static char envelope[REQUEST_ENVELOPE_MAX];
    int64_t price = (int64_t)feed_price(bot->feed);
    int64_t step = (int64_t)bot_draw(bot, 2 * STEP_PPM + 1) - STEP_PPM;
    struct draft draft;
    struct client_answer answer;
    struct verdict verdict;
    struct uuid id;
    price = bot_tick(bot, price + part(price, step));
    feed_set(bot->feed, (uint64_t)price);
    INVARIANT(draft_fresh_id(&id) == 0);
    draft_begin(&draft, REQUEST_oracle_price, SIGNATURE_ED25519, &id);
    draft_set(&draft, "publish_ts_ns", instant_now_ns());
    draft_set(&draft, "index_price", (uint64_t)price);
    draft_set(&draft, "asset", bot->record.asset_id);
    draft_set(&draft, "source_count", 1);
    INVARIANT(draft_sign(&draft, &bot->key, NULL));
    struct client_request request = {
        .method = "POST",
        .target = draft.request->path,
        .content_type = "application/json",
        .body = envelope,
        .body_count = draft_envelope(&draft, envelope),
    };
    bot->sent++;
    if (client_call(&bot->client, &request, &answer) != 0) {
        fprintf(stderr, "%s: %s\n", bot->name, bot->client.error);
        bot->problems++;
        return;
    }
    verdict_read(&verdict, &answer);
    if (verdict.status < STATUS_COUNT)
        bot->statuses[verdict.status]++;
    else
        bot->problems++;
}
