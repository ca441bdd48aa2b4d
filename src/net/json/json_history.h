/* json_history.h - fills, public trades and requests as JSON (json.md J2, J6, J9 trade). Pure. */
#ifndef NET_JSON_JSON_HISTORY_H
#define NET_JSON_JSON_HISTORY_H

#include "base/query_message.h"
#include "base/row_history.h"
#include "net/http/writer.h"

void json_history_fill(struct writer *writer, const struct row_fill *row);

void json_history_request(struct writer *writer, const struct row_request *row);

/* One public trade (J9). */
void json_history_trade(struct writer *writer, const struct row_trade *row, unsigned price_decimals,
                        unsigned size_decimals);

/* The data of a snapshot of the channel `trades`: a row_trades and its trades. */
void json_history_snapshot(struct writer *writer, const uint8_t *rows);

/* A row_trades and its trades as {"market":..,"seq":..,"trades":[..]}, with the cursor of the next
 * page (J1, Paging). */
void json_history_trades(struct writer *writer, const struct reply *reply, const uint8_t *rows);

#endif
