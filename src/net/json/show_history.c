#include "net/json/show_history.h"

#include "base/reason.h"
#include "base/request.h"
#include "base/status.h"
#include "net/json/show_member.h"

static const char *const liquidity_names[] = { "TAKER", "MAKER" };

void show_history_fill(struct writer *writer, const struct row_fill *row)
{
    show_member_ids(writer, row->account_id, row->subaccount_index, row->portfolio_index);
    SHOW_UUID(writer, "id", row->id);
    SHOW_UUID(writer, "request_id", row->request_id);
    SHOW_FIELD(writer, "market", row->market);
    SHOW_WORD(writer, "side", SHOW_NAME_OF(show_member_sides, row->side));
    SHOW_WORD(writer, "liquidity", SHOW_NAME_OF(liquidity_names, row->liquidity));
    SHOW_DECIMAL(writer, "price", row->price, row->price_decimals);
    SHOW_DECIMAL(writer, "quantity", row->quantity, row->size_decimals);
    SHOW_AMOUNT(writer, "fee", row->fee);
    SHOW_UINT(writer, "time", row->time_ns / 1000000);
    SHOW_UINT(writer, "sequence", row->sequence);
    SHOW_UINT(writer, "index", row->index);
    SHOW_UINT(writer, "time_ns", row->time_ns);
    if (row->trade_seq == 0)
        WRITER_TEXT(writer, ",\"trade_seq\":null}");
    else {
        SHOW_UINT(writer, "trade_seq", row->trade_seq);
        WRITER_TEXT(writer, "}");
    }
}

void show_history_request(struct writer *writer, const struct row_request *row)
{
    const struct request *request = request_find(row->code);
    const char *reason = reason_name(row->reason);
    INVARIANT(request != NULL);
    WRITER_TEXT(writer, "{\"request_id\":");
    writer_uuid(writer, row->request_id);
    SHOW_WORD(writer, "request_type", request->name);
    SHOW_WORD(writer, "status", status_name(row->status));
    if (reason != NULL)
        SHOW_WORD(writer, "reason", reason);
    SHOW_UINT(writer, "sequence", row->sequence);
    SHOW_UINT(writer, "processed_at_ns", row->processed_at_ns);
    if (row->result_count != 0) {
        INVARIANT(row->result_count <= ROW_RESULTS_MAX);
        for (unsigned i = 0; i < row->result_count; i++) {
            writer_text(writer, i == 0 ? ",\"results\":[\"" : "\",\"");
            writer_text(writer, status_name(row->results[i]));
        }
        WRITER_TEXT(writer, "\"]");
    }
    if (row->members & ROW_REQUEST_ACCOUNT)
        SHOW_UINT(writer, "account_id", row->account_id);
    if (row->members & ROW_REQUEST_SUBACCOUNT)
        SHOW_UINT(writer, "subaccount_index", row->subaccount_index);
    if (row->members & ROW_REQUEST_PORTFOLIO)
        SHOW_UINT(writer, "portfolio_index", row->portfolio_index);
    if (row->members & ROW_REQUEST_SESSION)
        SHOW_UUID(writer, "session_id", row->id);
    if (row->members & ROW_REQUEST_WITHDRAWAL)
        SHOW_UUID(writer, "withdrawal_id", row->id);
    if (row->members & ROW_REQUEST_API_KEY)
        SHOW_UUID(writer, "api_key_id", row->id);
    WRITER_TEXT(writer, "}");
}

static void write_trade(struct writer *writer, const struct row_trades *market,
                        const struct row_trade *row)
{
    WRITER_TEXT(writer, "{\"price\":");
    writer_decimal(writer, row->price, market->price_decimals);
    SHOW_DECIMAL(writer, "size", row->size, market->size_decimals);
    SHOW_WORD(writer, "taker_side", SHOW_NAME_OF(show_member_sides, row->taker_side));
    SHOW_BOOL(writer, "liquidation", row->liquidation != 0);
    SHOW_UINT(writer, "trade_seq", row->trade_seq);
    SHOW_UINT(writer, "sequence", row->sequence);
    SHOW_UINT(writer, "index", row->index);
    SHOW_UINT(writer, "time", row->time_ns / 1000000);
    SHOW_UINT(writer, "time_ns", row->time_ns);
    WRITER_TEXT(writer, "}");
}

void show_history_trades(struct writer *writer, const struct reply *reply, const uint8_t *rows)
{
    struct row_trades market;
    struct row_trade trade = { 0 };
    memcpy(&market, rows, sizeof market);
    INVARIANT(sizeof market + market.trade_count * sizeof trade <= reply->row_bytes);
    WRITER_TEXT(writer, "{\"market\":");
    show_member_field(writer, market.market, sizeof market.market);
    SHOW_UINT(writer, "seq", market.book_seq);
    WRITER_TEXT(writer, ",\"trades\":[");
    for (uint32_t i = 0; i < market.trade_count; i++) {
        memcpy(&trade, rows + sizeof market + i * sizeof trade, sizeof trade);
        if (i > 0)
            WRITER_TEXT(writer, ",");
        write_trade(writer, &market, &trade);
    }
    if (reply->more == 0 || market.trade_count == 0) {
        WRITER_TEXT(writer, "],\"next_before_sequence\":null,\"next_before_index\":null}");
        return;
    }
    WRITER_TEXT(writer, "]");
    SHOW_UINT(writer, "next_before_sequence", trade.sequence);
    SHOW_UINT(writer, "next_before_index", trade.index);
    WRITER_TEXT(writer, "}");
}
