/* Code 5, a market order: the rows of R11 that it meets in their order, the bound of its slippage,
 * and what it becomes (rules.md R3: an IOC with limit = mark * (1 +- slippage)).
 *
 * BTC-PERP of W10 at mark 100,000.0 (raw 1,000,000): max_slippage 50,000 ppm, min_notional 10 USDC;
 * each account has 100,000 USDC. */
#include "trade.h"

#define M TRADE_MARK

enum field { NOTHING, QUANTITY, SLIPPAGE, ASSET, PAD, REDUCE_ONLY, STP, PAD_FIRST, PAD_LAST };

struct spoil {
    enum field field;
    uint64_t value;
};

struct row {
    int line;
    const char *name;
    enum status want;
    bool is_told; /* kept as a REJECTED order: row 13 and later */
    struct spoil spoils[2];
};

#define R(name, want, told, ...)             \
    {                                        \
        __LINE__, name, STATUS_##want, told, \
        {                                    \
            __VA_ARGS__                      \
        }                                    \
    }

/* clang-format off */
static const struct row ROWS[] = {
    R("7: asset 0", order_rejected_invalid_market, false, { ASSET, 0 }),
    R("7: asset 0xFFFF", order_rejected_invalid_market, false, { ASSET, 0xFFFF }),
    R("8: no such market", rejected_market_not_found, false, { ASSET, 77 }),
    R("8 before 9", rejected_market_not_found, false, { ASSET, 77 }, { PAD, 1 }),
    R("9: pad of the asset", order_rejected_invalid, false, { PAD, 0x100 }),
    R("9: first pad", order_rejected_invalid, false, { PAD_FIRST, 1 }),
    R("9: last pad", order_rejected_invalid, false, { PAD_LAST, 1 }),
    R("9 before 11", order_rejected_invalid, false, { PAD_LAST, 1 }, { STP, 4 }),
    R("11: reduce_only is no bool", rejected_invalid_order_flags, false, { REDUCE_ONLY, 2 }),
    R("11: stp", rejected_invalid_order_flags, false, { STP, 4 }),
    R("11 before 15", rejected_invalid_order_flags, false, { STP, 4 }, { QUANTITY, 0 }),
    R("15: quantity 0", rejected_size_zero, true, { QUANTITY, 0 }),
    R("15 before 22", rejected_size_zero, true, { QUANTITY, 0 }, { SLIPPAGE, 50001 }),
    R("16: INT64_MIN", rejected_invalid_size, true, { QUANTITY, (uint64_t)INT64_MIN }),
    R("16: above max_order_size", rejected_invalid_size, true, { QUANTITY, UINT64_C(1) << 40 }),
    /* 2^50 = 1,050,000 * 1,072,285,625.6 = 1,020,000 * 1,103,823,438.1 = 1,100,000 * 1,023,545,369.8 */
    R("17b: at the market's slippage", rejected_invalid_size, true, { QUANTITY, 1072285626 }),
    R("17b: at its own", rejected_invalid_size, true, { QUANTITY, 1103823439 }, { SLIPPAGE, 20000 }),
    R("17b before 22", rejected_invalid_size, true, { QUANTITY, 1023545370 }, { SLIPPAGE, 100000 }),
    R("21: 9 USDC at the mark", rejected_invalid_size, true, { QUANTITY, 9 }),
    R("21 before 22", rejected_invalid_size, true, { QUANTITY, 9 }, { SLIPPAGE, 50001 }),
    R("22: parameter above the market's", rejected_slippage_exceeds_maximum, true, { SLIPPAGE, 50001 }),
    R("22: largest parameter", rejected_slippage_exceeds_maximum, true, { SLIPPAGE, UINT32_MAX }),
    R("22: a sale without a bound", rejected_slippage_exceeds_maximum, true, { SLIPPAGE, 1000001 },
      { QUANTITY, (uint64_t)-1000 }),
    R("22 before 24", rejected_slippage_exceeds_maximum, true, { SLIPPAGE, 50001 }, { REDUCE_ONLY, 1 }),
    R("24: reduce-only without a position", invalid_reduce_only_order, true, { REDUCE_ONLY, 1 }),
    R("24: row 21 is not for it", invalid_reduce_only_order, true, { REDUCE_ONLY, 1 }, { QUANTITY, 9 }),
};
/* clang-format on */

static void spoil(uint8_t body[40], const struct spoil *by)
{
    switch (by->field) {
    case NOTHING:
        break;
    case QUANTITY:
        cc_store64(body + 16, by->value);
        break;
    case SLIPPAGE:
        cc_store32(body + 24, (uint32_t)by->value);
        break;
    case ASSET:
        cc_store16(body + 28, (uint16_t)by->value);
        break;
    case PAD:
        cc_store16(body + 30, (uint16_t)by->value);
        break;
    case REDUCE_ONLY:
        body[32] = (uint8_t)by->value;
        break;
    case STP:
        body[33] = (uint8_t)by->value;
        break;
    case PAD_FIRST:
        body[34] = (uint8_t)by->value;
        break;
    case PAD_LAST:
        body[39] = (uint8_t)by->value;
        break;
    }
}

static enum status send_body(struct host *host, const uint8_t body[40])
{
    uint8_t key[32];

    host_session_key(1, key);
    struct host_request request = { .code = REQUEST_place_market_order,
                                    .body = body,
                                    .body_bytes = 40,
                                    .key = key,
                                    .key_bytes = sizeof key };
    return host_signed(host, &request);
}

static enum status take(struct host *host, uint32_t n, int64_t quantity, uint32_t slippage_ppm)
{
    struct host_order order = { .quantity = quantity };
    return trade_at_market(host, n, &order, slippage_ppm);
}

static void check_told(const struct host *host, const struct row *row, const uint8_t body[40])
{
    int64_t quantity = (int64_t)cc_load64(body + 16);

    CHECK_ROW(row, (host_effect(host, EFFECT_order_state, 0) != NULL) == row->is_told);
    if (!row->is_told)
        return;
    struct effect_order_state state = trade_state(host, 0);
    CHECK_ROW(row, memcmp(state.order_id, host->id, 16) == 0);
    CHECK_ROW(row, state.status == ORDER_REJECTED && state.reason == (uint8_t)row->want);
    CHECK_ROW(row, state.remaining == (quantity < 0 ? -(uint64_t)quantity : (uint64_t)quantity));
    CHECK_ROW(row, state.price == 0 && state.order_type == 0); /* MARKET */
    CHECK_ROW(row, state.side == (quantity < 0 ? ORDER_SHORT : ORDER_LONG));
}

static void test_rows(void)
{
    static struct host host;

    trade_open(&host, NULL);
    trade_rest(&host, 2, -1000, M);
    for (size_t i = 0; i < CC_COUNT(ROWS); i++) {
        uint8_t body[40] = { 1 };
        spoil(body, &(struct spoil){ QUANTITY, 1000 });
        spoil(body, &(struct spoil){ ASSET, HOST_BTC });
        for (size_t k = 0; k < CC_COUNT(ROWS[i].spoils); k++)
            spoil(body, &ROWS[i].spoils[k]);
        CHECK_ROW(&ROWS[i], send_body(&host, body) == ROWS[i].want);
        check_told(&host, &ROWS[i], body);
        CHECK_ROW(&ROWS[i], host.engine->orders.count == 1 && trade_size(&host, 1) == 0);
    }
    CHECK(take(&host, 1, 1000, 0) == TRADE_OK && trade_size(&host, 1) == 1000);
    host_close(&host);
}

/* Row 21 asks at the mark, not at the limit: 10 raw at 100,000.0 are 10 USDC, at 95,000.0 less;
 * 9 raw bought at a mark of 109,000.0 are 9.81, at 114,450.0 more. */
static void test_smallest(void)
{
    static struct host host;

    trade_open(&host, NULL);
    CHECK(take(&host, 1, -10, 0) == TRADE_OK);
    CHECK(take(&host, 1, -9, 0) == STATUS_rejected_invalid_size);
    trade_index(&host, 1090000);
    CHECK(trade_market(&host)->mark == 1090000);
    CHECK(take(&host, 1, 9, 0) == STATUS_rejected_invalid_size);
    CHECK(take(&host, 1, 10, 0) == TRADE_OK);
    host_close(&host);
}

/* Row 10: it is never post-only. */
static void test_states(void)
{
    static const struct state_row {
        int line;
        const char *name;
        uint8_t state, reduce_only;
        enum status want;
    } rows[] = {
        { __LINE__, "post-only", MARKET_POST_ONLY, 1, STATUS_rejected_market_post_only },
        { __LINE__, "reduce-only", MARKET_REDUCE_ONLY, 0, STATUS_rejected_market_reduce_only },
        { __LINE__, "on to row 24", MARKET_REDUCE_ONLY, 1, STATUS_invalid_reduce_only_order },
        { __LINE__, "cancel-only", MARKET_CANCEL_ONLY, 1, STATUS_rejected_market_cancel_only },
        { __LINE__, "halted", MARKET_HALTED, 1, STATUS_rejected_market_halted },
        { __LINE__, "closed", MARKET_CLOSED, 1, STATUS_market_closed },
    };
    static struct host host;

    trade_open(&host, NULL);
    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        struct host_order order = { .quantity = 1000, .reduce_only = rows[i].reduce_only };
        trade_market(&host)->state = rows[i].state;
        CHECK_ROW(&rows[i], trade_at_market(&host, 1, &order, 0) == rows[i].want);
    }
    host_close(&host);
}

/* FILLED over two levels, at the makers' prices; 2101 says MARKET and no price. 1,000 at 100,000.0
 * and 500 at 104,000.0: fees cdiv(10^9 * 450 / 10^6) + cdiv(520,000,000 * 450 / 10^6) = 684,000. */
static void test_fills(void)
{
    static struct host host;

    trade_open(&host, "limits.open_orders=1\n");
    trade_rest(&host, 2, -1000, M);
    trade_rest(&host, 3, -1000, 1040000);
    trade_rest(&host, 1, 11, 990000); /* row 26 is not for what never rests */
    CHECK(take(&host, 1, 1500, 0) == TRADE_OK);
    CHECK(trade_effects(&host, EFFECT_trade) == 2);
    struct effect_order_state state = trade_last_state(&host);
    CHECK(state.status == ORDER_FILLED && state.filled == 1500 && state.remaining == 0);
    CHECK(state.price == 0 && state.order_type == 0 && state.side == ORDER_LONG);
    CHECK(memcmp(state.order_id, host.id, 16) == 0);
    CHECK(trade_size(&host, 1) == 1500);
    CHECK(trade_cost(&host, 1) == INT64_C(1000) * 1000000 + INT64_C(500) * 1040000);
    CHECK(trade_cash(&host, 1) == (int64_t)TRADE_CASH - 684000);
    CHECK(trade_portfolio(&host, 1)->open_order_count == 1);
    /* the id is used, as any request's */
    struct host_order order = { .quantity = 1500 };
    uint8_t id[16], key[32], body[40] = { 1 };
    memcpy(id, host.id, sizeof id);
    host_session_key(1, key);
    cc_store64(body + 16, (uint64_t)order.quantity);
    cc_store16(body + 28, HOST_BTC);
    struct host_request again = { .code = REQUEST_place_market_order,
                                  .body = body,
                                  .body_bytes = sizeof body,
                                  .key = key,
                                  .key_bytes = sizeof key,
                                  .id = id };
    CHECK(host_signed(&host, &again) == STATUS_duplicate_request_id);
    host_close(&host);
}

/* Row 22 looks at the best price where a live order stands: at the bound or within it. */
static void test_bound(void)
{
    static const struct bound_row {
        int line;
        const char *name;
        int64_t maker; /* negative: asks */
        uint64_t price;
        uint32_t slippage_ppm;
        enum status want;
    } rows[] = {
        { __LINE__, "ask at the market's bound", -1000, 1050000, 0, STATUS_request_completed },
        { __LINE__, "beyond it", -1000, 1050001, 0, STATUS_rejected_slippage_exceeds_maximum },
        { __LINE__, "ask at its own", -1000, 1010000, 10000, STATUS_request_completed },
        { __LINE__, "beyond its own", -1000, 1010001, 10000,
          STATUS_rejected_slippage_exceeds_maximum },
        { __LINE__, "bid at the market's bound", 1000, 950000, 0, STATUS_request_completed },
        { __LINE__, "below it", 1000, 949999, 0, STATUS_rejected_slippage_exceeds_maximum },
        { __LINE__, "bid at its own", 1000, 999999, 1, STATUS_request_completed },
        { __LINE__, "below its own", 1000, 999998, 1, STATUS_rejected_slippage_exceeds_maximum },
    };
    static struct host host;

    trade_open(&host, NULL);
    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        int64_t before = trade_size(&host, 1);
        trade_rest(&host, 2, rows[i].maker, rows[i].price);
        CHECK_ROW(&rows[i], take(&host, 1, -rows[i].maker, rows[i].slippage_ppm) == rows[i].want);
        int64_t moved = rows[i].want == TRADE_OK ? -rows[i].maker : 0;
        CHECK_ROW(&rows[i], trade_size(&host, 1) == before + moved);
        CHECK(host_cancel_all(&host, 2, HOST_BTC, 0) == TRADE_OK);
    }
    host_close(&host);
}

/* An empty side is no row 22: the order is CANCELED, time_in_force. Dead orders are passed over. */
static void test_empty(void)
{
    static struct host host;

    trade_open(&host, "engine.work_per_command=1\n");
    CHECK(take(&host, 1, 1000, 0) == TRADE_OK);
    CHECK(trade_last_state(&host).status == ORDER_CANCELED);
    CHECK(trade_last_state(&host).reason == REASON_time_in_force);
    CHECK(trade_last_state(&host).remaining == 1000 && trade_last_state(&host).filled == 0);
    CHECK(host.engine->orders.count == 0 && host.engine->holdings.slots.count == 0);
    /* dead within the bound, alive beyond it */
    for (uint32_t i = 0; i < 4; i++)
        trade_rest(&host, 2, -1000, M + i);
    trade_rest(&host, 3, -1000, 1060000);
    CHECK(host_cancel_all(&host, 2, HOST_BTC, 0) == TRADE_OK);
    CHECK(book_best(&trade_market(&host)->book, ORDER_SHORT) == M + 1);
    CHECK(take(&host, 1, 1000, 0) == STATUS_rejected_slippage_exceeds_maximum);
    /* dead only: as if the side were empty, and the dead ones go */
    CHECK(host_cancel_all(&host, 3, HOST_BTC, 0) == TRADE_OK);
    trade_rest(&host, 4, -1000, 1040000);
    trade_rest(&host, 4, -1000, 1040000);
    trade_rest(&host, 4, -1000, 1040000);
    CHECK(host_cancel_all(&host, 4, HOST_BTC, 0) == TRADE_OK);
    CHECK(host.engine->orders.count != 0);
    CHECK(take(&host, 1, 1000, 0) == TRADE_OK);
    CHECK(trade_state(&host, trade_effects(&host, EFFECT_order_state) - 1).reason ==
          REASON_time_in_force);
    CHECK(host.engine->orders.count == 0);
    host_close(&host);
}

/* R3, market orders and the bound: when makers_max dead orders stand before any live one, row 22
 * leaves it to the walk, which ends there: CANCELED, match_limit. */
static void test_many_dead(void)
{
    static struct host host;

    trade_open(&host, "engine.work_per_command=1\nengine.makers_max=2\n");
    for (uint32_t i = 0; i < 5; i++)
        trade_rest(&host, 2, -1000, M + i);
    trade_rest(&host, 3, -1000, 1060000);
    CHECK(host_cancel_all(&host, 2, HOST_BTC, 0) == TRADE_OK); /* four are left */
    CHECK(take(&host, 1, 1000, 0) == TRADE_OK);
    CHECK(trade_state(&host, 2).reason == REASON_match_limit); /* behind the two removed */
    CHECK(trade_size(&host, 1) == 0);
    /* the same where the dead ones share a level with the live one */
    CHECK(host_cancel_all(&host, 3, HOST_BTC, 0) == TRADE_OK);
    for (uint32_t i = 0; i < 8; i++)
        host_tick(&host, 1);
    for (uint32_t i = 0; i < 4; i++)
        trade_rest(&host, 2, -1000, 1055000);
    trade_rest(&host, 3, -1000, 1055000); /* beyond the bound */
    CHECK(host_cancel_all(&host, 2, HOST_BTC, 0) == TRADE_OK);
    CHECK(host.engine->orders.count == 4);
    CHECK(take(&host, 1, 1000, 0) == TRADE_OK); /* three dead ones come first: nothing is met */
    CHECK(trade_state(&host, 0).status == ORDER_CANCELED && trade_size(&host, 1) == 0);
    CHECK(trade_state(&host, 0).reason == REASON_time_in_force);
    CHECK(take(&host, 1, 1000, 0) == TRADE_OK);                                 /* two */
    CHECK(take(&host, 1, 1000, 0) == STATUS_rejected_slippage_exceeds_maximum); /* one */
    host_close(&host);
}

/* A market of ticks of 10: the limit is the tick inside the bound. Mark 1,000,005, 10,000 ppm: buys
 * up to 1,010,005.05, so 1,010,000; sales down to 990,004.95, so 990,010. */
static void test_rounding(void)
{
    static struct host host;
    static const char tick[] = "\"tick_size\":\"0.1\"";
    uint8_t body[4120], boot[24] = { 1, 0, 0, 0, 0, 0, 0, 0, ENGINE_RULES_VERSION };
    char text[4120];

    host_open_bare(&host, NULL);
    CHECK(host_unsigned(&host, REQUEST_boot, boot, sizeof boot) == TRADE_OK);
    CHECK(host_unsigned(&host, REQUEST_configuration, body, host_configuration(NULL, body)) ==
          TRADE_OK);
    const char *at = strstr(host_btc_record, tick);
    CHECK(at != NULL);
    snprintf(text, sizeof text, "%.*s\"tick_size\":\"1\"%s", (int)(at - host_btc_record),
             host_btc_record, at + sizeof tick - 1);
    char *price = strstr(text, "\"max_price\":\"1677721.5\"");
    CHECK(price != NULL);
    memmove(price + 22, price + 23, strlen(price + 23) + 1);
    memcpy(price, "\"max_price\":\"16777215\"", 22);
    CHECK(host_market(&host, text) == TRADE_OK);
    for (uint32_t n = 1; n <= 2; n++) {
        CHECK(host_account(&host, n) == n);
        CHECK(host_deposit(&host, n, TRADE_CASH) == TRADE_OK);
    }
    CHECK(host_oracle(&host, HOST_BTC, 1000005) == TRADE_OK);
    trade_rest(&host, 2, -1000, 1010000);
    trade_rest(&host, 2, -1000, 1010010);
    CHECK(take(&host, 1, 2000, 10000) == TRADE_OK);
    CHECK(trade_size(&host, 1) == 1000);
    CHECK(trade_last_state(&host).status == ORDER_CANCELED);
    CHECK(trade_last_state(&host).reason == REASON_time_in_force);
    CHECK(trade_last_state(&host).filled == 1000 && trade_last_state(&host).remaining == 1000);
    CHECK(take(&host, 1, 1000, 10000) == STATUS_rejected_slippage_exceeds_maximum);
    CHECK(host_cancel_all(&host, 2, HOST_BTC, 0) == TRADE_OK);
    trade_rest(&host, 2, 1000, 990010);
    trade_rest(&host, 2, 1000, 990000);
    CHECK(take(&host, 1, -2000, 10000) == TRADE_OK);
    CHECK(trade_size(&host, 1) == 0 && trade_last_state(&host).filled == 1000);
    CHECK(take(&host, 1, -1000, 10000) == STATUS_rejected_slippage_exceeds_maximum);
    host_close(&host);
}

/* The ends of the ladder: at least one tick, at most max_price. */
static void test_ends_of_the_ladder(void)
{
    static struct host host;

    for (uint32_t high = 0; high < 2; high++) {
        int64_t quantity = high ? 100 : 10000000; /* 10 USDC at price 1 */
        uint64_t price = high ? 16777215 : 1;
        host_open(&host, NULL);
        for (uint32_t n = 1; n <= 2; n++) {
            CHECK(host_account(&host, n) == n);
            CHECK(host_deposit(&host, n, TRADE_CASH) == TRADE_OK);
        }
        CHECK(host_oracle(&host, HOST_BTC, high ? 16500000 : 1) == TRADE_OK);
        trade_rest(&host, 2, -quantity, price);
        /* 17,325,000 is beyond the ladder: row 17b takes max_price, 2^50 / 16,777,215 */
        CHECK(take(&host, 1, high ? 66000000 : quantity, 0) == TRADE_OK);
        CHECK(trade_size(&host, 1) == quantity);
        trade_rest(&host, 2, quantity, price);
        CHECK(take(&host, 1, -quantity, 0) == TRADE_OK);
        CHECK(trade_size(&host, 1) == 0);
        host_close(&host);
    }
    /* the mark stands above the ladder: a sale's bound is no price, and the best bid is below it */
    host_open(&host, NULL);
    for (uint32_t n = 1; n <= 2; n++) {
        CHECK(host_account(&host, n) == n);
        CHECK(host_deposit(&host, n, TRADE_CASH) == TRADE_OK);
    }
    CHECK(host_oracle(&host, HOST_BTC, 20000000) == TRADE_OK);
    trade_rest(&host, 2, 100, 16777215);
    CHECK(take(&host, 1, -100, 0) == STATUS_rejected_slippage_exceeds_maximum);
    host_close(&host);
}

/* Row 19, and R1's bounds when there is no mark yet: they wait. A reduce-only one goes on with the
 * last mark. */
static void test_marks(void)
{
    static struct host host;

    host_open(&host, NULL);
    CHECK(host_account(&host, 1) == 1);
    CHECK(host_deposit(&host, 1, TRADE_CASH) == TRADE_OK);
    CHECK(take(&host, 1, (INT64_C(1) << 40) - 1, 0) == STATUS_rejected_mark_price_zero);
    CHECK(take(&host, 1, 1, UINT32_MAX) == STATUS_rejected_mark_price_zero);
    host_close(&host);

    trade_open(&host, NULL);
    trade_rest(&host, 2, -1000, M);
    CHECK(take(&host, 1, 1000, 0) == TRADE_OK);
    trade_rest(&host, 2, 3000, 990000);
    host_tick(&host, 60 * HOST_SECOND_NS);
    CHECK(take(&host, 1, -1000, 0) == STATUS_rejected_mark_price_zero);
    struct host_order order = { .quantity = -3000, .reduce_only = 1 };
    CHECK(trade_at_market(&host, 1, &order, 0) == TRADE_OK);
    CHECK(trade_size(&host, 1) == 0);
    CHECK(trade_last_state(&host).reason == REASON_reduce_only);
    CHECK(trade_last_state(&host).filled == 1000 && trade_last_state(&host).remaining == 2000);
    host_close(&host);
}

/* Rows 29 and 32, as of any IOC. 1,982,161 raw need more than what is left after their fee
 * (test_margin.c: test_taking). */
static void test_walk(void)
{
    static struct host host;

    trade_open(&host, NULL);
    trade_rest(&host, 1, -1000, M);
    CHECK(take(&host, 1, 1000, 0) == STATUS_self_trade_prevention);
    CHECK(trade_last_state(&host).status == ORDER_REJECTED && host.engine->orders.count == 1);
    struct host_order order = { .quantity = 1000, .stp = 1 };
    CHECK(trade_at_market(&host, 1, &order, 0) == TRADE_OK); /* EXPIRE_MAKER; nothing is left */
    CHECK(trade_last_state(&host).reason == REASON_time_in_force);
    CHECK(host.engine->orders.count == 0);
    CHECK(host_deposit(&host, 2, 1000000 * HOST_USDC) == TRADE_OK);
    trade_rest(&host, 2, -3000000, M);
    CHECK(take(&host, 1, 1982161, 0) == STATUS_insufficient_margin_to_trade);
    CHECK(take(&host, 1, 1982160, 0) == TRADE_OK && trade_size(&host, 1) == 1982160);
    trade_check_figures(&host);
    host_close(&host);
}

/* R3: the walk stops at the price band as well, inclusive and without rounding. A band of 10,000
 * ppm within the slippage of 50,000: buys up to 1,010,000, sales down to 990,000. What stands
 * behind it is no row 22. */
static void test_band(void)
{
    static const struct band_row {
        int line;
        const char *name;
        int64_t maker; /* negative: asks */
        uint64_t price;
        bool is_met;
    } rows[] = {
        { __LINE__, "ask at the band", -1000, 1010000, true },
        { __LINE__, "ask beyond it", -1000, 1010001, false },
        { __LINE__, "bid at the band", 1000, 990000, true },
        { __LINE__, "bid below it", 1000, 989999, false },
    };
    static struct host host;
    static const char band[] = "\"price_band_ppm\":100000";
    char text[4120];

    trade_open(&host, NULL);
    const char *at = strstr(host_btc_record, band);
    CHECK(at != NULL);
    snprintf(text, sizeof text, "%.*s\"price_band_ppm\":10000%s", (int)(at - host_btc_record),
             host_btc_record, at + sizeof band - 1);
    CHECK(host_market(&host, text) == TRADE_OK);
    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        int64_t before = trade_size(&host, 1);
        trade_rest(&host, 2, rows[i].maker, rows[i].price);
        CHECK_ROW(&rows[i], take(&host, 1, -rows[i].maker, 0) == TRADE_OK);
        CHECK_ROW(&rows[i], trade_size(&host, 1) == before - (rows[i].is_met ? rows[i].maker : 0));
        struct effect_order_state state = trade_last_state(&host);
        CHECK_ROW(&rows[i], state.status == (rows[i].is_met ? ORDER_FILLED : ORDER_CANCELED));
        CHECK_ROW(&rows[i], state.reason == (rows[i].is_met ? 0 : REASON_time_in_force));
        CHECK(host_cancel_all(&host, 2, HOST_BTC, 0) == TRADE_OK);
    }
    host_close(&host);
}

int main(void)
{
    test_rows();
    test_smallest();
    test_states();
    test_fills();
    test_bound();
    test_empty();
    test_many_dead();
    test_rounding();
    test_band();
    test_ends_of_the_ladder();
    test_marks();
    test_walk();
    return 0;
}
