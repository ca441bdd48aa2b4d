#include "net/json/json_history.h"

#include "base/reason.h"
#include "base/request.h"
#include "base/status.h"
#include "net/json/json_field.h"

static const char *const liquidity_names[] = { "TAKER", "MAKER" };

void json_history_fill(struct writer *writer, const struct row_fill *row)
{
    json_field_ids(writer, row->account_id, row->subaccount_index, row->portfolio_index);
    JSON_FIELD_UUID(writer, "id", row->id);
    JSON_FIELD_UUID(writer, "request_id", row->request_id);
    JSON_FIELD_TEXT(writer, "market", row->market);
    JSON_FIELD_WORD(writer, "side", JSON_FIELD_NAME_OF(json_field_sides, row->side));
    JSON_FIELD_WORD(writer, "liquidity", JSON_FIELD_NAME_OF(liquidity_names, row->liquidity));
    JSON_FIELD_DECIMAL(writer, "price", row->price, row->price_decimals);
    JSON_FIELD_DECIMAL(writer, "quantity", row->quantity, row->size_decimals);
    JSON_FIELD_AMOUNT(writer, "fee", row->fee);
    JSON_FIELD_UINT(writer, "time", row->time_ns / 1000000);
    JSON_FIELD_UINT(writer, "sequence", row->sequence);
    JSON_FIELD_UINT(writer, "index", row->index);
    JSON_FIELD_UINT(writer, "time_ns", row->time_ns);
    if (row->trade_seq == 0)
        WRITER_TEXT(writer, ",\"trade_seq\":null}");
    else {
        JSON_FIELD_UINT(writer, "trade_seq", row->trade_seq);
        WRITER_TEXT(writer, "}");
    }
}

void json_history_request(struct writer *writer, const struct row_request *row)
{
    const struct request *request = request_find(row->code);
    const char *reason = reason_name(row->reason);
    INVARIANT(request != NULL);
    WRITER_TEXT(writer, "{\"request_id\":");
    writer_uuid(writer, row->request_id);
    JSON_FIELD_WORD(writer, "request_type", request->name);
    JSON_FIELD_WORD(writer, "status", status_name(row->status));
    if (reason != NULL)
        JSON_FIELD_WORD(writer, "reason", reason);
    JSON_FIELD_UINT(writer, "sequence", row->sequence);
    JSON_FIELD_UINT(writer, "processed_at_ns", row->processed_at_ns);
    if (row->result_count != 0) {
        INVARIANT(row->result_count <= ROW_RESULTS_MAX);
        for (unsigned i = 0; i < row->result_count; i++) {
            writer_text(writer, i == 0 ? ",\"results\":[\"" : "\",\"");
            writer_text(writer, status_name(row->results[i]));
        }
        WRITER_TEXT(writer, "\"]");
    }
    if (row->members & ROW_REQUEST_ACCOUNT)
        JSON_FIELD_UINT(writer, "account_id", row->account_id);
    if (row->members & ROW_REQUEST_SUBACCOUNT)
        JSON_FIELD_UINT(writer, "subaccount_index", row->subaccount_index);
    if (row->members & ROW_REQUEST_PORTFOLIO)
        JSON_FIELD_UINT(writer, "portfolio_index", row->portfolio_index);
    if (row->members & ROW_REQUEST_SESSION)
        JSON_FIELD_UUID(writer, "session_id", row->id);
    if (row->members & ROW_REQUEST_WITHDRAWAL)
        JSON_FIELD_UUID(writer, "withdrawal_id", row->id);
    if (row->members & ROW_REQUEST_API_KEY)
        JSON_FIELD_UUID(writer, "api_key_id", row->id);
    WRITER_TEXT(writer, "}");
}

void json_history_trade(struct writer *writer, const struct row_trade *row, unsigned price_decimals,
                        unsigned size_decimals)
{
    WRITER_TEXT(writer, "{\"price\":");
    writer_decimal(writer, row->price, price_decimals);
    JSON_FIELD_DECIMAL(writer, "size", row->size, size_decimals);
    JSON_FIELD_WORD(writer, "taker_side", JSON_FIELD_NAME_OF(json_field_sides, row->taker_side));
    JSON_FIELD_BOOL(writer, "liquidation", row->liquidation != 0);
    JSON_FIELD_UINT(writer, "trade_seq", row->trade_seq);
    JSON_FIELD_UINT(writer, "sequence", row->sequence);
    JSON_FIELD_UINT(writer, "index", row->index);
    JSON_FIELD_UINT(writer, "time", row->time_ns / 1000000);
    JSON_FIELD_UINT(writer, "time_ns", row->time_ns);
    WRITER_TEXT(writer, "}");
}

static void write_trades(struct writer *writer, const struct row_trades *market,
                         const uint8_t *rows, struct row_trade *last)
{
    for (uint32_t i = 0; i < market->trade_count; i++) {
        memcpy(last, rows + sizeof *market + i * sizeof *last, sizeof *last);
        if (i > 0)
            WRITER_TEXT(writer, ",");
        json_history_trade(writer, last, market->price_decimals, market->size_decimals);
    }
}

void json_history_snapshot(struct writer *writer, const uint8_t *rows)
{
    struct row_trades market;
    struct row_trade trade = { 0 };
    memcpy(&market, rows, sizeof market);
    WRITER_TEXT(writer, "{\"trades\":[");
    write_trades(writer, &market, rows, &trade);
    WRITER_TEXT(writer, "]}");
}

void json_history_trades(struct writer *writer, const struct reply *reply, const uint8_t *rows)
{
    struct row_trades market;
    struct row_trade trade = { 0 };
    memcpy(&market, rows, sizeof market);
    INVARIANT(sizeof market + market.trade_count * sizeof trade <= reply->row_bytes);
    WRITER_TEXT(writer, "{\"market\":");
    json_field_padded(writer, market.market, sizeof market.market);
    JSON_FIELD_UINT(writer, "seq", market.book_seq);
    WRITER_TEXT(writer, ",\"trades\":[");
    write_trades(writer, &market, rows, &trade);
    if (reply->more == 0 || market.trade_count == 0) {
        WRITER_TEXT(writer, "],\"next_before_sequence\":null,\"next_before_index\":null}");
        return;
    }
    WRITER_TEXT(writer, "]");
    JSON_FIELD_UINT(writer, "next_before_sequence", trade.sequence);
    JSON_FIELD_UINT(writer, "next_before_index", trade.index);
    WRITER_TEXT(writer, "}");
}
