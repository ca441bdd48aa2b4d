/* json_money.h - funding, marks and the exchange's own cash as JSON (json.md J2, J6, J9 mark).
 * Pure. */
#ifndef NET_JSON_JSON_MONEY_H
#define NET_JSON_JSON_MONEY_H

#include "base/query_message.h"
#include "base/row.h"
#include "base/row_history.h"
#include "net/http/writer.h"

void json_money_payment(struct writer *writer, const struct row_payment *row);

void json_money_cash_row(struct writer *writer, const struct row_cash *row);

/* A struct row_list, then its rows. */
void json_money_rates(struct writer *writer, const struct reply *reply, const uint8_t *rows);
void json_money_liquidations(struct writer *writer, const struct reply *reply, const uint8_t *rows);
void json_money_cash(struct writer *writer, const struct reply *reply, const uint8_t *rows);
void json_money_house(struct writer *writer, const struct reply *reply, const uint8_t *rows);

/* A struct row_list, then struct row_withdrawal. */
void json_money_withdrawals(struct writer *writer, const struct reply *reply, const uint8_t *rows);

/* The data of the channel `funding` (J9). */
void json_money_rate_data(struct writer *writer, const struct row_rate *row,
                          unsigned price_decimals);

/* The data of the channel `liquidations` (J9). */
void json_money_liquidation(struct writer *writer, const struct row_liquidation *row,
                            unsigned price_decimals, unsigned size_decimals);

/* The kind of the cash ledger (R2) with this name. False: there is none. */
CC_MUST_USE bool json_money_kind_of(const char *name, uint8_t *kind);

/* The outcome of a withdrawal (enum row_withdrawal_outcome) by its name. False: no such name. */
CC_MUST_USE bool json_money_outcome_of(const char *name, uint8_t *outcome);

/* The data of the channel `mark` (J9). */
void json_money_mark_data(struct writer *writer, const struct row_mark *row);

void json_money_mark(struct writer *writer, const struct reply *reply, const uint8_t *rows);

#endif
