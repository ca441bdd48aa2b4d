/* Rows 7 to 35 of R11 that a limit order can meet, one by one and in their order (rules.md).
 *
 * Unless a row says otherwise the market is BTC-PERP of W10 at mark 100,000.0 (raw 1,000,000):
 * tick and lot 1, band 10 %, min_notional 10 USDC; account 1 has 100,000 USDC and no position. */
#include "base/uuid.h"
#include "engine/price/mark.h"
#include "trade.h"

#define NS_DAY (UINT64_C(86400) * HOST_SECOND_NS)

struct body {
    uint64_t account;
    uint32_t subaccount, portfolio;
    uint64_t price;
    int64_t quantity;
    uint64_t expiry;
    uint8_t post_only, reduce_only, stp, pad;
    uint16_t asset, pad2;
};

static_assert(sizeof(struct body) == 48, "W3: PlaceLimitOrder");

static enum status send(struct host *host, const struct body *body)
{
    uint8_t key[32];

    host_session_key(1, key);
    struct host_request request = { .code = REQUEST_place_limit_order,
                                    .body = body,
                                    .body_bytes = sizeof *body,
                                    .key = key,
                                    .key_bytes = sizeof key };
    return host_signed(host, &request);
}

/* A good order: each row of the table spoils some of it. */
static const struct body GOOD = {
    .account = 1, .price = 990000, .quantity = 1000, .expiry = UINT64_MAX, .asset = 1
};

enum field { NOTHING, PRICE, QUANTITY, EXPIRY, POST_ONLY, REDUCE_ONLY, STP, PAD, ASSET, PAD2 };

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

static void spoil(struct body *body, const struct spoil *by)
{
    switch (by->field) {
    case NOTHING:
        break;
    case PRICE:
        body->price = by->value;
        break;
    case QUANTITY:
        body->quantity = (int64_t)by->value;
        break;
    case EXPIRY:
        body->expiry = by->value;
        break;
    case POST_ONLY:
        body->post_only = (uint8_t)by->value;
        break;
    case REDUCE_ONLY:
        body->reduce_only = (uint8_t)by->value;
        break;
    case STP:
        body->stp = (uint8_t)by->value;
        break;
    case PAD:
        body->pad = (uint8_t)by->value;
        break;
    case ASSET:
        body->asset = (uint16_t)by->value;
        break;
    case PAD2:
        body->pad2 = (uint16_t)by->value;
        break;
    }
}

#define R(name, want, told, ...)             \
    {                                        \
        __LINE__, name, STATUS_##want, told, \
        {                                    \
            __VA_ARGS__                      \
        }                                    \
    }

/* clang-format off */
static const struct row FORM[] = {
    R("7: asset 0", order_rejected_invalid_market, false, { ASSET, 0 }),
    R("7: asset 0xFFFF", order_rejected_invalid_market, false, { ASSET, 0xFFFF }),
    R("7 before 9", order_rejected_invalid_market, false, { ASSET, 0 }, { PAD, 1 }),
    R("8: no such market", rejected_market_not_found, false, { ASSET, 77 }),
    R("8 before 9", rejected_market_not_found, false, { ASSET, 77 }, { PAD2, 1 }),
    R("9: pad", order_rejected_invalid, false, { PAD, 1 }),
    R("9: pad behind the asset", order_rejected_invalid, false, { PAD2, 0x100 }),
    R("9 before 11", order_rejected_invalid, false, { PAD, 1 }, { POST_ONLY, 2 }),
    R("11: post_only is no bool", rejected_invalid_order_flags, false, { POST_ONLY, 2 }),
    R("11: reduce_only is no bool", rejected_invalid_order_flags, false, { REDUCE_ONLY, 255 }),
    R("11: stp", rejected_invalid_order_flags, false, { STP, 4 }),
    R("11: post-only IOC", rejected_invalid_order_flags, false, { POST_ONLY, 1 }, { EXPIRY, 0 }),
    R("11: post-only FOK", rejected_invalid_order_flags, false, { POST_ONLY, 1 }, { EXPIRY, 1 }),
    R("11: GTT above INT64_MAX", rejected_invalid_order_flags, false,
      { EXPIRY, (uint64_t)INT64_MAX + 1 }),
    R("11: GTT just below GTC", rejected_invalid_order_flags, false, { EXPIRY, UINT64_MAX - 1 }),
    R("11 before 12", rejected_invalid_order_flags, false, { EXPIRY, 2 }, { STP, 9 }),
    R("12: GTT in the past", order_rejected_expired, false, { EXPIRY, 2 }),
    R("12 before 15", order_rejected_expired, false, { EXPIRY, HOST_START_NS }, { QUANTITY, 0 }),
    R("15: quantity 0", rejected_size_zero, true, { QUANTITY, 0 }),
    R("15 before 17", rejected_size_zero, true, { QUANTITY, 0 }, { PRICE, 0 }),
    R("16: INT64_MIN", rejected_invalid_size, true, { QUANTITY, (uint64_t)INT64_MIN }),
    R("16: above max_order_size 2^40 - 1", rejected_invalid_size, true, { QUANTITY, INT64_C(1) << 40 }),
    R("16: sold above the maximum", rejected_invalid_size, true, { QUANTITY, (uint64_t)(-(INT64_C(1) << 40)) }),
    R("16 before 17", rejected_invalid_size, true, { QUANTITY, (uint64_t)INT64_MIN }, { PRICE, 0 }),
    R("17: price 0", rejected_invalid_price, true, { PRICE, 0 }),
    R("17: above max_price 16,777,215", rejected_invalid_price, true, { PRICE, 16777216 }),
    R("17: 2^64 - 1", rejected_invalid_price, true, { PRICE, UINT64_MAX }),
    R("17 before 17b", rejected_invalid_price, true, { PRICE, 16777216 },
      { QUANTITY, (INT64_C(1) << 40) - 1 }),
    /* 2^50 = 1,125,899,906,842,624 = 990,000 * 1,137,272,633.2: 1,137,272,634 is too much */
    R("17b: notional above 2^50", rejected_invalid_size, true, { QUANTITY, 1137272634 }),
    /* row 20, 10 %: a buy up to 1,100,000, a sale down to 900,000 */
    R("20: buy above the band", rejected_invalid_price, true, { PRICE, 1100001 }),
    R("20: sale below the band", rejected_invalid_price, true, { PRICE, 899999 }, { QUANTITY, (uint64_t)(-1000) }),
    R("20 before 21", rejected_invalid_price, true, { PRICE, 1100001 }, { QUANTITY, 1 }),
    /* 10 of 990,000: 9.9 USDC */
    R("21: notional below 10 USDC", rejected_invalid_size, true, { QUANTITY, 10 }),
    R("24: reduce-only without a position", invalid_reduce_only_order, true, { REDUCE_ONLY, 1 }),
    R("24 before 21's exemption ends", invalid_reduce_only_order, true, { REDUCE_ONLY, 1 },
      { QUANTITY, 1 }),
};
/* clang-format on */

static void check_told(const struct host *host, const struct row *row, const struct body *body)
{
    CHECK_ROW(row, host_effect(host, EFFECT_answer, 0) != NULL);
    CHECK_ROW(row, (host_effect(host, EFFECT_order_state, 0) != NULL) == row->is_told);
    if (!row->is_told)
        return;
    struct effect_order_state state = trade_state(host, 0);
    uint64_t quantity = body->quantity < 0 ? -(uint64_t)body->quantity : (uint64_t)body->quantity;
    CHECK_ROW(row, memcmp(state.order_id, host->id, 16) == 0);
    CHECK_ROW(row, state.status == ORDER_REJECTED);
    CHECK_ROW(row, state.reason == (uint8_t)row->want);
    CHECK_ROW(row, state.remaining == quantity && state.filled == 0);
    CHECK_ROW(row, state.price == body->price);
    CHECK_ROW(row, state.side == (body->quantity < 0 ? ORDER_SHORT : ORDER_LONG));
    CHECK_ROW(row, host_effect(host, EFFECT_order_state, 0)->record == EFFECT_NO_RECORD);
}

static void test_form(struct host *host)
{
    CHECK(send(host, &GOOD) == TRADE_OK);
    CHECK(host_cancel(host, 1, host->id) == TRADE_OK);
    for (size_t i = 0; i < CC_COUNT(FORM); i++) {
        uint64_t orders = host->engine->orders.count, cash = (uint64_t)trade_cash(host, 1);
        struct body body = GOOD;
        for (size_t k = 0; k < CC_COUNT(FORM[i].spoils); k++)
            spoil(&body, &FORM[i].spoils[k]);
        CHECK_ROW(&FORM[i], send(host, &body) == FORM[i].want);
        check_told(host, &FORM[i], &body);
        CHECK_ROW(&FORM[i], host->engine->orders.count == orders);
        CHECK_ROW(&FORM[i], (uint64_t)trade_cash(host, 1) == cash);
        CHECK_ROW(&FORM[i], host->engine->holdings.slots.count == 0);
    }
}

/* The last value that passes beside the first that does not. */
static void test_edges(struct host *host)
{
    struct body body = GOOD;

    body.price = 1100000; /* row 20 is inclusive; nobody sells, so it rests */
    CHECK(send(host, &body) == TRADE_OK);
    CHECK(host_cancel(host, 1, host->id) == TRADE_OK);
    body.price = 900000;
    body.quantity = -1000;
    CHECK(send(host, &body) == TRADE_OK);
    CHECK(host_cancel(host, 1, host->id) == TRADE_OK);
    body = GOOD;
    body.quantity = 11; /* 10.89 USDC */
    CHECK(send(host, &body) == TRADE_OK);
    CHECK(host_cancel(host, 1, host->id) == TRADE_OK);
    body.price = 1; /* far below the mark is free (R3); 10 USDC need 10,000,000 raw */
    body.quantity = 10000000;
    CHECK(send(host, &body) == STATUS_insufficient_margin_to_place);
    body.price = 16777215; /* max_price: a sale, far above */
    body.quantity = -11;
    CHECK(send(host, &body) == TRADE_OK);
    CHECK(host_cancel(host, 1, host->id) == TRADE_OK);

    /* rows 11 and 12: GTT up to t + 90 days; t itself is too late */
    body = GOOD;
    uint64_t t = engine_time_next(host->engine, host->clock_ns);
    body.expiry = t + 90 * NS_DAY + 1;
    CHECK(send(host, &body) == STATUS_rejected_invalid_order_flags);
    t = engine_time_next(host->engine, host->clock_ns);
    body.expiry = t + 90 * NS_DAY;
    CHECK(send(host, &body) == TRADE_OK);
    CHECK(host_cancel(host, 1, host->id) == TRADE_OK);
    body.expiry = engine_time_next(host->engine, host->clock_ns);
    CHECK(send(host, &body) == STATUS_order_rejected_expired);
    body.expiry = engine_time_next(host->engine, host->clock_ns) + 1;
    CHECK(send(host, &body) == TRADE_OK);
}

/* Row 16's bounds of R1: |s| + B <= 2^42, reduce-only orders counted; row 17b: |c| + bn <= 2^52. */
static void test_bounds(struct host *host)
{
    const int64_t most = (INT64_C(1) << 40) - 1;
    struct body body = GOOD;

    CHECK(host_deposit(host, 1, (UINT64_C(1) << 60) - TRADE_CASH) == TRADE_OK);
    body.price = 100;
    body.quantity = most;
    for (uint32_t i = 0; i < 4; i++) /* 4 * (2^40 - 1) = 2^42 - 4 */
        CHECK(send(host, &body) == TRADE_OK);
    body.quantity = 5;
    CHECK(send(host, &body) == STATUS_rejected_invalid_size);
    CHECK(host_cancel_all(host, 1, 1, 0) == TRADE_OK);
    CHECK(host->engine->orders.count == 0);

    /* 2^50 / 990,000 = 1,137,272,633.17: each just below 2^50, the fifth passes 2^52 */
    body = GOOD;
    body.quantity = 1137272633;
    for (uint32_t i = 0; i < 4; i++)
        CHECK(send(host, &body) == TRADE_OK);
    /* 2^52 less four of them leaves 690,496 micro-USDC: whatever row 21 lets in is too much */
    body.quantity = 11;
    CHECK(send(host, &body) == STATUS_rejected_invalid_size);
    body.quantity = -11; /* the other side has its own sum */
    body.price = 1000000;
    CHECK(send(host, &body) == TRADE_OK);
    CHECK(host_cancel_all(host, 1, 1, 0) == TRADE_OK);

    /* R1's bound of cash, 2^60, is seen inside: row 34, for taker and maker alike (R1) */
    CHECK(trade_cash(host, 1) == INT64_C(1) << 60);
    CHECK(trade_limit(host, 2, -1000, 1000000) == TRADE_OK);
    CHECK(trade_tif(host, 1, 1000, 1000000, TRADE_IOC) == STATUS_order_rejected_internal);
    CHECK(trade_size(host, 1) == 0 && trade_last_state(host).status == ORDER_REJECTED);
    CHECK(trade_limit(host, 1, 1000, 990000) == TRADE_OK);
    CHECK(trade_tif(host, 3, -1000, 990000, TRADE_IOC) == STATUS_order_rejected_internal);
    CHECK(trade_tif(host, 3, 1000, 1000000, TRADE_IOC) == TRADE_OK);
    CHECK(trade_size(host, 3) == 1000);

    /* reduce-only orders count: 2 is short 1,000; 3 * (2^40 - 1) + 1,000 + rest = 2^42 */
    CHECK(trade_size(host, 2) == -1000);
    CHECK(trade_reduce(host, 2, most, 100, TRADE_GTC) == STATUS_insufficient_margin_to_place);
    /* beyond the position they need margin: a fifth of 2^42 * 1,000,000 is less than 2^60 - 2^55 */
    CHECK(host_deposit(host, 2, (UINT64_C(1) << 60) - (UINT64_C(1) << 55)) == TRADE_OK);
    for (uint32_t i = 0; i < 3; i++)
        CHECK(trade_reduce(host, 2, most, 100, TRADE_GTC) == TRADE_OK);
    CHECK(trade_reduce(host, 2, most, 100, TRADE_GTC) == STATUS_rejected_invalid_size);
    CHECK(trade_reduce(host, 2, most + 1 - 1000 + 3, 100, TRADE_GTC) == TRADE_OK);
    CHECK(trade_limit(host, 2, 11, 990000) == STATUS_rejected_invalid_size);
    CHECK(trade_limit(host, 2, -11, 1010000) == TRADE_OK);
}

/* Row 10: every state that a record can open a market in. */
static void test_states(struct host *host)
{
    static const struct state_row {
        int line;
        const char *name;
        uint8_t state;
        uint8_t post_only, reduce_only;
        enum status want;
    } rows[] = {
        { __LINE__, "post-only market", MARKET_POST_ONLY, 0, 0, STATUS_rejected_market_post_only },
        { __LINE__, "post-only order", MARKET_POST_ONLY, 1, 0, STATUS_request_completed },
        { __LINE__, "reduce-only market", MARKET_REDUCE_ONLY, 0, 0,
          STATUS_rejected_market_reduce_only },
        { __LINE__, "reduce-only order goes on to row 24", MARKET_REDUCE_ONLY, 0, 1,
          STATUS_invalid_reduce_only_order },
        { __LINE__, "cancel-only", MARKET_CANCEL_ONLY, 1, 1, STATUS_rejected_market_cancel_only },
        { __LINE__, "halted", MARKET_HALTED, 1, 1, STATUS_rejected_market_halted },
        { __LINE__, "closed", MARKET_CLOSED, 1, 1, STATUS_market_closed },
    };

    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        struct body body = GOOD;
        body.post_only = rows[i].post_only;
        body.reduce_only = rows[i].reduce_only;
        trade_market(host)->state = rows[i].state;
        CHECK_ROW(&rows[i], send(host, &body) == rows[i].want);
        body.pad = 1; /* row 9 comes first, row 11 later */
        CHECK_ROW(&rows[i], send(host, &body) == STATUS_order_rejected_invalid);
        body.pad = 0;
        body.stp = 7;
        enum status want = rows[i].want == STATUS_request_completed ||
                                   rows[i].want == STATUS_invalid_reduce_only_order
                               ? STATUS_rejected_invalid_order_flags
                               : rows[i].want;
        CHECK_ROW(&rows[i], send(host, &body) == want);
    }
    trade_market(host)->state = MARKET_ACTIVE;
    CHECK(host_cancel_all(host, 1, 1, 0) == TRADE_OK);
}

/* Row 19: the index is 10 s old at most; reduce-only orders go on with the last mark. */
static void test_marks(struct host *host)
{
    struct body body = GOOD;

    CHECK(trade_limit(host, 2, -1000, 1000000) == TRADE_OK);
    CHECK(trade_limit(host, 1, 1000, 1000000) == TRADE_OK); /* 1 is long now */
    CHECK(host_oracle(host, 1, 1000000) == TRADE_OK);
    uint64_t published = trade_market(host)->publish_ns;
    host->clock_ns = published + 10 * HOST_SECOND_NS;
    CHECK(send(host, &body) == TRADE_OK); /* exactly 10 s: still valid */
    CHECK(host->clock_ns == published + 10 * HOST_SECOND_NS);
    CHECK(send(host, &body) == STATUS_rejected_mark_price_zero);
    body.price = 1200000; /* row 19 before 20 */
    CHECK(send(host, &body) == STATUS_rejected_mark_price_zero);
    body.quantity = -1000;
    body.reduce_only = 1;
    CHECK(send(host, &body) == TRADE_OK);
    CHECK(host_oracle(host, 1, 1000000) == TRADE_OK);
    CHECK(send(host, &GOOD) == TRADE_OK);
    CHECK(host_cancel_all(host, 1, 1, 0) == TRADE_OK);
    CHECK(trade_limit(host, 2, 1000, 1000000) == TRADE_OK);
    CHECK(trade_reduce(host, 1, -1000, 1000000, TRADE_IOC) == TRADE_OK);
    CHECK(trade_size(host, 1) == 0);
}

/* Row 24, four of a side that hold the whole position, 5,000 raw: another must not be able to rest.
 * What is replaced does not count, nor the orders of the other kind. */
static void test_reduce_only_many(struct host *host)
{
    CHECK(trade_limit(host, 2, -5000, 1000000) == TRADE_OK);
    CHECK(trade_limit(host, 1, 5000, 1000000) == TRADE_OK);
    CHECK(trade_limit(host, 1, -5000, 1010000) == TRADE_OK);
    for (uint32_t i = 0; i < 4; i++)
        CHECK(trade_reduce(host, 1, -1249 - (i == 3), 1020000, TRADE_GTC) == TRADE_OK);
    /* 4,997 of 5,000 */
    CHECK(trade_reduce(host, 1, -1000, 1030000, TRADE_GTC) == TRADE_OK);
    CHECK(trade_reduce(host, 1, -1000, 1030000, TRADE_GTC) == STATUS_invalid_reduce_only_order);
    CHECK(trade_reduce(host, 1, -1000, 1030000, TRADE_IOC) == TRADE_OK);
    CHECK(host_cancel_all(host, 1, 1, 0) == TRADE_OK);
    for (uint32_t i = 0; i < 4; i++)
        CHECK(trade_reduce(host, 1, -1250, 1020000, TRADE_GTC) == TRADE_OK);
    CHECK(trade_reduce(host, 1, -1000, 1030000, TRADE_GTC) == STATUS_invalid_reduce_only_order);
    CHECK(host_cancel_all(host, 1, 1, 0) == TRADE_OK);
    CHECK(trade_limit(host, 2, 5000, 1000000) == TRADE_OK);
    CHECK(trade_reduce(host, 1, -5000, 1000000, TRADE_IOC) == TRADE_OK);
}

/* Row 24: reduce-only needs an opposite position; fill-or-kill must fit in it. Row 21: below 10
 * USDC a reduce-only order passes when it covers the whole position, 5,000 raw here, then 1. */
static void test_reduce_only(struct host *host)
{
    CHECK(trade_limit(host, 2, -5000, 1000000) == TRADE_OK);
    CHECK(trade_limit(host, 1, 5000, 1000000) == TRADE_OK);
    CHECK(trade_reduce(host, 1, 1000, 990000, TRADE_GTC) == STATUS_invalid_reduce_only_order);
    CHECK(trade_reduce(host, 1, -5001, 1000000, TRADE_FOK) == STATUS_invalid_reduce_only_order);
    CHECK(trade_reduce(host, 1, -5000, 1000000, TRADE_FOK) ==
          STATUS_rejected_f_o_k_not_fully_filled_low_liquidity);
    CHECK(trade_reduce(host, 1, -1, 1000000, TRADE_GTC) == STATUS_rejected_invalid_size);
    CHECK(trade_reduce(host, 1, -9000, 1000000, TRADE_GTC) == TRADE_OK);
    CHECK(host_cancel_all(host, 1, 1, 0) == TRADE_OK);
    CHECK(trade_limit(host, 2, 4999, 1000000) == TRADE_OK);
    CHECK(trade_reduce(host, 1, -4999, 1000000, TRADE_IOC) == TRADE_OK);
    CHECK(trade_reduce(host, 1, -1, 1000000, TRADE_GTC) == TRADE_OK);
    CHECK(host_cancel_all(host, 1, 1, 0) == TRADE_OK);
}

/* Row 26 counts orders that rest, and asks only those that could. */
static void test_count(void)
{
    static struct host host;

    trade_open(&host, "limits.open_orders=2\n");
    trade_rest(&host, 1, 1000, 990000);
    trade_rest(&host, 1, 1000, 990001);
    CHECK(trade_limit(&host, 1, 1000, 990002) == STATUS_rejected_max_open_orders_exceeded);
    CHECK(trade_post(&host, 1, 1000, 990002) == STATUS_rejected_max_open_orders_exceeded);
    CHECK(trade_tif(&host, 1, 1000, 990002, TRADE_IOC) == TRADE_OK);
    CHECK(trade_limit(&host, 2, -2000, 990000) == TRADE_OK);
    CHECK(trade_limit(&host, 1, 1000, 990002) == TRADE_OK);
    host_close(&host);
}

/* Rows 26 and 34: a table is full; nothing changes, also no holding is made. */
static void test_tables(void)
{
    static struct host host;

    trade_open(&host, "engine.orders=16\n");
    for (uint32_t i = 0; i < 16; i++)
        trade_rest(&host, 1, 1000, 990000 + i);
    CHECK(trade_limit(&host, 2, 1000, 990000) == STATUS_rejected_max_open_orders_exceeded);
    CHECK(trade_tif(&host, 2, 1000, 990000, TRADE_IOC) ==
          STATUS_rejected_max_open_orders_exceeded); /* it needs a row for a while */
    CHECK(host.engine->holdings.slots.count == 1);
    CHECK(trade_last_state(&host).status == ORDER_REJECTED);
    host_close(&host);

    trade_open(&host, "engine.ladder_pages=1\n");
    trade_rest(&host, 1, 1000, 990000);
    trade_rest(&host, 1, 1000, 990001); /* the same page of 256 levels */
    CHECK(trade_limit(&host, 2, -1000, 1010000) == STATUS_order_rejected_internal);
    CHECK(trade_tif(&host, 2, -1000, 990000, TRADE_IOC) == TRADE_OK); /* rests nowhere */
    CHECK(trade_size(&host, 2) == -1000);
    host_close(&host);
}

/* Without an oracle update there is no mark: row 19, for a reduce-only order too, before 24. */
static void test_no_mark(void)
{
    static struct host host;

    host_open(&host, NULL);
    CHECK(host_account(&host, 1) == 1);
    CHECK(host_deposit(&host, 1, TRADE_CASH) == TRADE_OK);
    CHECK(trade_limit(&host, 1, 1000, 990000) == STATUS_rejected_mark_price_zero);
    CHECK(trade_reduce(&host, 1, 1000, 990000, TRADE_GTC) == STATUS_rejected_mark_price_zero);
    host_close(&host);
}

int main(void)
{
    static struct host host;

    trade_open(&host, NULL);
    test_form(&host);
    test_edges(&host);
    test_states(&host);
    test_marks(&host);
    test_reduce_only_many(&host);
    test_reduce_only(&host);
    host_close(&host);
    trade_open(&host, NULL);
    test_bounds(&host);
    host_close(&host);
    test_count();
    test_tables();
    test_no_mark();
    return 0;
}
