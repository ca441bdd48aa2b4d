/* Lists and history as JSON, byte for byte: the examples of json.md J2 (fills, positions), J6 with
 * J9 (trades), J2 (requests, subaccounts, sessions, API keys), J1 (bare arrays, paging of wrapped
 * lists). */
#include <stdio.h>

#include "base/reason.h"
#include "base/row.h"
#include "base/row_history.h"
#include "base/status.h"
#include "check.h"
#include "net/json/json_reply.h"

#define ORDER_ID                                                            \
    {                                                                       \
        0x01, 0x98, 0xc0, 0xde, 0, 0, 0x70, 0, 0x80, 0, 0, 0, 0, 0, 0, 0xa1 \
    }
#define FILL_ID                                                                      \
    {                                                                                \
        0x01, 0x98, 0xc0, 0xde, 0x02, 0x9c, 0x71, 0xcb, 0x80, 0, 0, 4, 0x9c, 0, 0, 0 \
    }
#define POSITION_ID                                                                  \
    {                                                                                \
        0x01, 0x98, 0xc0, 0xde, 0x02, 0x9c, 0x71, 0xcb, 0x80, 0, 0, 4, 0x9c, 0, 0, 1 \
    }

#define ORDER_TEXT "0198c0de-0000-7000-8000-0000000000a1"
#define FILL_TEXT  "0198c0de-029c-71cb-8000-00049c000000"

static char text[65536];

static void show(enum query_kind kind, const void *rows, uint32_t row_count, size_t row_bytes,
                 bool more, const char *want)
{
    struct writer writer = writer_begin(text, sizeof text - 1);
    struct reply reply = { .kind = (uint16_t)kind,
                           .row_count = row_count,
                           .row_bytes = (uint32_t)(row_count * row_bytes),
                           .more = more };
    json_reply(&writer, &reply, rows);
    CHECK(!writer.full);
    text[writer_count(&writer)] = '\0';
    if (strcmp(text, want) != 0)
        fprintf(stderr, "%s\n%s\n", text, want);
    CHECK(strcmp(text, want) == 0);
}

static void fills(void)
{
    static struct row_fill rows[2] = {
        { .account_id = 7,
          .id = FILL_ID,
          .request_id = ORDER_ID,
          .market = "BTC-PERP",
          .price = 1000000,
          .quantity = 30000,
          .fee = 4500000,
          .sequence = 4720,
          .time_ns = UINT64_C(1755582431900112233),
          .trade_seq = 310,
          .side = 1,
          .liquidity = 1,
          .price_decimals = 1,
          .size_decimals = 5 },
        /* R6: a rebate is a negative fee; ADL and takeover have no trade. */
        { .account_id = UINT64_MAX,
          .subaccount_index = 3,
          .portfolio_index = 4,
          .market = "DOGE-PERP",
          .price = 20001,
          .quantity = 7,
          .fee = -1,
          .sequence = 4719,
          .index = 5,
          .time_ns = UINT64_C(1755582431899999999),
          .price_decimals = 6 },
    };
    show(QUERY_fills, rows, 1, sizeof rows[0], false,
         "[{\"account_id\":7,\"subaccount_index\":0,\"portfolio_index\":0,\"id\":\"" FILL_TEXT
         "\",\"request_id\":\"" ORDER_TEXT "\",\"market\":\"BTC-PERP\",\"side\":\"SHORT\","
         "\"liquidity\":\"MAKER\",\"price\":\"100000\",\"quantity\":\"0.3\",\"fee\":\"4.5\","
         "\"time\":1755582431900,\"sequence\":4720,\"index\":0,\"time_ns\":1755582431900112233,"
         "\"trade_seq\":310}]");
    show(QUERY_fills, rows + 1, 1, sizeof rows[0], false,
         "[{\"account_id\":18446744073709551615,\"subaccount_index\":3,\"portfolio_index\":4,"
         "\"id\":\"00000000-0000-0000-0000-000000000000\","
         "\"request_id\":\"00000000-0000-0000-0000-000000000000\",\"market\":\"DOGE-PERP\","
         "\"side\":\"LONG\",\"liquidity\":\"TAKER\",\"price\":\"0.020001\",\"quantity\":\"7\","
         "\"fee\":\"-0.000001\",\"time\":1755582431899,\"sequence\":4719,\"index\":5,"
         "\"time_ns\":1755582431899999999,\"trade_seq\":null}]");
    show(QUERY_fills, rows, 0, sizeof rows[0], false, "[]");
}

static void positions(void)
{
    static struct row_position rows[2] = {
        { .account_id = 7,
          .id = POSITION_ID,
          .market = "BTC-PERP",
          .size = -30000,
          .cost = INT64_C(-30000000000),
          .mark_price = 999900,
          .unrealized_pnl = 3000000,
          .liquidation_price = 1319983,
          .leverage = 20,
          .initial_margin = INT64_C(2499750000),
          .maintenance_margin = 299970000,
          .adl_quantile = 2,
          .price_decimals = 1,
          .size_decimals = 5 },
        /* R1: an average has 8 decimals more than the price; 10 / 3 = 3.333333333 at one. */
        { .account_id = 7,
          .portfolio_index = 1,
          .market = "ETH-PERP",
          .size = 3,
          .cost = 100,
          .net_funding = -2500000,
          .unrealized_pnl = -((int128)1 << 70),
          .leverage = 1,
          .price_decimals = 1,
          .size_decimals = 5 },
    };
    show(QUERY_positions, rows, 2, sizeof rows[0], false,
         "[{\"account_id\":7,\"subaccount_index\":0,\"portfolio_index\":0,"
         "\"id\":\"0198c0de-029c-71cb-8000-00049c000001\",\"market\":\"BTC-PERP\","
         "\"side\":\"SHORT\",\"size\":\"0.3\",\"average_entry_price\":\"100000\","
         "\"net_funding\":\"0\",\"mark_price\":\"99990\",\"unrealized_pnl\":\"3\","
         "\"liquidation_price\":\"131998.3\",\"leverage\":20,\"initial_margin\":\"2499.75\","
         "\"maintenance_margin\":\"299.97\",\"adl_quantile\":2},"
         "{\"account_id\":7,\"subaccount_index\":0,\"portfolio_index\":1,"
         "\"id\":\"00000000-0000-0000-0000-000000000000\",\"market\":\"ETH-PERP\","
         "\"side\":\"LONG\",\"size\":\"0.00003\",\"average_entry_price\":\"3.333333333\","
         "\"net_funding\":\"-2.5\",\"mark_price\":\"0\","
         "\"unrealized_pnl\":\"-1180591620717411.303424\",\"liquidation_price\":null,"
         "\"leverage\":1,\"initial_margin\":\"0\",\"maintenance_margin\":\"0\","
         "\"adl_quantile\":0}]");
}

static void subaccounts_and_balances(void)
{
    static const struct row_subaccount subaccounts[2] = {
        { .portfolio_count = 2, .cash_balance = 1500001 },
        { .subaccount_index = 1, .status = 1 },
    };
    static const struct row_balance balances[2] = {
        { .account_id = 7, .cash_balance = 1, .name = "Main" },
        { .account_id = 7, .portfolio_index = 1, .name = "Portfolio 1", .status = 1 },
    };
    show(QUERY_subaccounts, subaccounts, 2, sizeof subaccounts[0], false,
         "[{\"subaccount_index\":0,\"status\":\"ACTIVE\",\"portfolio_count\":2,"
         "\"cash_balance\":\"1.500001\"},{\"subaccount_index\":1,\"status\":\"CLOSED\","
         "\"portfolio_count\":0,\"cash_balance\":\"0\"}]");
    show(QUERY_balances, balances, 2, sizeof balances[0], false,
         "[{\"account_id\":7,\"subaccount_index\":0,\"portfolio_index\":0,"
         "\"cash_balance\":\"0.000001\",\"name\":\"Main\",\"status\":\"ACTIVE\",\"equity\":\"0\","
         "\"initial_margin\":\"0\",\"maintenance_margin\":\"0\",\"withdrawable\":\"0\","
         "\"withdrawable_now\":\"0\"},"
         "{\"account_id\":7,\"subaccount_index\":0,\"portfolio_index\":1,\"cash_balance\":\"0\","
         "\"name\":\"Portfolio 1\",\"status\":\"IN_LIQUIDATION\",\"equity\":\"0\","
         "\"initial_margin\":\"0\",\"maintenance_margin\":\"0\",\"withdrawable\":\"0\","
         "\"withdrawable_now\":\"0\"}]");
}

/* J2: a session without a pin and one whose master is not known; API keys in an object. */
static void credentials(void)
{
    static const struct row_session sessions[2] = {
        { .created_ns = 1755582431232000000,
          .expires_ns = 1758174431232999999,
          .key = { 1 },
          .master = { 2 },
          .has_master = 1,
          .pin = -1 },
        { .scope = 1, .pin = 3 },
    };
    static const struct row_api_key keys[4] = {
        { .created_ns = 1755582431232000000, .label = "bot", .pin = 0, .scope = 1 },
        { .pin = -1 },
        { .created_ns = 1755582431232000000,
          .expires_ns = 1758174431232999999,
          .pin = -1,
          .scope = 1,
          .is_device = 1 },
        { .pin = 3, .is_device = 1 },
    };
    static const char devices[] =
        "{\"device_key_id\":\"00000000-0000-0000-0000-000000000000\","
        "\"created_at\":\"2025-08-19T05:47:11.232Z\","
        "\"expires_at\":\"2025-09-18T05:47:11.232Z\"},"
        "{\"device_key_id\":\"00000000-0000-0000-0000-000000000000\",\"subaccount_index\":3,"
        "\"created_at\":\"1970-01-01T00:00:00.000Z\","
        "\"expires_at\":\"1970-01-01T00:00:00.000Z\"}]}";
    char with_devices[1024];
    show(QUERY_sessions, sessions, 2, sizeof sessions[0], false,
         "[{\"created_at\":\"2025-08-19T05:47:11.232Z\",\"expires_at\":"
         "\"2025-09-18T05:47:11.232Z\",\"session_id\":"
         "\"00000000-0000-0000-0000-000000000000\",\"session_public_key\":"
         "\"AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\",\"scope\":\"FULL_ACCESS\","
         "\"master_public_key\":\"AgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\"},"
         "{\"created_at\":\"1970-01-01T00:00:00.000Z\",\"expires_at\":"
         "\"1970-01-01T00:00:00.000Z\",\"session_id\":"
         "\"00000000-0000-0000-0000-000000000000\",\"session_public_key\":"
         "\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\",\"scope\":\"TRADING_ONLY\","
         "\"subaccount_index\":3}]");
    show(QUERY_api_keys, keys, 2, sizeof keys[0], false,
         "{\"api_keys\":[{\"api_key_id\":\"00000000-0000-0000-0000-000000000000\","
         "\"scope\":\"READ_WRITE\",\"subaccount_index\":0,\"label\":\"bot\",\"created_at\":"
         "\"2025-08-19T05:47:11.232Z\"},"
         "{\"api_key_id\":\"00000000-0000-0000-0000-000000000000\",\"scope\":\"READ\","
         "\"created_at\":\"1970-01-01T00:00:00.000Z\"}],\"device_keys\":[]}");
    (void)snprintf(with_devices, sizeof with_devices, "{\"api_keys\":[],\"device_keys\":[%s",
                   devices);
    show(QUERY_api_keys, keys + 2, 2, sizeof keys[0], false, with_devices);
    (void)snprintf(with_devices, sizeof with_devices,
                   "{\"api_keys\":[{\"api_key_id\":\"00000000-0000-0000-0000-000000000000\","
                   "\"scope\":\"READ\",\"created_at\":\"1970-01-01T00:00:00.000Z\"}],"
                   "\"device_keys\":[%s",
                   devices);
    show(QUERY_api_keys, keys + 1, 3, sizeof keys[0], false, with_devices);
}

/* A placed market order has no price and is IOC; two orders stand in one array. */
static void orders(void)
{
    static const struct row_order rows[2] = {
        { .account_id = 7,
          .id = ORDER_ID,
          .market = "BTC-PERP",
          .initial = 5,
          .filled = 5,
          .filled_notional = 5000000,
          .sequence = 9,
          .index = 1,
          .time_ns = 5999999,
          .updated_at_ns = 6,
          .status = 1,
          .price_decimals = 1,
          .size_decimals = 5 },
        { .account_id = 7, .market = "BTC-PERP", .order_type = 1, .expiry = UINT64_MAX },
    };
    show(QUERY_orders, rows, 2, sizeof rows[0], false,
         "[{\"account_id\":7,\"subaccount_index\":0,\"portfolio_index\":0,\"id\":\"" ORDER_TEXT
         "\",\"initial_size\":\"0.00005\",\"remaining_size\":\"0\",\"market\":\"BTC-PERP\","
         "\"order_status\":\"FILLED\",\"order_type\":\"MARKET\",\"side\":\"LONG\","
         "\"time_in_force\":\"IOC\",\"post_only\":false,\"reduce_only\":false,"
         "\"expires_at\":null,\"price\":null,\"filled_size\":\"0.00005\","
         "\"average_price\":\"100000\",\"stp\":\"EXPIRE_TAKER\",\"trigger_price\":null,"
         "\"trigger_source\":null,\"oco_group\":null,\"sequence\":9,\"index\":1,\"time\":5,"
         "\"time_ns\":5999999,\"updated_at_ns\":6,\"book_handle\":null},"
         "{\"account_id\":7,\"subaccount_index\":0,\"portfolio_index\":0,"
         "\"id\":\"00000000-0000-0000-0000-000000000000\",\"initial_size\":\"0\","
         "\"remaining_size\":\"0\",\"market\":\"BTC-PERP\",\"order_status\":\"OPEN\","
         "\"order_type\":\"LIMIT\",\"side\":\"LONG\",\"time_in_force\":\"GTC\","
         "\"post_only\":false,\"reduce_only\":false,\"expires_at\":null,\"price\":\"0\","
         "\"filled_size\":\"0\",\"average_price\":null,\"stp\":\"EXPIRE_TAKER\","
         "\"trigger_price\":null,\"trigger_source\":null,\"oco_group\":null,\"sequence\":0,"
         "\"index\":0,\"time\":0,\"time_ns\":0,\"updated_at_ns\":0,\"book_handle\":null}]");
}

static void requests(void)
{
    struct row_request row = { .request_id = ORDER_ID,
                               .sequence = 4711,
                               .processed_at_ns = UINT64_C(1755582431240112233),
                               .account_id = 7,
                               .id = FILL_ID };
    show(QUERY_request, &row, 1, sizeof row, false,
         "{\"request_id\":\"" ORDER_TEXT "\",\"request_type\":\"place_limit_order\","
         "\"status\":\"request_completed\",\"sequence\":4711,"
         "\"processed_at_ns\":1755582431240112233}");
    row.code = 11;
    row.status = STATUS_account_created_with_session;
    row.members = ROW_REQUEST_ACCOUNT | ROW_REQUEST_SESSION;
    show(QUERY_request, &row, 1, sizeof row, false,
         "{\"request_id\":\"" ORDER_TEXT "\",\"request_type\":\"create_account_secp256k1\","
         "\"status\":\"account_created_with_session\",\"sequence\":4711,"
         "\"processed_at_ns\":1755582431240112233,\"account_id\":7,\"session_id\":\"" FILL_TEXT
         "\"}");
    row.code = 34;
    row.status = STATUS_request_completed;
    row.members = ROW_REQUEST_API_KEY;
    show(QUERY_request, &row, 1, sizeof row, false,
         "{\"request_id\":\"" ORDER_TEXT "\",\"request_type\":\"create_api_key\","
         "\"status\":\"request_completed\",\"sequence\":4711,"
         "\"processed_at_ns\":1755582431240112233,\"api_key_id\":\"" FILL_TEXT "\"}");
    row.members = 0;
    row.status = STATUS_order_rejected_invalid;
    row.reason = REASON_limit_reached;
    show(QUERY_request, &row, 1, sizeof row, false,
         "{\"request_id\":\"" ORDER_TEXT "\",\"request_type\":\"create_api_key\","
         "\"status\":\"order_rejected_invalid\",\"reason\":\"limit_reached\",\"sequence\":4711,"
         "\"processed_at_ns\":1755582431240112233}");
}

static void trades(void)
{
    static struct {
        struct row_trades market;
        struct row_trade trades[2];
    } rows = {
        .market = { .market = "BTC-PERP",
                    .book_seq = 9001,
                    .trade_count = 2,
                    .price_decimals = 1,
                    .size_decimals = 5 },
        .trades = { { .price = 1000000,
                      .size = 30000,
                      .trade_seq = 310,
                      .sequence = 4720,
                      .index = 4,
                      .time_ns = UINT64_C(1755582431900112233),
                      .taker_side = 1 },
                    { .price = 999999,
                      .size = 1,
                      .trade_seq = 309,
                      .sequence = 4719,
                      .time_ns = UINT64_C(1755582431800000000),
                      .liquidation = 1 } },
    };
#define TRADES                                                                                  \
    "{\"market\":\"BTC-PERP\",\"seq\":9001,\"trades\":[{\"price\":\"100000\",\"size\":\"0.3\"," \
    "\"taker_side\":\"SHORT\",\"liquidation\":false,\"trade_seq\":310,\"sequence\":4720,"       \
    "\"index\":4,\"time\":1755582431900,\"time_ns\":1755582431900112233},{\"price\":"           \
    "\"99999.9\",\"size\":\"0.00001\",\"taker_side\":\"LONG\",\"liquidation\":true,"            \
    "\"trade_seq\":309,\"sequence\":4719,\"index\":0,\"time\":1755582431800,"                   \
    "\"time_ns\":1755582431800000000}],"
    show(QUERY_trades, &rows, 1, sizeof rows, true,
         TRADES "\"next_before_sequence\":4719,\"next_before_index\":0}");
    show(QUERY_trades, &rows, 1, sizeof rows, false,
         TRADES "\"next_before_sequence\":null,\"next_before_index\":null}");
    rows.market.trade_count = 0;
    show(QUERY_trades, &rows, 1, sizeof rows, false,
         "{\"market\":\"BTC-PERP\",\"seq\":9001,\"trades\":[],\"next_before_sequence\":null,"
         "\"next_before_index\":null}");
}

int main(void)
{
    fills();
    positions();
    subaccounts_and_balances();
    credentials();
    orders();
    requests();
    trades();
    return 0;
}
