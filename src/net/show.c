#include "net/show.h"

#include "base/row.h"
#include "base/row_history.h"
#include "net/show_history.h"
#include "net/show_holding.h"
#include "net/show_market.h"
#include "net/show_money.h"
#include "net/show_order.h"

/* show_<what>(writer, the row at `bytes`), for rows that are copied to be aligned. */
#define ONE(name, type, write)                                    \
    static void name(struct writer *writer, const uint8_t *bytes) \
    {                                                             \
        struct type row;                                          \
        memcpy(&row, bytes, sizeof row);                          \
        write(writer, &row);                                      \
    }
ONE(one_order, row_order, show_order)
ONE(one_fill, row_fill, show_history_fill)
ONE(one_request, row_request, show_history_request)
ONE(one_position, row_position, show_holding_position)
ONE(one_balance, row_balance, show_holding_balance)
ONE(one_subaccount, row_subaccount, show_holding_subaccount)
ONE(one_account, row_account, show_holding_account)
ONE(one_market, row_market, show_market_record)
ONE(one_payment, row_payment, show_money_payment)
#undef ONE

/* J1: lists that the interface calls lists are bare arrays. */
static void show_list(struct writer *writer, const struct reply *reply, const uint8_t *rows,
                      size_t row_bytes, void (*show_one)(struct writer *, const uint8_t *))
{
    INVARIANT(reply->row_count * row_bytes <= reply->row_bytes);
    WRITER_TEXT(writer, "[");
    for (uint32_t i = 0; i < reply->row_count; i++) {
        if (i > 0)
            WRITER_TEXT(writer, ",");
        show_one(writer, rows + i * row_bytes);
    }
    WRITER_TEXT(writer, "]");
}

void show_reply(struct writer *writer, const struct reply *reply, const uint8_t *rows)
{
    switch ((enum query_kind)reply->kind) {
    case QUERY_order:
        one_order(writer, rows);
        return;
    case QUERY_orders:
        show_list(writer, reply, rows, sizeof(struct row_order), one_order);
        return;
    case QUERY_fills:
        show_list(writer, reply, rows, sizeof(struct row_fill), one_fill);
        return;
    case QUERY_request:
        one_request(writer, rows);
        return;
    case QUERY_positions:
        show_list(writer, reply, rows, sizeof(struct row_position), one_position);
        return;
    case QUERY_balance:
        one_balance(writer, rows);
        return;
    case QUERY_balances:
        show_list(writer, reply, rows, sizeof(struct row_balance), one_balance);
        return;
    case QUERY_subaccounts:
        show_list(writer, reply, rows, sizeof(struct row_subaccount), one_subaccount);
        return;
    case QUERY_account:
        one_account(writer, rows);
        return;
    case QUERY_markets:
        show_market_list(writer, reply, rows);
        return;
    case QUERY_market:
        one_market(writer, rows);
        return;
    case QUERY_book:
        show_market_book(writer, reply, rows);
        return;
    case QUERY_trades:
        show_history_trades(writer, reply, rows);
        return;
    case QUERY_audit:
        show_market_audit(writer, reply, rows);
        return;
    case QUERY_payments:
        show_list(writer, reply, rows, sizeof(struct row_payment), one_payment);
        return;
    case QUERY_rates:
        show_money_rates(writer, reply, rows);
        return;
    case QUERY_withdrawals:
        show_money_withdrawals(writer, reply, rows);
        return;
    case QUERY_fund:
    case QUERY_fees:
        show_money_house(writer, reply, rows);
        return;
    case QUERY_mark:
        show_money_mark(writer, reply, rows);
        return;
    case QUERY_KIND_COUNT:
        break;
    }
    INVARIANT(reply->kind < QUERY_KIND_COUNT);
}
