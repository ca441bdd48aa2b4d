#include "net/stream/stream_binary.h"

#include "base/private_log.h"
#include "net/json/json_order.h"
#include "net/stream/stream.h"
#include "net/stream/stream_subs.h"

/* A message with its head, of a template and a struct of the same name. */
#define HEAD(template, name, asset_id, seq, time_ns)                                        \
    stream_binary_head((template), sizeof(struct stream_message_##name), (asset_id), (seq), \
                       (time_ns))

/* ---- frames ---------------------------------------------------------------------------------- */

/* The number of the channel; 0: it has no binary form. */
static uint8_t number_of(unsigned channel)
{
    return channel == STREAM_BOOK      ? STREAM_MESSAGE_OF_BOOK
           : channel == STREAM_TRADES  ? STREAM_MESSAGE_OF_TRADES
           : channel == STREAM_BBO     ? STREAM_MESSAGE_OF_BBO
           : channel == STREAM_PRIVATE ? STREAM_MESSAGE_OF_PRIVATE
                                       : 0;
}

bool stream_binary_may(const struct stream *stream, unsigned channel,
                       struct problem_detail *problem)
{
    return !stream->is_binary || number_of(channel) != 0 ||
           problem_detail_set(problem, PROBLEM_invalid_parameter, "channel",
                              "in " STREAM_MESSAGE_SUBPROTOCOL " there are book, trades, bbo and "
                              "private; this channel is on a stream without it");
}

static struct writer begin(struct stream *stream, unsigned channel, uint16_t asset_id,
                           uint64_t prev_seq, const struct stream_binary_of *of)
{
    struct writer writer = stream_text(stream->owner);
    struct stream_message_frame frame = {
        .head = HEAD(STREAM_MESSAGE_FRAME, frame, asset_id, of->seq, of->time_ns),
        .prev_seq = prev_seq,
        .engine_seq = of->engine_seq,
        .channel = number_of(channel),
        .type = (uint8_t)of->type,
        .crc = of->crc,
    };
    frame.head.flags = of->has_crc ? STREAM_MESSAGE_HAS_CRC : 0;
    writer_bytes(&writer, &frame, sizeof frame);
    return writer;
}

struct writer stream_binary_begin(struct stream *stream, const struct stream_sub *sub,
                                  const struct stream_binary_of *of)
{
    return begin(stream, sub->channel, sub->asset_id, sub->seq, of);
}

struct writer stream_binary_begin_private(struct stream *stream, uint64_t prev_seq,
                                          const struct stream_binary_of *of)
{
    return begin(stream, STREAM_PRIVATE, SYMBOL_NONE, prev_seq, of);
}

void stream_binary_answer(struct stream *stream, const struct writer *writer)
{
    bool is_sent = stream_binary_send(stream, writer);
    INVARIANT(is_sent);
}

/* ---- public messages ------------------------------------------------------------------------- */

void stream_binary_trade(struct writer *writer, uint16_t asset_id, const struct row_trade *trade,
                         uint64_t seq, uint64_t time_ns)
{
    const struct stream_message_trade message = {
        .head = HEAD(STREAM_MESSAGE_TRADE, trade, asset_id, seq, time_ns),
        .price = trade->price,
        .size = trade->size,
        .taker_side = trade->taker_side,
        .flags = trade->liquidation != 0 ? STREAM_MESSAGE_LIQUIDATED : 0,
        .trade_seq = trade->trade_seq,
    };
    writer_bytes(writer, &message, sizeof message);
}

void stream_binary_trades(struct writer *writer, uint16_t asset_id, const uint8_t *rows)
{
    struct row_trades list;
    struct row_trade trade;
    memcpy(&list, rows, sizeof list);
    for (uint32_t i = 0; i < list.trade_count; i++) {
        memcpy(&trade, rows + sizeof list + i * sizeof trade, sizeof trade);
        stream_binary_trade(writer, asset_id, &trade, trade.seq, trade.time_ns);
    }
}

void stream_binary_gap(struct writer *writer, uint16_t asset_id, const struct stream_binary_of *of,
                       uint64_t from_seq, uint64_t oldest_seq)
{
    const struct stream_message_gap message = {
        .head = HEAD(STREAM_MESSAGE_GAP, gap, asset_id, of->seq, of->time_ns),
        .from_seq = from_seq,
        .oldest_seq = oldest_seq,
    };
    writer_bytes(writer, &message, sizeof message);
}

/* ---- private messages ------------------------------------------------------------------------ */

/* The asset id of a market's name, padded with zeros; none: SYMBOL_NONE. */
static uint16_t market_of(const struct symbols *symbols, const char market[SYMBOL_BYTES])
{
    size_t count = strnlen(market, SYMBOL_BYTES);
    return count == 0 ? SYMBOL_NONE : symbols_find(symbols, market, count);
}

static void write_order(struct writer *writer, const struct private_event *event, uint16_t market)
{
    const struct row_order *row = &event->order.row;
    struct stream_message_order message = {
        .head = HEAD(STREAM_MESSAGE_ORDER, order, market, event->seq, event->time_ns),
        .remaining = row->remaining,
        .filled = row->filled,
        .price = json_order_has_price(row->order_type) ? row->price : 0,
        .status = row->status,
        .reason = row->reason,
        .side = row->side,
    };
    memcpy(message.order_id, row->id, sizeof message.order_id);
    writer_bytes(writer, &message, sizeof message);
}

static void write_fill(struct writer *writer, const struct private_event *event, uint16_t market)
{
    const struct row_fill *row = &event->fill;
    struct stream_message_fill message = {
        .head = HEAD(STREAM_MESSAGE_FILL, fill, market, event->seq, event->time_ns),
        .price = row->price,
        .size = row->quantity,
        .fee = row->fee,
        .liquidity = row->liquidity,
        .side = row->side,
    };
    memcpy(message.fill_id, row->id, sizeof message.fill_id);
    memcpy(message.order_id, row->request_id, sizeof message.order_id);
    writer_bytes(writer, &message, sizeof message);
}

static void write_position(struct writer *writer, const struct private_event *event,
                           uint16_t market)
{
    const struct private_position *row = &event->position;
    struct stream_message_position message = {
        .head = HEAD(STREAM_MESSAGE_POSITION, position, market, event->seq, event->time_ns),
        .size = row->size,
        .cost = row->cost,
        .net_funding = row->net_funding,
        .subaccount_index = event->subaccount_index,
        .portfolio_index = event->portfolio_index,
    };
    if (row->size != 0)
        memcpy(message.id, row->id, sizeof message.id);
    writer_bytes(writer, &message, sizeof message);
}

static void write_balance(struct writer *writer, const struct private_event *event, uint16_t market)
{
    const struct row_cash *row = &event->cash;
    struct stream_message_balance message = {
        .head = HEAD(STREAM_MESSAGE_BALANCE, balance, market, event->seq, event->time_ns),
        .amount = row->movement.amount,
        .balance_after = row->movement.balance_after,
        .subaccount_index = row->subaccount_index,
        .portfolio_index = row->portfolio_index,
        .index = row->movement.index,
        .kind = row->movement.kind,
    };
    if (row->movement.has_ref != 0)
        memcpy(message.ref_id, row->movement.ref_id, sizeof message.ref_id);
    writer_bytes(writer, &message, sizeof message);
}

static void write_funding(struct writer *writer, const struct private_event *event, uint16_t market)
{
    const struct row_payment *row = &event->payment;
    struct stream_message_funding message = {
        .head = HEAD(STREAM_MESSAGE_FUNDING, funding, market, event->seq, event->time_ns),
        .payment = row->payment,
        .size = row->size,
        .rate_ppb = row->rate_ppb,
        .index_price = row->index_price,
        .hour_ns = row->hour_ns,
        .subaccount_index = row->subaccount_index,
        .portfolio_index = row->portfolio_index,
        .index = row->index,
    };
    memcpy(message.id, row->id, sizeof message.id);
    writer_bytes(writer, &message, sizeof message);
}

static void write_transfer(struct writer *writer, const struct private_event *event)
{
    const struct private_transfer *row = &event->transfer;
    struct stream_message_transfer message = {
        .head = HEAD(STREAM_MESSAGE_TRANSFER, transfer, SYMBOL_NONE, event->seq, event->time_ns),
        .amount = row->amount,
        .from_subaccount_index = row->from_subaccount,
        .from_portfolio_index = row->from_portfolio,
        .to_subaccount_index = row->to_subaccount,
        .to_portfolio_index = row->to_portfolio,
        .kind = row->kind,
    };
    memcpy(message.withdrawal_id, row->withdrawal_id, sizeof message.withdrawal_id);
    writer_bytes(writer, &message, sizeof message);
}

static void write_liquidation(struct writer *writer, const struct private_event *event,
                              uint16_t market)
{
    const struct private_liquidation *row = &event->liquidation;
    struct stream_message_liquidation message = {
        .head = HEAD(STREAM_MESSAGE_LIQUIDATION, liquidation, market, event->seq, event->time_ns),
        .subaccount_index = event->subaccount_index,
        .portfolio_index = event->portfolio_index,
        .status = row->status,
    };
    memcpy(message.equity, &row->equity, sizeof message.equity);
    memcpy(message.maintenance_margin, &row->maintenance, sizeof message.maintenance_margin);
    if (market != SYMBOL_NONE) {
        message.price = row->price;
        message.size = row->size;
        message.level = row->level;
    }
    writer_bytes(writer, &message, sizeof message);
}

static void write_mmp(struct writer *writer, const struct private_event *event, uint16_t market)
{
    const struct stream_message_mmp message = {
        .head = HEAD(STREAM_MESSAGE_MMP, mmp, market, event->seq, event->time_ns),
        .frozen_until_ns = event->mmp.frozen_until_ns,
        .subaccount_index = event->subaccount_index,
        .portfolio_index = event->portfolio_index,
    };
    writer_bytes(writer, &message, sizeof message);
}

/* A secret's key is its keyed hash, which is nobody's to see. */
static void write_session(struct writer *writer, const struct private_event *event)
{
    enum { SESSION, MASTER_KEY = 3, SESSION_KEY_BYTES = 32 };
    const struct private_session *row = &event->session;
    struct stream_message_session message = {
        .head = HEAD(STREAM_MESSAGE_SESSION, session, SYMBOL_NONE, event->seq, event->time_ns),
        .kind = row->kind,
        .action = row->action,
    };
    if (row->kind != MASTER_KEY)
        memcpy(message.id, row->id, sizeof message.id);
    if (row->kind == SESSION)
        memcpy(message.public_key, row->key, SESSION_KEY_BYTES);
    else if (row->kind == MASTER_KEY)
        memcpy(message.public_key, row->key, sizeof message.public_key);
    writer_bytes(writer, &message, sizeof message);
}

void stream_binary_event(struct writer *writer, const struct symbols *symbols,
                         const struct private_event *event)
{
    switch ((enum private_kind)event->kind) {
    case PRIVATE_ORDER:
        write_order(writer, event, market_of(symbols, event->order.row.market));
        return;
    case PRIVATE_FILL:
        write_fill(writer, event, market_of(symbols, event->fill.market));
        return;
    case PRIVATE_POSITION:
        write_position(writer, event, market_of(symbols, event->position.market));
        return;
    case PRIVATE_BALANCE:
        write_balance(writer, event, market_of(symbols, event->cash.movement.market));
        return;
    case PRIVATE_FUNDING:
        write_funding(writer, event, market_of(symbols, event->payment.market));
        return;
    case PRIVATE_TRANSFER:
        write_transfer(writer, event);
        return;
    case PRIVATE_LIQUIDATION:
        write_liquidation(writer, event, market_of(symbols, event->liquidation.market));
        return;
    case PRIVATE_MMP:
        write_mmp(writer, event, market_of(symbols, event->mmp.market));
        return;
    case PRIVATE_SESSION:
        write_session(writer, event);
        return;
    }
    INVARIANT(!"a kind of event");
}
