/* Rows 6 to 34 of R11 that a reduction (code 1) and a replacement (code 2) can meet, one by one and
 * in their order; after every refusal the order, its sums and the book are bit for bit what they
 * were (R3: any rejection leaves the original untouched), and nothing is told but the answer.
 *
 * BTC-PERP of W10 at mark 100,000.0 (raw 1,000,000): tick and lot 1, band 10 %, min_notional 10
 * USDC; account 1 has 100,000 USDC and a bid of 3,000 raw at 990,000. */
#include "engine/image/image.h"
#include "engine/price/mark.h"
#include "trade.h"

#define NS_DAY (UINT64_C(86400) * HOST_SECOND_NS)

/* The bodies of both codes, as W3 lays them out; `reduction` says which. */
struct body {
    bool reduction;
    uint8_t bytes[72];
};

enum field {
    NOTHING,
    ID_VERSION, /* byte 6 of the order id */
    ID_OTHER,   /* the last byte */
    PRICE,
    QUANTITY,
    EXPIRY,
    POST_ONLY,
    REDUCE_ONLY,
    STP,
    PAD,
    ASSET,
    PAD2,
    EXPECTED,
};

struct spoil {
    enum field field;
    uint64_t value;
};

struct row {
    int line;
    const char *name;
    enum status want;
    struct spoil spoils[2];
};

#define R(name, want, ...)             \
    {                                  \
        __LINE__, name, STATUS_##want, \
        {                              \
            __VA_ARGS__                \
        }                              \
    }

/* clang-format off */
static const struct row REPLACEMENTS[] = {
    R("6: no v7", rejected_invalid_uuid, { ID_VERSION, 0x40 }),
    R("6 before 7", rejected_invalid_uuid, { ID_VERSION, 0x40 }, { ASSET, 0 }),
    R("7: asset 0", order_rejected_invalid_market, { ASSET, 0 }),
    R("7: asset 0xFFFF", order_rejected_invalid_market, { ASSET, 0xFFFF }),
    R("8: no such market", rejected_market_not_found, { ASSET, 77 }),
    R("8 before 9", rejected_market_not_found, { ASSET, 77 }, { PAD, 1 }),
    R("9: pad", order_rejected_invalid, { PAD, 1 }),
    R("9: pad behind the asset", order_rejected_invalid, { PAD2, 0x100 }),
    R("9 before 11", order_rejected_invalid, { PAD, 1 }, { STP, 4 }),
    R("11: post_only is no bool", rejected_invalid_order_flags, { POST_ONLY, 2 }),
    R("11: reduce_only is no bool", rejected_invalid_order_flags, { REDUCE_ONLY, 2 }),
    R("11: stp", rejected_invalid_order_flags, { STP, 4 }),
    R("11: IOC", rejected_invalid_order_flags, { EXPIRY, 0 }),
    R("11: FOK", rejected_invalid_order_flags, { EXPIRY, 1 }),
    R("11: GTT above INT64_MAX", rejected_invalid_order_flags, { EXPIRY, (uint64_t)INT64_MAX + 1 }),
    R("11: GTT beyond 90 days", rejected_invalid_order_flags, { EXPIRY, HOST_START_NS + 91 * NS_DAY }),
    R("11 before 12", rejected_invalid_order_flags, { EXPIRY, 2 }, { STP, 9 }),
    R("12: GTT in the past", order_rejected_expired, { EXPIRY, 2 }),
    R("12 before 13", order_rejected_expired, { EXPIRY, 2 }, { ID_OTHER, 0xEE }),
    R("13: unknown id", rejected_order_not_found, { ID_OTHER, 0xEE }),
    R("13: of another market", rejected_order_not_found, { ASSET, 2 }),
    R("13 before 14", rejected_order_not_found, { ID_OTHER, 0xEE }, { EXPECTED, 1 }),
    R("14: less than it has", rejected_size_not_equal, { EXPECTED, 2999 }),
    R("14: more than it has", rejected_size_not_equal, { EXPECTED, 3001 }),
    R("14 before 15", rejected_size_not_equal, { EXPECTED, 2999 }, { QUANTITY, 0 }),
    R("15: quantity 0", rejected_size_zero, { QUANTITY, 0 }),
    R("15 before 17", rejected_size_zero, { QUANTITY, 0 }, { PRICE, 0 }),
    R("16: INT64_MIN", rejected_invalid_size, { QUANTITY, (uint64_t)INT64_MIN }),
    R("16: the other side", rejected_invalid_size, { QUANTITY, (uint64_t)-2000 }),
    R("16: more on the other side", rejected_invalid_size, { QUANTITY, (uint64_t)-4000 },
      { PRICE, 1010001 }),
    R("16: above max_order_size", rejected_invalid_size, { QUANTITY, UINT64_C(1) << 40 }),
    R("16 before 17", rejected_invalid_size, { QUANTITY, (uint64_t)-2000 }, { PRICE, 0 }),
    R("17: price 0", rejected_invalid_price, { PRICE, 0 }),
    R("17: above max_price", rejected_invalid_price, { PRICE, 16777216 }),
    R("17 before 17b", rejected_invalid_price, { PRICE, 16777216 }, { QUANTITY, (UINT64_C(1) << 40) - 1 }),
    /* 2^50 = 990,000 * 1,137,272,633.2 */
    R("17b: notional above 2^50", rejected_invalid_size, { QUANTITY, 1137272634 }),
    R("20: above the band", rejected_invalid_price, { PRICE, 1100001 }),
    R("20 before 21", rejected_invalid_price, { PRICE, 1100001 }, { QUANTITY, 1 }),
    R("21: 9.9 USDC in its place", rejected_invalid_size, { QUANTITY, 10 }),
    R("21: 9.8 USDC elsewhere", rejected_invalid_size, { QUANTITY, 10 }, { PRICE, 980000 }),
    R("24: reduce-only without a position", invalid_reduce_only_order, { REDUCE_ONLY, 1 }),
    R("24 before 33", invalid_reduce_only_order, { REDUCE_ONLY, 1 }, { QUANTITY, 3000000 }),
    /* account 2 asks 1,010,000 */
    R("28: post-only crosses", rejected_post_only_would_cross_book, { PRICE, 1010000 }, { POST_ONLY, 1 }),
    /* 20 BTC at the mark need all of 100,000 USDC */
    R("33: margin", insufficient_margin_to_place, { QUANTITY, 2000001 }),
    R("33: margin at another price", insufficient_margin_to_place, { QUANTITY, 2000001 }, { PRICE, 980000 }),
    R("32: margin, and something would trade", insufficient_margin_to_trade, { QUANTITY, 2000001 }, { PRICE, 1010000 }),
};

static const struct row REDUCTIONS[] = {
    R("6: no v7", rejected_invalid_uuid, { ID_VERSION, 0x40 }),
    R("6 before 7", rejected_invalid_uuid, { ID_VERSION, 0x40 }, { ASSET, 0 }),
    R("7: asset 0", order_rejected_invalid_market, { ASSET, 0 }),
    R("7: asset 0xFFFF", order_rejected_invalid_market, { ASSET, 0xFFFF }),
    R("8: no such market", rejected_market_not_found, { ASSET, 77 }),
    R("8 before 9", rejected_market_not_found, { ASSET, 77 }, { PAD2, 1 }),
    R("9: pad", order_rejected_invalid, { PAD, 1 }),
    R("9: pad behind the asset", order_rejected_invalid, { PAD2, 0x100 }),
    R("9 before 13", order_rejected_invalid, { PAD, 1 }, { ID_OTHER, 0xEE }),
    R("13: unknown id", rejected_order_not_found, { ID_OTHER, 0xEE }),
    R("13: of another market", rejected_order_not_found, { ASSET, 2 }),
    R("13 before 14", rejected_order_not_found, { ID_OTHER, 0xEE }, { EXPECTED, 1 }),
    R("14: not what it has", rejected_size_not_equal, { EXPECTED, 2999 }),
    R("14 before 15", rejected_size_not_equal, { EXPECTED, 2999 }, { QUANTITY, 0 }),
    R("15: nothing", rejected_size_zero, { QUANTITY, 0 }),
};
/* clang-format on */

static void spoil(struct body *body, const struct spoil *by)
{
    static const uint8_t at[2][EXPECTED + 1] = {
        { 0, 22, 31, 32, 40, 48, 56, 57, 58, 59, 60, 62, 64 }, /* code 2 */
        { 0, 22, 31, 0, 32, 0, 0, 0, 0, 52, 48, 50, 40 },      /* code 1: quantity = reduce_by */
    };
    uint8_t *field = body->bytes + at[body->reduction][by->field];

    switch (by->field) {
    case NOTHING:
        break;
    case PRICE:
    case QUANTITY:
    case EXPIRY:
    case EXPECTED:
        cc_store64(field, by->value);
        break;
    case ASSET:
    case PAD2:
        cc_store16(field, (uint16_t)by->value);
        break;
    case ID_VERSION:
    case ID_OTHER:
    case POST_ONLY:
    case REDUCE_ONLY:
    case STP:
    case PAD:
        *field = (uint8_t)by->value;
        break;
    }
}

static enum status send(struct host *host, const struct body *body)
{
    uint8_t key[32];

    host_session_key(1, key);
    struct host_request request = {
        .code = body->reduction ? REQUEST_order_reduction : REQUEST_order_replacement,
        .body = body->bytes,
        .body_bytes = body->reduction ? 56 : 72,
        .key = key,
        .key_bytes = sizeof key,
    };
    return host_signed(host, &request);
}

/* A replacement by 2,000 in its place; a reduction by 1,000. */
static struct body good(struct trade_id id, bool reduction)
{
    struct body body = { .reduction = reduction };

    cc_store64(body.bytes, 1);
    memcpy(body.bytes + 16, id.bytes, sizeof id.bytes);
    spoil(&body, &(struct spoil){ ASSET, HOST_BTC });
    spoil(&body, &(struct spoil){ QUANTITY, reduction ? 1000 : 2000 });
    if (!reduction) {
        spoil(&body, &(struct spoil){ PRICE, 990000 });
        spoil(&body, &(struct spoil){ EXPIRY, TRADE_GTC });
    }
    return body;
}

/* What a refusal must not touch: portfolios, holdings, orders in their queues, markets. */
struct kept {
    struct image_sink sink; /* first */
    bool counts;
    uint64_t sum;
};

static void kept_section(struct image_sink *sink, uint32_t code, uint32_t version)
{
    struct kept *kept = (void *)sink;

    (void)version;
    kept->counts = code == IMAGE_portfolios || code == IMAGE_holdings || code == IMAGE_orders ||
                   code == IMAGE_markets;
}

static void kept_bytes(struct image_sink *sink, const void *bytes, size_t count)
{
    struct kept *kept = (void *)sink;
    const uint8_t *at = bytes;

    for (size_t i = 0; kept->counts && i < count; i++)
        kept->sum = (kept->sum ^ at[i]) * UINT64_C(0x100000001B3);
}

static uint64_t kept_state(const struct host *host)
{
    struct kept kept = { .sink = { kept_section, kept_bytes } };

    engine_image(host->engine, &kept.sink);
    return kept.sum;
}

static void define_second(struct host *host)
{
    char text[4120];
    const char *rest = strstr(host_btc_record, ",\"price_decimals\"");

    snprintf(text, sizeof text, "{\"market\":\"ETH-PERP\",\"asset_id\":2,\"base\":\"ETH\"%s", rest);
    CHECK(host_market(host, text) == TRADE_OK);
    CHECK(host_oracle(host, 2, 1000000) == TRADE_OK);
}

static void run_rows(struct host *host, struct trade_id id, bool reduction, const struct row *rows,
                     size_t row_count)
{
    for (size_t i = 0; i < row_count; i++) {
        struct body body = good(id, reduction);
        for (size_t k = 0; k < CC_COUNT(rows[i].spoils); k++)
            spoil(&body, &rows[i].spoils[k]);
        uint64_t before = kept_state(host);
        CHECK_ROW(&rows[i], send(host, &body) == rows[i].want);
        CHECK_ROW(&rows[i], host->effect_count == 1 && host->effects[0].code == EFFECT_answer);
        CHECK_ROW(&rows[i], kept_state(host) == before);
        CHECK_ROW(&rows[i], trade_remaining(host, 1, id) == 3000);
    }
}

static void test_forms(void)
{
    static struct host host;

    trade_open(&host, NULL);
    define_second(&host);
    struct trade_id id = trade_rest(&host, 1, 3000, 990000);
    trade_rest(&host, 2, -1000, 1010000);
    run_rows(&host, id, false, REPLACEMENTS, CC_COUNT(REPLACEMENTS));
    run_rows(&host, id, true, REDUCTIONS, CC_COUNT(REDUCTIONS));
    /* R3: another account may use the same UUID: this one has no such order */
    CHECK(trade_cut(&host, 2, id, 1, 0) == STATUS_rejected_order_not_found);
    struct host_order same = { .price = 990000, .quantity = 3000, .expiry = TRADE_GTC };
    CHECK(trade_replace(&host, 2, id, &same, 0) == STATUS_rejected_order_not_found);
    /* and unspoiled both go through */
    struct body body = good(id, false);
    CHECK(send(&host, &body) == TRADE_OK && trade_remaining(&host, 1, id) == 2000);
    body = good(id, true);
    CHECK(send(&host, &body) == TRADE_OK && trade_remaining(&host, 1, id) == 1000);
    host_close(&host);
}

/* Row 10 (R9): replacing follows placing; reducing goes on in every state. */
static void test_states(void)
{
    static const struct state_row {
        int line;
        const char *name;
        uint8_t state, post_only, reduce_only;
        enum status want;
    } rows[] = {
        { __LINE__, "post-only market", MARKET_POST_ONLY, 0, 0, STATUS_rejected_market_post_only },
        { __LINE__, "turns post-only", MARKET_POST_ONLY, 1, 0, STATUS_request_completed },
        { __LINE__, "reduce-only market", MARKET_REDUCE_ONLY, 0, 0,
          STATUS_rejected_market_reduce_only },
        { __LINE__, "reduce-only goes on to row 24", MARKET_REDUCE_ONLY, 0, 1,
          STATUS_invalid_reduce_only_order },
        { __LINE__, "cancel-only", MARKET_CANCEL_ONLY, 1, 0, STATUS_rejected_market_cancel_only },
        { __LINE__, "halted", MARKET_HALTED, 1, 0, STATUS_rejected_market_halted },
        { __LINE__, "closed", MARKET_CLOSED, 1, 0, STATUS_market_closed },
    };
    static struct host host;

    trade_open(&host, NULL);
    struct trade_id id = trade_rest(&host, 1, 3000, 990000);
    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        struct body body = good(id, false);
        spoil(&body, &(struct spoil){ POST_ONLY, rows[i].post_only });
        spoil(&body, &(struct spoil){ REDUCE_ONLY, rows[i].reduce_only });
        trade_market(&host)->state = rows[i].state;
        CHECK_ROW(&rows[i], send(&host, &body) == rows[i].want);
        spoil(&body, &(struct spoil){ PAD, 1 }); /* row 9 comes before */
        CHECK_ROW(&rows[i], send(&host, &body) == STATUS_order_rejected_invalid);
        if (rows[i].state != MARKET_CLOSED)
            CHECK_ROW(&rows[i], trade_cut(&host, 1, id, 1, 0) == TRADE_OK);
    }
    host_close(&host);
}

/* Row 19: without a valid mark nothing is replaced, not even in its place; a reduction never asks,
 * and a replacement that is reduce-only goes on with the last mark (rows 20, 21 and 24). */
static void test_marks(void)
{
    static struct host host;

    trade_open(&host, NULL);
    trade_rest(&host, 2, -1000, 1000000);
    CHECK(trade_limit(&host, 1, 1000, 1000000) == TRADE_OK); /* 1 is long 1,000 */
    struct trade_id id = trade_rest(&host, 1, 3000, 990000);
    struct trade_id sale = trade_rest(&host, 1, -1000, 1010000);
    host_tick(&host, 60 * HOST_SECOND_NS);
    CHECK(!market_mark_is_valid(host.engine, 0));
    struct host_order order = { .price = 990000, .quantity = 2000, .expiry = TRADE_GTC };
    CHECK(trade_replace(&host, 1, id, &order, 0) == STATUS_rejected_mark_price_zero);
    order.price = 1200000; /* 19 before 20 */
    CHECK(trade_replace(&host, 1, id, &order, 0) == STATUS_rejected_mark_price_zero);
    CHECK(trade_cut(&host, 1, id, 500, 0) == TRADE_OK);
    order = (struct host_order){
        .price = 1005000, .quantity = -900, .expiry = TRADE_GTC, .reduce_only = 1
    };
    CHECK(trade_replace(&host, 1, sale, &order, 0) == TRADE_OK);
    order.price = 899999;
    CHECK(trade_replace(&host, 1, sale, &order, 0) == STATUS_rejected_invalid_price);
    host_close(&host);
}

/* Row 26: the order's own place does not count; a limit that was lowered does. */
static void test_count(void)
{
    static struct host host;
    uint8_t body[4120];

    trade_open(&host, "limits.open_orders=2\n");
    struct trade_id id = trade_rest(&host, 1, 3000, 990000);
    trade_rest(&host, 1, 3000, 990001);
    struct host_order order = { .price = 989999, .quantity = 3000, .expiry = TRADE_GTC };
    CHECK(trade_replace(&host, 1, id, &order, 0) == TRADE_OK);
    CHECK(host_unsigned(&host, REQUEST_configuration, body,
                        host_configuration("limits.open_orders=1\n", body)) == TRADE_OK);
    CHECK(trade_replace(&host, 1, id, &order, 0) == STATUS_rejected_max_open_orders_exceeded);
    CHECK(trade_cut(&host, 1, id, 1, 0) == TRADE_OK);
    host_close(&host);
}

/* Rows 16 and 17b (R1): |s| + B <= 2^42 and |c| + bn <= 2^52, the order's own old rest left out. */
static void test_bounds(void)
{
    static struct host host;
    const int64_t most = (INT64_C(1) << 40) - 1;
    struct trade_id id = { { 0 } };

    trade_open(&host, NULL);
    CHECK(host_deposit(&host, 1, (UINT64_C(1) << 60) - TRADE_CASH) == TRADE_OK);
    for (uint32_t i = 0; i < 4; i++) /* 4 * (2^40 - 1) = 2^42 - 4 */
        id = trade_rest(&host, 1, most, 100);
    struct host_order order = { .price = 101, .quantity = most, .expiry = TRADE_GTC };
    CHECK(trade_replace(&host, 1, id, &order, 0) == TRADE_OK);
    CHECK(trade_limit(&host, 1, 100001, 100) == STATUS_rejected_invalid_size);
    CHECK(host_cancel_all(&host, 1, 1, 0) == TRADE_OK);

    /* each just below 2^50: four of them leave 690,496 of 2^52 */
    for (uint32_t i = 0; i < 4; i++)
        id = trade_rest(&host, 1, 1137272633, 990000);
    order = (struct host_order){ .price = 989999, .quantity = 1137272633, .expiry = TRADE_GTC };
    CHECK(trade_replace(&host, 1, id, &order, 0) == TRADE_OK);
    host_close(&host);
}

/* R4, R11 row 19: a market that is HALTED forbids nothing in another one, but what the portfolio
 * has there, 1 BTC at a mark of 100,000.0, counts 100 % of its value against it: E - stress =
 * 100,000 - 100,000 = 0. A smaller order, which lowers IM, passes: E - stress >= MM = 0; a
 * larger one fails E - stress >= IM. */
static void test_halted_elsewhere(void)
{
    static struct host host;

    trade_open(&host, NULL);
    define_second(&host);
    struct trade_id id = trade_rest(&host, 1, 3000, 990000);
    struct host_order order = { .price = 990000, .quantity = 2000, .expiry = TRADE_GTC };
    state_market(host.engine, 1)->state = MARKET_HALTED;
    CHECK(trade_replace(&host, 1, id, &order, 0) == TRADE_OK); /* it has nothing there */
    state_market(host.engine, 1)->state = MARKET_ACTIVE;
    struct host_order there = {
        .price = 990000, .quantity = 100000, .expiry = TRADE_GTC, .asset = 2
    };
    CHECK(host_limit(&host, 1, &there) == TRADE_OK);
    state_market(host.engine, 1)->state = MARKET_HALTED;
    order.quantity = 2001;
    CHECK(trade_replace(&host, 1, id, &order, 0) == STATUS_insufficient_margin_to_place);
    CHECK(trade_remaining(&host, 1, id) == 2000);
    order.quantity = 1500;
    CHECK(trade_replace(&host, 1, id, &order, 0) == TRADE_OK);
    CHECK(trade_remaining(&host, 1, id) == 1500);
    CHECK(trade_limit(&host, 1, 1000, 990000) == STATUS_insufficient_margin_to_place);
    CHECK(trade_cut(&host, 1, id, 500, 0) == TRADE_OK);
    there.quantity = 1000;
    CHECK(host_limit(&host, 1, &there) == STATUS_rejected_market_halted);
    host_close(&host);
}

/* Row 33 (R4): reduce-only sales need no margin, so one that stops being reduce-only brings all of
 * it, in its place too. Long 10 BTC at 100,000.0 with 99,850 USDC: down to -9 BTC is 10 BTC of IM
 * at most, 50,000; down to -19 it is 95,000; down to -20, 100,000. */
static void test_turning_off_reduce_only(void)
{
    static struct host host;

    trade_open(&host, NULL);
    trade_rest(&host, 1, 1000000, TRADE_MARK);
    CHECK(trade_tif(&host, 2, -1000000, TRADE_MARK, TRADE_IOC) == TRADE_OK);
    CHECK(trade_cash(&host, 1) == 99850 * (int64_t)HOST_USDC);
    CHECK(trade_reduce(&host, 1, -3000000, 1010000, TRADE_GTC) == TRADE_OK);
    struct trade_id id = trade_last_id(&host);
    struct host_order order = { .price = 1010000, .quantity = -3000000, .expiry = TRADE_GTC };
    uint64_t before = kept_state(&host);
    CHECK(trade_replace(&host, 1, id, &order, 0) == STATUS_insufficient_margin_to_place);
    order.price = 1010001; /* entered anew it is the same */
    CHECK(trade_replace(&host, 1, id, &order, 0) == STATUS_insufficient_margin_to_place);
    CHECK(kept_state(&host) == before);
    order.quantity = -2900000;
    CHECK(trade_replace(&host, 1, id, &order, 0) == TRADE_OK);
    order.quantity = -3000000; /* and now its own 29 BTC are left out */
    CHECK(trade_replace(&host, 1, id, &order, 0) == STATUS_insufficient_margin_to_place);
    trade_check_figures(&host);
    host_close(&host);
}

/* Row 34: the order brings its own slot and, alone in its page, its own page. */
static void test_tables(void)
{
    static struct host host;

    trade_open(&host, "engine.orders=16\n");
    struct trade_id id = { { 0 } };
    for (uint32_t i = 0; i < 16; i++)
        id = trade_rest(&host, 1, 1000, 990000 + i);
    struct host_order order = { .price = 980000, .quantity = 1000, .expiry = TRADE_GTC };
    CHECK(trade_replace(&host, 1, id, &order, 0) == TRADE_OK);
    host_close(&host);

    trade_open(&host, "engine.ladder_pages=1\n");
    id = trade_rest(&host, 1, 1000, 990000);
    CHECK(trade_replace(&host, 1, id, &order, 0) == TRADE_OK);
    CHECK(host.engine->markets.pages.used == 1);
    struct trade_id other = trade_rest(&host, 2, 1000, 980000); /* shares its level and page */
    order.price = 990000;
    uint64_t before = kept_state(&host);
    CHECK(trade_replace(&host, 1, id, &order, 0) == STATUS_order_rejected_internal);
    CHECK(kept_state(&host) == before && host.effect_count == 1);
    order.price = 980001;
    CHECK(trade_replace(&host, 2, other, &order, 0) == TRADE_OK); /* within the page */
    order.price = 990000;
    CHECK(trade_replace(&host, 1, id, &order, 0) == STATUS_order_rejected_internal);
    host_close(&host);
}

/* Rows 15 and 16 of reductions in a market of lots of 10 and a minimum of 50: what is taken off is
 * in lots and has no minimum, what remains neither; all of it, or more, in any number. */
static void test_lots(void)
{
    static struct host host;
    static const char lots[] = "\"lot_size\":\"0.00001\",\"min_size\":\"0.00001\"";
    char text[4120];

    host_open_bare(&host, NULL);
    uint8_t body[4120], boot[24] = { 1, 0, 0, 0, 0, 0, 0, 0, ENGINE_RULES_VERSION };
    CHECK(host_unsigned(&host, REQUEST_boot, boot, sizeof boot) == TRADE_OK);
    CHECK(host_unsigned(&host, REQUEST_configuration, body, host_configuration(NULL, body)) ==
          TRADE_OK);
    const char *at = strstr(host_btc_record, lots);
    CHECK(at != NULL);
    snprintf(text, sizeof text, "%.*s\"lot_size\":\"0.0001\",\"min_size\":\"0.0005\"%s",
             (int)(at - host_btc_record), host_btc_record, at + sizeof lots - 1);
    char *size = strstr(text, "10995116.27775"); /* max_order_size in lots */
    CHECK(size != NULL);
    memcpy(size, "10995116.27770", 14);
    CHECK(host_market(&host, text) == TRADE_OK);
    CHECK(host_account(&host, 1) == 1 && host_deposit(&host, 1, TRADE_CASH) == TRADE_OK);
    CHECK(host_oracle(&host, HOST_BTC, TRADE_MARK) == TRADE_OK);
    struct trade_id id = trade_rest(&host, 1, 100, 990000);
    CHECK(trade_cut(&host, 1, id, 5, 0) == STATUS_rejected_invalid_size);
    CHECK(trade_cut(&host, 1, id, 10, 0) == TRADE_OK); /* 10 is below the minimum of an order */
    CHECK(trade_cut(&host, 1, id, 60, 90) == TRADE_OK && trade_remaining(&host, 1, id) == 30);
    CHECK(trade_cut(&host, 1, id, 29, 0) == STATUS_rejected_invalid_size);
    struct host_order order = { .price = 990000, .quantity = 30, .expiry = TRADE_GTC };
    CHECK(trade_replace(&host, 1, id, &order, 0) == STATUS_rejected_invalid_size); /* below min */
    order.quantity = 55;
    CHECK(trade_replace(&host, 1, id, &order, 0) == STATUS_rejected_invalid_size); /* no lot */
    CHECK(trade_cut(&host, 1, id, 33, 30) == TRADE_OK && trade_remaining(&host, 1, id) == 0);
    CHECK(trade_last_state(&host).status == ORDER_CANCELED);
    CHECK(trade_last_state(&host).reason == REASON_user_cancel);
    host_close(&host);
}

int main(void)
{
    test_forms();
    test_states();
    test_marks();
    test_count();
    test_bounds();
    test_halted_elsewhere();
    test_turning_off_reduce_only();
    test_tables();
    test_lots();
    return 0;
}
