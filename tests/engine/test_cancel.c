/* Codes 3 and 4 (rules.md R11 rows 6-9, 11, 13; R3, cancellation lists): one order, or all of a
 * portfolio's, unmatchable at once and released in slices. */
#include "base/uuid.h"
#include "engine/price/mark.h"
#include "engine/trade/cancel.h"
#include "trade.h"

#define M TRADE_MARK

static enum status send(struct host *host, uint32_t n, uint16_t code, uint8_t *body, uint32_t bytes)
{
    uint8_t key[32];

    host_session_key(n, key);
    cc_store64(body, n);
    struct host_request request = {
        .code = code, .body = body, .body_bytes = bytes, .key = key, .key_bytes = sizeof key
    };
    return host_signed(host, &request);
}

static enum status cancel(struct host *host, uint32_t n, struct trade_id id, uint16_t asset,
                          uint16_t pad)
{
    uint8_t body[40] = { 0 };

    memcpy(body + 16, id.bytes, sizeof id.bytes);
    cc_store16(body + 32, asset);
    cc_store16(body + 34, pad);
    return send(host, n, REQUEST_order_cancel, body, sizeof body);
}

static void test_one(void)
{
    static struct host host;

    trade_open(&host, NULL);
    struct trade_id id = trade_rest(&host, 1, 1000, 990000), bad = id;
    bad.bytes[6] = (uint8_t)((bad.bytes[6] & 0x0f) | 0x40);                    /* version 4 */
    CHECK(cancel(&host, 1, bad, 0, 0) == STATUS_rejected_invalid_uuid);        /* 6 before 7 */
    CHECK(cancel(&host, 1, id, 0, 1) == STATUS_order_rejected_invalid_market); /* 7 before 9 */
    CHECK(cancel(&host, 1, id, 0xFFFF, 0) == STATUS_order_rejected_invalid_market);
    CHECK(cancel(&host, 1, id, 77, 1) == STATUS_rejected_market_not_found); /* 8 before 9 */
    CHECK(cancel(&host, 1, id, 1, 1) == STATUS_order_rejected_invalid);     /* 9 before 13 */
    /* another account may use the same UUID: its order is not this one */
    CHECK(cancel(&host, 2, id, 1, 0) == STATUS_rejected_order_not_found);
    CHECK(cancel(&host, 1, id, 1, 0) == TRADE_OK);
    CHECK(trade_last_state(&host).status == ORDER_CANCELED);
    CHECK(trade_last_state(&host).reason == REASON_user_cancel);
    CHECK(trade_last_state(&host).remaining == 1000);
    /* W3c: 2101, 2107, 2106, then the answer */
    CHECK(host.effect_count == 4 && host.effects[0].code == 2101 && host.effects[1].code == 2107 &&
          host.effects[2].code == 2106 && host.effects[3].code == 2100);
    CHECK(cancel(&host, 1, id, 1, 0) == STATUS_rejected_order_not_found);
    CHECK(host.engine->holdings.slots.count == 0);
    host_close(&host);
}

/* Cancels go on where nothing can be placed (R9), and are no reason to look at marks. */
static void test_states(void)
{
    static const uint8_t states[] = { MARKET_POST_ONLY, MARKET_REDUCE_ONLY, MARKET_CANCEL_ONLY,
                                      MARKET_HALTED };
    static struct host host;

    trade_open(&host, NULL);
    for (size_t i = 0; i < CC_COUNT(states); i++) {
        struct trade_id id = trade_rest(&host, 1, 1000, 990000);
        trade_market(&host)->state = states[i];
        CHECK(cancel(&host, 1, id, 1, 0) == TRADE_OK);
        trade_market(&host)->state = MARKET_ACTIVE;
    }
    struct trade_id id = trade_rest(&host, 1, 1000, 990000);
    host_tick(&host, 60 * HOST_SECOND_NS);
    CHECK(!market_mark_is_valid(host.engine, 0));
    CHECK(cancel(&host, 1, id, 1, 0) == TRADE_OK);
    host_close(&host);
}

static enum status all(struct host *host, uint32_t n, uint32_t portfolio, uint16_t asset,
                       uint8_t side, uint8_t conditional, uint16_t pad)
{
    uint8_t body[24] = { 0 };

    cc_store32(body + 12, portfolio);
    cc_store16(body + 16, asset);
    body[20] = side;
    body[21] = conditional;
    cc_store16(body + 22, pad);
    return send(host, n, REQUEST_cancel_all_orders, body, sizeof body);
}

static void test_all_form(void)
{
    static struct host host;

    trade_open(&host, NULL);
    CHECK(all(&host, 1, 1, 0, 0, 0, 0) == STATUS_rejected_invalid_portfolio_id); /* row 5 */
    CHECK(all(&host, 1, 0, 0, 3, 0, 0) == STATUS_order_rejected_invalid_market);
    CHECK(all(&host, 1, 0, 77, 3, 0, 0) == STATUS_rejected_market_not_found);
    CHECK(all(&host, 1, 0, 1, 3, 2, 0) == STATUS_order_rejected_invalid); /* 9 before 11 */
    CHECK(all(&host, 1, 0, 1, 0, 0, 1) == STATUS_order_rejected_invalid);
    CHECK(all(&host, 1, 0, 1, 0, 2, 0) == STATUS_rejected_invalid_order_flags);
    CHECK(all(&host, 1, 0, 1, 0, 1, 0) == TRADE_OK); /* nothing to cancel */
    CHECK(all(&host, 1, UINT32_MAX, 0xFFFF, 0, 0, 0) == TRADE_OK);
    CHECK(!engine_has_work(host.engine));
    host_close(&host);
}

static void test_all_sides(void)
{
    static struct host host;

    trade_open(&host, NULL);
    struct trade_id buy = trade_rest(&host, 1, 1000, 990000);
    struct trade_id sale = trade_rest(&host, 1, -1000, 1010000);
    struct trade_id other = trade_rest(&host, 2, 1000, 990000);
    CHECK(all(&host, 1, 0, 1, 2, 0, 0) == TRADE_OK); /* sells */
    CHECK(trade_remaining(&host, 1, buy) == 1000 && trade_remaining(&host, 1, sale) == 0);
    CHECK(trade_last_state(&host).reason == REASON_cancel_all);
    sale = trade_rest(&host, 1, -1000, 1010000); /* placed later: it lives */
    CHECK(trade_remaining(&host, 1, sale) == 1000);
    CHECK(all(&host, 1, UINT32_MAX, 0xFFFF, 1, 0, 0) == TRADE_OK); /* buys */
    CHECK(trade_remaining(&host, 1, buy) == 0 && trade_remaining(&host, 1, sale) == 1000);
    CHECK(trade_remaining(&host, 2, other) == 1000);
    host_close(&host);
}

/* 2100 first, then at most work_per_command units, by placing sequence; what is not released yet is
 * dead to the walk and to a cancel, but counts in sums, level sizes and open orders. */
static void test_slices(void)
{
    static struct host host;

    trade_open(&host, "engine.work_per_command=2\nlimits.open_orders=6\n");
    struct trade_id ids[6];
    for (uint32_t i = 0; i < 6; i++)
        ids[i] = trade_rest(&host, 1, -1000 - (int64_t)i, M + 10 - i); /* later ones are better */
    int64_t withdrawable_before = trade_portfolio(&host, 1)->cash;
    CHECK(all(&host, 1, 0, 1, 0, 0, 0) == TRADE_OK);
    CHECK(host.effects[0].code == 2100);
    CHECK(trade_effects(&host, EFFECT_order_state) == 2);
    CHECK(trade_state(&host, 0).remaining == 1000 && trade_state(&host, 1).remaining == 1001);
    CHECK(trade_portfolio(&host, 1)->open_order_count == 4 && engine_has_work(host.engine));
    const struct book *book = &trade_market(&host)->book;
    CHECK(book_best(book, ORDER_SHORT) == M + 5); /* still the published best */
    const struct holding *holding = state_holding(host.engine, 1);
    CHECK(holding->sides[ORDER_SHORT].size == 1002 + 1003 + 1004 + 1005);
    /* this taker meets four dead ones; the walk removes them all, so two units remain undone */
    CHECK(trade_tif(&host, 2, 5000, M + 10, TRADE_IOC) == TRADE_OK);
    CHECK(trade_effects(&host, EFFECT_trade) == 0);
    CHECK(host.engine->orders.count == 0 && host.engine->holdings.slots.count == 0);
    host_tick(&host, 1);
    CHECK(!engine_has_work(host.engine));

    for (uint32_t i = 0; i < 6; i++)
        ids[i] = trade_rest(&host, 1, -1000, M + i);
    CHECK(all(&host, 1, 0, 1, 0, 0, 0) == TRADE_OK);
    CHECK(cancel(&host, 1, ids[5], 1, 0) == STATUS_rejected_order_not_found);
    CHECK(trade_effects(&host, EFFECT_order_state) == 2); /* its units, behind the answer */
    host_tick(&host, 1);
    CHECK(host.engine->orders.count == 0);
    CHECK(trade_portfolio(&host, 1)->cash == withdrawable_before);
    host_close(&host);
}

/* A work tick does up to 1,024 units at once (W3b: 2000 kind 1). */
static void test_work_tick(void)
{
    static struct host host;
    uint8_t work[8] = { 1 };

    trade_open(&host, "limits.open_orders=3000\nengine.work_per_command=1\n");
    CHECK(host_deposit(&host, 1, 1000000 * HOST_USDC) == TRADE_OK);
    for (uint32_t i = 0; i < 2000; i++)
        trade_rest(&host, 1, 1000, 900000 + i);
    host.skip_audit = false;
    CHECK(all(&host, 1, 0, 0xFFFF, 0, 0, 0) == TRADE_OK);
    CHECK(host.engine->orders.count == 1999);
    CHECK(host_unsigned(&host, REQUEST_tick, work, sizeof work) == TRADE_OK);
    CHECK(host.engine->orders.count == 1999 - ENGINE_WORK_TICK_UNITS);
    CHECK(host_unsigned(&host, REQUEST_tick, work, sizeof work) == TRADE_OK);
    CHECK(host.engine->orders.count == 0);
    trade_check_figures(&host);
    host_close(&host);
}

int main(void)
{
    test_one();
    test_states();
    test_all_form();
    test_all_sides();
    test_slices();
    test_work_tick();
    return 0;
}
