/* A WebSocket: frames in any cuts, and messages of a client that has logged in; the same where the
 * subprotocol of binary messages is agreed, and one such message. Whatever comes, what the stream
 * held is given back when its connection closes. */
#include <stdio.h>

#include "check.h"
#include "net/fixture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CONNECTIONS = 8, MESSAGE_MAX = 16000, TURNS = 16 };

#define GRACE_NS UINT64_C(11000000000)

#define HANDSHAKE                                                                             \
    "GET /api/v1/stream HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" \
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"

static const char handshake[] = HANDSHAKE "\r\n";
static const char binary_handshake[] = HANDSHAKE "Sec-WebSocket-Protocol: perps.bin.v1\r\n\r\n";

static struct fixture fixture;
static struct protocol *protocol;

/* A message with a mask of zeros, its first byte `kind`. */
static void say_as(struct wire *wire, uint8_t kind, const void *bytes, size_t count)
{
    static uint8_t frame[MESSAGE_MAX + 8];
    size_t head = count <= 125 ? 6 : 8;

    if (count > MESSAGE_MAX || wire->conn == NULL)
        return;
    memset(frame, 0, head);
    frame[0] = kind;
    frame[1] = (uint8_t)(0x80 | (count <= 125 ? count : 126));
    if (count > 125) {
        frame[2] = (uint8_t)(count >> 8);
        frame[3] = (uint8_t)count;
    }
    memcpy(frame + head, bytes, count);
    wire_send(wire, frame, head + count, 0);
}

static void say(struct wire *wire, const char *text, size_t count)
{
    say_as(wire, 0x81, text, count);
}

/* The bytes as they are; the first says where they are cut. */
static void send_bytes(struct wire *wire, const uint8_t *data, size_t size)
{
    size_t cut = 1u + (size > 0 ? data[0] : 0u);

    for (size_t at = 1; at < size && wire->conn != NULL; at += cut)
        wire_send(wire, data + at, size - at < cut ? size - at : cut, 0);
}

/* Each line is a message. */
static void send_lines(struct wire *wire, const uint8_t *data, size_t size)
{
    char login[128];

    (void)snprintf(login, sizeof login, "{\"op\":\"login\",\"api_key\":\"%s\"}",
                   fixture.trading_api_key);
    say(wire, login, strlen(login));
    while (size > 0) {
        const uint8_t *end = memchr(data, '\n', size);
        size_t count = end == NULL ? size : (size_t)(end - data);
        say(wire, (const char *)data, count);
        data += count + (end != NULL);
        size -= count + (end != NULL);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wire wire;

    if (size == 0)
        return 0;
    if (protocol == NULL) {
        fixture_init(&fixture, true, FIXTURE_SLOTS);
        protocol = fixture_protocol(&fixture, CONNECTIONS);
    }
    wire_open(&wire, &fixture, protocol, false);
    if (data[0] / 2 % 2 == 0)
        wire_send(&wire, handshake, sizeof handshake - 1, 0);
    else
        wire_send(&wire, binary_handshake, sizeof binary_handshake - 1, 0);
    CHECK(wire.conn != NULL && wire.conn->stream != NULL);
    if (data[0] / 4 % 2 == 1)
        say_as(&wire, 0x82, data + 1, size - 1);
    else if (data[0] % 2 == 0)
        send_bytes(&wire, data + 1, size - 1);
    else
        send_lines(&wire, data + 1, size - 1);
    for (unsigned i = 0; i < TURNS && wire.conn != NULL; i++)
        wire_turn(&wire);
    wire_free(&wire);
    clock_advance(&fixture.clock, GRACE_NS); /* of arms, which end in the next input's turns */
    CHECK(protocol->context.conns.open_count == 0 && protocol->streams.count == 0 &&
          protocol->streams.private_count == 0 && protocol->streams.resuming == 0 &&
          protocol->streams.orders_count == 0 && !book_log_is_wanted(&fixture.orders));
    return 0;
}
