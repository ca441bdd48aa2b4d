/* show_market.h - market rows, books and audits as JSON (json.md J5, J6, J7). Pure. */
#ifndef NET_JSON_SHOW_MARKET_H
#define NET_JSON_SHOW_MARKET_H

#include "base/row.h"
#include "net/json/show.h"

void show_market_record(struct writer *writer, const struct row_market *row);

/* All rows as {"markets":[...]}. */
void show_market_list(struct writer *writer, const struct reply *reply, const uint8_t *rows);

void show_market_book(struct writer *writer, const struct reply *reply, const uint8_t *rows);

void show_market_audit(struct writer *writer, const struct reply *reply, const uint8_t *rows);

#endif
