/* json_market.h - market rows, books and audits as JSON (json.md J5, J6, J7). Pure. */
#ifndef NET_JSON_JSON_MARKET_H
#define NET_JSON_JSON_MARKET_H

#include "base/book_log.h"
#include "base/row.h"
#include "base/row_history.h"
#include "net/json/json_reply.h"

void json_market_record(struct writer *writer, const struct row_market *row);

/* All rows as {"markets":[...]}. */
void json_market_list(struct writer *writer, const struct reply *reply, const uint8_t *rows);

/* The data of the channel `market_state` (J9). */
void json_market_state_data(struct writer *writer, const struct row_market_state *row);

void json_market_book(struct writer *writer, const struct reply *reply, const uint8_t *rows);
void json_market_book_orders(struct writer *writer, const struct reply *reply, const uint8_t *rows);

/* The channel `book_l3` (J9): the member `orders` of a snapshot, of the same rows, and the data of
 * an update. */
void json_market_orders(struct writer *writer, const uint8_t *rows);
void json_market_order_change(struct writer *writer, const struct book_log_change *change);

void json_market_audit(struct writer *writer, const struct reply *reply, const uint8_t *rows);

#endif
