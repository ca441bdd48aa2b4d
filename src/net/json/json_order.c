#include "net/json/json_order.h"

#include "base/reason.h"
#include "net/json/json_field.h"

enum { ORDER_CANCELED = 2, ORDER_REJECTED = 3, ORDER_UNTRIGGERED = 4 };

/* wire.md, Enum codes: by number. */
static const char *const status_names[] = { "OPEN",     "FILLED",      "CANCELED",
                                            "REJECTED", "UNTRIGGERED", "PARTIALLY_FILLED",
                                            "EXPIRED" };
static const char *const type_names[] = { "MARKET",      "LIMIT",          "STOP_LIMIT",
                                          "STOP_MARKET", "TAKE_PROFIT",    "TAKE_PROFIT_MARKET",
                                          "LIQUIDATE",   "AUTO_DELEVERAGE" };
static const char *const source_names[] = { "MARK", "LAST", "INDEX" };
static const char *const stp_names[] = { "EXPIRE_TAKER", "EXPIRE_MAKER", "EXPIRE_BOTH",
                                         "DECREMENT" };

const char *json_order_status(uint8_t status)
{
    return JSON_FIELD_NAME_OF(status_names, status);
}

bool json_order_status_of(const char *word, uint8_t *status)
{
    for (unsigned i = 0; i < CC_COUNT(status_names); i++)
        if (strcmp(word, status_names[i]) == 0) {
            *status = (uint8_t)i;
            return true;
        }
    return false;
}

/* STOP_LIMIT to TAKE_PROFIT_MARKET. */
static bool is_conditional(uint8_t order_type)
{
    return order_type >= 2 && order_type <= 5;
}

/* The expiry in force: of a waiting conditional order its own lifetime, later its live_tif. */
static uint64_t expiry_of(const struct row_order *row)
{
    if (!is_conditional(row->order_type) || row->status == ORDER_UNTRIGGERED)
        return row->expiry;
    return row->live_tif < 2 ? row->live_tif : UINT64_MAX;
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
bool json_order_has_price(uint8_t order_type)
{
    return order_type != 0 && order_type != 3 && order_type != 5;
}

static void write_price(struct writer *writer, const struct row_order *row)
{
    uint64_t expiry = expiry_of(row);

    if (expiry <= 1 || expiry == UINT64_MAX)
        WRITER_TEXT(writer, ",\"expires_at\":null");
    else
        JSON_FIELD_UINT(writer, "expires_at", expiry);
    if (json_order_has_price(row->order_type))
        JSON_FIELD_DECIMAL(writer, "price", row->price, row->price_decimals);
    else
        WRITER_TEXT(writer, ",\"price\":null");
    JSON_FIELD_DECIMAL(writer, "filled_size", row->filled, row->size_decimals);
    if (row->filled == 0)
        WRITER_TEXT(writer, ",\"average_price\":null");
    else
        json_field_average(writer, "average_price", row->filled_notional, row->filled,
                           row->price_decimals);
}

static void write_trigger(struct writer *writer, const struct row_order *row)
{
    static const uint8_t none[sizeof row->oco_group];

    if (!is_conditional(row->order_type)) {
        WRITER_TEXT(writer, ",\"trigger_price\":null,\"trigger_source\":null,\"oco_group\":null");
        return;
    }
    JSON_FIELD_DECIMAL(writer, "trigger_price", row->trigger_price, row->price_decimals);
    JSON_FIELD_WORD(writer, "trigger_source",
                    JSON_FIELD_NAME_OF(source_names, row->trigger_source));
    if (memcmp(row->oco_group, none, sizeof none) == 0)
        WRITER_TEXT(writer, ",\"oco_group\":null");
    else
        JSON_FIELD_UUID(writer, "oco_group", row->oco_group);
}

static void write_times(struct writer *writer, const struct row_order *row)
{
    JSON_FIELD_UINT(writer, "sequence", row->sequence);
    JSON_FIELD_UINT(writer, "index", row->index);
    JSON_FIELD_UINT(writer, "time", row->time_ns / 1000000);
    JSON_FIELD_UINT(writer, "time_ns", row->time_ns);
    JSON_FIELD_UINT(writer, "updated_at_ns", row->updated_at_ns);
}

void json_order_handle(struct writer *writer, uint64_t handle)
{
    if (handle == 0)
        WRITER_TEXT(writer, ",\"book_handle\":null");
    else
        JSON_FIELD_UINT(writer, "book_handle", handle);
}

void json_order(struct writer *writer, const struct row_order *row)
{
    json_field_ids(writer, row->account_id, row->subaccount_index, row->portfolio_index);
    JSON_FIELD_UUID(writer, "id", row->id);
    JSON_FIELD_DECIMAL(writer, "initial_size", row->initial, row->size_decimals);
    JSON_FIELD_DECIMAL(writer, "remaining_size", row->remaining, row->size_decimals);
    JSON_FIELD_TEXT(writer, "market", row->market);
    JSON_FIELD_WORD(writer, "order_status", json_order_status(row->status));
    JSON_FIELD_WORD(writer, "order_type", JSON_FIELD_NAME_OF(type_names, row->order_type));
    JSON_FIELD_WORD(writer, "side", JSON_FIELD_NAME_OF(json_field_sides, row->side));
    JSON_FIELD_WORD(writer, "time_in_force", time_in_force(expiry_of(row)));
    JSON_FIELD_BOOL(writer, "post_only", row->post_only != 0);
    JSON_FIELD_BOOL(writer, "reduce_only", row->reduce_only != 0);
    write_price(writer, row);
    JSON_FIELD_WORD(writer, "stp", JSON_FIELD_NAME_OF(stp_names, row->stp));
    write_trigger(writer, row);
    const char *reason = reason_name(row->reason);
    if (reason != NULL && (row->status == ORDER_CANCELED || row->status == ORDER_REJECTED))
        JSON_FIELD_WORD(writer, "reason", reason);
    write_times(writer, row);
    json_order_handle(writer, row->book_handle);
    WRITER_TEXT(writer, "}");
}
