#include "net/json/show_holding.h"

#include "net/json/show_member.h"

static const char *const portfolio_names[] = { "ACTIVE", "IN_LIQUIDATION", "CLOSED" };

void show_holding_account(struct writer *writer, const struct row_account *row)
{
    WRITER_TEXT(writer, "{\"account_id\":");
    writer_uint(writer, row->account_id);
    SHOW_WORD(writer, "status", SHOW_NAME_OF(show_member_accounts, row->status));
    SHOW_UINT(writer, "fee_tier", row->fee_tier);
    SHOW_DECIMAL(writer, "maker_fee_rate", row->maker_fee_ppm, SHOW_RATE_SCALE);
    SHOW_DECIMAL(writer, "taker_fee_rate", row->taker_fee_ppm, SHOW_RATE_SCALE);
    SHOW_AMOUNT(writer, "volume_14d", row->volume_14d);
    if (row->label[0] != '\0')
        SHOW_FIELD(writer, "label", row->label);
    SHOW_UINT(writer, "subaccount_count", row->subaccount_count);
    WRITER_TEXT(writer, "}");
}

void show_holding_subaccount(struct writer *writer, const struct row_subaccount *row)
{
    WRITER_TEXT(writer, "{\"subaccount_index\":");
    writer_uint(writer, row->subaccount_index);
    SHOW_WORD(writer, "status", SHOW_NAME_OF(show_member_accounts, row->status));
    SHOW_UINT(writer, "portfolio_count", row->portfolio_count);
    SHOW_AMOUNT(writer, "cash_balance", row->cash_balance);
    WRITER_TEXT(writer, "}");
}

void show_holding_balance(struct writer *writer, const struct row_balance *row)
{
    show_member_ids(writer, row->account_id, row->subaccount_index, row->portfolio_index);
    SHOW_AMOUNT(writer, "cash_balance", row->cash_balance);
    SHOW_FIELD(writer, "name", row->name);
    SHOW_WORD(writer, "status", SHOW_NAME_OF(portfolio_names, row->status));
    SHOW_AMOUNT(writer, "equity", row->equity);
    SHOW_AMOUNT(writer, "initial_margin", row->initial_margin);
    SHOW_AMOUNT(writer, "maintenance_margin", row->maintenance_margin);
    SHOW_AMOUNT(writer, "withdrawable", row->withdrawable);
    WRITER_TEXT(writer, "}");
}

void show_holding_position(struct writer *writer, const struct row_position *row)
{
    int128 size = row->size;
    INVARIANT(size != 0); /* of size 0 there is no position, and no average price */
    show_member_ids(writer, row->account_id, row->subaccount_index, row->portfolio_index);
    SHOW_UUID(writer, "id", row->id);
    SHOW_FIELD(writer, "market", row->market);
    SHOW_WORD(writer, "side", show_member_sides[size < 0]);
    SHOW_DECIMAL(writer, "size", size < 0 ? -size : size, row->size_decimals);
    show_member_average(writer, "average_entry_price", row->cost, size, row->price_decimals);
    SHOW_AMOUNT(writer, "net_funding", row->net_funding);
    SHOW_DECIMAL(writer, "mark_price", row->mark_price, row->price_decimals);
    SHOW_AMOUNT(writer, "unrealized_pnl", row->unrealized_pnl);
    if (row->liquidation_price == 0)
        WRITER_TEXT(writer, ",\"liquidation_price\":null");
    else
        SHOW_DECIMAL(writer, "liquidation_price", row->liquidation_price, row->price_decimals);
    SHOW_UINT(writer, "leverage", row->leverage);
    SHOW_AMOUNT(writer, "initial_margin", row->initial_margin);
    SHOW_AMOUNT(writer, "maintenance_margin", row->maintenance_margin);
    SHOW_UINT(writer, "adl_quantile", row->adl_quantile);
    WRITER_TEXT(writer, "}");
}
