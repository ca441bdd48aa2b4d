/* When perpd ends a stream that does nothing wrong (wire.md W9): 75 s in which neither side sends a
 * byte, and more events behind than the log keeps, of which none may be passed over. */
#include <stdio.h>

#include "check.h"
#include "net/fixture.h"
#include "net/stream_wire.h"

enum { BTC = 1, ETH = 2, CONNECTIONS = 8, EVENTS_A_TURN = 64 };

#define SECOND_NS UINT64_C(1000000000)

static void pass(struct wire *wire, uint64_t seconds)
{
    clock_advance(&wire->fixture->clock, seconds * SECOND_NS);
    wire_turn(wire);
}

/* A pong is a byte: the 75 s begin again. */
static void check_silence(struct fixture *fixture, struct protocol *protocol)
{
    static const uint8_t pong[] = { 0x8A, 0x80, 0, 0, 0, 0 };
    struct wire quiet, other;
    open_stream(&quiet, fixture, protocol);
    open_stream(&other, fixture, protocol);
    pass(&quiet, 74);
    wire_send(&other, pong, sizeof pong, 0);
    CHECK(quiet.conn != NULL && other.conn != NULL);
    pass(&quiet, 1);
    CHECK(quiet.conn == NULL);
    pass(&other, 73);
    CHECK(other.conn != NULL);
    pass(&other, 1);
    CHECK(other.conn == NULL);
    CHECK(protocol->streams.count == 0);
    wire_free(&quiet);
    wire_free(&other);
}

/* Who gets heartbeats and reads none of them is silent too, also while it talks. */
static void check_deaf(struct fixture *fixture, struct protocol *protocol, bool talks)
{
    static const uint8_t pong[] = { 0x8A, 0x80, 0, 0, 0, 0 };
    struct wire deaf;
    open_stream(&deaf, fixture, protocol);
    ask(&deaf, "{\"op\":\"subscribe\",\"channel\":\"trades\",\"market\":\"BTC-PERP\"}");
    CHECK(has_come(&deaf, "snapshot"));
    deaf.stuck = true;
    for (unsigned at = 0; at < 70; at += 5) {
        pass(&deaf, 5);
        wire_send(&deaf, pong, talks ? sizeof pong : 0, 0);
    }
    CHECK(deaf.conn != NULL && deaf.conn->output.bytes != 0);
    for (unsigned at = 0; at < 10 && deaf.conn != NULL; at += 5) {
        pass(&deaf, 5);
        if (talks && deaf.conn != NULL)
            wire_send(&deaf, pong, sizeof pong, 0);
    }
    CHECK(deaf.conn == NULL);
    wire_free(&deaf);
}

static void add_trades(struct fixture *fixture, uint16_t asset_id, uint64_t seq, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        const struct event_log_event event = {
            .seq = seq + i,
            .sequence = seq + i,
            .asset_id = asset_id,
            .kind = EVENT_LOG_TRADE,
            .trade = { .price = 1, .size = 1, .trade_seq = seq + i, .sequence = seq + i },
        };
        event_log_add(&fixture->events, &event);
    }
}

/* 65,536 events behind, whose first is the stream's, and it gets that; one more, and it is lost. */
static void check_behind(struct fixture *fixture, struct protocol *protocol)
{
    static const uint8_t slow[] = { 0x88, 2 + 13, 4008 >> 8, 4008 & 0xFF, 's', 'l', 'o', 'w' };
    for (unsigned more = 0; more < 2; more++) {
        struct wire stream;
        open_stream(&stream, fixture, protocol);
        ask(&stream, "{\"op\":\"subscribe\",\"channel\":\"trades\",\"market\":\"BTC-PERP\"}");
        CHECK(has_come(&stream, "\"seq\":9001,\"prev_seq\":9001,"));
        add_trades(fixture, BTC, 9002, 1);
        add_trades(fixture, ETH, 1 + more * EVENT_LOG_SLOTS, EVENT_LOG_SLOTS - 1 + more);
        for (unsigned i = 0; i <= EVENT_LOG_SLOTS / EVENTS_A_TURN && stream.conn != NULL; i++)
            wire_turn(&stream);
        CHECK(has_come(&stream, "\"seq\":9002,\"prev_seq\":9001,") == (more == 0));
        CHECK((memmem(stream.text, stream.count, slow, sizeof slow) != NULL) == (more == 1));
        CHECK((stream.conn == NULL || stream.conn->stream->ended) == (more == 1));
        wire_free(&stream);
    }
}

/* What happens in a market whose symbol is not added yet, as a standby's may be, goes to nobody and
 * ends nothing. */
static void check_unnamed(struct fixture *fixture, struct protocol *protocol)
{
    enum { UNNAMED = 77 };
    struct wire stream;
    open_stream(&stream, fixture, protocol);
    ask(&stream, "{\"op\":\"subscribe\",\"channel\":\"trades\",\"market\":\"BTC-PERP\"}");
    CHECK(has_come(&stream, "\"seq\":9001,\"prev_seq\":9001,"));
    add_trades(fixture, UNNAMED, 1, 1);
    add_trades(fixture, BTC, 9002, 1);
    wire_turn(&stream);
    wire_turn(&stream);
    CHECK(has_come(&stream, "\"seq\":9002,\"prev_seq\":9001,"));
    wire_free(&stream);
}

int main(void)
{
    static struct fixture fixture;
    fixture_init(&fixture, true, FIXTURE_SLOTS);
    struct protocol *protocol = fixture_protocol(&fixture, CONNECTIONS);
    check_silence(&fixture, protocol);
    check_deaf(&fixture, protocol, false);
    check_deaf(&fixture, protocol, true);
    check_unnamed(&fixture, protocol);
    check_behind(&fixture, protocol);
    fixture_end(&fixture, protocol);
    return 0;
}
