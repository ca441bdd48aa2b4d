/* stream_wire.h - a client of a stream on the fixture: what it sends, and what has come. */
#ifndef TESTS_NET_STREAM_WIRE_H
#define TESTS_NET_STREAM_WIRE_H

#include <stdio.h>

#include "check.h"
#include "net/fixture.h"

static const char handshake[] = "GET /api/v1/stream HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\n"
                                "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                                "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n";

enum { FRAME_BYTES = 256 };

/* A client's message with a mask of zeros. Gives its length. */
static inline size_t text_frame(uint8_t frame[FRAME_BYTES], const char *text)
{
    size_t count = strlen(text), head = count <= 125 ? 6 : 8;
    CHECK(head + count <= FRAME_BYTES);
    memset(frame, 0, head);
    frame[0] = 0x81;
    frame[1] = (uint8_t)(0x80 | (head == 6 ? count : 126));
    if (head != 6)
        frame[3] = (uint8_t)count;
    memcpy(frame + head, text, count);
    return head + count;
}

static inline void ask(struct wire *wire, const char *text)
{
    uint8_t frame[FRAME_BYTES];
    wire_send(wire, frame, text_frame(frame, text), 0);
}

static inline void open_stream(struct wire *wire, struct fixture *fixture,
                               struct protocol *protocol)
{
    struct wire_answer answer;
    wire_open(wire, fixture, protocol, false);
    wire_send(wire, handshake, sizeof handshake - 1, 0);
    CHECK(wire_answer(wire, &answer, true) && answer.status == 101);
}

/* Whether the text has come since the last call that found it. */
static inline bool has_come(struct wire *wire, const char *text)
{
    const char *at = memmem(wire->text + wire->read, wire->count - wire->read, text, strlen(text));
    if (at != NULL)
        wire->read = (size_t)(at - wire->text) + strlen(text);
    return at != NULL;
}

static inline void add_private_of(struct fixture *fixture, uint64_t account_id, uint64_t seq,
                                  uint32_t subaccount)
{
    const struct private_event event = fixture_private(account_id, seq, subaccount);
    private_log_add(&fixture->private_log, &event);
}

/* An event of account 7, the fixture's, in that subaccount. */
static inline void add_private(struct fixture *fixture, uint64_t seq, uint32_t subaccount)
{
    add_private_of(fixture, FIXTURE_ACCOUNT, seq, subaccount);
}

static inline bool has_private(struct wire *wire, unsigned seq, unsigned prev_seq, const char *rest)
{
    char text[256];
    (void)snprintf(text, sizeof text, "{\"channel\":\"private\",\"seq\":%u,\"prev_seq\":%u,%s", seq,
                   prev_seq, rest);
    return has_come(wire, text);
}

static inline void open_private_of(struct wire *wire, struct fixture *fixture,
                                   struct protocol *protocol, unsigned account_id, const char *key)
{
    char text[128];
    open_stream(wire, fixture, protocol);
    (void)snprintf(text, sizeof text, "{\"op\":\"login\",\"api_key\":\"%s\"}", key);
    ask(wire, text);
    (void)snprintf(text, sizeof text, "{\"op\":\"login\",\"account_id\":%u,\"scope\":\"READ\"",
                   account_id);
    CHECK(has_come(wire, text));
}

static inline void open_private(struct wire *wire, struct fixture *fixture,
                                struct protocol *protocol, const char *key)
{
    open_private_of(wire, fixture, protocol, FIXTURE_ACCOUNT, key);
}

/* An answer with what must follow it at once. */
static inline bool resumes_private(struct wire *wire, const char *from_seq)
{
    char text[128];
    (void)snprintf(text, sizeof text, "{\"op\":\"resume\",\"channel\":\"private\",\"from_seq\":%s}",
                   from_seq);
    ask(wire, text);
    (void)snprintf(text, sizeof text,
                   "{\"op\":\"resume\",\"channel\":\"private\",\"from_seq\":%s,\"epoch\":1}",
                   from_seq);
    wire_turn(wire);
    return has_come(wire, text);
}

#endif
