/* json_holding.h - accounts, subaccounts, portfolios and positions as JSON (json.md J2). Pure. */
#ifndef NET_JSON_JSON_HOLDING_H
#define NET_JSON_JSON_HOLDING_H

#include "base/row.h"
#include "net/http/writer.h"

void json_holding_account(struct writer *writer, const struct row_account *row);
/* W8, Slots: the account's class, its rows in each table, and its own bound where it has one, as a
 * member behind others. */
void json_holding_slots(struct writer *writer, const struct row_account *row);
void json_holding_subaccount(struct writer *writer, const struct row_subaccount *row);
void json_holding_balance(struct writer *writer, const struct row_balance *row);
void json_holding_position(struct writer *writer, const struct row_position *row);

#endif
