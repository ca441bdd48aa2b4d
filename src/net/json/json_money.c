#include "net/json/json_money.h"

#include "base/hex.h"
#include "net/json/json_field.h"

enum { PPB_SCALE = 9 };

/* R2: the kinds of the cash ledger in their order. */
static const char *const kind_names[] = {
    "trade",
    "fee",
    "funding",
    "transfer",
    "deposit",
    "withdrawal",
    "withdrawal_reverted",
    "faucet",
    "liquidation",
    "adl",
    "fund",
    "settlement",
};

void json_money_payment(struct writer *writer, const struct row_payment *row)
{
    json_field_ids(writer, row->account_id, row->subaccount_index, row->portfolio_index);
    JSON_FIELD_UUID(writer, "id", row->id);
    JSON_FIELD_TEXT(writer, "market", row->market);
    JSON_FIELD_DECIMAL(writer, "funding_rate", row->rate_ppb, PPB_SCALE);
    JSON_FIELD_AMOUNT(writer, "payment", row->payment);
    JSON_FIELD_DECIMAL(writer, "position_size", row->size, row->size_decimals);
    JSON_FIELD_UINT(writer, "time", row->hour_ns / 1000000);
    JSON_FIELD_UINT(writer, "sequence", row->sequence);
    JSON_FIELD_UINT(writer, "index", row->index);
    JSON_FIELD_UINT(writer, "time_ns", row->time_ns);
    JSON_FIELD_DECIMAL(writer, "index_price", row->index_price, row->price_decimals);
    WRITER_TEXT(writer, "}");
}

/* The end of a wrapped list (J1, Paging). */
static void write_next(struct writer *writer, const struct reply *reply, uint32_t count,
                       uint64_t sequence, uint32_t index)
{
    if (reply->more == 0 || count == 0) {
        WRITER_TEXT(writer, "],\"next_before_sequence\":null,\"next_before_index\":null}");
        return;
    }
    WRITER_TEXT(writer, "]");
    JSON_FIELD_UINT(writer, "next_before_sequence", sequence);
    JSON_FIELD_UINT(writer, "next_before_index", index);
    WRITER_TEXT(writer, "}");
}

/* Without its last brace. */
static void write_rate(struct writer *writer, const struct row_rate *row, unsigned price_decimals)
{
    WRITER_TEXT(writer, "{\"funding_rate\":");
    writer_decimal(writer, row->rate_ppb, PPB_SCALE);
    JSON_FIELD_DECIMAL(writer, "index_price", row->index_price, price_decimals);
    JSON_FIELD_UINT(writer, "time", row->hour_ns / 1000000);
    JSON_FIELD_UINT(writer, "time_ns", row->time_ns);
}

void json_money_rate_data(struct writer *writer, const struct row_rate *row,
                          unsigned price_decimals)
{
    write_rate(writer, row, price_decimals);
    WRITER_TEXT(writer, "}");
}

void json_money_rates(struct writer *writer, const struct reply *reply, const uint8_t *rows)
{
    struct row_list list;
    struct row_rate rate = { 0 };
    memcpy(&list, rows, sizeof list);
    INVARIANT(sizeof list + list.count * sizeof rate <= reply->row_bytes);
    WRITER_TEXT(writer, "{\"market\":");
    json_field_padded(writer, list.market, sizeof list.market);
    WRITER_TEXT(writer, ",\"funding_rates\":[");
    for (uint32_t i = 0; i < list.count; i++) {
        memcpy(&rate, rows + sizeof list + i * sizeof rate, sizeof rate);
        if (i > 0)
            WRITER_TEXT(writer, ",");
        write_rate(writer, &rate, list.price_decimals);
        JSON_FIELD_UINT(writer, "sequence", rate.sequence);
        JSON_FIELD_UINT(writer, "index", rate.index);
        WRITER_TEXT(writer, "}");
    }
    write_next(writer, reply, list.count, rate.sequence, rate.index);
}

void json_money_liquidation(struct writer *writer, const struct row_liquidation *row,
                            unsigned price_decimals, unsigned size_decimals)
{
    WRITER_TEXT(writer, "{\"side\":\"");
    writer_text(writer, JSON_FIELD_NAME_OF(json_field_sides, row->side));
    WRITER_TEXT(writer, "\"");
    JSON_FIELD_DECIMAL(writer, "price", row->price, price_decimals);
    JSON_FIELD_DECIMAL(writer, "size", row->size, size_decimals);
    JSON_FIELD_UINT(writer, "level", row->level);
    JSON_FIELD_UINT(writer, "sequence", row->sequence);
    JSON_FIELD_UINT(writer, "index", row->index);
    JSON_FIELD_UINT(writer, "time", row->time_ns / 1000000);
    JSON_FIELD_UINT(writer, "time_ns", row->time_ns);
    WRITER_TEXT(writer, "}");
}

void json_money_liquidations(struct writer *writer, const struct reply *reply, const uint8_t *rows)
{
    struct row_list list;
    struct row_liquidation row = { 0 };
    memcpy(&list, rows, sizeof list);
    INVARIANT(sizeof list + list.count * sizeof row <= reply->row_bytes);
    WRITER_TEXT(writer, "{\"market\":");
    json_field_padded(writer, list.market, sizeof list.market);
    JSON_FIELD_UINT(writer, "seq", list.book_seq);
    WRITER_TEXT(writer, ",\"liquidations\":[");
    for (uint32_t i = 0; i < list.count; i++) {
        memcpy(&row, rows + sizeof list + i * sizeof row, sizeof row);
        if (i > 0)
            WRITER_TEXT(writer, ",");
        json_money_liquidation(writer, &row, list.price_decimals, list.size_decimals);
    }
    write_next(writer, reply, list.count, row.sequence, row.index);
}

static void begin_movement(struct writer *writer, const struct row_house *row)
{
    WRITER_TEXT(writer, "{\"sequence\":");
    writer_uint(writer, row->sequence);
    JSON_FIELD_UINT(writer, "index", row->index);
    JSON_FIELD_UINT(writer, "time", row->time_ns / 1000000);
    JSON_FIELD_UINT(writer, "time_ns", row->time_ns);
}

static void end_movement(struct writer *writer, const struct row_house *row)
{
    JSON_FIELD_WORD(writer, "kind", JSON_FIELD_NAME_OF(kind_names, row->kind));
    JSON_FIELD_AMOUNT(writer, "amount", row->amount);
    JSON_FIELD_AMOUNT(writer, "balance_after", row->balance_after);
    if (row->market[0] != '\0')
        JSON_FIELD_TEXT(writer, "market", row->market);
    if (row->has_ref)
        JSON_FIELD_UUID(writer, "ref_id", row->ref_id);
    else
        WRITER_TEXT(writer, ",\"ref_id\":null");
    WRITER_TEXT(writer, "}");
}

void json_money_cash_row(struct writer *writer, const struct row_cash *row)
{
    begin_movement(writer, &row->movement);
    JSON_FIELD_UINT(writer, "account_id", row->account_id);
    JSON_FIELD_UINT(writer, "subaccount_index", row->subaccount_index);
    JSON_FIELD_UINT(writer, "portfolio_index", row->portfolio_index);
    end_movement(writer, &row->movement);
}

void json_money_cash(struct writer *writer, const struct reply *reply, const uint8_t *rows)
{
    struct row_list list;
    struct row_cash row = { 0 };
    memcpy(&list, rows, sizeof list);
    INVARIANT(sizeof list + list.count * sizeof row <= reply->row_bytes);
    WRITER_TEXT(writer, "{\"history\":[");
    for (uint32_t i = 0; i < list.count; i++) {
        memcpy(&row, rows + sizeof list + i * sizeof row, sizeof row);
        if (i > 0)
            WRITER_TEXT(writer, ",");
        json_money_cash_row(writer, &row);
    }
    write_next(writer, reply, list.count, row.movement.sequence, row.movement.index);
}

void json_money_house(struct writer *writer, const struct reply *reply, const uint8_t *rows)
{
    struct row_list list;
    struct row_house row = { 0 };
    memcpy(&list, rows, sizeof list);
    INVARIANT(sizeof list + list.count * sizeof row <= reply->row_bytes);
    WRITER_TEXT(writer, "{\"balance\":");
    writer_decimal(writer, list.balance, JSON_FIELD_AMOUNT_SCALE);
    JSON_FIELD_BOOL(writer, "deficit", list.balance < 0);
    WRITER_TEXT(writer, ",\"history\":[");
    for (uint32_t i = 0; i < list.count; i++) {
        memcpy(&row, rows + sizeof list + i * sizeof row, sizeof row);
        if (i > 0)
            WRITER_TEXT(writer, ",");
        begin_movement(writer, &row);
        end_movement(writer, &row);
    }
    write_next(writer, reply, list.count, row.sequence, row.index);
}

static const char *const outcome_names[] = { "pending", "settled", "reverted" };

/* The index of a name in a list. False: it is none of them. */
static bool find_name(const char *const *names, size_t count, const char *name, uint8_t *index)
{
    for (uint8_t i = 0; i < count; i++)
        if (strcmp(name, names[i]) == 0) {
            *index = i;
            return true;
        }
    return false;
}

bool json_money_kind_of(const char *name, uint8_t *kind)
{
    return find_name(kind_names, CC_COUNT(kind_names), name, kind);
}

bool json_money_outcome_of(const char *name, uint8_t *outcome)
{
    return find_name(outcome_names, CC_COUNT(outcome_names), name, outcome);
}

static void write_withdrawal(struct writer *writer, const struct row_withdrawal *row)
{
    char address[2 * sizeof row->destination + 1];
    hex_encode(address, row->destination, sizeof row->destination);
    WRITER_TEXT(writer, "{\"withdrawal_id\":");
    writer_uuid(writer, row->id);
    JSON_FIELD_UINT(writer, "account_id", row->account_id);
    JSON_FIELD_UINT(writer, "subaccount_index", row->subaccount_index);
    JSON_FIELD_UINT(writer, "portfolio_index", row->portfolio_index);
    JSON_FIELD_AMOUNT(writer, "amount", row->amount);
    WRITER_TEXT(writer, ",\"destination\":\"0x");
    writer_text(writer, address);
    WRITER_TEXT(writer, "\"");
    JSON_FIELD_UINT(writer, "requested_at_ns", row->requested_at_ns);
    JSON_FIELD_WORD(writer, "status", JSON_FIELD_NAME_OF(outcome_names, row->outcome));
    JSON_FIELD_UINT(writer, "sequence", row->sequence);
    JSON_FIELD_UINT(writer, "index", row->index);
    WRITER_TEXT(writer, "}");
}

void json_money_withdrawals(struct writer *writer, const struct reply *reply, const uint8_t *rows)
{
    struct row_list list;
    struct row_withdrawal row = { 0 };
    memcpy(&list, rows, sizeof list);
    INVARIANT(sizeof list + list.count * sizeof row <= reply->row_bytes);
    WRITER_TEXT(writer, "{\"withdrawals\":[");
    for (uint32_t i = 0; i < list.count; i++) {
        memcpy(&row, rows + sizeof list + i * sizeof row, sizeof row);
        if (i > 0)
            WRITER_TEXT(writer, ",");
        write_withdrawal(writer, &row);
    }
    write_next(writer, reply, list.count, row.sequence, row.index);
}

static void write_mark(struct writer *writer, const struct row_mark *row)
{
    WRITER_TEXT(writer, "\"mark_price\":");
    json_field_decimal_or_null(writer, row->mark_price, row->price_decimals);
    JSON_FIELD_DECIMAL_OR_NULL(writer, "index_price", row->index_price, row->price_decimals);
    JSON_FIELD_DECIMAL(writer, "premium", row->premium_ppb, PPB_SCALE);
    JSON_FIELD_DECIMAL(writer, "predicted_funding_rate", row->predicted_rate_ppb, PPB_SCALE);
    JSON_FIELD_BOOL(writer, "valid", row->valid != 0);
    JSON_FIELD_DECIMAL(writer, "book_term", row->book_term, row->price_decimals);
    JSON_FIELD_DECIMAL_OR_NULL(writer, "third_price", row->third_price, row->price_decimals);
    JSON_FIELD_UINT(writer, "clamp_ppm", row->clamp_ppm);
    JSON_FIELD_BOOL(writer, "in_gap", row->in_gap != 0);
    WRITER_TEXT(writer, "}");
}

void json_money_mark_data(struct writer *writer, const struct row_mark *row)
{
    WRITER_TEXT(writer, "{");
    write_mark(writer, row);
}

void json_money_mark(struct writer *writer, const struct reply *reply, const uint8_t *rows)
{
    struct row_mark row;
    memcpy(&row, rows, sizeof row);
    WRITER_TEXT(writer, "{\"market\":");
    json_field_padded(writer, row.market, sizeof row.market);
    JSON_FIELD_UINT(writer, "seq", row.book_seq);
    JSON_FIELD_UINT(writer, "engine_seq", reply->applied);
    JSON_FIELD_UINT(writer, "time_ns", reply->time_ns);
    WRITER_TEXT(writer, ",");
    write_mark(writer, &row);
}
