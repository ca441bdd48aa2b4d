#include "net/json/json_candle.h"

#include "net/json/json_field.h"

static const char *const interval_names[ROW_INTERVALS] = { "1m", "5m", "15m", "1h", "4h", "1d" };

bool json_candle_interval_of(const char *name, uint8_t *interval)
{
    for (uint8_t i = 0; i < ROW_INTERVALS; i++)
        if (strcmp(name, interval_names[i]) == 0) {
            *interval = i;
            return true;
        }
    return false;
}

const char *json_candle_interval(uint8_t interval)
{
    return JSON_FIELD_NAME_OF(interval_names, interval);
}

void json_candle(struct writer *writer, const struct row_candle *candle, uint8_t interval,
                 unsigned price_decimals, unsigned size_decimals)
{
    WRITER_TEXT(writer, "{\"interval\":\"");
    writer_text(writer, json_candle_interval(interval));
    WRITER_TEXT(writer, "\"");
    JSON_FIELD_UINT(writer, "start_time", candle->start_ms);
    JSON_FIELD_DECIMAL(writer, "open", candle->open, price_decimals);
    JSON_FIELD_DECIMAL(writer, "high", candle->high, price_decimals);
    JSON_FIELD_DECIMAL(writer, "low", candle->low, price_decimals);
    JSON_FIELD_DECIMAL(writer, "close", candle->close, price_decimals);
    JSON_FIELD_DECIMAL(writer, "volume", candle->volume, size_decimals);
    JSON_FIELD_AMOUNT(writer, "notional", candle->notional);
    JSON_FIELD_UINT(writer, "trade_count", candle->trade_count);
    WRITER_TEXT(writer, "}");
}

void json_candle_list(struct writer *writer, const struct reply *reply, const uint8_t *rows)
{
    struct row_candles list;
    struct row_candle candle;
    memcpy(&list, rows, sizeof list);
    INVARIANT(sizeof list + list.candle_count * sizeof candle <= reply->row_bytes);
    WRITER_TEXT(writer, "{\"market\":");
    json_field_padded(writer, list.market, sizeof list.market);
    JSON_FIELD_WORD(writer, "interval", json_candle_interval(list.interval));
    WRITER_TEXT(writer, ",\"candles\":[");
    for (uint32_t i = 0; i < list.candle_count; i++) {
        memcpy(&candle, rows + sizeof list + i * sizeof candle, sizeof candle);
        if (i > 0)
            WRITER_TEXT(writer, ",");
        json_candle(writer, &candle, list.interval, list.price_decimals, list.size_decimals);
    }
    WRITER_TEXT(writer, "]}");
}

void json_candle_ticker(struct writer *writer, const struct row_ticker *row)
{
    WRITER_TEXT(writer, "{\"market\":");
    json_field_padded(writer, row->market, sizeof row->market);
    JSON_FIELD_UINT(writer, "seq", row->book_seq);
    JSON_FIELD_DECIMAL_OR_NULL(writer, "last_price", row->last_price, row->price_decimals);
    JSON_FIELD_DECIMAL_OR_NULL(writer, "mark_price", row->mark_price, row->price_decimals);
    JSON_FIELD_DECIMAL_OR_NULL(writer, "index_price", row->index_price, row->price_decimals);
    JSON_FIELD_DECIMAL_OR_NULL(writer, "bid_price", row->bid_price, row->price_decimals);
    JSON_FIELD_DECIMAL_OR_NULL(writer, "ask_price", row->ask_price, row->price_decimals);
    JSON_FIELD_DECIMAL_OR_NULL(writer, "open_24h", row->open, row->price_decimals);
    JSON_FIELD_DECIMAL_OR_NULL(writer, "high_24h", row->high, row->price_decimals);
    JSON_FIELD_DECIMAL_OR_NULL(writer, "low_24h", row->low, row->price_decimals);
    JSON_FIELD_DECIMAL(writer, "volume_24h", row->volume, row->size_decimals);
    JSON_FIELD_AMOUNT(writer, "notional_24h", row->notional);
    JSON_FIELD_DECIMAL(writer, "open_interest", row->open_interest, row->size_decimals);
    WRITER_TEXT(writer, "}");
}

void json_candle_tickers(struct writer *writer, const struct reply *reply, const uint8_t *rows)
{
    struct row_ticker row;
    WRITER_TEXT(writer, "{\"tickers\":[");
    for (uint32_t i = 0; i < reply->row_count; i++) {
        memcpy(&row, rows + i * sizeof row, sizeof row);
        if (i > 0)
            WRITER_TEXT(writer, ",");
        json_candle_ticker(writer, &row);
    }
    WRITER_TEXT(writer, "]}");
}
