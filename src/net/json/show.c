#include "net/json/show.h"

#include "base/row.h"
#include "base/row_history.h"
#include "net/json/show_history.h"
#include "net/json/show_holding.h"
#include "net/json/show_market.h"
#include "net/json/show_money.h"
#include "net/json/show_order.h"

typedef void show_row(struct writer *writer, const uint8_t *bytes);
typedef void show_rows(struct writer *writer, const struct reply *reply, const uint8_t *rows);

/* Writes the row at `bytes`, copied to be aligned. */
#define ONE(type, write)                                                 \
    static void show_##type(struct writer *writer, const uint8_t *bytes) \
    {                                                                    \
        struct type row;                                                 \
        memcpy(&row, bytes, sizeof row);                                 \
        write(writer, &row);                                             \
    }
ONE(row_order, show_order)
ONE(row_fill, show_history_fill)
ONE(row_request, show_history_request)
ONE(row_position, show_holding_position)
ONE(row_balance, show_holding_balance)
ONE(row_subaccount, show_holding_subaccount)
ONE(row_account, show_holding_account)
ONE(row_market, show_market_record)
ONE(row_payment, show_money_payment)
#undef ONE

/* How the reply to a kind of query is written: a row by itself, several as a bare array, or all by
 * a function of its own. */
struct form {
    show_row *row;
    uint32_t row_bytes;
    show_rows *all;
};

#define ROWS(type)                                           \
    {                                                        \
        .row = show_##type, .row_bytes = sizeof(struct type) \
    }
#define ALL(write)   \
    {                \
        .all = write \
    }
#define FORM_order       ROWS(row_order)
#define FORM_orders      ROWS(row_order)
#define FORM_fills       ROWS(row_fill)
#define FORM_request     ROWS(row_request)
#define FORM_positions   ROWS(row_position)
#define FORM_balance     ROWS(row_balance)
#define FORM_balances    ROWS(row_balance)
#define FORM_subaccounts ROWS(row_subaccount)
#define FORM_account     ROWS(row_account)
#define FORM_markets     ALL(show_market_list)
#define FORM_market      ROWS(row_market)
#define FORM_book        ALL(show_market_book)
#define FORM_trades      ALL(show_history_trades)
#define FORM_audit       ALL(show_market_audit)
#define FORM_payments    ROWS(row_payment)
#define FORM_rates       ALL(show_money_rates)
#define FORM_fund        ALL(show_money_house)
#define FORM_fees        ALL(show_money_house)
#define FORM_mark        ALL(show_money_mark)
#define FORM_withdrawals ALL(show_money_withdrawals)

static const struct form forms[QUERY_KIND_COUNT] = {
#define X(name, extent) [QUERY_##name] = FORM_##name,
    QUERY_LIST(X)
#undef X
};

/* J1: lists that the interface calls lists are bare arrays. */
static void show_list(struct writer *writer, const struct reply *reply, const uint8_t *rows,
                      const struct form *form)
{
    INVARIANT(reply->row_count * (size_t)form->row_bytes <= reply->row_bytes);
    WRITER_TEXT(writer, "[");
    for (uint32_t i = 0; i < reply->row_count; i++) {
        if (i > 0)
            WRITER_TEXT(writer, ",");
        form->row(writer, rows + i * (size_t)form->row_bytes);
    }
    WRITER_TEXT(writer, "]");
}

void show_reply(struct writer *writer, const struct reply *reply, const uint8_t *rows)
{
    INVARIANT(reply->kind < QUERY_KIND_COUNT);
    const struct form *form = &forms[reply->kind];
    if (form->all != NULL)
        form->all(writer, reply, rows);
    else if (query_extent_of((enum query_kind)reply->kind) == QUERY_EXTENT_ONE)
        form->row(writer, rows);
    else
        show_list(writer, reply, rows, form);
}
