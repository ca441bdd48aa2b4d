/* What makes an order that waits fire, and in which order (rules.md R8): kinds,
 * sides, sources; batches by placing sequence, first in, first out; markets that stop firing; OCO.
 * The mark is the index as long as no order rests and nothing was traded. */
#include "engine/state/trigger.h"
#include "waiting.h"

#define M TRADE_MARK

static bool waits(const struct host *host, uint32_t n, struct trade_id id)
{
    return waiting_row(host, n, id) != NULL;
}

/* Moves mark and index by less than what is held. */
static void move(struct host *host, uint64_t price)
{
    CHECK(host_oracle(host, HOST_BTC, price) == TRADE_OK);
    CHECK(trade_market(host)->mark == price && trade_market(host)->mark_valid);
}

static void settle(struct host *host)
{
    while (engine_has_work(host->engine))
        host_tick(host, 1);
}

/* A stop that buys and a take-profit that sells wait for the price to rise to the trigger, the
 * other two for it to fall to it; equality fires, one tick before it does not. */
static void test_kinds(void)
{
    static const uint8_t types[] = { ORDER_STOP_LIMIT, ORDER_STOP_MARKET, ORDER_TAKE_PROFIT,
                                     ORDER_TAKE_PROFIT_MARKET };
    static struct host host;

    trade_open(&host, NULL);
    for (uint32_t i = 0; i < 16; i++) {
        bool is_buy = i % 2 == 0, is_stop = i / 2 % 4 < 2, rises = is_stop == is_buy;
        uint8_t type = types[i / 2 % 4];
        struct waiting order = {
            .trigger = rises ? M + 1000 : M - 1000,
            .price = order_type_is_market(type) ? 0 : M,
            .quantity = is_buy ? 1000 : -1000,
            .type = type,
            .source = i < 8 ? SOURCE_MARK : SOURCE_INDEX,
        };
        struct trade_id id = waiting_rest(&host, 1, &order);
        move(&host, rises ? M + 999 : M - 999);
        CHECK(waits(&host, 1, id) && trade_effects(&host, EFFECT_trigger) == 0);
        move(&host, rises ? M + 1000 : M - 1000);
        CHECK(!waits(&host, 1, id) && trade_effects(&host, EFFECT_trigger) == 1);
        struct effect_trigger trigger;
        memcpy(&trigger, host_effect(&host, EFFECT_trigger, 0)->bytes, sizeof trigger);
        CHECK(memcmp(trigger.order_id, id.bytes, sizeof id.bytes) == 0);
        CHECK(trigger.source_price == order.trigger && trigger.asset_id == HOST_BTC);
        /* an IOC into an empty book ends CANCELED, with its own kind */
        CHECK(waiting_state(&host, id).status == ORDER_CANCELED);
        CHECK(waiting_state(&host, id).order_type == type);
        CHECK(waiting_state(&host, id).reason == REASON_time_in_force);
        move(&host, M);
        waiting_check(&host);
    }
    host_close(&host);
}

/* The last trade alone moves LAST, and only LAST. */
static void test_last(void)
{
    static struct host host;

    trade_open(&host, NULL);
    struct waiting order = {
        .trigger = M + 500, .quantity = 1000, .type = ORDER_STOP_MARKET, .source = SOURCE_LAST
    };
    struct trade_id last = waiting_rest(&host, 1, &order);
    order.source = SOURCE_INDEX;
    struct trade_id index = waiting_rest(&host, 1, &order);
    (void)trade_rest(&host, 2, -1000, M + 500);
    CHECK(trade_tif(&host, 3, 1000, M + 500, TRADE_IOC) == TRADE_OK);
    CHECK(trade_effects(&host, EFFECT_trade) == 1 && trade_effects(&host, EFFECT_trigger) == 1);
    CHECK(!waits(&host, 1, last) && waits(&host, 1, index));
    /* behind the answer: it is deferred work */
    CHECK(host_effect(&host, EFFECT_trigger, 0)->index >
          host_effect(&host, EFFECT_answer, 0)->index);
    order = (struct waiting){
        .trigger = M + 100, .quantity = -1000, .type = ORDER_STOP_MARKET, .source = SOURCE_LAST
    };
    last = waiting_rest(&host, 1, &order); /* the last was at M + 500 */
    move(&host, M + 50); /* the mark is between index and last: at the index, with no book */
    CHECK(waits(&host, 1, last));
    host_close(&host);
}

/* One unit a command: those of one mark by placing sequence, whatever their triggers; those of a
 * later mark behind them; one that was canceled meanwhile leaves no gap. */
static void test_order(void)
{
    static const uint64_t above[] = { 900, 100, 500, 1800, 300, 1200 };
    static const uint32_t fires[] = { 0, 1, 4, 3, 5 }; /* 2 is canceled in the queue */
    static struct host host;
    struct trade_id ids[6];

    trade_open(&host, "engine.work_per_command=1\n");
    for (uint32_t i = 0; i < 6; i++) {
        struct waiting order = { .trigger = M + above[i],
                                 .quantity = 1000,
                                 .type = ORDER_STOP_MARKET };
        ids[i] = waiting_rest(&host, 1 + i % 2, &order);
    }
    settle(&host);
    move(&host, M + 1000); /* queues 0, 1, 2, 4 behind the scan; fires 0 */
    CHECK(!waits(&host, 1, ids[0]) && waits(&host, 2, ids[1]));
    CHECK(waiting_cancel(&host, 1, ids[2]) == TRADE_OK); /* fires 1 */
    CHECK(!waits(&host, 2, ids[1]) && waits(&host, 1, ids[4]));
    CHECK(host_oracle(&host, HOST_BTC, M + 2000) == TRADE_OK); /* queues 3, 5; fires 4 */
    CHECK(!waits(&host, 1, ids[4]) && waits(&host, 2, ids[3]));
    host_tick(&host, 1);
    CHECK(!waits(&host, 2, ids[3]) && waits(&host, 2, ids[5]));
    waiting_check(&host);
    settle(&host);
    for (uint32_t i = 0; i < CC_COUNT(fires); i++)
        CHECK(!waits(&host, 1 + fires[i] % 2, ids[fires[i]]));
    CHECK(host.engine->conditionals.batch_count == 0);
    host_close(&host);
}

/* A queued one fires though its condition has passed; the price told is that which met it. */
static void test_queued_fires(void)
{
    static struct host host;
    struct trade_id ids[3];

    trade_open(&host, "engine.work_per_command=1\n");
    struct waiting order = { .trigger = M + 100, .quantity = 1000, .type = ORDER_STOP_MARKET };
    for (uint32_t i = 0; i < 3; i++)
        ids[i] = waiting_rest(&host, 1, &order);
    settle(&host);
    move(&host, M + 150);
    move(&host, M);
    CHECK(waits(&host, 1, ids[2]));
    host_tick(&host, 1);
    CHECK(!waits(&host, 1, ids[2]));
    struct effect_trigger trigger;
    memcpy(&trigger, host_effect(&host, EFFECT_trigger, 0)->bytes, sizeof trigger);
    CHECK(trigger.source_price == M + 150);
    host_close(&host);
}

/* The market's state may take no firing, or its index is not valid: nothing is evaluated. */
static void test_no_firing(void)
{
    static const uint8_t states[] = { MARKET_POST_ONLY, MARKET_CANCEL_ONLY, MARKET_HALTED };
    static struct host host;
    uint8_t body[8] = { HOST_BTC };

    for (uint32_t i = 0; i < CC_COUNT(states); i++) {
        trade_open(&host, NULL);
        struct waiting order = { .trigger = M + 100, .quantity = 1000, .type = ORDER_STOP_MARKET };
        struct trade_id id = waiting_rest(&host, 1, &order);
        body[4] = states[i];
        CHECK(host_unsigned(&host, REQUEST_market_state, body, sizeof body) == TRADE_OK);
        CHECK(host_oracle(&host, HOST_BTC, M + 200) == TRADE_OK);
        CHECK(waits(&host, 1, id) && waiting_row(&host, 1, id)->waits_in == WAITS_IN_TREE);
        body[4] = MARKET_ACTIVE;
        CHECK(host_unsigned(&host, REQUEST_market_state, body, sizeof body) == TRADE_OK);
        host_tick(&host, HOST_SECOND_NS); /* the next mark */
        CHECK(!waits(&host, 1, id));
        host_close(&host);
    }
}

/* It was queued, then its market stopped firing: it waits on, and fires with the next mark that
 * may, though its condition does not hold any more. */
static void test_armed(void)
{
    static struct host host;
    struct trade_id ids[3];
    uint8_t body[8] = { HOST_BTC, 0, 0, 0, MARKET_CANCEL_ONLY };

    trade_open(&host, "engine.work_per_command=1\n");
    struct waiting order = { .trigger = M - 100, .quantity = -1000, .type = ORDER_STOP_MARKET };
    for (uint32_t i = 0; i < 3; i++)
        ids[i] = waiting_rest(&host, 1, &order);
    settle(&host);
    move(&host, M - 150); /* fires the first */
    CHECK(host_unsigned(&host, REQUEST_market_state, body, sizeof body) == TRADE_OK);
    CHECK(waiting_row(&host, 1, ids[1])->armed && trade_effects(&host, EFFECT_trigger) == 0);
    settle(&host);
    CHECK(waiting_row(&host, 1, ids[2])->armed);
    waiting_check(&host);
    CHECK(host_oracle(&host, HOST_BTC, M) == TRADE_OK);
    settle(&host);
    CHECK(waiting_row(&host, 1, ids[1])->waits_in == WAITS_IN_TREE);
    body[4] = MARKET_ACTIVE;
    CHECK(host_unsigned(&host, REQUEST_market_state, body, sizeof body) == TRADE_OK);
    CHECK(host_oracle(&host, HOST_BTC, M + 10) == TRADE_OK);
    settle(&host);
    CHECK(!waits(&host, 1, ids[1]) && !waits(&host, 1, ids[2]));
    host_close(&host);
}

/* The first of a group that fires cancels the others of the portfolio, queued ones too; other
 * groups, and the same group of another account, live on. */
static void test_oco(void)
{
    static struct host host;

    trade_open(&host, NULL);
    struct waiting up = {
        .trigger = M + 100, .quantity = 1000, .type = ORDER_STOP_MARKET, .oco = 5
    };
    struct waiting down = up;
    down.trigger = M - 100;
    down.quantity = -1000;
    struct trade_id other = waiting_rest(&host, 2, &down);
    struct trade_id late = waiting_rest(&host, 1, &down);
    struct trade_id first = waiting_rest(&host, 1, &up);
    struct trade_id same = waiting_rest(&host, 1, &up); /* met by the same mark */
    down.oco = 6;
    struct trade_id another = waiting_rest(&host, 1, &down);
    down.oco = 0;
    struct trade_id none = waiting_rest(&host, 1, &down);
    move(&host, M + 100);
    CHECK(trade_effects(&host, EFFECT_trigger) == 1 && !waits(&host, 1, first));
    CHECK(waiting_state(&host, late).status == ORDER_CANCELED);
    CHECK(waiting_state(&host, late).reason == REASON_oco);
    CHECK(waiting_state(&host, same).reason == REASON_oco);
    CHECK(waits(&host, 2, other) && waits(&host, 1, another) && waits(&host, 1, none));
    /* 2114, the others by placing, then what became of it */
    CHECK(trade_effects(&host, EFFECT_order_state) == 3);
    CHECK(memcmp(trade_state(&host, 0).order_id, late.bytes, 16) == 0);
    CHECK(memcmp(trade_state(&host, 1).order_id, same.bytes, 16) == 0);
    CHECK(memcmp(trade_state(&host, 2).order_id, first.bytes, 16) == 0);
    CHECK(host_effect(&host, EFFECT_trigger, 0)->index <
          host_effect(&host, EFFECT_order_state, 0)->index);
    waiting_check(&host);
    host_close(&host);
}

/* A cascade: each firing trades and meets the next. Four units a command: 1 of the order and 1 of
 * its maker, so two orders fire. */
static void test_cascade(void)
{
    static struct host host;
    struct trade_id ids[6];

    trade_open(&host, "engine.work_per_command=4\n");
    for (uint32_t i = 0; i < 7; i++)
        (void)trade_rest(&host, 2, -1000, M + 100 + 100 * i);
    for (uint32_t i = 0; i < 6; i++) {
        struct waiting order = { .trigger = M + 100 + 100 * i,
                                 .quantity = 1000,
                                 .type = ORDER_STOP_MARKET,
                                 .source = SOURCE_LAST };
        ids[i] = waiting_rest(&host, 1, &order);
    }
    settle(&host);
    CHECK(trade_tif(&host, 3, 1000, M + 100, TRADE_IOC) == TRADE_OK);
    CHECK(trade_effects(&host, EFFECT_trade) == 3 && trade_effects(&host, EFFECT_trigger) == 2);
    CHECK(!waits(&host, 1, ids[1]) && waits(&host, 1, ids[2]) && trade_size(&host, 1) == 2000);
    host_tick(&host, 1);
    CHECK(!waits(&host, 1, ids[3]) && waits(&host, 1, ids[4]) && trade_size(&host, 1) == 4000);
    host_tick(&host, 1);
    CHECK(!waits(&host, 1, ids[5]) && trade_size(&host, 1) == 6000);
    settle(&host);
    waiting_check(&host);
    host_close(&host);
}

/* Many orders at random prices, some taken out again: trees, bounds and queue stay whole. */
static void test_trees(void)
{
    static struct host host;
    static struct trade_id ids[400];
    uint64_t seed = 7;

    trade_open(&host, NULL);
    for (uint32_t i = 0; i < 400; i++) {
        uint32_t n = 1 + i % TRADE_ACCOUNTS;
        bool rises = rig_below(&seed, 2) == 0;
        uint64_t way = 1 + rig_below(&seed, 40000);
        struct waiting order = { .trigger = rises ? M + way : M - way,
                                 .quantity = rises ? 1000 : -1000,
                                 .type = ORDER_STOP_MARKET,
                                 .source = (uint8_t)rig_below(&seed, 3) };
        ids[i] = waiting_rest(&host, n, &order);
        uint32_t old = rig_below(&seed, i + 1);
        if (rig_below(&seed, 3) == 0 && waits(&host, 1 + old % TRADE_ACCOUNTS, ids[old]))
            CHECK(waiting_cancel(&host, 1 + old % TRADE_ACCOUNTS, ids[old]) == TRADE_OK);
    }
    waiting_check(&host);
    for (uint64_t way = 1000; way <= 41000; way += 4000) {
        move(&host, M + way);
        waiting_check(&host);
        move(&host, M - way);
        waiting_check(&host);
        settle(&host);
    }
    for (uint32_t i = 0; i < 400; i++) { /* what is left waits for a trade */
        const struct conditional *row = waiting_row(&host, 1 + i % TRADE_ACCOUNTS, ids[i]);
        CHECK(row == NULL || row->source == SOURCE_LAST);
    }
    host_close(&host);
}

int main(void)
{
    test_kinds();
    test_last();
    test_order();
    test_queued_fires();
    test_no_firing();
    test_armed();
    test_oco();
    test_cascade();
    test_trees();
    return 0;
}
