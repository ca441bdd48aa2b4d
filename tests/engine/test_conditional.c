/* Orders that wait for a price (rules.md R8): what code 6 leaves behind, how they are found, read,
 * canceled, put on lists, expired; their image. Values by hand: index and mark 1,000,000. */
#include "engine/view/read.h"
#include "engine/view/read_orders.h"
#include "image_copy.h"
#include "waiting.h"

#define M TRADE_MARK

static const struct waiting stop = {
    .trigger = M + 1000, .price = M + 2000, .quantity = 5000, .type = ORDER_STOP_LIMIT, .live = 2
};

static uint32_t count_of(const struct host *host)
{
    return host->engine->conditionals.count;
}

/* 2101 UNTRIGGERED with the record; no margin, no count of resting orders, nothing in the book. */
static void test_placing(void)
{
    static struct host host;

    trade_open(&host, NULL);
    struct waiting order = stop;
    order.quantity = 40000000; /* 400 BTC: no margin is asked for */
    struct trade_id id = waiting_rest(&host, 1, &order);
    struct effect_order_state state = trade_last_state(&host);
    CHECK(trade_effects(&host, EFFECT_order_state) == 1 && state.status == ORDER_UNTRIGGERED);
    CHECK(state.remaining == 40000000 && state.filled == 0 && state.price == M + 2000);
    CHECK(state.order_type == ORDER_STOP_LIMIT && state.side == ORDER_LONG);
    CHECK(state.reason == REASON_none && state.asset_id == HOST_BTC);
    CHECK(memcmp(state.order_id, id.bytes, sizeof id.bytes) == 0);
    uint32_t record = host_effect(&host, EFFECT_order_state, 0)->record;
    CHECK((record & EFFECT_CONDITIONAL) != 0 &&
          &host.engine->conditionals.rows[record & ~EFFECT_CONDITIONAL] ==
              waiting_row(&host, 1, id));
    CHECK(trade_portfolio(&host, 1)->open_order_count == 0);
    CHECK(trade_portfolio(&host, 1)->conditional_count == 1);
    CHECK(trade_portfolio(&host, 1)->initial == 0 && host.engine->orders.count == 0);
    /* of a market kind no price is told, and the other account's use of the id is its own */
    order = (struct waiting){ .trigger = M - 1, .quantity = -700, .type = ORDER_STOP_MARKET };
    (void)waiting_rest(&host, 2, &order);
    CHECK(trade_last_state(&host).price == 0 && trade_last_state(&host).side == ORDER_SHORT);
    CHECK(waiting_row(&host, 2, id) == NULL);
    waiting_check(&host);
    host_close(&host);
}

/* Code 7: UNTRIGGERED ends CANCELED by its owner; of another portfolio, asset or account it is not
 * found, nor twice; codes 1, 2 and 3 do not find it at all. */
static void test_cancel(void)
{
    static struct host host;

    trade_open(&host, NULL);
    struct trade_id id = waiting_rest(&host, 1, &stop);
    CHECK(waiting_cancel(&host, 2, id) == STATUS_conditional_order_not_found);
    CHECK(host_cancel(&host, 1, id.bytes) == STATUS_rejected_order_not_found);
    CHECK(trade_cut(&host, 1, id, 1000, 0) == STATUS_rejected_order_not_found);
    struct host_order next = { .price = M, .quantity = 1000, .expiry = TRADE_GTC };
    CHECK(trade_replace(&host, 1, id, &next, 0) == STATUS_rejected_order_not_found);
    CHECK(count_of(&host) == 1);
    CHECK(waiting_cancel(&host, 1, id) == TRADE_OK);
    struct effect_order_state state = trade_last_state(&host);
    CHECK(state.status == ORDER_CANCELED && state.reason == REASON_user_cancel);
    CHECK(state.remaining == 5000 && count_of(&host) == 0);
    CHECK(waiting_cancel(&host, 1, id) == STATUS_conditional_order_not_found);
    struct trade_id plain = trade_rest(&host, 1, 1000, 990000); /* never a conditional */
    CHECK(waiting_cancel(&host, 1, plain) == STATUS_conditional_order_not_found);
    waiting_check(&host);
    host_close(&host);
}

/* Dead at once, released in order of placing with the resting ones, a unit each. */
static void test_cancel_all(void)
{
    static struct host host;

    trade_open(&host, "engine.work_per_command=1\n");
    struct waiting sell = { .trigger = M - 1000, .quantity = -3000, .type = ORDER_STOP_MARKET };
    struct trade_id ids[4];
    ids[0] = waiting_rest(&host, 1, &stop);
    ids[1] = trade_rest(&host, 1, 1000, 990000);
    ids[2] = waiting_rest(&host, 1, &sell);
    ids[3] = waiting_rest(&host, 1, &stop);
    while (engine_has_work(host.engine))
        host_tick(&host, 1);
    CHECK(host_cancel_all(&host, 1, 0xFFFF, 2) == TRADE_OK); /* without conditionals: nothing */
    CHECK(count_of(&host) == 3 && !engine_has_work(host.engine));
    CHECK(waiting_cancel_all(&host, 1, HOST_BTC, 1) == TRADE_OK); /* buys */
    CHECK(waiting_state(&host, ids[0]).reason == REASON_cancel_all);
    CHECK(trade_effects(&host, EFFECT_order_state) == 1 && count_of(&host) == 2);
    /* the fourth is dead though it is still there, and counts as one of the portfolio's */
    CHECK(trade_portfolio(&host, 1)->conditional_count == 2);
    CHECK(waiting_row(&host, 1, ids[3])->kill_reason == REASON_cancel_all);
    CHECK(waiting_cancel(&host, 1, ids[3]) == STATUS_conditional_order_not_found);
    CHECK(waiting_state(&host, ids[1]).reason == REASON_cancel_all); /* that command's unit */
    struct row_order row;
    CHECK(read_order(host.engine, 1, ids[3].bytes, -1, &row));
    CHECK(row.status == ORDER_CANCELED && row.reason == REASON_cancel_all);
    CHECK(waiting_cancel(&host, 1, ids[2]) == TRADE_OK); /* a sell was not on the list */
    CHECK(waiting_state(&host, ids[3]).status == ORDER_CANCELED && count_of(&host) == 0);
    waiting_check(&host);
    host_close(&host);
}

/* A GTT one ends EXPIRED at its time: 2115 first; with resting ones by deadline, then placing. */
static void test_expiry(void)
{
    static struct host host;

    trade_open(&host, "engine.work_per_command=1\n");
    uint64_t at = host.clock_ns + 1000000;
    struct waiting order = stop;
    order.expiry = at;
    struct trade_id first = waiting_rest(&host, 1, &order);
    CHECK(trade_tif(&host, 1, 1000, 990000, at) == TRADE_OK);
    struct trade_id second = trade_last_id(&host);
    struct trade_id third = waiting_rest(&host, 2, &order);
    CHECK(engine_next_deadline(host.engine) == at);
    host.clock_ns = at;
    CHECK(waiting_cancel(&host, 2, third) == STATUS_conditional_order_not_found); /* dead at t */
    struct effect_timer timer;
    memcpy(&timer, host_effect(&host, EFFECT_timer, 0)->bytes, sizeof timer);
    CHECK(timer.kind == TIMER_EXPIRY && timer.portfolio.account_id == 1);
    CHECK(waiting_state(&host, first).status == ORDER_EXPIRED);
    CHECK(waiting_state(&host, first).reason == REASON_none);
    CHECK(host_effect(&host, EFFECT_timer, 0)->index + 1 ==
          host_effect(&host, EFFECT_order_state, 0)->index);
    host_tick(&host, 1);
    CHECK(waiting_state(&host, second).status == ORDER_EXPIRED);
    host_tick(&host, 1);
    CHECK(waiting_state(&host, third).status == ORDER_EXPIRED && count_of(&host) == 0);
    waiting_check(&host);
    host_close(&host);
}

/* The record of reads: its own members, then UNTRIGGERED ones in the list between the others. */
static void test_reads(void)
{
    static struct host host;
    static struct read_orders cursor;
    struct row_order row;

    trade_open(&host, NULL);
    struct waiting order = stop;
    order.oco = 77;
    order.source = SOURCE_INDEX;
    order.reduce_only = 1;
    struct trade_id first = trade_rest(&host, 1, 1000, 990000);
    struct trade_id id = waiting_rest(&host, 1, &order);
    uint64_t sequence = engine_sequence(host.engine), time = engine_time(host.engine);
    struct trade_id last = trade_rest(&host, 1, 1000, 990000);
    CHECK(read_order(host.engine, 1, id.bytes, -1, &row));
    CHECK(row.status == ORDER_UNTRIGGERED && row.order_type == ORDER_STOP_LIMIT);
    CHECK(row.trigger_price == M + 1000 && row.price == M + 2000 && row.live_tif == ORDER_GTC);
    CHECK(row.trigger_source == SOURCE_INDEX && row.oco_group[0] == 77 && row.reduce_only == 1);
    CHECK(row.initial == 5000 && row.remaining == 5000 && row.filled == 0);
    CHECK(row.sequence == sequence && row.index == 0 && row.time_ns == time);
    CHECK(row.updated_at_ns == time && row.expiry == UINT64_MAX && row.account_id == 1);
    CHECK(!read_order(host.engine, 1, id.bytes, 3, &row));
    CHECK(!read_order(host.engine, 2, id.bytes, -1, &row));
    struct read_filter filter = { .account_id = 1,
                                  .subaccount_index = QUERY_ANY_INDEX,
                                  .portfolio_index = QUERY_ANY_INDEX,
                                  .status = QUERY_ANY_STATUS };
    const struct trade_id *wanted[] = { &last, &id, &first };
    read_orders_begin(&cursor, &filter, 0, 0);
    for (uint32_t i = 0; i < 3; i++) {
        CHECK(read_orders_next(&cursor, host.engine, &row));
        CHECK(memcmp(row.id, wanted[i]->bytes, sizeof row.id) == 0);
    }
    CHECK(!read_orders_next(&cursor, host.engine, &row));
    filter.status = ORDER_UNTRIGGERED;
    read_orders_begin(&cursor, &filter, 0, 0);
    CHECK(read_orders_next(&cursor, host.engine, &row) && row.sequence == sequence);
    CHECK(!read_orders_next(&cursor, host.engine, &row));
    host_close(&host);
}

/* X-Ack: full of codes 6 and 7. */
static void test_evidence(void)
{
    static struct host host;

    trade_open(&host, NULL);
    host.wants_evidence = true;
    struct trade_id id = waiting_rest(&host, 1, &stop);
    CHECK((host.result.members & ANSWER_HAS_ORDER) != 0);
    CHECK(host.result.order_status == ORDER_UNTRIGGERED && host.result.remaining == 5000);
    CHECK((host.result.members & ANSWER_HAS_MARKET) != 0);
    CHECK((host.result.members & ANSWER_HAS_AHEAD) == 0);
    CHECK(waiting_cancel(&host, 1, id) == TRADE_OK);
    CHECK(host.result.order_status == ORDER_CANCELED && host.result.remaining == 5000);
    CHECK(waiting_cancel(&host, 1, id) == STATUS_conditional_order_not_found);
    CHECK((host.result.members & (ANSWER_HAS_ORDER | ANSWER_HAS_MARKET)) == ANSWER_HAS_MARKET);
    host_close(&host);
}

/* Rows, lists, trees, queue and timers come back from the image, and so does what follows. */
static void test_image(void)
{
    static struct host host, other;
    struct image_copy copy = { 0 }, again = { 0 };
    struct image_problem problem;

    trade_open(&host, "engine.work_per_command=1\n");
    struct waiting order = stop;
    for (uint32_t i = 0; i < 40; i++) {
        order.trigger = M + 1 + (i * 7919) % 1000;
        order.type = i % 2 == 0 ? ORDER_STOP_LIMIT : ORDER_TAKE_PROFIT;
        order.quantity = i % 2 == 0 ? 1000 + i : -1000 - (int64_t)i;
        order.expiry = i % 5 == 0 ? host.clock_ns + 3000000000 : 0;
        order.source = (uint8_t)(i % 3);
        (void)waiting_rest(&host, 1 + i % 3, &order);
    }
    CHECK(host_oracle(&host, HOST_BTC, M + 500) == TRADE_OK); /* queues some, fires one */
    CHECK(host.engine->conditionals.queue_head != CONDITIONAL_NONE);
    CHECK(waiting_cancel_all(&host, 2, HOST_BTC, 1) == TRADE_OK);
    waiting_check(&host);
    image_copy_take(&copy, host.engine);
    CHECK(image_copy_open(&copy, &other, NULL, &problem));
    waiting_check(&other);
    for (uint32_t i = 0; i < 60; i++) {
        other.clock_ns = host.clock_ns;
        host_tick(&host, i % 7 == 0 ? 900000000 : 5);
        host_tick(&other, i % 7 == 0 ? 900000000 : 5);
    }
    CHECK(host.engine->conditionals.count < 40 && host.engine->orders.count != 0);
    image_copy_take(&copy, host.engine);
    image_copy_take(&again, other.engine);
    CHECK(image_copy_equal(&copy, &again));
    waiting_check(&other);
    image_copy_free(&copy);
    image_copy_free(&again);
    host_close(&other);
    host_close(&host);
}

int main(void)
{
    test_placing();
    test_cancel();
    test_cancel_all();
    test_expiry();
    test_reads();
    test_evidence();
    test_image();
    return 0;
}
