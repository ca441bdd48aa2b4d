/* Rows as JSON where the examples of json.md do not reach: every order state, kind and time in
 * force, reasons, closed records, tiers to come. */
#include "base/reason.h"
#include "base/row.h"
#include "check.h"
#include "net/json/json_reply.h"

static char text[65536];

/* The body of one row. */
static const char *show(enum query_kind kind, const void *row, size_t bytes)
{
    struct writer writer = writer_begin(text, sizeof text - 1);
    struct reply reply = { .kind = (uint16_t)kind, .row_count = 1, .row_bytes = (uint32_t)bytes };
    json_reply(&writer, &reply, row);
    CHECK(!writer.full);
    text[writer_count(&writer)] = '\0';
    return text;
}

static const struct row_order base = {
    .account_id = 7,
    .market = "BTC-PERP",
    .initial = 100000,
    .remaining = 100000,
    .price = 1000000,
    .expiry = UINT64_MAX,
    .order_type = 1,
    .price_decimals = 1,
    .size_decimals = 5,
};

static const struct {
    int line;
    const char *name;
    uint8_t status, order_type, side, stp, reason;
    uint64_t expiry, filled;
    int64_t filled_notional;
    const char *part;
} rows[] = {
    { __LINE__, "open", 0, 1, 0, 0, 0, UINT64_MAX, 0, 0, "\"order_status\":\"OPEN\"" },
    { __LINE__, "filled", 1, 1, 0, 0, 0, 0, 0, 0, "\"order_status\":\"FILLED\"" },
    { __LINE__, "IOC", 2, 1, 0, 0, 0, 0, 0, 0,
      "\"time_in_force\":\"IOC\",\"post_only\":false,\"reduce_only\":false,\"expires_at\":null" },
    { __LINE__, "FOK", 1, 1, 1, 0, 0, 1, 0, 0, "\"side\":\"SHORT\",\"time_in_force\":\"FOK\"" },
    { __LINE__, "GTT", 0, 1, 0, 0, 0, UINT64_C(1755582431240112233), 0, 0,
      "\"expires_at\":1755582431240112233,\"price\":\"100000\"" },
    { __LINE__, "canceled for a reason", 2, 1, 0, 0, REASON_time_in_force, 0, 0, 0,
      "\"oco_group\":null,\"reason\":\"time_in_force\",\"sequence\":" },
    { __LINE__, "rejected by a status", 3, 1, 0, 0, 25, 0, 0, 0, "\"order_status\":\"REJECTED\"" },
    { __LINE__, "rejected, its reason", 3, 1, 0, 0, 25, 0, 0, 0,
      "\"reason\":\"rejected_post_only_would_cross_book\"" },
    { __LINE__, "no reason where none is shown", 6, 1, 0, 0, REASON_time_in_force, 0, 0, 0,
      "\"oco_group\":null,\"sequence\":" },
    { __LINE__, "expired", 6, 1, 0, 0, 0, 0, 0, 0, "\"order_status\":\"EXPIRED\"" },
    { __LINE__, "market has no price", 1, 0, 0, 0, 0, 0, 0, 0,
      "\"price\":null,\"filled_size\":\"0\",\"average_price\":null" },
    { __LINE__, "liquidation has one", 1, 6, 0, 0, 0, 0, 0, 0,
      "\"order_type\":\"LIQUIDATE\",\"side\":\"LONG\"" },
    { __LINE__, "stp", 0, 1, 0, 3, 0, UINT64_MAX, 0, 0, "\"stp\":\"DECREMENT\"" },
    /* R1: an average has 8 decimals more than the price, rounded half to even. */
    { __LINE__, "average", 5, 1, 0, 0, 0, UINT64_MAX, 30000, INT64_C(29999999999),
      "\"filled_size\":\"0.3\",\"average_price\":\"99999.999996667\"" },
};

static void orders(void)
{
    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        struct row_order row = base;
        row.status = rows[i].status;
        row.order_type = rows[i].order_type;
        row.side = rows[i].side;
        row.stp = rows[i].stp;
        row.reason = rows[i].reason;
        row.expiry = rows[i].expiry;
        row.filled = rows[i].filled;
        row.filled_notional = rows[i].filled_notional;
        const char *body = show(QUERY_order, &row, sizeof row);
        if (strstr(body, rows[i].part) == NULL)
            fprintf(stderr, "%s\n", body);
        CHECK_ROW(&rows[i], strstr(body, rows[i].part) != NULL);
    }
}

/* J2: GTC or GTT by its life while UNTRIGGERED, then its live_tif; trigger members of conditional
 * kinds only, whether they have fired or not. */
static void conditional_orders(void)
{
    static const struct {
        int line;
        const char *name;
        uint8_t status, order_type, source, live_tif, oco;
        uint64_t expiry;
        const char *part;
    } waits[] = {
        { __LINE__, "life GTC", 4, 2, 0, 0, 0, UINT64_MAX,
          "\"time_in_force\":\"GTC\",\"post_only\":false,\"reduce_only\":false,\"expires_at\":"
          "null" },
        { __LINE__, "life GTT", 4, 4, 0, 0, 0, 77, "\"time_in_force\":\"GTT\"" },
        { __LINE__, "life GTT, when", 4, 4, 0, 0, 0, 77, "\"expires_at\":77" },
        { __LINE__, "fired, FOK", 1, 2, 0, 1, 0, 1, "\"time_in_force\":\"FOK\"" },
        { __LINE__, "rests", 0, 4, 0, 2, 0, UINT64_MAX, "\"time_in_force\":\"GTC\"" },
        { __LINE__, "ended untriggered", 6, 3, 0, 0, 0, 77,
          "\"time_in_force\":\"IOC\",\"post_only\":false,\"reduce_only\":false,\"expires_at\":null,"
          "\"price\":null" },
        { __LINE__, "mark", 4, 5, 0, 0, 0, 77,
          "\"trigger_price\":\"99000\",\"trigger_source\":\"MARK\",\"oco_group\":null," },
        { __LINE__, "last", 1, 3, 1, 0, 0, 0, "\"trigger_source\":\"LAST\"" },
        { __LINE__, "group", 4, 2, 2, 0, 0xab, 77,
          "\"trigger_source\":\"INDEX\",\"oco_group\":"
          "\"ab000000-0000-0000-0000-000000000000\"," },
        { __LINE__, "no conditional", 0, 1, 2, 1, 0xab, 77,
          "\"trigger_price\":null,\"trigger_source\":null,\"oco_group\":null," },
        { __LINE__, "no conditional, its time", 0, 1, 2, 1, 0xab, 77, "\"expires_at\":77" },
    };
    for (size_t i = 0; i < CC_COUNT(waits); i++) {
        struct row_order row = base;
        row.status = waits[i].status;
        row.order_type = waits[i].order_type;
        row.expiry = waits[i].expiry;
        row.trigger_price = 990000;
        row.trigger_source = waits[i].source;
        row.live_tif = waits[i].live_tif;
        row.oco_group[0] = waits[i].oco;
        const char *body = show(QUERY_order, &row, sizeof row);
        if (strstr(body, waits[i].part) == NULL)
            fprintf(stderr, "%s\n", body);
        CHECK_ROW(&waits[i], strstr(body, waits[i].part) != NULL);
    }
}

static void closed_records(void)
{
    struct row_balance balance = {
        .account_id = 7, .withdrawable = -1500001, .equity = -1, .status = 2, .name = "Tom & \"Co\""
    };
    const char *body = show(QUERY_balance, &balance, sizeof balance);
    CHECK(strstr(body, "\"cash_balance\":\"0\",\"name\":\"Tom & \\\"Co\\\"\",\"status\":\"CLOSED\","
                       "\"equity\":\"-0.000001\"") != NULL);
    CHECK(strstr(body, "\"withdrawable\":\"-1.500001\",\"withdrawable_now\":\"0\"}") != NULL);
    struct row_account account = {
        .account_id = 9, .status = 1, .maker_fee_ppm = -20, .share_class = SHARE_CLASS_small
    };
    for (uint32_t i = 0; i < SHARE_TABLE_COUNT; i++) {
        account.slots_used[i] = i;
        account.slots_bound[i] =
            i % 2 == 0 ? UINT32_MAX : 100 + i; /* even ones have no own bound */
    }
    body = show(QUERY_account, &account, sizeof account);
    CHECK(strcmp(body, "{\"account_id\":9,\"status\":\"CLOSED\",\"fee_tier\":0,\"maker_fee_rate\":"
                       "\"-0.00002\",\"taker_fee_rate\":\"0\",\"volume_14d\":\"0\","
                       "\"subaccount_count\":0,\"slots\":{\"class\":\"small\",\"tables\":["
                       "{\"table\":\"accounts\",\"used\":0},"
                       "{\"table\":\"subaccounts\",\"used\":1,\"bound\":101},"
                       "{\"table\":\"portfolios\",\"used\":2},"
                       "{\"table\":\"orders\",\"used\":3,\"bound\":103},"
                       "{\"table\":\"conditionals\",\"used\":4},"
                       "{\"table\":\"positions\",\"used\":5,\"bound\":105},"
                       "{\"table\":\"leverages\",\"used\":6},"
                       "{\"table\":\"mmps\",\"used\":7,\"bound\":107},"
                       "{\"table\":\"credentials\",\"used\":8},"
                       "{\"table\":\"arms\",\"used\":9,\"bound\":109},"
                       "{\"table\":\"withdrawals\",\"used\":10}]}}") == 0);
}

static void tiers_to_come(void)
{
    struct row_market market = { .market = "X-PERP",
                                 .base = "X",
                                 .size_decimals = 6,
                                 .state = 3,
                                 .effective_at_ns = 5,
                                 .next_tier_count = 1,
                                 .next_tiers = { { 0, 10, 100000, 50000, 0 } } };
    const char *body = show(QUERY_market, &market, sizeof market);
    CHECK(strstr(body, "\"tiers\":[],") != NULL);
    CHECK(strstr(body, "\"state\":\"CANCEL_ONLY\",\"effective_at_ns\":5,\"next_tiers\":["
                       "{\"upper_notional\":null,\"max_leverage\":10,\"imr_ppm\":100000,"
                       "\"mmr_ppm\":50000}]}") != NULL);
}

static void audits(void)
{
    struct {
        struct row_audit audit;
        struct row_audit_market markets[2];
    } rows_of_audit = {
        .audit = { .market_count = 2,
                   .invariants = 0x2A,
                   .recount_differences = 3,
                   .cash = -((int128)1 << 70) },
        .markets = { { .market = "A-PERP",
                       .size_sum = -5,
                       .price_decimals = 2,
                       .size_decimals = 4 },
                     { .market = "B-PERP",
                       .best_ask = 101,
                       .cost_sum = 1,
                       .price_decimals = 2,
                       .size_decimals = 4 } },
    };
    const char *body = show(QUERY_audit, &rows_of_audit, sizeof rows_of_audit);
    CHECK(strstr(body, "{\"market\":\"A-PERP\",\"size_sum\":\"-0.0005\",\"cost_sum\":\"0\","
                       "\"best_bid\":null,\"best_ask\":null,\"funding_pool\":\"0\"},"
                       "{\"market\":\"B-PERP\",\"size_sum\":\"0\",\"cost_sum\":\"0.000001\","
                       "\"best_bid\":null,\"best_ask\":\"1.01\"") != NULL);
    CHECK(strstr(body, "\"cash\":\"-1180591620717411.303424\"") != NULL);
    CHECK(strstr(body,
                 "\"i1\":false,\"i2\":true,\"i3\":false,\"i4\":true,\"i5\":false,\"i6\":true,"
                 "\"i7\":false,\"i8\":false,\"i9\":false,\"i10\":false,"
                 "\"solvency\":{\"fund\":\"0\",\"fee_account\":\"0\",\"owed\":\"0\",\"net\":\"0\","
                 "\"claims\":\"0\",\"short\":false},\"recount_differences\":3}") != NULL);
}

int main(void)
{
    orders();
    conditional_orders();
    closed_records();
    tiers_to_come();
    audits();
    return 0;
}
