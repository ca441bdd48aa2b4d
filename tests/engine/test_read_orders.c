/* The live orders of an account as a list shows them (json.md J1, J2; wire.md W7): newest placing
 * first, every filter and every bound of a page, dead ones as they will end (rules.md R3). What is
 * compared with is the test's own list of what it placed. */
#include "engine/view/read_orders.h"
#include "trade.h"

enum { ORDERS = 900, PORTFOLIOS = 3 };

static struct host host;

/* Subaccount and portfolio of each; made in this order, listed in another. */
static const uint32_t places[PORTFOLIOS][2] = { { 0, 0 }, { 1, 0 }, { 0, 1 } };

struct placed {
    uint8_t id[16];
    uint64_t sequence;
    uint8_t portfolio;
    uint8_t market; /* 0 BTC-PERP, 1 ETH-PERP */
    bool is_gone;
    uint8_t status;
};

static struct placed orders[ORDERS];
static uint32_t order_count;

static void define_eth(void)
{
    static const char name[] = "{\"market\":\"BTC-PERP\",\"asset_id\":1,\"base\":\"BTC\",";
    static char text[4096];

    snprintf(text, sizeof text, "{\"market\":\"ETH-PERP\",\"asset_id\":2,\"base\":\"ETH\",%s",
             host_btc_record + sizeof name - 1);
    CHECK(host_market(&host, text) == TRADE_OK);
    CHECK(host_oracle(&host, 2, TRADE_MARK) == TRADE_OK);
}

/* The next subaccount of account 1, or the next portfolio of one that is there. */
static void open_place(uint32_t subaccount_index, uint32_t portfolio_index)
{
    uint32_t record = subaccount_find(host.engine, 1, subaccount_index);

    if (record == SUBACCOUNT_NONE)
        record = subaccount_add(host.engine, 1);
    else
        (void)portfolio_add(host.engine, record, "Other");
    CHECK(host.engine->subaccounts.rows[record].portfolio_count == portfolio_index + 1);
}

/* Portfolios straight into the tables. */
static void open(void)
{
    trade_open(&host, "engine.work_per_command=1\n");
    define_eth();
    for (uint32_t i = 1; i < PORTFOLIOS; i++)
        open_place(places[i][0], places[i][1]);
    for (uint32_t i = 0; i < PORTFOLIOS; i++) {
        uint8_t body[56] = { 1 };
        cc_store32(body + 8, places[i][0]);
        cc_store32(body + 12, places[i][1]);
        cc_store64(body + 16, 1000000 * HOST_USDC);
        cc_store64(body + 24, ++host.id_count);
        struct host_request request = { .code = REQUEST_deposit_credit,
                                        .body = body,
                                        .body_bytes = sizeof body,
                                        .key = host_operator_key,
                                        .key_bytes = 32 };
        CHECK(host_signed(&host, &request) == TRADE_OK);
    }
    host.skip_audit = true;
}

/* An order of account 1. */
static void place(uint32_t portfolio, uint32_t market, int64_t quantity, uint64_t price)
{
    uint8_t body[48] = { 1 }, key[32];
    struct placed *order = &orders[order_count++];

    host_session_key(1, key);
    cc_store32(body + 8, places[portfolio][0]);
    cc_store32(body + 12, places[portfolio][1]);
    cc_store64(body + 16, price);
    cc_store64(body + 24, (uint64_t)quantity);
    cc_store64(body + 32, TRADE_GTC);
    cc_store16(body + 44, (uint16_t)(market + 1));
    struct host_request request = { .code = REQUEST_place_limit_order,
                                    .body = body,
                                    .body_bytes = sizeof body,
                                    .key = key,
                                    .key_bytes = 32 };
    CHECK(host_signed(&host, &request) == TRADE_OK);
    *order = (struct placed){ .sequence = host.result.sequence,
                              .portfolio = (uint8_t)portfolio,
                              .market = (uint8_t)market,
                              .status = ORDER_OPEN };
    memcpy(order->id, host.id, 16);
}

static bool is_wanted(const struct placed *order, const struct read_filter *filter)
{
    static const char symbols[2][QUERY_MARKET_BYTES] = { "BTC-PERP", "ETH-PERP" };

    return !order->is_gone &&
           (filter->subaccount_index == QUERY_ANY_INDEX ||
            filter->subaccount_index == places[order->portfolio][0]) &&
           (filter->portfolio_index == QUERY_ANY_INDEX ||
            filter->portfolio_index == places[order->portfolio][1]) &&
           (filter->market[0] == 0 || strcmp(filter->market, symbols[order->market]) == 0) &&
           (filter->status == QUERY_ANY_STATUS || filter->status == order->status);
}

/* The whole list from the bound on; gives its length. */
static uint32_t check_list(const struct read_filter *filter, uint64_t before)
{
    static struct read_orders cursor;
    struct row_order row;
    uint32_t rows = 0;

    read_orders_begin(&cursor, filter, before, 0);
    for (uint32_t i = order_count; i-- > 0;) {
        const struct placed *order = &orders[i];
        if (!is_wanted(order, filter) || (before != 0 && order->sequence >= before))
            continue;
        CHECK(read_orders_next(&cursor, host.engine, &row));
        CHECK(row.sequence == order->sequence && memcmp(row.id, order->id, 16) == 0);
        CHECK(row.subaccount_index == places[order->portfolio][0]);
        CHECK(row.portfolio_index == places[order->portfolio][1]);
        CHECK(row.status == order->status);
        rows++;
    }
    CHECK(!read_orders_next(&cursor, host.engine, &row));
    CHECK(!read_orders_next(&cursor, host.engine, &row));
    return rows;
}

static const struct read_filter all = {
    .account_id = 1,
    .subaccount_index = QUERY_ANY_INDEX,
    .portfolio_index = QUERY_ANY_INDEX,
    .status = QUERY_ANY_STATUS,
};

static void check_filters(void)
{
    static const uint32_t indexes[] = { QUERY_ANY_INDEX, 0, 1, 2 };
    static const uint8_t statuses[] = { QUERY_ANY_STATUS, ORDER_OPEN, ORDER_PARTIALLY_FILLED,
                                        ORDER_CANCELED, ORDER_FILLED };
    static const char *const markets[] = { "", "BTC-PERP", "ETH-PERP", "BTC" };
    struct read_filter filter = all;

    for (size_t s = 0; s < CC_COUNT(indexes); s++)
        for (size_t p = 0; p < CC_COUNT(indexes); p++)
            for (size_t m = 0; m < CC_COUNT(markets); m++)
                for (size_t k = 0; k < CC_COUNT(statuses); k++) {
                    filter.subaccount_index = indexes[s];
                    filter.portfolio_index = indexes[p];
                    filter.status = statuses[k];
                    memset(filter.market, 0, sizeof filter.market);
                    memcpy(filter.market, markets[m], strlen(markets[m]));
                    (void)check_list(&filter, 0);
                }
}

/* 900 orders in any portfolio and market; every third is canceled, some are partly filled. */
static void test_list(void)
{
    uint64_t seed = 4;

    open();
    for (uint32_t i = 0; i < ORDERS; i++)
        place(rig_below(&seed, PORTFOLIOS), rig_below(&seed, 2), 100, 990000 - i);
    CHECK(check_list(&all, 0) == ORDERS); /* several looks */
    for (uint32_t i = 0; i < 20; i++) {   /* the best bid is BTC's oldest that is left */
        CHECK(trade_tif(&host, 2, -150, 900000, TRADE_IOC) == TRADE_OK);
        uint32_t full = 0;
        for (uint32_t k = 0; k < order_count && full < 150; k++) {
            uint32_t rest = orders[k].status == ORDER_PARTIALLY_FILLED ? 50 : 100;
            if (orders[k].market != 0 || orders[k].is_gone)
                continue;
            if (full + rest <= 150)
                orders[k].is_gone = true;
            else
                orders[k].status = ORDER_PARTIALLY_FILLED;
            full += rest;
        }
    }
    for (uint32_t i = 0; i < ORDERS; i += 3) {
        uint8_t body[40] = { 1 }, key[32];
        if (orders[i].is_gone)
            continue;
        host_session_key(1, key);
        cc_store32(body + 8, places[orders[i].portfolio][0]);
        cc_store32(body + 12, places[orders[i].portfolio][1]);
        memcpy(body + 16, orders[i].id, 16);
        cc_store16(body + 32, (uint16_t)(orders[i].market + 1));
        struct host_request request = { .code = REQUEST_order_cancel,
                                        .body = body,
                                        .body_bytes = sizeof body,
                                        .key = key,
                                        .key_bytes = 32 };
        CHECK(host_signed(&host, &request) == TRADE_OK);
        orders[i].is_gone = true;
    }
    check_filters();
    for (uint32_t i = 0; i < 40; i++)
        (void)check_list(&all, orders[rig_below(&seed, ORDERS)].sequence);
    CHECK(check_list(&all, orders[0].sequence) == 0);

    static struct read_orders cursor; /* below (sequence, 1) is (sequence, 0) */
    struct row_order row;
    uint32_t last = ORDERS - 1;
    while (orders[last].is_gone)
        last--;
    read_orders_begin(&cursor, &all, orders[last].sequence, 1);
    CHECK(read_orders_next(&cursor, host.engine, &row) && row.sequence == orders[last].sequence);
}

/* A cancellation list of the first portfolio has begun: what it has not released yet is shown as
 * CANCELED (R3), the rest as it was. */
static void test_dead(void)
{
    struct row_order row;
    uint32_t dead = 0;

    CHECK(host_cancel_all(&host, 1, HOST_BTC, 0) == TRADE_OK); /* of subaccount 0 */
    for (uint32_t i = 0; i < order_count; i++) {
        if (orders[i].is_gone || orders[i].market != 0 || places[orders[i].portfolio][0] != 0)
            continue;
        if (!read_order(host.engine, 1, orders[i].id, -1, &row)) {
            orders[i].is_gone = true; /* released: one a command */
            continue;
        }
        orders[i].status = ORDER_CANCELED;
        dead++;
    }
    CHECK(dead > 100);
    check_filters();
    host_close(&host);
}

/* More orders in one record than are found in one look. */
static void test_one_record(void)
{
    open();
    order_count = 0;
    for (uint32_t i = 0; i < 2 * READ_ORDERS_KEPT + 1; i++)
        place(0, 0, 100, 990000 - i);
    CHECK(check_list(&all, 0) == 2 * READ_ORDERS_KEPT + 1);
    host_close(&host);
}

static void test_nobody(void)
{
    struct read_filter filter = all;
    static struct read_orders cursor;
    struct row_order row;

    open();
    order_count = 0;
    CHECK(check_list(&filter, 0) == 0);
    filter.account_id = 77;
    read_orders_begin(&cursor, &filter, 0, 0);
    CHECK(!read_orders_next(&cursor, host.engine, &row));
    host_close(&host);
}

int main(void)
{
    test_list();
    test_dead();
    test_one_record();
    test_nobody();
    return 0;
}
