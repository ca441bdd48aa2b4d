/* Streams of perps.bin.v1 (wire.md W9, Binary messages): the bytes of every template and of every
 * frame, and what a client may send. Offsets are wire.md's. */
#include <stdio.h>

#include "check.h"
#include "net/fixture.h"
#include "net/stream_wire.h"

enum { CONNECTIONS = 8, BTC = 1, ETH = 2, BINARY_HEAD = 2, HEAD = 24, FRAME = 48 };
enum { BOOK = 1, TRADES = 2, BBO = 3, PRIVATE = 4 };
enum { SNAPSHOT = 1, UPDATE = 2, HEARTBEAT = 3, GAP = 4 };

#define SECOND_NS UINT64_C(1000000000)

static const char binary_handshake[] =
    "GET /api/v1/stream HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
    "Sec-WebSocket-Protocol: chat, perps.bin.v1\r\n\r\n";

static void open_binary(struct wire *wire, struct fixture *fixture, struct protocol *protocol)
{
    struct wire_answer answer;
    wire_open(wire, fixture, protocol, false);
    wire_send(wire, binary_handshake, sizeof binary_handshake - 1, 0);
    static const char agreed[] = "Sec-WebSocket-Protocol: perps.bin.v1\r\n";
    CHECK(wire_answer(wire, &answer, true) && answer.status == 101);
    CHECK(memmem(wire->text, wire->count, agreed, strlen(agreed)) != NULL);
}

/* A message of the client with a mask of zeros. */
static void send_binary(struct wire *wire, const void *bytes, size_t count)
{
    uint8_t frame[512] = { 0x82 };
    size_t at = count <= 125 ? 6 : 8;
    CHECK(count <= sizeof frame - 8);
    frame[1] = (uint8_t)(0x80 | (count <= 125 ? count : 126));
    if (count > 125) {
        frame[2] = (uint8_t)(count >> 8);
        frame[3] = (uint8_t)count;
    }
    memcpy(frame + at, bytes, count);
    wire_send(wire, frame, at + count, 0);
}

/* The next frame of the server, whose first byte is `first`; NULL: another has come, or none. */
static const uint8_t *next(struct wire *wire, uint8_t first, size_t *count)
{
    const uint8_t *at = (const uint8_t *)wire->text + wire->read;
    size_t left = wire->count - wire->read, head = BINARY_HEAD;
    if (left < head || at[0] != first)
        return NULL;
    *count = at[1];
    if (at[1] == 126) {
        *count = (size_t)at[2] << 8 | at[3];
        head += 2;
    }
    CHECK(at[1] <= 126 && left >= head + *count);
    wire->read += head + *count;
    return at + head;
}

static uint64_t number(const uint8_t *bytes, unsigned at, unsigned size)
{
    uint64_t value = 0;
    for (unsigned i = size; i > 0; i--)
        value = value << 8 | bytes[at + i - 1];
    return value;
}

#define U8(at)  number(message, (at), 1)
#define U16(at) number(message, (at), 2)
#define U32(at) number(message, (at), 4)
#define U64(at) number(message, (at), 8)

static bool is_zero(const uint8_t *bytes, size_t count)
{
    while (count > 0)
        if (bytes[--count] != 0)
            return false;
    return true;
}

static bool is_head(const uint8_t *message, unsigned template, unsigned length, unsigned market,
                    uint64_t seq)
{
    return U16(0) == template && U16(2) == length && U16(4) == market && U64(8) == seq;
}

/* The next message of the server is a frame with `bytes` of data, where it then is; else NULL. */
static const uint8_t *next_frame(struct wire *wire, unsigned channel, unsigned type, uint64_t seq,
                                 uint64_t prev_seq, size_t bytes)
{
    size_t count;
    const uint8_t *message = next(wire, 0x82, &count);
    bool is_right = message != NULL && count == FRAME + bytes &&
                    is_head(message, 16, FRAME, channel == PRIVATE ? 0 : BTC, seq) &&
                    U64(24) == prev_seq && U8(40) == channel && U8(41) == type && U16(42) == 0 &&
                    U16(6) == (channel == BOOK && type != UPDATE);
    return is_right ? message + FRAME : NULL;
}

static bool has_reply(struct wire *wire, const char *text)
{
    size_t count;
    const uint8_t *reply = next(wire, 0x81, &count);
    return reply != NULL && memmem(reply, count, text, strlen(text)) != NULL;
}

static void turns(struct wire *wire)
{
    for (unsigned i = 0; i < 3; i++)
        wire_turn(wire);
}

/* ---- public ---------------------------------------------------------------------------------- */

static void check_trades(struct fixture *fixture, struct protocol *protocol)
{
    struct wire stream;
    struct event_log_event event = {
        .seq = 9004,
        .sequence = 77,
        .time_ns = 4242,
        .asset_id = BTC,
        .kind = EVENT_LOG_TRADE,
        .trade = { .price = 1000000,
                   .size = 5,
                   .trade_seq = 12,
                   .sequence = 77,
                   .time_ns = 4242,
                   .taker_side = 1,
                   .liquidation = 1 },
    };
    open_binary(&stream, fixture, protocol);
    fixture->trade_rows = 2; /* of history: seq 9000, 8998 */
    ask(&stream, "{\"op\":\"subscribe\",\"channel\":\"trades\",\"market\":\"BTC-PERP\",\"id\":5}");
    turns(&stream);
    CHECK(has_reply(&stream, "{\"op\":\"subscribe\",\"id\":5,\"channel\":\"trades\""));
    CHECK(next_frame(&stream, TRADES, SNAPSHOT, 9001, 9001, 0) != NULL);
    event_log_add(&fixture->events, &event);
    event.asset_id = ETH;
    event_log_add(&fixture->events, &event);
    event.asset_id = BTC;
    event.kind = EVENT_LOG_MARK; /* raises the market's seq, and is of another channel */
    event.seq = 9005;
    event_log_add(&fixture->events, &event);
    turns(&stream);
    const uint8_t *message = next_frame(&stream, TRADES, UPDATE, 9004, 9001, 56);
    CHECK(message != NULL && is_head(message, 2, 56, BTC, 9004) && U64(16) == 4242 &&
          U64(24) == 1000000 && U64(32) == 5 && U8(40) == 1 && U8(41) == 1 &&
          is_zero(message + 42, 6) && U64(48) == 12);
    CHECK(number(message - FRAME, 32, 8) == 77 && number(message - FRAME, 16, 8) == 4242);
    CHECK(stream.read == stream.count);
    clock_advance(&fixture->clock, 5 * SECOND_NS);
    turns(&stream);
    CHECK(next_frame(&stream, TRADES, HEARTBEAT, 9004, 9004, 0) != NULL);
    ask(&stream,
        "{\"op\":\"resume\",\"channel\":\"trades\",\"market\":\"BTC-PERP\",\"from_seq\":9999}");
    for (unsigned i = 0; i < 40; i++)
        wire_turn(&stream);
    CHECK(has_reply(&stream, "\"from_seq\":9999,"));
    message = next_frame(&stream, TRADES, GAP, 9001, 9999, 40);
    CHECK(message != NULL && is_head(message, 17, 40, BTC, 9001) && U64(24) == 9999);
    wire_free(&stream);
}

static bool is_level(const uint8_t *message, uint64_t seq, uint64_t price, uint64_t size,
                     unsigned side)
{
    return is_head(message, 1, 48, BTC, seq) && U64(24) == price && U64(32) == size &&
           U8(40) == side && is_zero(message + 41, 7);
}

static bool is_best(const uint8_t *message, uint64_t seq, const uint64_t best[4])
{
    bool is_right = is_head(message, 3, 56, BTC, seq);
    for (unsigned i = 0; i < 4; i++)
        is_right = is_right && U64(24 + 8 * i) == best[i];
    return is_right;
}

static void write_board(struct fixture *fixture, uint64_t seq, const struct row_level *levels,
                        uint32_t bids, uint32_t asks)
{
    const struct book_board_head head = {
        .book_seq = seq,
        .applied = seq + 1000,
        .time_ns = 4242,
        .depth = 10,
        .bid_count = bids,
        .ask_count = asks,
    };
    book_board_write(&fixture->books, symbols_index(&fixture->symbols, BTC), &head, levels);
}

/* A bid that changes, one that is new, an ask that goes: one frame. And the sides of bbo, of which
 * one is empty. */
static void check_books(struct fixture *fixture, struct protocol *protocol)
{
    static const struct row_level later[] = { { 999999, 30000 }, { 999998, 7 } };
    const uint64_t first[] = { 999999, 40000, 1000000, 20000 }, then[] = { 999999, 30000, 0, 0 };
    struct wire book, best;
    open_binary(&book, fixture, protocol);
    open_binary(&best, fixture, protocol);
    ask(&book, "{\"op\":\"subscribe\",\"channel\":\"book\",\"market\":\"BTC-PERP\",\"depth\":10}");
    turns(&book);
    ask(&best, "{\"op\":\"subscribe\",\"channel\":\"bbo\",\"market\":\"BTC-PERP\"}");
    turns(&best);
    CHECK(has_reply(&book, "\"depth\":10") && has_reply(&best, "\"bbo\""));
    const uint8_t *message = next_frame(&book, BOOK, SNAPSHOT, 9001, 9001, 96);
    CHECK(message != NULL && is_level(message, 9001, 999999, 40000, 0) &&
          is_level(message + 48, 9001, 1000000, 20000, 1));
    uint64_t crc = number(message - FRAME, 44, 4);
    message = next_frame(&best, BBO, SNAPSHOT, 9001, 9001, 56);
    CHECK(message != NULL && is_best(message, 9001, first));
    clock_advance(&fixture->clock, 5 * SECOND_NS);
    wire_turn(&book);
    message = next_frame(&book, BOOK, HEARTBEAT, 9001, 9001, 0);
    CHECK(message != NULL && number(message - FRAME, 44, 4) == crc && crc != 0);
    wire_turn(&best);
    CHECK(next_frame(&best, BBO, HEARTBEAT, 9001, 9001, 0) != NULL);
    write_board(fixture, 9007, later, 2, 0);
    wire_turn(&book);
    wire_turn(&best);
    message = next_frame(&book, BOOK, UPDATE, 9007, 9001, 3 * 48);
    CHECK(message != NULL && is_level(message, 9007, 999999, 30000, 0) &&
          is_level(message + 48, 9007, 999998, 7, 0) &&
          is_level(message + 96, 9007, 1000000, 0, 1));
    CHECK(number(message - FRAME, 32, 8) == 10007 && number(message - FRAME, 16, 8) == 4242);
    message = next_frame(&best, BBO, UPDATE, 9007, 9001, 56);
    CHECK(message != NULL && is_best(message, 9007, then));
    CHECK(book.read == book.count && best.read == best.count);
    wire_free(&book);
    wire_free(&best);
}

/* ---- private --------------------------------------------------------------------------------- */

static const uint8_t made_id[16] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 };
static const uint8_t other_id[16] = { 99, 98, 97 };

static void log_in(struct wire *wire, struct fixture *fixture)
{
    char text[128];
    (void)snprintf(text, sizeof text, "{\"op\":\"login\",\"api_key\":\"%s\"}", fixture->api_key);
    ask(wire, text);
    CHECK(has_reply(wire, "{\"op\":\"login\",\"account_id\":7"));
}

/* Adds the event, and gives its message of `bytes`, whose head is right. */
static const uint8_t *show(struct wire *wire, struct private_event *event, unsigned template,
                           unsigned bytes, unsigned market)
{
    uint64_t prev_seq = event->seq++;
    event->account_id = FIXTURE_ACCOUNT;
    event->sequence = 5000 + event->seq;
    event->time_ns = 4242;
    event->subaccount_index = 3;
    event->portfolio_index = 2;
    private_log_add(&wire->fixture->private_log, event);
    wire_turn(wire);
    const uint8_t *message = next_frame(wire, PRIVATE, UPDATE, event->seq, prev_seq, bytes);
    CHECK(message != NULL && is_head(message, template, bytes, market, event->seq) &&
          U64(16) == 4242 && U16(6) == 0 && number(message - FRAME, 32, 8) == event->sequence);
    return message;
}

static void check_order(struct wire *wire, struct private_event *event)
{
    event->kind = PRIVATE_ORDER;
    event->order = (struct private_order){ .row = { .market = "ETH-PERP",
                                                    .initial = 9,
                                                    .remaining = 11,
                                                    .filled = 22,
                                                    .price = 33,
                                                    .status = 5,
                                                    .order_type = 1,
                                                    .side = 1,
                                                    .reason = 145 } };
    memcpy(event->order.row.id, made_id, sizeof made_id);
    const uint8_t *message = show(wire, event, 4, 72, ETH);
    CHECK(memcmp(message + 24, made_id, 16) == 0 && U64(40) == 11 && U64(48) == 22 &&
          U64(56) == 33 && U8(64) == 5 && U8(65) == 145 && U8(66) == 1 && is_zero(message + 67, 5));
    event->order.row.order_type = 0; /* MARKET */
    message = show(wire, event, 4, 72, ETH);
    CHECK(U64(56) == 0);
}

static void check_fill(struct wire *wire, struct private_event *event)
{
    event->kind = PRIVATE_FILL;
    event->fill = (struct row_fill){
        .market = "BTC-PERP", .price = 33, .quantity = 44, .fee = -55, .side = 1, .liquidity = 1
    };
    memcpy(event->fill.id, made_id, sizeof made_id);
    memcpy(event->fill.request_id, other_id, sizeof other_id);
    const uint8_t *message = show(wire, event, 5, 88, BTC);
    CHECK(memcmp(message + 24, made_id, 16) == 0 && memcmp(message + 40, other_id, 16) == 0);
    CHECK(U64(56) == 33 && U64(64) == 44 && (int64_t)U64(72) == -55 && U8(80) == 1 && U8(81) == 1 &&
          is_zero(message + 82, 6));
}

static void check_position(struct wire *wire, struct private_event *event)
{
    event->kind = PRIVATE_POSITION;
    event->position = (struct private_position){
        .market = "BTC-PERP", .size = -66, .cost = -77, .net_funding = 88
    };
    memcpy(event->position.id, made_id, sizeof made_id);
    const uint8_t *message = show(wire, event, 18, 72, BTC);
    CHECK(memcmp(message + 24, made_id, 16) == 0 && (int64_t)U64(40) == -66 &&
          (int64_t)U64(48) == -77 && U64(56) == 88 && U32(64) == 3 && U32(68) == 2);
    event->position.size = 0;
    message = show(wire, event, 18, 72, BTC);
    CHECK(is_zero(message + 24, 24));
}

static void check_cash(struct wire *wire, struct private_event *event)
{
    event->kind = PRIVATE_BALANCE;
    event->cash = (struct row_cash){ .movement = { .market = "BTC-PERP",
                                                   .amount = -5,
                                                   .balance_after = 99,
                                                   .index = 4,
                                                   .kind = 1,
                                                   .has_ref = 1 },
                                     .subaccount_index = 3,
                                     .portfolio_index = 2 };
    memcpy(event->cash.movement.ref_id, made_id, sizeof made_id);
    const uint8_t *message = show(wire, event, 19, 72, BTC);
    CHECK(memcmp(message + 24, made_id, 16) == 0 && (int64_t)U64(40) == -5 && U64(48) == 99 &&
          U32(56) == 3 && U32(60) == 2 && U32(64) == 4 && U8(68) == 1 && is_zero(message + 69, 3));
    event->cash.movement.has_ref = 0;
    memset(event->cash.movement.market, 0, sizeof event->cash.movement.market);
    message = show(wire, event, 19, 72, 0);
    CHECK(is_zero(message + 24, 16));
    event->kind = PRIVATE_FUNDING;
    event->payment = (struct row_payment){ .market = "BTC-PERP",
                                           .payment = -5,
                                           .size = -6,
                                           .rate_ppb = -7,
                                           .index_price = 8,
                                           .hour_ns = 9,
                                           .subaccount_index = 3,
                                           .portfolio_index = 2,
                                           .index = 10 };
    memcpy(event->payment.id, made_id, sizeof made_id);
    message = show(wire, event, 20, 96, BTC);
    CHECK(memcmp(message + 24, made_id, 16) == 0 && (int64_t)U64(40) == -5 &&
          (int64_t)U64(48) == -6 && (int64_t)U64(56) == -7 && U64(64) == 8 && U64(72) == 9 &&
          U32(80) == 3 && U32(84) == 2 && U32(88) == 10 && is_zero(message + 92, 4));
    event->kind = PRIVATE_TRANSFER;
    event->transfer = (struct private_transfer){ .amount = 5,
                                                 .from_subaccount = 1,
                                                 .from_portfolio = 2,
                                                 .to_subaccount = PRIVATE_OUTSIDE,
                                                 .to_portfolio = PRIVATE_OUTSIDE,
                                                 .kind = PRIVATE_TRANSFER_WITHDRAWAL };
    memcpy(event->transfer.withdrawal_id, made_id, sizeof made_id);
    message = show(wire, event, 21, 72, 0);
    CHECK(memcmp(message + 24, made_id, 16) == 0 && U64(40) == 5 && U32(48) == 1 && U32(52) == 2 &&
          U32(56) == UINT32_MAX && U32(60) == UINT32_MAX && U8(64) == 3 &&
          is_zero(message + 65, 7));
}

static void check_rest(struct wire *wire, struct private_event *event)
{
    event->kind = PRIVATE_LIQUIDATION;
    event->liquidation = (struct private_liquidation){ .equity = -5,
                                                       .maintenance = (int128)1 << 70,
                                                       .market = "BTC-PERP",
                                                       .price = 6,
                                                       .size = -7,
                                                       .status = 1,
                                                       .level = 2 };
    const uint8_t *message = show(wire, event, 22, 88, BTC);
    CHECK((int64_t)U64(24) == -5 && (int64_t)U64(32) == -1 && U64(40) == 0 && U64(48) == 64 &&
          U64(56) == 6 && (int64_t)U64(64) == -7 && U32(72) == 3 && U32(76) == 2 && U8(80) == 1 &&
          U8(81) == 2 && is_zero(message + 82, 6));
    memset(event->liquidation.market, 0, sizeof event->liquidation.market);
    message = show(wire, event, 22, 88, 0);
    CHECK(is_zero(message + 56, 16) && U8(81) == 0);
    event->kind = PRIVATE_MMP;
    event->mmp = (struct private_mmp){ .market = "ETH-PERP", .frozen_until_ns = UINT64_MAX };
    message = show(wire, event, 23, 40, ETH);
    CHECK(U64(24) == UINT64_MAX && U32(32) == 3 && U32(36) == 2);
    event->kind = PRIVATE_SESSION;
    for (unsigned kind = 0; kind < 4; kind++) { /* session, api_key, device_key, master_key */
        event->session = (struct private_session){ .kind = (uint8_t)kind, .action = 2 };
        memset(event->session.key, 0x5a, sizeof event->session.key);
        memcpy(event->session.id, made_id, sizeof made_id);
        message = show(wire, event, 24, 80, 0);
        CHECK(kind == 3 ? is_zero(message + 24, 16) : memcmp(message + 24, made_id, 16) == 0);
        CHECK(U8(73) == kind && U8(74) == 2 && is_zero(message + 75, 5));
        CHECK(U8(40) == (kind == 0 || kind == 3 ? 0x5a : 0) && U8(72) == (kind == 3 ? 0x5a : 0));
        CHECK(kind != 1 || is_zero(message + 40, 33)); /* a secret's hash is nobody's to see */
    }
}

static void check_private(struct fixture *fixture, struct protocol *protocol)
{
    struct private_event event = { .seq = 500 };
    struct wire stream;
    open_binary(&stream, fixture, protocol);
    log_in(&stream, fixture);
    ask(&stream, "{\"op\":\"subscribe\",\"channel\":\"private\"}");
    turns(&stream);
    CHECK(has_reply(&stream, "{\"op\":\"subscribe\",\"channel\":\"private\""));
    CHECK(next_frame(&stream, PRIVATE, SNAPSHOT, 500, 500, 0) != NULL);
    check_order(&stream, &event);
    check_fill(&stream, &event);
    check_position(&stream, &event);
    check_cash(&stream, &event);
    check_rest(&stream, &event);
    clock_advance(&fixture->clock, 5 * SECOND_NS);
    wire_turn(&stream);
    CHECK(next_frame(&stream, PRIVATE, HEARTBEAT, event.seq, event.seq, 0) != NULL);
    ask(&stream, "{\"op\":\"resume\",\"channel\":\"private\",\"from_seq\":600}");
    turns(&stream);
    CHECK(has_reply(&stream, "{\"op\":\"resume\""));
    const uint8_t *message = next_frame(&stream, PRIVATE, GAP, 500, 600, 40);
    CHECK(message != NULL && is_head(message, 17, 40, 0, 500) && U64(24) == 600);
    wire_free(&stream);
}

/* ---- what a client sends --------------------------------------------------------------------- */

static void check_absent(struct fixture *fixture, struct protocol *protocol)
{
    static const char *const names[] = { "mark",    "market_state", "funding", "liquidations",
                                         "book_l3", "candles",      "status" };
    struct wire stream;
    char text[160];
    open_binary(&stream, fixture, protocol);
    for (unsigned i = 0; i < CC_COUNT(names); i++) {
        (void)snprintf(text, sizeof text,
                       "{\"op\":\"subscribe\",\"market\":\"BTC-PERP\",\"interval\":\"1m\","
                       "\"channel\":\"%s\"}",
                       names[i]);
        ask(&stream, text);
        CHECK(has_reply(&stream, "in perps.bin.v1 there are book, trades, bbo and private"));
    }
    CHECK(stream.conn->stream->sub_count == 0 && protocol->streams.status_count == 0);
    wire_free(&stream);
}

static void check_signed(struct fixture *fixture, struct protocol *protocol)
{
    uint8_t frame[512], body[48], id[16];
    struct wire stream;
    size_t count;
    open_binary(&stream, fixture, protocol);
    fixture_order(body);
    fixture->next_answer = (struct answer){ .status = 0 };
    count = fixture_frame(fixture, frame, 0, &fixture->session, body, sizeof body);
    memcpy(id, frame + 8, sizeof id);
    send_binary(&stream, frame, count);
    turns(&stream);
    size_t bytes;
    const uint8_t *message = next(&stream, 0x82, &bytes);
    CHECK(message != NULL && bytes == 88 && is_head(message, 6, 88, 0, fixture->sequence));
    CHECK(U16(24) == 0 && U8(26) == 255 && U8(27) == 1 && U64(32) == U64(16) &&
          U64(40) == fixture->sequence && memcmp(message + 48, id, 16) == 0);
    frame[count - 1] ^= 1; /* of the signature */
    frame[23] ^= 1;        /* another id */
    send_binary(&stream, frame, count);
    turns(&stream);
    CHECK(has_reply(&stream, "{\"op\":\"signed\",\"request_id\":\""));
    send_binary(&stream, frame, 23);
    CHECK(has_reply(&stream, "{\"op\":\"signed\",\"problem\":{"));
    ask(&stream, "{\"op\":\"ping\",\"id\":4}");
    CHECK(has_reply(&stream, "{\"op\":\"ping\",\"id\":4"));
    wire_free(&stream);
}

int main(void)
{
    static struct fixture fixture;
    fixture_init(&fixture, true, FIXTURE_SLOTS);
    struct protocol *protocol = fixture_protocol(&fixture, CONNECTIONS);
    check_trades(&fixture, protocol);
    check_books(&fixture, protocol);
    check_private(&fixture, protocol);
    check_absent(&fixture, protocol);
    check_signed(&fixture, protocol);
    fixture_end(&fixture, protocol);
    return 0;
}
