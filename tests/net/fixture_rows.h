/* fixture_rows.h - the rows that the follower of fixture.c answers queries with, by kind. */
#ifndef TESTS_NET_FIXTURE_ROWS_H
#define TESTS_NET_FIXTURE_ROWS_H

#include "base/query_message.h"
#include "base/row.h"
#include "base/row_history.h"

/* Rows of the examples of json.md. */
static const struct row_order order_row = {
    .account_id = 7,
    .id = { 0x01, 0x98, 0xc0, 0xde, 0, 0, 0x70, 0, 0x80, 0, 0, 0, 0, 0, 0, 0xa1 },
    .market = "BTC-PERP",
    .initial = 50000,
    .remaining = 20000,
    .filled = 30000,
    .filled_notional = (int128)30000 * 1000000,
    .price = 1000000,
    .expiry = UINT64_MAX,
    .sequence = 4711,
    .time_ns = UINT64_C(1755582431240112233),
    .updated_at_ns = UINT64_C(1755582431900112233),
    .book_handle = 8990,
    .status = 5,
    .order_type = 1,
    .side = 1,
    .price_decimals = 1,
    .size_decimals = 5,
};

static const struct row_balance balance_row = {
    .account_id = 7,
    .cash_balance = INT64_C(7495750000),
    .withdrawable = INT64_C(7495750000),
    .withdrawable_now = INT64_C(7495000000),
    .equity = INT64_C(9998500000),
    .initial_margin = INT64_C(2499750000),
    .maintenance_margin = INT64_C(299970000),
    .name = "Main",
};

static const struct row_account account_row = {
    .account_id = 7,
    .maker_fee_ppm = 150,
    .taker_fee_ppm = 450,
    .subaccount_count = 1,
    .label = "desk \"A\"",
    .volume_14d = 1500000,
    .private_seq = 500,
};

static const struct {
    struct row_book book;
    struct row_level levels[2];
} book_rows = {
    .book = { .market = "BTC-PERP",
              .book_seq = 9001,
              .bid_count = 1,
              .ask_count = 1,
              .price_decimals = 1,
              .size_decimals = 5 },
    .levels = { { 999999, 40000 }, { 1000000, 20000 } },
};

static const struct {
    struct row_audit audit;
    struct row_audit_market market;
} audit_rows = {
    .audit = { .cash = 5000000,
               .deposits = 5000000,
               .fund = -3000000,
               .owed = 1000000,
               .claims = 8000000,
               .invariants = 0x3FF,
               .market_count = 1 },
    .market = { .market = "BTC-PERP", .best_bid = 999999, .price_decimals = 1, .size_decimals = 5 },
};

static const struct row_market market_row = {
    .market = "BTC-PERP",
    .base = "BTC",
    .tick_size = 1,
    .lot_size = 1,
    .min_size = 1,
    .max_order_size = UINT64_C(1099511627775),
    .min_notional = 10000000,
    .impact_notional = UINT64_C(20000000000),
    .max_price = 16777215,
    .max_leverage = 50,
    .price_band_ppm = 100000,
    .max_slippage_ppm = 50000,
    .mark_book_ppm = 2500,
    .oracle_sources_min = 1,
    .asset_id = 1,
    .price_decimals = 1,
    .size_decimals = 5,
    .tier_count = 2,
    .tiers = { { UINT64_C(20000000000000), 50, 20000, 10000, 0 }, { 0, 5, 200000, 100000, 0 } },
    .maker_fee_ppm = { 150, 120, 80, 40, 0, -20 },
    .taker_fee_ppm = { 450, 400, 350, 300, 280, 260 },
};

static const struct row_subaccount subaccount_row = { .portfolio_count = 1 };

static const struct {
    struct row_book book;
    struct row_book_order order;
} orders_row = {
    .book = { .market = "BTC-PERP", .book_seq = 9001, .ask_count = 1 },
    .order = { .price = 7, .size = 30, .handle = 8000 },
};

static const struct row_trades trades_row = { .market = "BTC-PERP", .book_seq = 9001 };

static const struct {
    struct row_candles list;
    struct row_candle candle;
} candles_row = {
    .list = { .market = "BTC-PERP", .seq = 9001, .candle_count = 1 },
    .candle = { .start_ms = 60000,
                .open = 5,
                .high = 9,
                .low = 4,
                .close = 6,
                .volume = 3,
                .notional = 2000000,
                .trade_count = 2 },
};

static const struct row_mark mark_row = { .market = "BTC-PERP", .book_seq = 9001 };

static const struct row_request request_row = { .sequence = 4711 };

static const struct {
    const void *bytes;
    uint32_t count;
} canned_rows[QUERY_KIND_COUNT] = {
    [QUERY_order] = { &order_row, sizeof order_row },
    [QUERY_balance] = { &balance_row, sizeof balance_row },
    [QUERY_account] = { &account_row, sizeof account_row },
    [QUERY_limits] = { &account_row, sizeof account_row },
    [QUERY_markets] = { &market_row, sizeof market_row },
    [QUERY_market] = { &market_row, sizeof market_row },
    [QUERY_book] = { &book_rows, sizeof book_rows },
    [QUERY_book_orders] = { &orders_row, sizeof orders_row },
    [QUERY_audit] = { &audit_rows, sizeof audit_rows },
    [QUERY_orders] = { &order_row, sizeof order_row },
    [QUERY_fills] = { "", 0 },
    [QUERY_positions] = { "", 0 },
    [QUERY_balances] = { &balance_row, sizeof balance_row },
    [QUERY_subaccounts] = { &subaccount_row, sizeof subaccount_row },
    [QUERY_mark] = { &mark_row, sizeof mark_row },
    [QUERY_trades] = { &trades_row, sizeof trades_row },
    [QUERY_trades_after] = { &trades_row, sizeof trades_row },
    [QUERY_candles] = { &candles_row, sizeof candles_row },
    [QUERY_request] = { &request_row, sizeof request_row },
};

#endif
