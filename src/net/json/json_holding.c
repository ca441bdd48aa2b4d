#include "net/json/json_holding.h"

#include "net/json/json_field.h"

static const char *const portfolio_names[] = { "ACTIVE", "IN_LIQUIDATION", "CLOSED" };

void json_holding_slots(struct writer *writer, const struct row_account *row)
{
    const char *class = share_class_name((enum share_class)row->share_class);

    WRITER_TEXT(writer, ",\"slots\":{\"class\":");
    writer_string(writer, class, strlen(class));
    WRITER_TEXT(writer, ",\"tables\":[");
    for (uint32_t i = 0; i < SHARE_TABLE_COUNT; i++) {
        const char *table = share_table_name((enum share_table)i);
        writer_text(writer, i == 0 ? "{\"table\":" : ",{\"table\":");
        writer_string(writer, table, strlen(table));
        JSON_FIELD_UINT(writer, "used", row->slots_used[i]);
        if (row->slots_bound[i] != UINT32_MAX)
            JSON_FIELD_UINT(writer, "bound", row->slots_bound[i]);
        WRITER_TEXT(writer, "}");
    }
    WRITER_TEXT(writer, "]}");
}

void json_holding_account(struct writer *writer, const struct row_account *row)
{
    WRITER_TEXT(writer, "{\"account_id\":");
    writer_uint(writer, row->account_id);
    JSON_FIELD_WORD(writer, "status", JSON_FIELD_NAME_OF(json_field_accounts, row->status));
    JSON_FIELD_UINT(writer, "fee_tier", row->fee_tier);
    JSON_FIELD_DECIMAL(writer, "maker_fee_rate", row->maker_fee_ppm, JSON_FIELD_RATE_SCALE);
    JSON_FIELD_DECIMAL(writer, "taker_fee_rate", row->taker_fee_ppm, JSON_FIELD_RATE_SCALE);
    JSON_FIELD_AMOUNT(writer, "volume_14d", row->volume_14d);
    if (row->label[0] != '\0')
        JSON_FIELD_TEXT(writer, "label", row->label);
    JSON_FIELD_UINT(writer, "subaccount_count", row->subaccount_count);
    json_holding_slots(writer, row);
    WRITER_TEXT(writer, "}");
}

void json_holding_subaccount(struct writer *writer, const struct row_subaccount *row)
{
    WRITER_TEXT(writer, "{\"subaccount_index\":");
    writer_uint(writer, row->subaccount_index);
    JSON_FIELD_WORD(writer, "status", JSON_FIELD_NAME_OF(json_field_accounts, row->status));
    JSON_FIELD_UINT(writer, "portfolio_count", row->portfolio_count);
    JSON_FIELD_AMOUNT(writer, "cash_balance", row->cash_balance);
    WRITER_TEXT(writer, "}");
}

void json_holding_balance(struct writer *writer, const struct row_balance *row)
{
    json_field_ids(writer, row->account_id, row->subaccount_index, row->portfolio_index);
    JSON_FIELD_AMOUNT(writer, "cash_balance", row->cash_balance);
    JSON_FIELD_TEXT(writer, "name", row->name);
    JSON_FIELD_WORD(writer, "status", JSON_FIELD_NAME_OF(portfolio_names, row->status));
    JSON_FIELD_AMOUNT(writer, "equity", row->equity);
    JSON_FIELD_AMOUNT(writer, "initial_margin", row->initial_margin);
    JSON_FIELD_AMOUNT(writer, "maintenance_margin", row->maintenance_margin);
    JSON_FIELD_AMOUNT(writer, "withdrawable", row->withdrawable);
    JSON_FIELD_AMOUNT(writer, "withdrawable_now", row->withdrawable_now);
    WRITER_TEXT(writer, "}");
}

void json_holding_position(struct writer *writer, const struct row_position *row)
{
    int128 size = row->size;
    INVARIANT(size != 0); /* a position of size 0 has no average price */
    json_field_ids(writer, row->account_id, row->subaccount_index, row->portfolio_index);
    JSON_FIELD_UUID(writer, "id", row->id);
    JSON_FIELD_TEXT(writer, "market", row->market);
    JSON_FIELD_WORD(writer, "side", json_field_sides[size < 0]);
    JSON_FIELD_DECIMAL(writer, "size", size < 0 ? -size : size, row->size_decimals);
    json_field_average(writer, "average_entry_price", row->cost, size, row->price_decimals);
    JSON_FIELD_AMOUNT(writer, "net_funding", row->net_funding);
    JSON_FIELD_DECIMAL(writer, "mark_price", row->mark_price, row->price_decimals);
    JSON_FIELD_AMOUNT(writer, "unrealized_pnl", row->unrealized_pnl);
    JSON_FIELD_DECIMAL_OR_NULL(writer, "liquidation_price", row->liquidation_price,
                               row->price_decimals);
    JSON_FIELD_UINT(writer, "leverage", row->leverage);
    JSON_FIELD_AMOUNT(writer, "initial_margin", row->initial_margin);
    JSON_FIELD_AMOUNT(writer, "maintenance_margin", row->maintenance_margin);
    JSON_FIELD_UINT(writer, "adl_quantile", row->adl_quantile);
    WRITER_TEXT(writer, "}");
}
