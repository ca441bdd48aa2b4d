/* What reductions and replacements do (rules.md R3): queue place kept or lost, effects in their
 * order (W3c), sizes, flags and timers that change, margin with the order's own rest left out, and
 * a replacement that matches as a placement does. BTC-PERP of W10 at mark 100,000.0. */
#include "engine/risk/margin.h"
#include "engine/table/order_record.h"
#include "trade.h"

#define M    TRADE_MARK
#define USDC (int64_t) HOST_USDC

static struct host_order gtc(uint64_t price, int64_t quantity)
{
    return (struct host_order){ .price = price, .quantity = quantity, .expiry = TRADE_GTC };
}

static enum status replace(struct host *host, uint32_t n, struct trade_id id, uint64_t price,
                           int64_t quantity)
{
    struct host_order order = gtc(price, quantity);
    return trade_replace(host, n, id, &order, 0);
}

/* The effects of the last command are these codes and no others. */
static bool told(const struct host *host, const uint16_t *codes, uint32_t count)
{
    if (host->effect_count != count)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (host->effects[i].code != codes[i])
            return false;
    return true;
}

#define TOLD(host, ...) \
    told(host, (const uint16_t[]){ __VA_ARGS__ }, CC_COUNT(((const uint16_t[]){ __VA_ARGS__ })))

static struct effect_book_order book_order(const struct host *host, uint32_t k)
{
    struct effect_book_order body;
    const struct host_effect *effect = host_effect(host, EFFECT_book_order, k);

    CHECK(effect != NULL);
    memcpy(&body, effect->bytes, sizeof body);
    return body;
}

static struct effect_book_level book_level(const struct host *host, uint32_t k)
{
    struct effect_book_level body;
    const struct host_effect *effect = host_effect(host, EFFECT_book_level, k);

    CHECK(effect != NULL);
    memcpy(&body, effect->bytes, sizeof body);
    return body;
}

static struct order_record record_of(const struct host *host, uint32_t n, struct trade_id id)
{
    uint32_t order = trade_order(host, n, id);

    CHECK(order != ORDER_NONE);
    return order_record_of(&host->engine->orders, order);
}

static const struct order *hot_of(const struct host *host, uint32_t n, struct trade_id id)
{
    uint32_t order = trade_order(host, n, id);

    CHECK(order != ORDER_NONE);
    return &host->engine->orders.hot[order];
}

/* The k-th order of a level of bids. */
static bool stands(const struct host *host, uint64_t price, uint32_t k, uint32_t n,
                   struct trade_id id)
{
    const struct book *book = &trade_market(host)->book;
    uint32_t at = book_head(book, ORDER_LONG, book_tick(book, ORDER_LONG, (uint32_t)price));

    while (k-- != 0)
        at = host->engine->orders.hot[at].next;
    return at == trade_order(host, n, id);
}

/* Code 1: keeps its place; initial size = filled + new remaining. All of it is a cancel. */
static void test_reduction(void)
{
    static struct host host;

    trade_open(&host, NULL);
    struct trade_id first = trade_rest(&host, 1, 3000, 990000);
    struct trade_id second = trade_rest(&host, 2, 3000, 990000);
    CHECK(trade_cut(&host, 1, first, 1000, 3000) == TRADE_OK);
    CHECK(TOLD(&host, 2101, 2107, 2106, 2100));
    CHECK(trade_last_state(&host).remaining == 2000 && trade_last_state(&host).filled == 0);
    CHECK(trade_last_state(&host).status == ORDER_OPEN);
    CHECK(book_order(&host, 0).action == BOOK_REDUCE && book_order(&host, 0).quantity == 1000);
    CHECK(book_level(&host, 0).size == 5000 && book_level(&host, 0).orders == 2);
    CHECK(stands(&host, 990000, 0, 1, first) && stands(&host, 990000, 1, 2, second));
    CHECK(record_of(&host, 1, first).updated_ns ==
          engine_time(host.engine)); /* J2: updated_at_ns */
    /* partly filled it stays PARTIALLY_FILLED, and the size to compare is what remains */
    CHECK(trade_tif(&host, 3, -500, 990000, TRADE_IOC) == TRADE_OK);
    CHECK(trade_cut(&host, 1, first, 500, 2000) == STATUS_rejected_size_not_equal);
    CHECK(trade_cut(&host, 1, first, 500, 1500) == TRADE_OK);
    CHECK(trade_last_state(&host).status == ORDER_PARTIALLY_FILLED);
    CHECK(trade_last_state(&host).remaining == 1000 && trade_last_state(&host).filled == 500);
    /* all that is left, and more than that: user_cancel */
    CHECK(trade_cut(&host, 1, first, 1000, 1000) == TRADE_OK);
    CHECK(TOLD(&host, 2101, 2107, 2106, 2100));
    CHECK(trade_last_state(&host).status == ORDER_CANCELED);
    CHECK(trade_last_state(&host).reason == REASON_user_cancel);
    CHECK(trade_last_state(&host).remaining == 1000 && trade_last_state(&host).filled == 500);
    CHECK(book_order(&host, 0).action == BOOK_DELETE && book_order(&host, 0).quantity == 1000);
    CHECK(trade_cut(&host, 2, second, UINT64_MAX, 0) == TRADE_OK);
    CHECK(trade_last_state(&host).status == ORDER_CANCELED && host.engine->orders.count == 0);
    CHECK(trade_cut(&host, 2, second, 1, 0) == STATUS_rejected_order_not_found);
    host_close(&host);
}

/* Code 2 in its place: price as it was, no more than it had. */
static void test_keeps_place(void)
{
    static struct host host;

    trade_open(&host, NULL);
    struct trade_id first = trade_rest(&host, 1, 3000, 990000);
    struct trade_id second = trade_rest(&host, 2, 3000, 990000);
    uint64_t stamp = hot_of(&host, 1, first)->stamp;
    CHECK(replace(&host, 1, first, 990000, 2000) == TRADE_OK);
    CHECK(TOLD(&host, 2101, 2107, 2106, 2100));
    CHECK(book_order(&host, 0).action == BOOK_REDUCE && book_order(&host, 0).quantity == 1000);
    CHECK(book_order(&host, 0).price == 990000 && book_level(&host, 0).size == 5000);
    CHECK(trade_last_state(&host).remaining == 2000);
    CHECK(stands(&host, 990000, 0, 1, first) && stands(&host, 990000, 1, 2, second));
    /* the same size: only the state is told; flags change, post_only 0 -> 1 too */
    struct host_order order = gtc(990000, 2000);
    order.post_only = 1;
    order.stp = 3;
    CHECK(trade_replace(&host, 1, first, &order, 2000) == TRADE_OK);
    CHECK(TOLD(&host, 2101, 2100));
    CHECK(hot_of(&host, 1, first)->flags == order_flags(true, false, 3, ORDER_GTC));
    CHECK(hot_of(&host, 1, first)->stamp == stamp);
    CHECK(record_of(&host, 1, first).updated_ns == host.clock_ns);
    CHECK(stands(&host, 990000, 0, 1, first));
    /* it is the first to be filled: filled stays, remaining is what compares */
    CHECK(trade_tif(&host, 3, -500, 990000, TRADE_IOC) == TRADE_OK);
    CHECK(trade_remaining(&host, 1, first) == 1500);
    CHECK(replace(&host, 1, first, 990000, 1500) == TRADE_OK && TOLD(&host, 2101, 2100));
    CHECK(trade_last_state(&host).status == ORDER_PARTIALLY_FILLED);
    CHECK(trade_last_state(&host).filled == 500 && trade_last_state(&host).remaining == 1500);
    CHECK(replace(&host, 1, first, 990000, 1501) == TRADE_OK); /* more than it has: 1501 > 1500 */
    CHECK(stands(&host, 990000, 0, 2, second) && stands(&host, 990000, 1, 1, first));
    CHECK(trade_last_state(&host).status == ORDER_PARTIALLY_FILLED);
    CHECK(trade_last_state(&host).filled == 500 && trade_last_state(&host).remaining == 1501);
    host_close(&host);
}

/* Code 2 elsewhere: 2107 delete and 2106 of the old level, then as a placement. */
static void test_loses_place(void)
{
    static struct host host;

    trade_open(&host, NULL);
    struct trade_id first = trade_rest(&host, 1, 3000, 990000);
    struct trade_id second = trade_rest(&host, 2, 3000, 990000);
    struct order_record placed = record_of(&host, 1, first);
    CHECK(replace(&host, 1, first, 990000, 3001) == TRADE_OK);
    CHECK(TOLD(&host, 2107, 2106, 2101, 2107, 2106, 2100));
    CHECK(book_order(&host, 0).action == BOOK_DELETE && book_order(&host, 0).quantity == 3000);
    CHECK(book_order(&host, 0).price == 990000 && book_level(&host, 0).size == 3000);
    CHECK(book_level(&host, 0).orders == 1);
    CHECK(book_order(&host, 1).action == BOOK_ADD && book_order(&host, 1).quantity == 3001);
    CHECK(book_level(&host, 1).size == 6001 && book_level(&host, 1).orders == 2);
    CHECK(book_order(&host, 1).book_seq == book_order(&host, 0).book_seq + 2);
    CHECK(memcmp(book_order(&host, 1).order_id, first.bytes, 16) == 0);
    CHECK(stands(&host, 990000, 0, 2, second) && stands(&host, 990000, 1, 1, first));
    CHECK(trade_last_state(&host).status == ORDER_OPEN);
    struct order_record now = record_of(&host, 1, first);
    CHECK(now.placed_sequence == placed.placed_sequence && now.placed_ns == placed.placed_ns);
    CHECK(hot_of(&host, 1, first)->stamp >> ORDER_STAMP_BITS == engine_sequence(host.engine));
    CHECK(now.updated_ns == host.clock_ns);
    CHECK(trade_portfolio(&host, 1)->open_order_count == 1);
    /* another price, and back: at the back again */
    CHECK(replace(&host, 2, second, 989000, 3000) == TRADE_OK);
    CHECK(book_level(&host, 0).price == 990000 && book_level(&host, 1).price == 989000);
    CHECK(trade_last_state(&host).price == 989000);
    CHECK(replace(&host, 2, second, 990000, 3000) == TRADE_OK);
    CHECK(stands(&host, 990000, 0, 1, first) && stands(&host, 990000, 1, 2, second));
    CHECK(host_cancel(&host, 1, first.bytes) == TRADE_OK);
    CHECK(host_cancel(&host, 2, second.bytes) == TRADE_OK);
    CHECK(host.engine->orders.count == 0 && host.engine->holdings.slots.count == 0);
    host_close(&host);
}

/* A cancellation list releases by placing sequence, whatever was entered anew since; what is on it
 * cannot be amended any more, and an order entered anew is on no list made before. */
static void test_lists(void)
{
    static struct host host;

    trade_open(&host, "engine.work_per_command=1\n");
    struct trade_id first = trade_rest(&host, 1, 1000, 990000);
    struct trade_id second = trade_rest(&host, 1, 1001, 990001);
    struct trade_id third = trade_rest(&host, 1, 1002, 990002);
    CHECK(replace(&host, 1, first, 989000, 1000) == TRADE_OK);
    CHECK(host_cancel_all(&host, 1, HOST_BTC, 0) == TRADE_OK);
    CHECK(trade_remaining(&host, 1, first) == 0); /* released by the command itself */
    CHECK(trade_remaining(&host, 1, second) == 1001 && trade_remaining(&host, 1, third) == 1002);
    CHECK(replace(&host, 1, third, 989000, 1002) == STATUS_rejected_order_not_found);
    CHECK(trade_cut(&host, 1, third, 1, 0) == STATUS_rejected_order_not_found);
    CHECK(host.engine->orders.count == 0);

    /* over two records as well: the first placed is that of the market defined last */
    char text[4120];
    const char *rest = strstr(host_btc_record, ",\"price_decimals\"");
    snprintf(text, sizeof text, "{\"market\":\"ETH-PERP\",\"asset_id\":2,\"base\":\"ETH\"%s", rest);
    CHECK(host_market(&host, text) == TRADE_OK && host_oracle(&host, 2, M) == TRADE_OK);
    struct host_order order = gtc(990000, 1000);
    order.asset = 2;
    CHECK(host_limit(&host, 1, &order) == TRADE_OK);
    first = trade_last_id(&host);
    second = trade_rest(&host, 1, 1001, 990001);
    order.price = 989000;
    CHECK(trade_replace(&host, 1, first, &order, 0) == TRADE_OK);
    CHECK(host_cancel_all(&host, 1, 0xFFFF, 0) == TRADE_OK);
    CHECK(trade_remaining(&host, 1, first) == 0 && trade_remaining(&host, 1, second) == 1001);
    host_close(&host);
}

/* GTC -> GTT, a later GTT, an earlier one, GTC again, in its place and anew: the timer follows. */
static void test_expiry(void)
{
    static struct host host;

    trade_open(&host, NULL);
    for (uint32_t anew = 0; anew < 2; anew++) {
        struct trade_id id = trade_rest(&host, 1, 3000, 990000);
        struct host_order order = gtc(990000 - anew, 3000);
        uint64_t deadline = host.clock_ns + 3 * HOST_SECOND_NS;
        order.expiry = deadline;
        CHECK(trade_replace(&host, 1, id, &order, 0) == TRADE_OK);
        order.price -= anew;
        order.expiry = deadline + HOST_SECOND_NS;
        CHECK(trade_replace(&host, 1, id, &order, 0) == TRADE_OK);
        CHECK(record_of(&host, 1, id).expiry_ns == order.expiry);
        host.clock_ns = deadline - 1;
        host_tick(&host, 1);
        CHECK(trade_remaining(&host, 1, id) == 3000);
        order.price -= anew;
        order.expiry = deadline + HOST_SECOND_NS / 2; /* earlier than before */
        CHECK(trade_replace(&host, 1, id, &order, 0) == TRADE_OK);
        host.clock_ns = order.expiry - 2;
        host_tick(&host, 1);
        CHECK(trade_remaining(&host, 1, id) == 3000);
        CHECK(host.clock_ns == order.expiry - 1);
        host_tick(&host, 1);
        CHECK(trade_remaining(&host, 1, id) == 0);
        CHECK(trade_last_state(&host).status == ORDER_EXPIRED);
        /* in one step */
        id = trade_rest(&host, 1, 3000, 990000);
        order = gtc(990000 - anew, 3000);
        order.expiry = host.clock_ns + HOST_SECOND_NS;
        CHECK(trade_replace(&host, 1, id, &order, 0) == TRADE_OK);
        CHECK(host.engine->expiries.count == 1);
        host_tick(&host, HOST_SECOND_NS);
        CHECK(trade_remaining(&host, 1, id) == 0);
        CHECK(host_oracle(&host, HOST_BTC, TRADE_MARK) == TRADE_OK);
        /* and none is left behind by an order that is good till canceled again */
        id = trade_rest(&host, 1, 3000, 990000);
        order = gtc(990000 - anew, 3000);
        order.expiry = host.clock_ns + HOST_SECOND_NS;
        CHECK(trade_replace(&host, 1, id, &order, 0) == TRADE_OK);
        order.price -= anew;
        order.expiry = TRADE_GTC;
        CHECK(trade_replace(&host, 1, id, &order, 0) == TRADE_OK);
        CHECK(host.engine->expiries.count == 0);
        CHECK(host_oracle(&host, HOST_BTC, TRADE_MARK) == TRADE_OK);
        CHECK(host_cancel(&host, 1, id.bytes) == TRADE_OK);
    }
    /* row 13: dead from the command on at which t >= expiry, released or not */
    struct host_order order = gtc(990000, 3000);
    order.expiry = host.clock_ns + HOST_SECOND_NS;
    CHECK(host_limit(&host, 1, &order) == TRADE_OK);
    struct trade_id id = trade_last_id(&host);
    host.clock_ns = order.expiry;
    order.expiry = TRADE_GTC;
    CHECK(trade_replace(&host, 1, id, &order, 0) == STATUS_rejected_order_not_found);
    CHECK(trade_last_state(&host).status == ORDER_EXPIRED);
    host_close(&host);
}

/* R4 with the order's own rest left out: it neither blocks nor pays. 20 BTC at the mark need
 * 2,000,000 / 20 = 100,000 USDC, all there is. */
static void test_own_margin(void)
{
    static struct host host;

    trade_open(&host, NULL);
    struct trade_id id = trade_rest(&host, 1, 2000000, M);
    CHECK(replace(&host, 1, id, M - 1, 2000000) == TRADE_OK); /* with both it were 200,000 */
    CHECK(replace(&host, 1, id, M - 1, 2000001) == STATUS_insufficient_margin_to_place);
    CHECK(replace(&host, 1, id, M, 2000000) == TRADE_OK);
    trade_check_figures(&host);
    CHECK(host_cancel(&host, 1, id.bytes) == TRADE_OK);

    /* above the mark: 10 BTC need 50,000 and can lose 10 * 5,000 = 50,000 at 105,000.0 */
    id = trade_rest(&host, 1, 1000000, 1050000);
    CHECK(replace(&host, 1, id, 1050001, 1000000) == STATUS_insufficient_margin_to_place);
    CHECK(replace(&host, 1, id, 1049999, 1000000) == TRADE_OK);
    CHECK(replace(&host, 1, id, 1050000, 1000000) == TRADE_OK);
    /* orders at two prices: their loss is known by a bound, but decided exactly. Beside 8 BTC at
     * 105,000 (40,000 + 40,000), 1 BTC at the mark needs 5,000 and 1 BTC at 110,000 15,000 */
    CHECK(replace(&host, 1, id, 1050000, 800000) == TRADE_OK);
    struct trade_id small = trade_rest(&host, 1, 100000, M);
    CHECK(replace(&host, 1, small, 1100000, 100000) == TRADE_OK); /* 45,000 + 40,000 + 10,000 */
    CHECK(replace(&host, 1, small, 1100000, 133334) == STATUS_insufficient_margin_to_place);
    CHECK(replace(&host, 1, small, 1100000, 133333) == TRADE_OK); /* 15,000 * 1.33333 <= 20,000 */
    CHECK(replace(&host, 1, id, 1050000, 800001) == STATUS_insufficient_margin_to_place);
    CHECK(replace(&host, 1, id, 1040000, 888888) == TRADE_OK); /* 0.09 less a raw unit: 79,999.92 */
    trade_check_figures(&host);
    host_close(&host);
}

/* A portfolio that is short of margin may still make its orders smaller, never larger: the effect
 * reduces (IM' <= IM) and E' >= E. 20 BTC long from 100,000 with 101,000 - 900 USDC; at 96,000
 * E = 20,100 and IM = 96,000. */
static void test_under_water(void)
{
    static struct host host;

    trade_open(&host, NULL);
    CHECK(host_deposit(&host, 2, 1000000 * HOST_USDC) == TRADE_OK);
    CHECK(host_deposit(&host, 1, 1000 * HOST_USDC) == TRADE_OK);
    trade_rest(&host, 2, -2000000, M);
    CHECK(trade_tif(&host, 1, 2000000, M, TRADE_IOC) == TRADE_OK);
    struct trade_id id = trade_rest(&host, 1, 1000, 950000);
    trade_index(&host, 960000);
    CHECK(trade_portfolio(&host, 1)->flagged);
    CHECK(replace(&host, 1, id, 950000, 1001) == STATUS_insufficient_margin_to_place);
    CHECK(replace(&host, 1, id, 950000, 999) == TRADE_OK);
    CHECK(replace(&host, 1, id, 949999, 999) == TRADE_OK); /* IM' = IM */
    CHECK(replace(&host, 1, id, 960001, 999) == STATUS_insufficient_margin_to_place);
    CHECK(trade_cut(&host, 1, id, 100, 0) == TRADE_OK);
    trade_check_figures(&host);
    host_close(&host);
}

/* Nor does its old rest pay for a trade: what is left of margin for a bid that the mark has left
 * behind is no margin for buying at the mark. 20 BTC bid at 100,000.0 took all of 100,000 USDC; at
 * 650,000.0 a position of 20 BTC has MM = 130,000. 0.2 % below the mark E' = 100,000 + 26,000 less
 * 5,838.30 of fees is above E, and IM' is what IM is with the bid in it. */
static void test_rest_pays_for_no_trade(void)
{
    static struct host host;

    trade_open(&host, NULL);
    CHECK(host_deposit(&host, 2, 10000000 * HOST_USDC) == TRADE_OK);
    struct trade_id id = trade_rest(&host, 1, 2000000, M);
    trade_index(&host, 6500000);
    CHECK(trade_market(&host)->mark == 6500000 && trade_portfolio(&host, 1)->flagged);
    trade_rest(&host, 2, -2000000, 6487000);
    CHECK(trade_tif(&host, 1, 2000000, 6487000, TRADE_IOC) == STATUS_insufficient_margin_to_trade);
    CHECK(replace(&host, 1, id, 6487000, 2000000) == STATUS_insufficient_margin_to_trade);
    CHECK(trade_size(&host, 1) == 0 && trade_remaining(&host, 1, id) == 2000000);
    CHECK(replace(&host, 1, id, 6486999, 2000000) ==
          TRADE_OK); /* resting it is as good as before */
    trade_check_figures(&host);
    host_close(&host);
}

static const struct holding_side *sales_of(const struct host *host, uint32_t n)
{
    uint32_t portfolio = portfolio_find(host->engine, n, 0, 0);

    return &state_holding(host->engine, holding_find(host->engine, portfolio, 0))
                ->sides[ORDER_SHORT];
}

/* Reduce-only on and off in its place: from one sum of the record to the other (R4), and under the
 * list of reduce-only orders from then on. */
static void test_reduce_only(void)
{
    static struct host host;

    trade_open(&host, NULL);
    trade_rest(&host, 2, -5000, M);
    CHECK(trade_limit(&host, 1, 5000, M) == TRADE_OK);
    struct trade_id id = trade_rest(&host, 1, -3000, 1010000);
    struct host_order order = gtc(1010000, -3000);
    order.reduce_only = 1;
    CHECK(trade_replace(&host, 1, id, &order, 0) == TRADE_OK);
    CHECK(sales_of(&host, 1)->size == 0 && sales_of(&host, 1)->reduce_size == 3000);
    CHECK(sales_of(&host, 1)->margin_count == 0 && sales_of(&host, 1)->order_count == 1);
    CHECK(sales_of(&host, 1)->notional == 0 && sales_of(&host, 1)->price_bound == 0);
    CHECK(sales_of(&host, 1)->reduce_notional == 3000 * INT64_C(1010000));
    order.reduce_only = 0;
    order.quantity = -2000;
    CHECK(trade_replace(&host, 1, id, &order, 0) == TRADE_OK);
    CHECK(sales_of(&host, 1)->size == 2000 && sales_of(&host, 1)->reduce_size == 0);
    CHECK(sales_of(&host, 1)->price_bound == 1010000 && sales_of(&host, 1)->margin_count == 1);
    order.reduce_only = 1;
    CHECK(trade_replace(&host, 1, id, &order, 0) == TRADE_OK);
    trade_check_figures(&host);
    /* the position goes: so does the order */
    trade_rest(&host, 3, 5000, 999000);
    CHECK(trade_tif(&host, 1, -5000, 999000, TRADE_IOC) == TRADE_OK);
    CHECK(trade_remaining(&host, 1, id) == 0);
    CHECK(trade_last_state(&host).reason == REASON_reduce_only);
    host_close(&host);
}

/* R3, orders that change in their place: an order that turns reduce-only in its place is on no list
 * made before, and on every list made after. */
static void test_turns_after_a_list(void)
{
    static struct host host;
    struct trade_id reduce[4];

    trade_open(&host, "engine.work_per_command=1\n");
    trade_rest(&host, 2, -3000, M);
    trade_rest(&host, 3, 10000, 999000);
    CHECK(trade_tif(&host, 1, 1000, M, TRADE_IOC) == TRADE_OK); /* long 1,000 */
    struct trade_id id = trade_rest(&host, 1, -500, 1010000);
    for (uint32_t i = 0; i < 4; i++) {
        CHECK(trade_reduce(&host, 1, -100, 1020000 + i, TRADE_GTC) == TRADE_OK);
        reduce[i] = trade_last_id(&host);
    }
    CHECK(trade_tif(&host, 1, -2000, 999000, TRADE_IOC) == TRADE_OK); /* short: the list, 1 unit */
    CHECK(trade_remaining(&host, 1, reduce[0]) == 0 && trade_remaining(&host, 1, id) == 500);
    CHECK(trade_tif(&host, 1, 2000, M, TRADE_IOC) == TRADE_OK);         /* long again */
    CHECK(trade_reduce(&host, 1, -50, 1030000, TRADE_GTC) == TRADE_OK); /* on no list */
    struct trade_id young = trade_last_id(&host);
    CHECK(trade_remaining(&host, 1, reduce[3]) == 100); /* dead, not released yet */
    struct host_order order = gtc(1010000, -500);
    order.reduce_only = 1;
    CHECK(trade_replace(&host, 1, id, &order, 0) == TRADE_OK);
    CHECK(trade_last_state(&host).status == ORDER_OPEN);
    CHECK(trade_remaining(&host, 1, reduce[3]) == 0 && trade_remaining(&host, 1, young) == 50);
    for (uint32_t i = 0; i < 3; i++)
        host_tick(&host, 1);
    CHECK(trade_remaining(&host, 1, id) == 500);
    CHECK(trade_tif(&host, 4, 100, 1010000, TRADE_IOC) == TRADE_OK); /* it is alive: it fills */
    CHECK(trade_remaining(&host, 1, id) == 400);
    CHECK(trade_tif(&host, 1, -900, 999000, TRADE_IOC) == TRADE_OK); /* flat: on this list */
    CHECK(trade_size(&host, 1) == 0);
    host_tick(&host, 1);
    CHECK(trade_remaining(&host, 1, id) == 0 && trade_remaining(&host, 1, young) == 0);
    host_close(&host);
}

/* A replacement that crosses trades as a placement: 3,000 bid at 100,050.0 meet 1,000 asked there;
 * the fee is cdiv(1,000,500,000 * 450, 10^6) = 450,225. */
static void test_crosses(void)
{
    static struct host host;

    trade_open(&host, NULL);
    struct trade_id id = trade_rest(&host, 1, 2500, 990000);
    CHECK(trade_tif(&host, 3, -500, 990000, TRADE_IOC) == TRADE_OK); /* filled 500 */
    int64_t cash = trade_cash(&host, 1);
    trade_rest(&host, 2, -1000, 1000500);
    CHECK(replace(&host, 1, id, 1000500, 3000) == TRADE_OK);
    CHECK(TOLD(&host, 2107, 2106,                                          /* left its level */
               2108, 2102, 2102, 2104, 2104, 2103, 2103, 2101, 2107, 2106, /* the maker */
               2101, 2107, 2106, 2100));
    CHECK(trade_trade(&host, 0).price == 1000500 && trade_trade(&host, 0).size == 1000);
    CHECK(trade_last_state(&host).status == ORDER_PARTIALLY_FILLED);
    CHECK(trade_last_state(&host).remaining == 2000 && trade_last_state(&host).filled == 1500);
    CHECK(trade_cash(&host, 1) == cash - 450225);
    CHECK(trade_size(&host, 1) == 1500);
    CHECK(record_of(&host, 1, id).filled_notional == 500 * 990000 + 1000 * UINT64_C(1000500));
    /* the rest of it is used up by the next one: FILLED, gone from map, list and book */
    trade_rest(&host, 2, -2000, 1000600);
    CHECK(replace(&host, 1, id, 1000600, 2000) == TRADE_OK);
    CHECK(trade_last_state(&host).status == ORDER_FILLED);
    CHECK(trade_last_state(&host).remaining == 0 && trade_last_state(&host).filled == 3500);
    CHECK(trade_order(&host, 1, id) == ORDER_NONE && host.engine->orders.count == 0);
    CHECK(trade_portfolio(&host, 1)->open_order_count == 0);
    CHECK(host_cancel(&host, 1, id.bytes) == STATUS_rejected_order_not_found);
    trade_check_figures(&host);
    host_close(&host);
}

/* STP of an order entered anew: the modes of R3, by the flags it then has. */
static void test_stp(void)
{
    static const struct stp_row {
        int line;
        const char *name;
        uint8_t stp;
        enum status want;
        uint64_t bid_left, ask_left; /* 0: gone */
    } rows[] = {
        { __LINE__, "EXPIRE_TAKER before any fill", 0, STATUS_self_trade_prevention, 3000, 1000 },
        { __LINE__, "EXPIRE_MAKER", 1, STATUS_request_completed, 3000, 0 },
        { __LINE__, "EXPIRE_BOTH", 2, STATUS_request_completed, 0, 0 },
        { __LINE__, "DECREMENT", 3, STATUS_request_completed, 2000, 0 },
    };

    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        static struct host host;
        const struct stp_row *row = &rows[i];
        trade_open(&host, NULL);
        struct trade_id bid = trade_rest(&host, 1, 3000, 990000);
        struct trade_id ask = trade_rest(&host, 1, -1000, 1000500);
        struct host_order order = gtc(1000500, 3000);
        order.stp = row->stp;
        CHECK_ROW(row, trade_replace(&host, 1, bid, &order, 0) == row->want);
        CHECK_ROW(row, trade_remaining(&host, 1, bid) == row->bid_left);
        CHECK_ROW(row, trade_remaining(&host, 1, ask) == row->ask_left);
        CHECK_ROW(row, trade_effects(&host, EFFECT_trade) == 0);
        if (row->stp == 2) {
            CHECK_ROW(row, trade_last_state(&host).status == ORDER_CANCELED);
            CHECK_ROW(row, trade_last_state(&host).reason == STATUS_self_trade_prevention);
            CHECK_ROW(row, trade_last_state(&host).remaining == 3000);
        }
        if (row->stp == 0)
            CHECK_ROW(row, host.effect_count == 1 && stands(&host, 990000, 0, 1, bid));
        host_close(&host);
    }
}

/* Other ends of an order entered anew: reduce-only used up, makers_max, and what another account's
 * maker that is itself dead does to a post-only one. */
static void test_ends(void)
{
    static struct host host;

    trade_open(&host, "engine.makers_max=2\nengine.work_per_command=1\n");
    trade_rest(&host, 2, -1000, M);
    CHECK(trade_tif(&host, 1, 1000, M, TRADE_IOC) == TRADE_OK); /* long 1,000 */
    struct trade_id id = trade_rest(&host, 1, -3000, 1010000);
    trade_rest(&host, 3, 5000, 999000);
    struct host_order order = gtc(999000, -3000);
    order.reduce_only = 1;
    CHECK(trade_replace(&host, 1, id, &order, 0) == TRADE_OK);
    CHECK(trade_size(&host, 1) == 0 && trade_remaining(&host, 1, id) == 0);
    CHECK(trade_last_state(&host).status == ORDER_CANCELED);
    CHECK(trade_last_state(&host).reason == REASON_reduce_only);
    CHECK(trade_last_state(&host).remaining == 2000 && trade_last_state(&host).filled == 1000);

    id = trade_rest(&host, 1, -6000, 1010000); /* meets 4,000, 100 and 100: two of them */
    trade_rest(&host, 4, 100, 999000);
    trade_rest(&host, 4, 100, 999000);
    CHECK(replace(&host, 1, id, 999000, -6000) == TRADE_OK);
    CHECK(trade_last_state(&host).reason == REASON_match_limit);
    CHECK(trade_last_state(&host).filled == 4100 && trade_last_state(&host).remaining == 1900);
    CHECK(host_cancel_all(&host, 4, HOST_BTC, 0) == TRADE_OK);

    /* two dead bids: the first is released at once, the other is in the way and removed */
    trade_rest(&host, 5, 100, 999000);
    trade_rest(&host, 5, 101, 999000);
    CHECK(host_cancel_all(&host, 5, HOST_BTC, 0) == TRADE_OK);
    CHECK(book_best(&trade_market(&host)->book, ORDER_LONG) != BOOK_TICK_NONE);
    id = trade_rest(&host, 6, -500, 1010000);
    order = gtc(999000, -500);
    order.post_only = 1;
    CHECK(trade_replace(&host, 6, id, &order, 0) == TRADE_OK);
    CHECK(trade_remaining(&host, 6, id) == 500);
    CHECK(book_best(&trade_market(&host)->book, ORDER_LONG) == BOOK_TICK_NONE);
    host_close(&host);
}

/* R1: what only the inside sees answers order_rejected_internal. An order can be filled and
 * replaced without end; its sum of fills must not pass 64 bits. */
static void test_endless_fills(void)
{
    static struct host host;

    trade_open(&host, NULL);
    struct trade_id id = trade_rest(&host, 1, 3000, 990000);
    struct order_extra *extra = order_extra(&host.engine->orders, trade_order(&host, 1, id));
    extra->filled_notional = UINT64_C(1) << 62;
    CHECK(replace(&host, 1, id, 989000, 3000) == TRADE_OK);
    extra->filled_notional++;
    CHECK(replace(&host, 1, id, 988000, 3000) == STATUS_order_rejected_internal);
    CHECK(hot_of(&host, 1, id)->remaining == 3000);
    extra->filled_notional = 0;
    host_close(&host);
}

int main(void)
{
    test_reduction();
    test_keeps_place();
    test_loses_place();
    test_lists();
    test_expiry();
    test_own_margin();
    test_under_water();
    test_rest_pays_for_no_trade();
    test_reduce_only();
    test_turns_after_a_list();
    test_crosses();
    test_stp();
    test_ends();
    test_endless_fills();
    return 0;
}
