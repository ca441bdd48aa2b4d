/* json_candle.h - candles and tickers as JSON (json.md J6, J9 candles). Pure. */
#ifndef NET_JSON_JSON_CANDLE_H
#define NET_JSON_JSON_CANDLE_H

#include "base/query_message.h"
#include "base/row_history.h"
#include "base/row_ticker.h"
#include "net/http/writer.h"

/* The enum row_interval of a name like 15m. False: there is none. */
bool json_candle_interval_of(const char *name, uint8_t *interval);

/* The name of an enum row_interval. */
const char *json_candle_interval(uint8_t interval);

/* One candle; the data of the channel `candles` (J9). */
void json_candle(struct writer *writer, const struct row_candle *candle, uint8_t interval,
                 unsigned price_decimals, unsigned size_decimals);

/* A row_candles and its candles as {"market":..,"interval":..,"candles":[..]}. */
void json_candle_list(struct writer *writer, const struct reply *reply, const uint8_t *rows);

/* A ticker; all tickers as {"tickers":[..]}. */
void json_candle_ticker(struct writer *writer, const struct row_ticker *row);
void json_candle_tickers(struct writer *writer, const struct reply *reply, const uint8_t *rows);

#endif
