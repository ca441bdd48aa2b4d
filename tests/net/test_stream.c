/* Streams while the output pool is full: heartbeats, the status and answers to ops come when there
 * is room, and who has unsent bytes for longest yields it (wire.md W8, W9). */
#include "check.h"
#include "net/fixture.h"

enum { POOL_BYTES = 1 << 20, CONNECTIONS = 8 };

#define SECOND_NS UINT64_C(1000000000)

static const char handshake[] = "GET /api/v1/stream HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\n"
                                "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                                "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n";

/* A client's message with a mask of zeros. */
static void ask(struct wire *wire, const char *text)
{
    uint8_t frame[256] = { 0x81 };
    size_t count = strlen(text);
    CHECK(count <= 125);
    frame[1] = (uint8_t)(0x80 | count);
    memcpy(frame + 6, text, count);
    wire_send(wire, frame, 6 + count, 0);
}

static void open_stream(struct wire *wire, struct fixture *fixture, struct protocol *protocol)
{
    struct wire_answer answer;
    wire_open(wire, fixture, protocol, false);
    wire_send(wire, handshake, sizeof handshake - 1, 0);
    CHECK(wire_answer(wire, &answer, true) && answer.status == 101);
}

/* Whether the text has come since the last call that found it. */
static bool has_come(struct wire *wire, const char *text)
{
    const char *at = memmem(wire->text + wire->read, wire->count - wire->read, text, strlen(text));
    if (at != NULL)
        wire->read = (size_t)(at - wire->text) + strlen(text);
    return at != NULL;
}

/* A client that does not read, whose answers fill the pool. */
static void fill(struct wire *hog, struct fixture *fixture, struct protocol *protocol)
{
    static const uint8_t bytes[OUTPUT_CHUNK_BYTES];
    struct output_pool *pool = &protocol->context.outputs;
    wire_open(hog, fixture, protocol, false);
    hog->stuck = true;
    while (output_fits(pool, &hog->conn->output, sizeof bytes))
        output_append(pool, &hog->conn->output, bytes, sizeof bytes, protocol->context.now_ns);
}

static void check_late_frames(struct fixture *fixture, struct protocol *protocol)
{
    struct wire stream, hog;
    open_stream(&stream, fixture, protocol);
    ask(&stream, "{\"op\":\"subscribe\",\"channel\":\"status\"}");
    ask(&stream, "{\"op\":\"subscribe\",\"channel\":\"trades\",\"market\":\"BTC-PERP\"}");
    CHECK(has_come(&stream, "\"channel\":\"status\",\"seq\""));
    CHECK(has_come(&stream, "\"type\":\"snapshot\",\"data\":{\"trades\":[]}}"));
    fill(&hog, fixture, protocol);
    clock_advance(&fixture->clock, 5 * SECOND_NS);
    wire_turn(&stream);
    CHECK(stream.conn != NULL && !has_come(&stream, "heartbeat") && !has_come(&stream, "update"));
    wire_turn(&hog);
    CHECK(hog.conn == NULL);
    clock_advance(&fixture->clock, SECOND_NS / 4);
    wire_turn(&stream);
    CHECK(stream.conn != NULL && has_come(&stream, "\"type\":\"update\",\"data\":{\"state\""));
    CHECK(has_come(&stream, "\"type\":\"heartbeat\",\"data\":{}}"));
    CHECK(!has_come(&stream, "heartbeat") && !has_come(&stream, "update")); /* once */
    wire_free(&hog);
    wire_free(&stream);
}

static void check_late_answers(struct fixture *fixture, struct protocol *protocol)
{
    struct wire stream, hog;
    open_stream(&stream, fixture, protocol);
    fill(&hog, fixture, protocol);
    ask(&stream, "{\"op\":\"ping\",\"id\":5}");
    CHECK(stream.conn != NULL && !has_come(&stream, "ping"));
    wire_turn(&hog);
    CHECK(hog.conn == NULL);
    wire_turn(&stream);
    CHECK(stream.conn != NULL && has_come(&stream, "{\"op\":\"ping\",\"id\":5,\"time_ns\":"));
    wire_free(&hog);
    wire_free(&stream);
}

/* The limit counts what other threads hold too, and a stream that closes makes room. */
static void check_connections(struct fixture *fixture, struct protocol *protocol)
{
    struct wire first, other;
    struct wire_answer answer;
    enum { OTHER_SLOT = NET_CONNECTIONS_MAX - 1 };
    open_stream(&first, fixture, protocol);
    CHECK(address_claims_take(&fixture->streams_of, OTHER_SLOT, first.conn->address, 2));
    wire_open(&other, fixture, protocol, false);
    wire_send(&other, handshake, sizeof handshake - 1, 0);
    CHECK(wire_answer(&other, &answer, false) && answer.status == 429 &&
          wire_has(&answer, "rate_limited"));
    address_claims_drop(&fixture->streams_of, OTHER_SLOT);
    wire_send(&other, handshake, sizeof handshake - 1, 0);
    CHECK(wire_answer(&other, &answer, true) && answer.status == 101);
    wire_free(&other);
    wire_free(&first);
}

int main(void)
{
    static struct fixture fixture;
    fixture_init(&fixture, true, FIXTURE_SLOTS);
    fixture.config.output_pool_bytes = POOL_BYTES;
    struct protocol *protocol = fixture_protocol(&fixture, CONNECTIONS);
    check_late_frames(&fixture, protocol);
    check_late_answers(&fixture, protocol);
    check_connections(&fixture, protocol);
    fixture_end(&fixture, protocol);
    return 0;
}
