/* What becomes of an order that fires (rules.md R8): it goes the way of
 * every order at t of the command that does the work, keeps its id, kind and age, or is REJECTED;
 * brackets; its units; what the touch before it finds. */
#include "engine/state/evidence.h"
#include "engine/trade/match.h"
#include "engine/trade/resting.h"
#include "engine/view/read.h"
#include "image_copy.h"
#include "purse.h"
#include "waiting.h"

#define M TRADE_MARK

static void move(struct host *host, uint64_t price)
{
    CHECK(host_oracle(host, HOST_BTC, price) == TRADE_OK);
}

static void settle(struct host *host)
{
    while (engine_has_work(host->engine))
        host_tick(host, 1);
}

static const struct waiting stop_limit = {
    .trigger = M + 100, .price = M + 100, .quantity = 1000, .type = ORDER_STOP_LIMIT, .live = 2
};

/* It rests with its own id, kind and placing; it is before what was placed after it in its record's
 * list, behind what is in its level, and code 7 tells that it is on the books. */
static void test_rests(void)
{
    static struct host host, other;
    struct image_copy copy = { 0 };
    struct image_problem problem;
    struct row_order row;

    trade_open(&host, NULL);
    struct waiting order = stop_limit;
    order.oco = 9;
    order.expiry = host.clock_ns + 3600 * HOST_SECOND_NS;
    struct trade_id id = waiting_rest(&host, 1, &order);
    uint64_t sequence = engine_sequence(host.engine), time = engine_time(host.engine);
    struct trade_id before = trade_rest(&host, 2, 3000, M + 100);
    struct trade_id later = trade_rest(&host, 1, 1000, M - 500);
    trade_index(&host, M + 400); /* mark: the median of the index and the bid */
    settle(&host);
    CHECK(waiting_row(&host, 1, id) == NULL && trade_remaining(&host, 1, id) == 1000);
    CHECK(waiting_cancel(&host, 1, id) == STATUS_conditional_order_on_books);
    CHECK(waiting_cancel(&host, 1, later) == STATUS_conditional_order_not_found);
    uint32_t index = trade_order(&host, 1, id);
    const struct order_cold *cold = &host.engine->orders.cold[index];
    CHECK(host.engine->orders.hot[index].state == ORDER_OPEN);
    CHECK(order_rank(&host.engine->orders, index) == order_stamp(sequence, 0));
    CHECK(cold->list_next == trade_order(&host, 1, later) && cold->list_prev == ORDER_NONE);
    CHECK(host.engine->orders.hot[index].prev == trade_order(&host, 2, before));
    CHECK(read_order(host.engine, 1, id.bytes, -1, &row));
    CHECK(row.status == ORDER_OPEN && row.order_type == ORDER_STOP_LIMIT && row.index == 0);
    CHECK(row.sequence == sequence && row.time_ns == time && row.updated_at_ns > time);
    CHECK(row.expiry == UINT64_MAX && row.trigger_price == M + 100 && row.oco_group[0] == 9);
    image_copy_take(&copy, host.engine);
    CHECK(image_copy_open(&copy, &other, NULL, &problem));
    CHECK(read_order(other.engine, 1, id.bytes, -1, &row));
    CHECK(row.trigger_price == M + 100 && row.oco_group[0] == 9 && row.live_tif == ORDER_GTC);
    host_close(&other);
    image_copy_free(&copy);
    CHECK(host_cancel(&host, 1, id.bytes) == TRADE_OK);
    CHECK(trade_last_state(&host).order_type == ORDER_STOP_LIMIT);
    host_close(&host);
}

/* Fires `order` of account 1 with the next mark, and gives what became of it. */
static struct effect_order_state fire(struct host *host, const struct waiting *order)
{
    struct trade_id id = waiting_rest(host, 1, order);

    move(host, order->trigger);
    struct effect_order_state state = waiting_state(host, id);
    CHECK(waiting_row(host, 1, id) == NULL);
    waiting_check(host);
    return state;
}

static void check_rejected(struct host *host, const struct waiting *order, enum status status)
{
    struct effect_order_state state = fire(host, order);
    uint32_t count = trade_effects(host, EFFECT_order_state);
    uint32_t record = host_effect(host, EFFECT_order_state, count - 1)->record;

    CHECK(state.status == ORDER_REJECTED && state.reason == status);
    CHECK(state.remaining == (uint64_t)(order->quantity < 0 ? -order->quantity : order->quantity));
    CHECK((record & EFFECT_CONDITIONAL) != 0 && record != EFFECT_NO_RECORD);
    CHECK(host->engine->conditionals.count == 0);
    move(host, M);
}

/* One failure of each row that firing meets, as far as one market can show it. */
static void test_rejected(void)
{
    static struct host host;
    uint8_t body[8] = { HOST_BTC, 0, 0, 0, MARKET_REDUCE_ONLY };

    trade_open(&host, "limits.open_orders=3\nexchange.oracle_max_age_ms=0\n");
    struct waiting order = stop_limit;
    struct trade_id id = waiting_rest(&host, 1, &order);
    CHECK(host_unsigned(&host, REQUEST_market_state, body, sizeof body) == TRADE_OK);
    move(&host, M + 100); /* row 10; REDUCE_ONLY fires */
    CHECK(waiting_state(&host, id).reason == STATUS_rejected_market_reduce_only);
    body[4] = MARKET_ACTIVE;
    CHECK(host_unsigned(&host, REQUEST_market_state, body, sizeof body) == TRADE_OK);
    move(&host, M);

    order.price = 1200000; /* row 20: the band of 1,000,100 ends at 1,100,110 */
    check_rejected(&host, &order, STATUS_rejected_invalid_price);
    order = stop_limit;
    order.reduce_only = 1; /* row 24 */
    check_rejected(&host, &order, STATUS_invalid_reduce_only_order);
    order = stop_limit;
    order.live = ORDER_FOK; /* row 30 */
    check_rejected(&host, &order, STATUS_rejected_f_o_k_not_fully_filled_low_liquidity);
    order = stop_limit;
    order.quantity = 40000000; /* rows 33: 40,004,000 USDC with 100,000 at 20x */
    check_rejected(&host, &order, STATUS_insufficient_margin_to_place);
    order = stop_limit; /* row 27 */
    id = waiting_rest(&host, 1, &order);
    for (uint32_t i = 0; i < 3; i++)
        (void)trade_rest(&host, 1, 1000, M - 5000);
    move(&host, M + 100); /* row 26 */
    CHECK(waiting_state(&host, id).reason == STATUS_rejected_max_open_orders_exceeded);
    host_close(&host);
}

/* Rows that need the other side: 22, 28, 29. The asks stand above every mark, so the mark is the
 * index here: the median of index, index and ask. */
static void test_rejected_by_book(void)
{
    static struct host host;

    trade_open(&host, NULL);
    (void)trade_rest(&host, 2, -1000, M + 20000);
    struct waiting order = {
        .trigger = M + 100, .quantity = 1000, .type = ORDER_STOP_MARKET, .slippage_ppm = 1000
    }; /* up to 1,001,100 */
    check_rejected(&host, &order, STATUS_rejected_slippage_exceeds_maximum);
    order = stop_limit;
    order.price = M + 20000;
    order.post_only = 1;
    check_rejected(&host, &order, STATUS_rejected_post_only_would_cross_book);
    order.post_only = 0;
    (void)trade_rest(&host, 1, -1000, M + 10000);
    check_rejected(&host, &order, STATUS_self_trade_prevention);
    order.stp = 1; /* EXPIRE_MAKER: own order goes, the other's is taken */
    CHECK(fire(&host, &order).status == ORDER_FILLED);
    CHECK(trade_size(&host, 1) == 1000);
    host_close(&host);
}

/* A bracket before its entry: both legs wait, the take-profit closes the position, and the stop is
 * canceled at once because nothing is left to reduce. */
static void test_bracket(void)
{
    static struct host host;

    trade_open(&host, NULL);
    struct waiting stop = {
        .trigger = M - 1000, .quantity = -1000, .type = ORDER_STOP_MARKET, .reduce_only = 1
    };
    struct waiting profit = stop;
    profit.trigger = M + 1000;
    profit.type = ORDER_TAKE_PROFIT_MARKET;
    struct trade_id stop_id = waiting_rest(&host, 1, &stop);
    struct trade_id profit_id = waiting_rest(&host, 1, &profit);
    struct waiting entry = { .trigger = M + 500,
                             .quantity = -500,
                             .type = ORDER_TAKE_PROFIT_MARKET };
    struct trade_id keeps = waiting_rest(&host, 1, &entry); /* is not reduce-only */
    (void)trade_rest(&host, 2, -1000, M);
    CHECK(trade_tif(&host, 1, 1000, M, TRADE_IOC) == TRADE_OK);
    CHECK(trade_size(&host, 1) == 1000 && waiting_row(&host, 1, stop_id) != NULL);
    CHECK(waiting_cancel(&host, 1, keeps) == TRADE_OK);
    entry.trigger = M + 5000;
    keeps = waiting_rest(&host, 1, &entry);
    (void)trade_rest(&host, 2, 1000, M - 10);
    trade_index(&host, M + 3000);
    while (trade_market(&host)->mark < M + 1000) { /* the median of index, ema and book */
        move(&host, trade_market(&host)->index_price + 10000);
        CHECK(trade_market(&host)->index_price < M + 200000);
    }
    settle(&host);
    CHECK(waiting_row(&host, 1, profit_id) == NULL && trade_size(&host, 1) == 0);
    CHECK(waiting_row(&host, 1, stop_id) == NULL);
    waiting_check(&host);
    host_close(&host);
}

/* A position that turns kills the reduce-only ones of its record, of both sides, at once; they are
 * told by the deferred work, with the reason. */
static void test_turn(void)
{
    static struct host host;

    trade_open(&host, "engine.work_per_command=1\n");
    struct waiting stop = {
        .trigger = M - 1000, .quantity = -1000, .type = ORDER_STOP_MARKET, .reduce_only = 1
    };
    struct trade_id ids[2];
    (void)trade_rest(&host, 2, -1000, M);
    CHECK(trade_tif(&host, 1, 1000, M, TRADE_IOC) == TRADE_OK);
    ids[0] = waiting_rest(&host, 1, &stop);
    stop.trigger = M + 1000;
    stop.quantity = 1000;
    ids[1] = waiting_rest(&host, 1, &stop);
    settle(&host);
    (void)trade_rest(&host, 2, 3000, M);
    settle(&host);
    CHECK(trade_tif(&host, 1, -3000, M, TRADE_IOC) == TRADE_OK); /* from 1,000 to -2,000 */
    CHECK(trade_size(&host, 1) == -2000);
    CHECK(waiting_state(&host, ids[0]).reason == REASON_reduce_only);
    CHECK(waiting_row(&host, 1, ids[1])->kill_reason == REASON_reduce_only);
    host_tick(&host, 1);
    CHECK(waiting_state(&host, ids[1]).status == ORDER_CANCELED);
    host_close(&host);
}

/* What fires behind a list of its own command is younger than the list. */
static void test_behind_a_list(void)
{
    static struct host host;

    trade_open(&host, "engine.work_per_command=1\n");
    struct waiting order = stop_limit;
    struct trade_id first = waiting_rest(&host, 1, &order), id = waiting_rest(&host, 1, &order);
    settle(&host);
    move(&host, M + 100); /* fires the first */
    CHECK(trade_remaining(&host, 1, first) == 1000);
    struct trade_id old = trade_rest(&host, 2, 1000, M - 100); /* fires the second */
    (void)old;
    CHECK(trade_remaining(&host, 1, id) == 1000);
    order.trigger = M + 200;
    order.price = M + 200;
    struct trade_id third = waiting_rest(&host, 1, &order);
    settle(&host);
    move(&host, M + 90000);
    while (waiting_row(&host, 1, third) != NULL &&
           waiting_row(&host, 1, third)->waits_in == WAITS_IN_TREE)
        move(&host, trade_market(&host)->index_price + 1000);
    CHECK(waiting_row(&host, 1, third) != NULL); /* in the queue */
    host.engine->options.values[OPTION_engine_work_per_command] = 64;
    CHECK(host_cancel_all(&host, 1, HOST_BTC, 0) == TRADE_OK);
    CHECK(waiting_row(&host, 1, third) == NULL && trade_remaining(&host, 1, id) == 0);
    CHECK(trade_remaining(&host, 1, third) == 1000);
    host_close(&host);
}

/* 1 unit and one for each maker met, also where the walk ends in a refusal: of 5 units the scan
 * takes 2 (the makers' records) and the first order, a FOK that meets both and falls short, the
 * rest. */
static void test_units(void)
{
    static struct host host;

    trade_open(&host, "engine.work_per_command=5\n");
    (void)trade_rest(&host, 2, -1000, M + 300);
    (void)trade_rest(&host, 3, -1000, M + 400);
    struct waiting order = stop_limit;
    order.price = M + 400;
    order.quantity = 3000;
    order.live = ORDER_FOK;
    struct trade_id first = waiting_rest(&host, 1, &order);
    order.quantity = 2000;
    struct trade_id second = waiting_rest(&host, 1, &order);
    settle(&host);
    move(&host, M + 100);
    CHECK(waiting_state(&host, first).reason ==
          STATUS_rejected_f_o_k_not_fully_filled_low_liquidity);
    CHECK(waiting_row(&host, 1, second) != NULL);
    host_tick(&host, 1);
    CHECK(waiting_state(&host, second).status == ORDER_FILLED);
    host_close(&host);
}

/* X-Ack: full follows the order through the deferred work of its own command: it rests, and a
 * queued buyer takes it. */
static void test_evidence(void)
{
    static struct host host;

    trade_open(&host, "engine.work_per_command=1\n");
    struct waiting order = { .trigger = M + 100, .quantity = 1000, .type = ORDER_STOP_MARKET };
    struct trade_id first = waiting_rest(&host, 1, &order), id = waiting_rest(&host, 1, &order);
    settle(&host);
    move(&host, M + 100);
    CHECK(waiting_row(&host, 1, first) == NULL && waiting_row(&host, 1, id) != NULL);
    host.wants_evidence = true;
    CHECK(trade_limit(&host, 2, -1500, M + 200) == TRADE_OK);
    CHECK(trade_size(&host, 1) == 1000 && waiting_row(&host, 1, id) == NULL);
    CHECK(host.result.order_status == ORDER_PARTIALLY_FILLED);
    CHECK(host.result.remaining == 500 && host.result.filled == 1000);
    CHECK((host.result.members & ANSWER_HAS_AHEAD) != 0 && host.result.quantity_ahead == 0);
    /* one that waits: another one fires before it, trades at its trigger, and so it is filled */
    host.wants_evidence = false;
    struct waiting next = {
        .trigger = M + 200, .quantity = 100, .type = ORDER_STOP_MARKET, .source = SOURCE_INDEX
    };
    next.reduce_only = 1; /* the first of the two is REJECTED: it does not trade */
    first = waiting_rest(&host, 3, &next);
    next.reduce_only = 0;
    id = waiting_rest(&host, 3, &next);
    settle(&host);
    (void)trade_rest(&host, 4, -100, M + 190); /* the last trade is to be made below 200 again */
    CHECK(trade_tif(&host, 5, 100, M + 190, TRADE_IOC) == TRADE_OK);
    settle(&host);
    move(&host, M + 200);
    while (waiting_row(&host, 3, first) != NULL)
        host_tick(&host, 1);
    CHECK(waiting_row(&host, 3, id) != NULL);
    host.wants_evidence = true;
    host.engine->options.values[OPTION_engine_work_per_command] = 64;
    next.source = SOURCE_LAST;
    struct trade_id own = waiting_rest(&host, 5, &next);
    CHECK(waiting_row(&host, 3, id) == NULL && waiting_row(&host, 5, own) == NULL);
    CHECK(host.result.order_status == ORDER_FILLED && host.result.filled == 100);
    CHECK(host.result.remaining == 0 && host.result.filled_notional == 100 * (M + 200));
    host_close(&host);
}

/* Placed, fired and going on in one command that has this many units: makers_max is 2, and of the
 * five makers of 100 at its price the first `own` are its own, which are canceled. */
static void check_evidence_of_going(uint32_t units, uint32_t own, enum order_state state,
                                    uint64_t filled, bool goes_on)
{
    static struct host host;
    struct waiting order = { .trigger = M + 200,
                             .quantity = 100,
                             .type = ORDER_STOP_MARKET,
                             .source = SOURCE_INDEX,
                             .stp = STP_EXPIRE_MAKER };

    trade_open(&host, "engine.makers_max=2\nengine.work_per_command=1\n");
    order.reduce_only = 1; /* REJECTED: it does not trade */
    struct trade_id first = waiting_rest(&host, 3, &order);
    order.reduce_only = 0;
    struct trade_id second = waiting_rest(&host, 3, &order); /* it trades at the other's trigger */
    (void)trade_rest(&host, 4, -100, M + 190);
    CHECK(trade_tif(&host, 5, 100, M + 190, TRADE_IOC) == TRADE_OK);
    (void)trade_rest(&host, 2, -100, M + 200);
    for (uint32_t i = 0; i < 5; i++)
        (void)trade_rest(&host, i < own ? 5 : 2, -100, M + 200);
    settle(&host);
    move(&host, M + 200);
    while (waiting_row(&host, 3, first) != NULL)
        host_tick(&host, 1);
    CHECK(waiting_row(&host, 3, second) != NULL);
    host.wants_evidence = true;
    host.engine->options.values[OPTION_engine_work_per_command] = units;
    order.source = SOURCE_LAST;
    order.quantity = 500;
    CHECK(waiting_row(&host, 5, waiting_rest(&host, 5, &order)) == NULL);
    CHECK((host.engine->conditionals.going != ORDER_NONE) == goes_on);
    CHECK(host.result.order_status == state && host.result.filled == filled);
    CHECK(host.result.remaining == 500 - filled);
    CHECK(host.result.filled_notional == filled * (M + 200));
    CHECK((host.result.members & ANSWER_HAS_ORDER) != 0); /* it stands in no queue */
    CHECK((host.result.members & ANSWER_HAS_AHEAD) == 0 && host.result.book_handle == 0);
    host_close(&host);
}

static void test_evidence_of_going(void)
{
    check_evidence_of_going(3, 0, ORDER_PARTIALLY_FILLED, 200, true);
    check_evidence_of_going(6, 0, ORDER_PARTIALLY_FILLED, 400, true);
    check_evidence_of_going(9, 0, ORDER_FILLED, 500, false);
    check_evidence_of_going(3, 3, ORDER_UNTRIGGERED, 0, true); /* as it was told last */
    check_evidence_of_going(6, 3, ORDER_PARTIALLY_FILLED, 100, true);
    check_evidence_of_going(9, 3, ORDER_CANCELED, 200, false);
}

/* A snapshot may be made while it goes on, and has it: the state from there ends like this one. */
static void check_image_of_going(struct host *host)
{
    static struct image_copy taken, ended;
    static struct host loaded;
    struct image_problem problem;
    uint8_t hash[32], wanted[32];

    image_copy_take(&taken, host->engine);
    CHECK(image_copy_open(&taken, &loaded, NULL, &problem));
    CHECK(loaded.engine->conditionals.going != ORDER_NONE);
    image_copy_take(&ended, loaded.engine);
    CHECK(image_copy_equal(&taken, &ended));
    settle(&loaded);
    settle(host);
    CHECK(loaded.engine->conditionals.going == ORDER_NONE);
    host_image_hash(&loaded, hash);
    host_image_hash(host, wanted);
    CHECK(memcmp(hash, wanted, sizeof hash) == 0);
    image_copy_free(&taken);
    image_copy_free(&ended);
    host_close(&loaded);
}

/* An order that fired and met makers_max dead makers goes on: its portfolio has nothing else and
 * is not empty (R10, code 2002). */
static void test_portfolio_stays(void)
{
    static struct host host;
    const struct purse_place place = { 0, 1 };
    struct waiting order = {
        .trigger = M + 100, .quantity = 1000, .portfolio = 1, .type = ORDER_STOP_MARKET
    };

    trade_open(&host, "engine.makers_max=2\nengine.work_per_command=1\n");
    struct keys_id key = keys_make(&host, 1, KEYS_READ_WRITE, KEYS_NO_PIN);
    CHECK(purse_portfolio(&host, 1, 0, "second") == TRADE_OK);
    (void)waiting_rest(&host, 1, &order);
    for (uint32_t i = 0; i < 12; i++)
        trade_rest(&host, 2, -1000, M + 200);
    trade_index(&host, M + 300); /* its unit goes to the scan */
    CHECK(host_cancel_all(&host, 2, HOST_BTC, 0) == TRADE_OK);
    for (uint32_t i = 0; host.engine->conditionals.going == ORDER_NONE; i++) {
        CHECK(i < 12);
        host_tick(&host, 1);
    }
    CHECK(purse_at(&host, 1, place)->conditional_count == 0);
    CHECK(purse_at(&host, 1, place)->cash == 0 && purse_at(&host, 1, place)->open_order_count == 0);
    CHECK(purse_key(&host, REQUEST_portfolio_close, key, 1, place, 0) ==
          STATUS_order_rejected_invalid);
    CHECK(host.result.reason == REASON_portfolio_not_empty);
    check_image_of_going(&host);
    CHECK(host.engine->conditionals.going == ORDER_NONE);
    CHECK(purse_key(&host, REQUEST_portfolio_close, key, 1, place, 0) == TRADE_OK);
    host_close(&host);
}

int main(void)
{
    test_rests();
    test_rejected();
    test_rejected_by_book();
    test_bracket();
    test_turn();
    test_behind_a_list();
    test_units();
    test_evidence();
    test_evidence_of_going();
    test_portfolio_stays();
    return 0;
}
