#include "net/json/json_private.h"

#include "net/json/json_field.h"
#include "net/json/json_history.h"
#include "net/json/json_money.h"
#include "net/json/json_order.h"

static const uint8_t no_id[16];

static bool is_id(const uint8_t id[16])
{
    return memcmp(id, no_id, sizeof no_id) != 0;
}

/* What follows the brace of an object joins the members before it. */
static void join(char *brace)
{
    INVARIANT(*brace == '{');
    *brace = ',';
}

static void write_order(struct writer *writer, const struct private_order *order)
{
    char *brace = writer->at;
    json_order(writer, &order->row);
    if (writer->full)
        return;
    join(brace);
    writer->at--; /* the last brace comes again */
    if (is_id(order->request_id))
        JSON_FIELD_UUID(writer, "request_id", order->request_id);
    else
        WRITER_TEXT(writer, ",\"request_id\":null");
    WRITER_TEXT(writer, "}");
}

/* {"account_id":.. of the portfolio that the event is of, joined to the members before it. */
static void write_ids(struct writer *writer, const struct private_event *event)
{
    char *brace = writer->at;
    json_field_ids(writer, event->account_id, event->subaccount_index, event->portfolio_index);
    if (!writer->full)
        join(brace);
}

static void write_position(struct writer *writer, const struct private_event *event)
{
    const struct private_position *row = &event->position;
    int128 size = row->size;
    write_ids(writer, event);
    if (size == 0)
        WRITER_TEXT(writer, ",\"id\":null");
    else
        JSON_FIELD_UUID(writer, "id", row->id);
    JSON_FIELD_TEXT(writer, "market", row->market);
    if (size == 0) {
        WRITER_TEXT(writer, ",\"side\":null,\"size\":\"0\",\"average_entry_price\":null");
    } else {
        JSON_FIELD_WORD(writer, "side", json_field_sides[size < 0]);
        JSON_FIELD_DECIMAL(writer, "size", size < 0 ? -size : size, row->size_decimals);
        json_field_average(writer, "average_entry_price", row->cost, size, row->price_decimals);
    }
    JSON_FIELD_AMOUNT(writer, "net_funding", row->net_funding);
    WRITER_TEXT(writer, "}");
}

static void write_side(struct writer *writer, uint32_t subaccount, uint32_t portfolio)
{
    if (subaccount == PRIVATE_OUTSIDE) {
        WRITER_TEXT(writer, "null");
        return;
    }
    WRITER_TEXT(writer, "{\"subaccount_index\":");
    writer_uint(writer, subaccount);
    JSON_FIELD_UINT(writer, "portfolio_index", portfolio);
    WRITER_TEXT(writer, "}");
}

static void write_transfer(struct writer *writer, const struct private_transfer *row)
{
    static const char *const kinds[] = {
        "transfer", "deposit", "faucet", "withdrawal", "withdrawal_settled", "withdrawal_reverted"
    };
    JSON_FIELD_WORD(writer, "kind", JSON_FIELD_NAME_OF(kinds, row->kind));
    JSON_FIELD_AMOUNT(writer, "amount", row->amount);
    WRITER_TEXT(writer, ",\"from\":");
    write_side(writer, row->from_subaccount, row->from_portfolio);
    WRITER_TEXT(writer, ",\"to\":");
    write_side(writer, row->to_subaccount, row->to_portfolio);
    if (is_id(row->withdrawal_id))
        JSON_FIELD_UUID(writer, "withdrawal_id", row->withdrawal_id);
    WRITER_TEXT(writer, "}");
}

static void write_liquidation(struct writer *writer, const struct private_event *event)
{
    static const char *const statuses[] = { "ACTIVE", "IN_LIQUIDATION" };
    const struct private_liquidation *row = &event->liquidation;
    write_ids(writer, event);
    JSON_FIELD_WORD(writer, "status", JSON_FIELD_NAME_OF(statuses, row->status));
    JSON_FIELD_AMOUNT(writer, "equity", row->equity);
    JSON_FIELD_AMOUNT(writer, "maintenance_margin", row->maintenance);
    if (row->market[0] != '\0') {
        JSON_FIELD_TEXT(writer, "market", row->market);
        JSON_FIELD_UINT(writer, "level", row->level);
        JSON_FIELD_DECIMAL(writer, "price", row->price, row->price_decimals);
        JSON_FIELD_DECIMAL(writer, "size", row->size, row->size_decimals);
    }
    WRITER_TEXT(writer, "}");
}

static void write_mmp(struct writer *writer, const struct private_event *event)
{
    uint64_t until = event->mmp.frozen_until_ns;
    write_ids(writer, event);
    JSON_FIELD_TEXT(writer, "market", event->mmp.market);
    JSON_FIELD_BOOL(writer, "frozen", until != 0);
    if (until == 0 || until == UINT64_MAX)
        WRITER_TEXT(writer, ",\"frozen_until_ns\":null");
    else
        JSON_FIELD_UINT(writer, "frozen_until_ns", until);
    WRITER_TEXT(writer, "}");
}

/* A secret's key is its keyed hash, which is nobody's to see. */
static void write_session(struct writer *writer, const struct private_session *row)
{
    enum { SESSION, API_KEY, DEVICE_KEY, MASTER_KEY };
    static const char *const kinds[] = { "session", "api_key", "device_key", "master_key" };
    static const char *const actions[] = { "added", "removed", "expired" };
    JSON_FIELD_WORD(writer, "kind", JSON_FIELD_NAME_OF(kinds, row->kind));
    JSON_FIELD_WORD(writer, "action", JSON_FIELD_NAME_OF(actions, row->action));
    if (row->kind != MASTER_KEY)
        JSON_FIELD_UUID(writer, "id", row->id);
    if (row->kind == MASTER_KEY || row->kind == SESSION) {
        WRITER_TEXT(writer, ",\"public_key\":");
        writer_base64(writer, row->key, row->kind == SESSION ? 32 : sizeof row->key);
    }
    WRITER_TEXT(writer, "}");
}

void json_private_event(struct writer *writer, const struct private_event *event)
{
    static const char *const names[] = { "order",       "fill",    "position",
                                         "balance",     "funding", "transfer",
                                         "liquidation", "mmp",     "session" };
    WRITER_TEXT(writer, "{\"event\":\"");
    writer_text(writer, JSON_FIELD_NAME_OF(names, event->kind));
    WRITER_TEXT(writer, "\"");
    char *brace = writer->at;
    switch ((enum private_kind)event->kind) {
    case PRIVATE_ORDER:
        write_order(writer, &event->order);
        return;
    case PRIVATE_FILL:
        json_history_fill(writer, &event->fill);
        break;
    case PRIVATE_BALANCE:
        json_money_cash_row(writer, &event->cash);
        break;
    case PRIVATE_FUNDING:
        json_money_payment(writer, &event->payment);
        break;
    case PRIVATE_POSITION:
        write_position(writer, event);
        return;
    case PRIVATE_TRANSFER:
        write_transfer(writer, &event->transfer);
        return;
    case PRIVATE_LIQUIDATION:
        write_liquidation(writer, event);
        return;
    case PRIVATE_MMP:
        write_mmp(writer, event);
        return;
    case PRIVATE_SESSION:
        write_session(writer, &event->session);
        return;
    }
    if (!writer->full)
        join(brace);
}
