#include "net/json/json_reply.h"

#include "base/row.h"
#include "base/row_history.h"
#include "net/json/json_candle.h"
#include "net/json/json_credential.h"
#include "net/json/json_head.h"
#include "net/json/json_history.h"
#include "net/json/json_holding.h"
#include "net/json/json_market.h"
#include "net/json/json_money.h"
#include "net/json/json_order.h"
#include "net/json/json_pairing.h"

typedef void write_row(struct writer *writer, const uint8_t *bytes);
typedef void write_rows(struct writer *writer, const struct reply *reply, const uint8_t *rows);

/* Writes the row at `bytes`, copied to be aligned. */
#define ONE(type, write)                                                  \
    static void write_##type(struct writer *writer, const uint8_t *bytes) \
    {                                                                     \
        struct type row;                                                  \
        memcpy(&row, bytes, sizeof row);                                  \
        write(writer, &row);                                              \
    }
ONE(row_order, json_order)
ONE(row_fill, json_history_fill)
ONE(row_request, json_history_request)
ONE(row_position, json_holding_position)
ONE(row_balance, json_holding_balance)
ONE(row_subaccount, json_holding_subaccount)
ONE(row_account, json_holding_account)
ONE(row_session, json_credential_session)
ONE(row_market, json_market_record)
ONE(row_payment, json_money_payment)
ONE(row_ticker, json_candle_ticker)
#undef ONE

/* How a reply is written: a single row, several rows as a bare array, or by one function for the
 * whole reply. */
struct form {
    write_row *row;
    uint32_t row_bytes;
    write_rows *all;
};

#define ROWS(type)                                            \
    {                                                         \
        .row = write_##type, .row_bytes = sizeof(struct type) \
    }
#define ALL(write)   \
    {                \
        .all = write \
    }
#define FORM_order            ROWS(row_order)
#define FORM_orders           ROWS(row_order)
#define FORM_fills            ROWS(row_fill)
#define FORM_request          ROWS(row_request)
#define FORM_receipt          ALL(json_head_receipt)
#define FORM_positions        ROWS(row_position)
#define FORM_balance          ROWS(row_balance)
#define FORM_balances         ROWS(row_balance)
#define FORM_subaccounts      ROWS(row_subaccount)
#define FORM_account          ROWS(row_account)
#define FORM_limits           ROWS(row_account) /* response.c writes it with what is left */
#define FORM_sessions         ROWS(row_session)
#define FORM_master_keys      ALL(json_credential_master_keys)
#define FORM_api_keys         ALL(json_credential_api_keys)
#define FORM_markets          ALL(json_market_list)
#define FORM_market           ROWS(row_market)
#define FORM_book             ALL(json_market_book)
#define FORM_book_orders      ALL(json_market_book_orders)
#define FORM_trades           ALL(json_history_trades)
#define FORM_candles          ALL(json_candle_list)
#define FORM_ticker           ROWS(row_ticker)
#define FORM_tickers          ALL(json_candle_tickers)
#define FORM_audit            ALL(json_market_audit)
#define FORM_payments         ROWS(row_payment)
#define FORM_cash             ALL(json_money_cash)
#define FORM_rates            ALL(json_money_rates)
#define FORM_liquidations     ALL(json_money_liquidations)
#define FORM_fund             ALL(json_money_house)
#define FORM_fees             ALL(json_money_house)
#define FORM_mark             ALL(json_money_mark)
#define FORM_heads            ALL(json_head_list)
#define FORM_frames           ALL(json_head_frames)
#define FORM_seal             ALL(json_head_seal)
#define FORM_withdrawals      ALL(json_money_withdrawals)
#define FORM_private_events   ALL(NULL)                 /* which streams alone ask for */
#define FORM_trades_after     ALL(NULL)                 /* the same */
#define FORM_pairing_open     ALL(json_pairing_changed) /* response.c writes it with the token */
#define FORM_pairing_deposit  ALL(json_pairing_changed)
#define FORM_pairing          ALL(json_pairing_shown)
#define FORM_pairing_complete ALL(json_pairing_changed)
#define FORM_pairing_result   ALL(json_pairing_result)

static const struct form forms[QUERY_KIND_COUNT] = {
#define X(name, extent) [QUERY_##name] = FORM_##name,
    QUERY_LIST(X)
#undef X
};

/* J1: what the interface calls a list is a bare array. */
static void write_list(struct writer *writer, const struct reply *reply, const uint8_t *rows,
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

void json_reply(struct writer *writer, const struct reply *reply, const uint8_t *rows)
{
    INVARIANT(reply->kind < QUERY_KIND_COUNT);
    const struct form *form = &forms[reply->kind];
    if (form->all != NULL)
        form->all(writer, reply, rows);
    else if (query_extent_of((enum query_kind)reply->kind) == QUERY_EXTENT_ONE)
        form->row(writer, rows);
    else
        write_list(writer, reply, rows, form);
}
