/* scene_compare.c - what each player believes of its own orders against what the exchange lists of
 * them: GET /orders, GET /fills, GET /positions, exactly. */
#include <inttypes.h>
#include <stdio.h>

#include "perp_demo/pause.h"
#include "perp_demo/scene.h"

struct totals {
    int64_t orders, fills;
    int128 fees;
};

static void compare_positions(struct scene *scene)
{
    int64_t differences = 0, open = 0;
    for (int i = 0; i < SCENE_PLAYERS; i++) {
        const struct player *player = &scene->players[i];
        for (int market = 0; market < LISTING_MARKETS; market++) {
            differences += player->positions[market] != player->held[market];
            open += player->held[market] != 0;
        }
    }
    scene_check(scene, differences == 0,
                "GET /positions: %" PRId64 " open when all had stopped, %" PRId64
                " differ from the players' own books",
                open, differences);
}

/* Orders and fills of one player in one market, each against its own book; differences are told. */
static void compare_market(struct scene *scene, const struct player *player, uint32_t market)
{
    const struct player_book *own = &player->own[market];
    const struct player_sum *orders = &player->orders[market], *fills = &player->fills[market];
    if (orders->size != own->position || orders->notional != own->notional)
        scene_check(scene, false,
                    "%s %s: GET /orders sums to %" PRId64 " for %" PRId64 ", own %" PRId64
                    " for %" PRId64,
                    player->account.name, listing_at(market)->market, orders->size,
                    orders->notional, own->position, own->notional);
    if (fills->size != own->position || fills->notional != own->notional)
        scene_check(scene, false,
                    "%s %s: GET /fills sums to %" PRId64 " for %" PRId64 ", own %" PRId64
                    " for %" PRId64,
                    player->account.name, listing_at(market)->market, fills->size, fills->notional,
                    own->position, own->notional);
}

/* A player's lists against its books and its cash. */
static void compare_player(struct scene *scene, const struct player *player, struct totals *totals)
{
    int64_t orders = 0, notional = 0, fees = 0, open = 0;
    for (uint32_t market = 0; market < LISTING_MARKETS; market++) {
        compare_market(scene, player, market);
        orders += player->orders[market].count;
        notional += player->own[market].notional;
        open += player->own[market].position != 0;
        totals->fills += player->fills[market].count;
        fees += player->fills[market].fees;
    }
    if (orders != player->accepted_orders)
        scene_check(scene, false,
                    "%s: GET /orders has %" PRId64 " orders, %" PRId64 " were acknowledged",
                    player->account.name, orders, player->accepted_orders);
    if (player->odd_fees != 0 || player->out_of_turn != 0)
        scene_check(scene, false,
                    "%s: %" PRId64 " fills with a fee of no tier, %" PRId64 " rows out of turn",
                    player->account.name, player->odd_fees, player->out_of_turn);
    /* What stays open against an account of somebody else is paid for when it is closed. */
    if (open == 0 && player->account.deposit - notional - fees != player->cash)
        scene_check(scene, false, "%s: deposit - paid - fees of the fills is not its cash",
                    player->account.name);
    totals->orders += orders;
    totals->fees += fees;
}

/* Each public trade is two fills; in a run that you or others took part in, some of them are not
 * the players'. */
static void compare_trades(struct scene *scene, int64_t fills)
{
    int64_t trades = 0;
    bool read = false;
    for (uint32_t tries = 0; !read && pause_before(tries); tries++)
        read = scene_show_read(scene);
    for (int i = 0; i < LISTING_MARKETS; i++)
        trades += (int64_t)scene->markets[i].trade_seq;
    if (scene->seconds != 0 && scene->others == 0)
        scene_check(scene, 2 * trades == fills,
                    "GET /markets/.../trades: %" PRId64 " trades of two fills each", trades);
}

void scene_compare(struct scene *scene)
{
    struct totals totals = { 0 };
    uint32_t failures = scene->failures;
    char fees[DECIMAL_TEXT_MAX];
    compare_positions(scene);
    for (int i = 0; i < SCENE_PLAYERS; i++) {
        if (!scene->players[i].complete) {
            printf("  --   older rows than those in memory exist: lists are not compared\n");
            return;
        }
    }
    for (int i = 0; i < SCENE_PLAYERS; i++)
        compare_player(scene, &scene->players[i], &totals);
    decimal_format(fees, totals.fees, 6);
    scene_check(scene, scene->failures == failures,
                "GET /orders: %" PRId64 " accepted orders, GET /fills: %" PRId64
                " fills with %s USDC of fees: sums and cash as in every player's own books",
                totals.orders, totals.fills, fees);
    compare_trades(scene, totals.fills);
}
