#include "net/show.h"

#include "base/decimal.h"
#include "base/reason.h"
#include "base/row.h"
#include "net/show_market.h"

enum { AMOUNT_SCALE = 6, RATE_SCALE = 6 };

enum { ORDER_CANCELED = 2, ORDER_REJECTED = 3 };

/* wire.md, Enum codes: by number. */
static const char *const status_names[] = { "OPEN",     "FILLED",      "CANCELED",
                                            "REJECTED", "UNTRIGGERED", "PARTIALLY_FILLED",
                                            "EXPIRED" };
static const char *const type_names[] = { "MARKET",      "LIMIT",          "STOP_LIMIT",
                                          "STOP_MARKET", "TAKE_PROFIT",    "TAKE_PROFIT_MARKET",
                                          "LIQUIDATE",   "AUTO_DELEVERAGE" };
static const char *const side_names[] = { "LONG", "SHORT" };
static const char *const stp_names[] = { "EXPIRE_TAKER", "EXPIRE_MAKER", "EXPIRE_BOTH",
                                         "DECREMENT" };
static const char *const portfolio_names[] = { "ACTIVE", "IN_LIQUIDATION", "CLOSED" };
static const char *const account_names[] = { "ACTIVE", "CLOSED" };

#define NAME_OF(names, value) ((value) < CC_COUNT(names) ? (names)[value] : "")

static void write_name(struct writer *writer, const char *name)
{
    WRITER_TEXT(writer, "\"");
    writer_text(writer, name);
    WRITER_TEXT(writer, "\"");
}

static void write_ids(struct writer *writer, uint64_t account, uint32_t subaccount,
                      uint32_t portfolio)
{
    WRITER_TEXT(writer, "{\"account_id\":");
    writer_uint(writer, account);
    WRITER_TEXT(writer, ",\"subaccount_index\":");
    writer_uint(writer, subaccount);
    WRITER_TEXT(writer, ",\"portfolio_index\":");
    writer_uint(writer, portfolio);
}

static const char *time_in_force(uint64_t expiry)
{
    if (expiry == 0)
        return "IOC";
    if (expiry == 1)
        return "FOK";
    return expiry == UINT64_MAX ? "GTC" : "GTT";
}

/* W10: MARKET, STOP_MARKET and TAKE_PROFIT_MARKET have no price. */
static bool has_price(uint8_t order_type)
{
    return order_type != 0 && order_type != 3 && order_type != 5;
}

static void write_price(struct writer *writer, const struct row_order *row)
{
    WRITER_TEXT(writer, ",\"expires_at\":");
    if (row->expiry <= 1 || row->expiry == UINT64_MAX)
        WRITER_TEXT(writer, "null");
    else
        writer_uint(writer, row->expiry);
    WRITER_TEXT(writer, ",\"price\":");
    if (has_price(row->order_type))
        writer_decimal(writer, row->price, row->price_decimals);
    else
        WRITER_TEXT(writer, "null");
    WRITER_TEXT(writer, ",\"filled_size\":");
    writer_decimal(writer, row->filled, row->size_decimals);
    WRITER_TEXT(writer, ",\"average_price\":");
    if (row->filled == 0) {
        WRITER_TEXT(writer, "null");
        return;
    }
    char text[DECIMAL_TEXT_MAX];
    size_t count =
        decimal_format_average(text, row->filled_notional, row->filled, row->price_decimals);
    WRITER_TEXT(writer, "\"");
    writer_bytes(writer, text, count);
    WRITER_TEXT(writer, "\"");
}

static void write_times(struct writer *writer, const struct row_order *row)
{
    WRITER_TEXT(writer, ",\"sequence\":");
    writer_uint(writer, row->sequence);
    WRITER_TEXT(writer, ",\"index\":");
    writer_uint(writer, row->index);
    WRITER_TEXT(writer, ",\"time\":");
    writer_uint(writer, row->time_ns / 1000000);
    WRITER_TEXT(writer, ",\"time_ns\":");
    writer_uint(writer, row->time_ns);
    WRITER_TEXT(writer, ",\"updated_at_ns\":");
    writer_uint(writer, row->updated_at_ns);
}

static void show_order(struct writer *writer, const uint8_t *rows)
{
    struct row_order row;
    memcpy(&row, rows, sizeof row);
    write_ids(writer, row.account_id, row.subaccount_index, row.portfolio_index);
    WRITER_TEXT(writer, ",\"id\":");
    writer_uuid(writer, row.id);
    WRITER_TEXT(writer, ",\"initial_size\":");
    writer_decimal(writer, row.initial, row.size_decimals);
    WRITER_TEXT(writer, ",\"remaining_size\":");
    writer_decimal(writer, row.remaining, row.size_decimals);
    WRITER_TEXT(writer, ",\"market\":");
    show_market_text(writer, row.market, sizeof row.market);
    WRITER_TEXT(writer, ",\"order_status\":");
    write_name(writer, NAME_OF(status_names, row.status));
    WRITER_TEXT(writer, ",\"order_type\":");
    write_name(writer, NAME_OF(type_names, row.order_type));
    WRITER_TEXT(writer, ",\"side\":");
    write_name(writer, NAME_OF(side_names, row.side));
    WRITER_TEXT(writer, ",\"time_in_force\":");
    write_name(writer, time_in_force(row.expiry));
    WRITER_TEXT(writer, ",\"post_only\":");
    writer_bool(writer, row.post_only != 0);
    WRITER_TEXT(writer, ",\"reduce_only\":");
    writer_bool(writer, row.reduce_only != 0);
    write_price(writer, &row);
    WRITER_TEXT(writer, ",\"stp\":");
    write_name(writer, NAME_OF(stp_names, row.stp));
    WRITER_TEXT(writer, ",\"trigger_price\":null,\"trigger_source\":null,\"oco_group\":null");
    const char *reason = reason_name(row.reason);
    if (reason != NULL && (row.status == ORDER_CANCELED || row.status == ORDER_REJECTED)) {
        WRITER_TEXT(writer, ",\"reason\":");
        write_name(writer, reason);
    }
    write_times(writer, &row);
    WRITER_TEXT(writer, "}");
}

static void show_balance(struct writer *writer, const uint8_t *rows)
{
    struct row_balance row;
    memcpy(&row, rows, sizeof row);
    write_ids(writer, row.account_id, row.subaccount_index, row.portfolio_index);
    WRITER_TEXT(writer, ",\"cash_balance\":");
    writer_decimal(writer, row.cash_balance, AMOUNT_SCALE);
    WRITER_TEXT(writer, ",\"name\":");
    show_market_text(writer, row.name, sizeof row.name);
    WRITER_TEXT(writer, ",\"status\":");
    write_name(writer, NAME_OF(portfolio_names, row.status));
    WRITER_TEXT(writer, ",\"equity\":");
    writer_decimal(writer, row.equity, AMOUNT_SCALE);
    WRITER_TEXT(writer, ",\"initial_margin\":");
    writer_decimal(writer, row.initial_margin, AMOUNT_SCALE);
    WRITER_TEXT(writer, ",\"maintenance_margin\":");
    writer_decimal(writer, row.maintenance_margin, AMOUNT_SCALE);
    WRITER_TEXT(writer, ",\"withdrawable\":");
    writer_decimal(writer, row.withdrawable, AMOUNT_SCALE);
    WRITER_TEXT(writer, "}");
}

static void show_account(struct writer *writer, const uint8_t *rows)
{
    struct row_account row;
    memcpy(&row, rows, sizeof row);
    WRITER_TEXT(writer, "{\"account_id\":");
    writer_uint(writer, row.account_id);
    WRITER_TEXT(writer, ",\"status\":");
    write_name(writer, NAME_OF(account_names, row.status));
    WRITER_TEXT(writer, ",\"fee_tier\":");
    writer_uint(writer, row.fee_tier);
    WRITER_TEXT(writer, ",\"maker_fee_rate\":");
    writer_decimal(writer, row.maker_fee_ppm, RATE_SCALE);
    WRITER_TEXT(writer, ",\"taker_fee_rate\":");
    writer_decimal(writer, row.taker_fee_ppm, RATE_SCALE);
    WRITER_TEXT(writer, ",\"volume_14d\":");
    writer_decimal(writer, row.volume_14d, AMOUNT_SCALE);
    if (row.label[0] != '\0') {
        WRITER_TEXT(writer, ",\"label\":");
        show_market_text(writer, row.label, sizeof row.label);
    }
    WRITER_TEXT(writer, ",\"subaccount_count\":");
    writer_uint(writer, row.subaccount_count);
    WRITER_TEXT(writer, "}");
}

static void show_market(struct writer *writer, const uint8_t *rows)
{
    struct row_market row;
    memcpy(&row, rows, sizeof row);
    show_market_record(writer, &row);
}

void show_reply(struct writer *writer, const struct reply *reply, const uint8_t *rows)
{
    switch ((enum query_kind)reply->kind) {
    case QUERY_order:
        show_order(writer, rows);
        return;
    case QUERY_balance:
        show_balance(writer, rows);
        return;
    case QUERY_account:
        show_account(writer, rows);
        return;
    case QUERY_markets:
        show_market_list(writer, reply, rows);
        return;
    case QUERY_market:
        show_market(writer, rows);
        return;
    case QUERY_book:
        show_market_book(writer, reply, rows);
        return;
    case QUERY_audit:
        show_market_audit(writer, reply, rows);
        return;
    case QUERY_orders:
    case QUERY_fills:
    case QUERY_request:
    case QUERY_positions:
    case QUERY_balances:
    case QUERY_subaccounts:
    case QUERY_trades:
    case QUERY_KIND_COUNT:
        break;
    }
    INVARIANT(reply->kind < QUERY_KIND_COUNT);
}
