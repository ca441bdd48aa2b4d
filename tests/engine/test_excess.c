/* What a position leaves of its reduce-only orders when it becomes smaller (R3): those that stand
 * behind others which hold it end, the hindmost first, in slices; and that none is cut to dust.
 * BTC-PERP of W10 at mark 100,000.0; 10 raw are 10 USDC. */
#include "image_copy.h"
#include "purse.h"

#define M TRADE_MARK

enum { WALL = 100 };

static struct host host;

/* Account 2 sells `quantity` to account 1. */
static void go_long(int64_t quantity)
{
    CHECK(trade_limit(&host, 2, -quantity, M) == TRADE_OK);
    CHECK(trade_tif(&host, 1, quantity, M, TRADE_IOC) == TRADE_OK);
}

/* Account 1 sells `quantity` to account 2: with the last order, if `by_maker` as the maker. */
static void sell(int64_t quantity, bool by_maker)
{
    CHECK(trade_limit(&host, by_maker ? 1 : 2, by_maker ? -quantity : quantity, M) == TRADE_OK);
    CHECK(trade_tif(&host, by_maker ? 2 : 1, by_maker ? quantity : -quantity, M, TRADE_IOC) ==
          TRADE_OK);
}

static uint32_t resting(void)
{
    return trade_portfolio(&host, 1)->open_order_count;
}

/* Reduce-only orders of 10 USDC each that together are the position. */
static struct trade_id build_wall(uint32_t count)
{
    struct trade_id first = { 0 };

    go_long(10 * (int64_t)count);
    for (uint32_t i = 0; i < count; i++) {
        CHECK(trade_reduce(&host, 1, -10, M + 100, TRADE_GTC) == TRADE_OK);
        if (i == 0)
            first = trade_last_id(&host);
    }
    return first;
}

/* 100 orders behind what becomes a position of 10 USDC: the first holds it and four stay. Of 96
 * this command ends 10, so does each of the next, the last 6. A taker then meets four makers. */
static void test_wall(bool by_maker)
{
    trade_open(&host, "engine.work_per_command=10\n");
    struct trade_id first = build_wall(WALL);
    sell(10 * (WALL - 1), by_maker);
    CHECK(trade_size(&host, 1) == 10);
    uint32_t left = WALL - 10;
    CHECK(resting() == left);
    CHECK(trade_last_state(&host).status == ORDER_CANCELED);
    CHECK(trade_last_state(&host).reason == REASON_reduce_only);
    for (; left > 10; left -= 10) {
        host_tick(&host, 1000);
        CHECK(resting() == left - 10 && trade_effects(&host, EFFECT_order_state) == 10);
        trade_check_figures(&host);
    }
    host_tick(&host, 1000);
    CHECK(resting() == 4 && trade_effects(&host, EFFECT_order_state) == 6);
    CHECK(!engine_has_work(host.engine) && trade_remaining(&host, 1, first) == 10);
    CHECK(trade_tif(&host, 3, 2000, M + 100, TRADE_GTC) == TRADE_OK);
    CHECK(trade_effects(&host, EFFECT_trade) == 1 && trade_size(&host, 3) == 10);
    CHECK(trade_portfolio(&host, 3)->open_order_count == 1);
    host_close(&host);
}

/* Of one price the youngest leaves first, of several the furthest, whenever it was placed. */
static void test_order(void)
{
    static const uint64_t prices[] = { M + 600, M + 100, M + 200, M + 200, M + 300, M + 200 };
    struct trade_id ids[CC_COUNT(prices)];

    trade_open(&host, NULL);
    go_long(600);
    for (uint32_t i = 0; i < CC_COUNT(prices); i++) {
        CHECK(trade_reduce(&host, 1, -100, prices[i], TRADE_GTC) == TRADE_OK);
        ids[i] = trade_last_id(&host);
    }
    sell(100, false); /* 500: five hold it */
    CHECK(resting() == 5 && trade_remaining(&host, 1, ids[0]) == 0);
    CHECK(trade_remaining(&host, 1, ids[4]) == 100);
    sell(100, false);
    CHECK(resting() == 4 && trade_remaining(&host, 1, ids[4]) == 0);
    sell(200, false); /* four stay, whatever they hold */
    CHECK(resting() == 4 && trade_size(&host, 1) == 200);
    host_close(&host);

    trade_open(&host, NULL);
    go_long(600);
    for (uint32_t i = 0; i < 6; i++) {
        CHECK(trade_reduce(&host, 1, -100, M + 200, TRADE_GTC) == TRADE_OK);
        ids[i] = trade_last_id(&host);
    }
    sell(200, false);
    for (uint32_t i = 0; i < 6; i++)
        CHECK((trade_remaining(&host, 1, ids[i]) != 0) == (i < 4));
    host_close(&host);
}

/* The others must hold the position: of five of 100 the last stays at 401 and leaves at 400. An
 * order of another kind holds nothing, and a fill of one of the five takes as much of both. */
static void test_what_holds(void)
{
    trade_open(&host, NULL);
    go_long(500);
    for (uint32_t i = 0; i < 5; i++)
        CHECK(trade_reduce(&host, 1, -100, M + 100 + i, TRADE_GTC) == TRADE_OK);
    CHECK(trade_limit(&host, 1, -50, M + 50) == TRADE_OK);
    sell(49, false);
    CHECK(trade_size(&host, 1) == 451 && resting() == 6 && !engine_has_work(host.engine));
    CHECK(trade_tif(&host, 2, 50, M + 50, TRADE_IOC) == TRADE_OK);
    CHECK(trade_size(&host, 1) == 401 && resting() == 5); /* four hold 400 */
    CHECK(trade_tif(&host, 2, 60, M + 100, TRADE_IOC) == TRADE_OK);
    CHECK(trade_size(&host, 1) == 341 && resting() == 5); /* 340 */
    sell(10, false);
    CHECK(trade_size(&host, 1) == 331 && resting() == 4);
    host_close(&host);
}

/* A dead order holds nothing: it leaves by itself. Of two that are over at once five are alive,
 * and the four in front of the last hold 400 of 401. */
static void test_dead(void)
{
    trade_open(&host, "engine.work_per_command=1\n");
    go_long(800);
    uint64_t expiry_ns = host.clock_ns + 1000000000;
    for (uint32_t i = 0; i < 2; i++)
        CHECK(trade_reduce(&host, 1, -100, M + 10, expiry_ns) == TRADE_OK);
    for (uint32_t i = 0; i < 5; i++)
        CHECK(trade_reduce(&host, 1, -100, M + 100 + i, TRADE_GTC) == TRADE_OK);
    CHECK(trade_limit(&host, 2, 399, M) == TRADE_OK);
    host_tick(&host, 1000000000);
    CHECK(trade_tif(&host, 1, -399, M, TRADE_IOC) == TRADE_OK);
    for (uint32_t k = 0; k < 20 && engine_has_work(host.engine); k++)
        host_tick(&host, 1000);
    CHECK(!engine_has_work(host.engine) && trade_size(&host, 1) == 401 && resting() == 5);
    host_close(&host);
}

/* What a position is queued for ends with it: opened anew in the same batch of work it has had
 * nothing. */
static void test_flip(void)
{
    trade_open(&host, "engine.work_per_command=1\n");
    build_wall(20);
    sell(190, false);
    CHECK(engine_has_work(host.engine));
    CHECK(trade_limit(&host, 2, 20, M) == TRADE_OK);
    CHECK(trade_tif(&host, 1, -20, M, TRADE_IOC) == TRADE_OK); /* long 10 becomes short 10 */
    CHECK(trade_size(&host, 1) == -10);
    while (engine_has_work(host.engine))
        host_tick(&host, 1000);
    CHECK(resting() == 0);
    host_close(&host);
}

static enum status place_in(struct purse_place at, int64_t quantity, uint64_t price,
                            uint8_t reduce_only)
{
    uint8_t body[48] = { 0 };

    cc_store64(body, 1);
    cc_store32(body + 8, at.subaccount);
    cc_store32(body + 12, at.portfolio);
    cc_store64(body + 16, price);
    cc_store64(body + 24, (uint64_t)quantity);
    cc_store64(body + 32, TRADE_GTC);
    body[41] = reduce_only;
    cc_store16(body + 44, HOST_BTC);
    return purse_send(&host, PURSE_SESSION, 1, REQUEST_place_limit_order, body, sizeof body);
}

/* An account in the market with 17 portfolios: one reduce-only order that holds the position is
 * enough, for the next one and when the position becomes smaller. With 16 four are. */
static void test_many_portfolios(void)
{
    struct purse_place main_place = { 0, 0 };

    trade_open(&host, NULL);
    go_long(500);
    for (uint32_t at = 1; at <= 16; at++) {
        struct purse_place place = { 0, at };
        CHECK(purse_portfolio(&host, 1, 0, "p") == TRADE_OK);
        CHECK(purse_transfer(&host, 1, main_place, place, 1000 * HOST_USDC) == TRADE_OK);
        if (at < 16)
            CHECK(place_in(place, 20, M - 1000, 0) == TRADE_OK);
    }
    for (uint32_t i = 0; i < 3; i++)
        CHECK(place_in(main_place, -500, M + 100 + i, 1) == TRADE_OK);
    CHECK(place_in((struct purse_place){ 0, 16 }, 20, M - 1000, 0) == TRADE_OK);
    CHECK(place_in(main_place, -500, M + 200, 1) == STATUS_invalid_reduce_only_order);
    CHECK(resting() == 3);
    sell(10, false);
    CHECK(resting() == 1 && trade_size(&host, 1) == 490);
    CHECK(place_in(main_place, -500, M + 200, 1) == STATUS_invalid_reduce_only_order);
    host_close(&host);
}

/* An image carries what is queued. */
static void test_image(void)
{
    static struct image_copy copy;
    static struct host loaded;
    struct image_problem problem;

    trade_open(&host, "engine.work_per_command=3\n");
    build_wall(20);
    sell(190, false);
    CHECK(resting() == 17);
    image_copy_take(&copy, host.engine);
    CHECK(image_copy_open(&copy, &loaded, NULL, &problem));
    host.mirror = &loaded; /* the same effects from here on */
    while (engine_has_work(host.engine))
        host_tick(&host, 1000);
    CHECK(resting() == 4);
    host.mirror = NULL;
    host_close(&loaded);
    image_copy_free(&copy);
    host_close(&host);
}

/* Row 21 of what a reduction leaves, of a reduce-only order too: 10 USDC at its price, whatever the
 * position is. 10 raw at 101,000.0 are 10.1 USDC, 9 raw 9.09. */
static void test_no_dust(void)
{
    trade_open(&host, NULL);
    go_long(1000);
    CHECK(trade_reduce(&host, 1, -990, M + 10000, TRADE_GTC) == TRADE_OK);
    struct trade_id id = trade_last_id(&host);
    CHECK(trade_cut(&host, 1, id, 981, 0) == STATUS_rejected_invalid_size);
    CHECK(trade_cut(&host, 1, id, 989, 0) == STATUS_rejected_invalid_size);
    CHECK(trade_remaining(&host, 1, id) == 990);
    CHECK(trade_cut(&host, 1, id, 980, 0) == TRADE_OK && trade_remaining(&host, 1, id) == 10);
    /* of a position of 5, 9 would be enough: a cut is not asked for that, a new order is */
    sell(995, false);
    CHECK(trade_cut(&host, 1, id, 1, 0) == STATUS_rejected_invalid_size);
    CHECK(trade_reduce(&host, 1, -9, M + 10000, TRADE_GTC) == TRADE_OK);
    CHECK(trade_cut(&host, 1, id, 10, 0) == TRADE_OK);
    CHECK(trade_last_state(&host).reason == REASON_user_cancel);
    trade_check_figures(&host);
    host_close(&host);
}

int main(void)
{
    test_wall(false);
    test_wall(true);
    test_order();
    test_what_holds();
    test_dead();
    test_flip();
    test_no_dust();
    test_many_portfolios();
    test_image();
    return 0;
}
