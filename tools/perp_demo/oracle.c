#include "perp_demo/oracle.h"

#include "perp/request/instant.h"

/* -most..most */
static int64_t step(struct bot *bot, uint32_t most)
{
    return (int64_t)bot_draw(bot, 2 * (uint64_t)most + 1) - most;
}

static void post_price(struct bot *bot, uint32_t market, int64_t price)
{
    struct draft draft;
    struct uuid id;
    if (draft_fresh_id(&id) != 0)
        bot_die(bot, "no random bytes");
    draft_begin(&draft, REQUEST_oracle_price, SIGNATURE_ED25519, &id);
    draft_set(&draft, "publish_ts_ns", instant_now_ns());
    draft_set(&draft, "index_price", (uint64_t)price);
    draft_set(&draft, "asset", bot->records[market].asset_id);
    draft_set(&draft, "source_count", 1);
    bot_post(bot, &draft);
}

void oracle_step(struct bot *bot)
{
    int64_t common_ppm = step(bot, 1000000);
    for (uint32_t market = 0; market < LISTING_MARKETS; market++) {
        const struct listing *listing = listing_at(market);
        int64_t price = (int64_t)feed_price(bot->feed, market);
        int64_t ppm = bot_part(listing->common_ppm, common_ppm) + step(bot, listing->step_ppm);
        price += bot_part(price, ppm);
        price = bot_tick(bot, market, price + bot->records[market].tick / 2, false);
        feed_set(bot->feed, market, (uint64_t)price);
        post_price(bot, market, price);
    }
    bot_flush(bot);
}
