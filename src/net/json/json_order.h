/* json_order.h - orders as JSON (json.md J2, Order). Pure. */
#ifndef NET_JSON_JSON_ORDER_H
#define NET_JSON_JSON_ORDER_H

#include "base/row.h"
#include "net/http/writer.h"

void json_order(struct writer *writer, const struct row_order *row);

/* Writes the member `book_handle`: null for 0. */
void json_order_handle(struct writer *writer, uint64_t handle);

/* Whether orders of that order_type have a price: not those at the market's (W10). */
CC_MUST_USE bool json_order_has_price(uint8_t order_type);

/* The word of an order_status number (wire.md, Enum codes); "" for 255 and unknown numbers. */
const char *json_order_status(uint8_t status);

/* The order_status number of a word. False for any other text. */
CC_MUST_USE bool json_order_status_of(const char *word, uint8_t *status);

#endif
