#include <stdio.h>

#include "check.h"
#include "net/fixture.h"

enum {
    RECORDED_MAX = 1024, /* bytes of a body; problems and acknowledgements are shorter */
};

struct protocol *fixture_protocol(struct fixture *fixture, uint32_t connections)
{
    struct protocol *protocol = NULL;
    CHECK(posix_memalign((void **)&protocol, 128, sizeof *protocol) == 0);
    memset(protocol, 0, sizeof *protocol);
    CHECK(protocol_init(protocol, &fixture->config, connections) == 0);
    protocol->context.metrics.rate = (struct clock_rate){ UINT64_C(1) << 32 };
    return protocol;
}

void fixture_protocol_free(struct protocol *protocol)
{
    protocol_free(protocol);
    free(protocol);
}

void fixture_end(struct fixture *fixture, struct protocol *protocol)
{
    CHECK(protocol->context.pendings.used == 0 && protocol->context.outputs.used == 0 &&
          protocol->context.conns.open_count == 0);
    CHECK(protocol->sender.commands_out == 0 && protocol->pipeline.reads.queries_out == 0);
    CHECK(fixture->pool.free == UINT64_MAX);
    fixture_protocol_free(protocol);
    fixture_free(fixture);
}

void wire_open(struct wire *wire, struct fixture *fixture, struct protocol *protocol, bool admin)
{
    *wire =
        (struct wire){ .fixture = fixture, .protocol = protocol, .capacity = FIXTURE_WIRE_BYTES };
    wire->text = malloc(FIXTURE_WIRE_BYTES);
    CHECK(wire->text != NULL);
    protocol_turn_begin(protocol);
    wire->conn = protocol_open(protocol, admin);
    CHECK(wire->conn != NULL);
}

void wire_open_at(struct wire *wire, struct fixture *fixture, struct protocol *protocol,
                  uint64_t address)
{
    wire_open(wire, fixture, protocol, false);
    wire->conn->address = address;
}

void wire_free(struct wire *wire)
{
    if (wire->conn != NULL)
        protocol_close(wire->protocol, wire->conn);
    free(wire->text);
}

/* The transport's part: takes what stands in the output, closes what is finished. */
static void transport(struct wire *wire)
{
    struct protocol *protocol = wire->protocol;
    while (conn_queue_count(&protocol->context.conns, CONN_DIRTY) > 0)
        (void)conn_queue_pop(&protocol->context.conns, CONN_DIRTY);
    protocol_mark_sent(protocol);
    struct conn *conn = wire->conn;
    const uint8_t *bytes;
    if (conn == NULL)
        return;
    while (!wire->stuck && !conn->broken) {
        size_t count = output_next(&protocol->context.outputs, &conn->output, &bytes);
        if (count == 0)
            break;
        CHECK(wire->count + count < wire->capacity);
        memcpy(wire->text + wire->count, bytes, count);
        wire->count += count;
        output_sent(&protocol->context.outputs, &conn->output, count);
        pipeline_resume(&protocol->pipeline, conn);
    }
    if (conn->broken || protocol_is_finished(conn)) {
        protocol_close(protocol, conn);
        wire->conn = NULL;
    }
}

void wire_turn_net(struct wire *wire)
{
    protocol_turn_begin(wire->protocol);
    (void)protocol_turn_end(wire->protocol);
    transport(wire);
}

void wire_feed(struct wire *wire, const void *bytes, size_t count)
{
    char *copy = malloc(count);
    CHECK(copy != NULL);
    memcpy(copy, bytes, count);
    protocol_turn_begin(wire->protocol);
    protocol_receive(wire->protocol, wire->conn, copy, count);
    (void)protocol_turn_end(wire->protocol);
    free(copy);
}

void wire_turn(struct wire *wire)
{
    wire_turn_net(wire);
    (void)fixture_match(wire->fixture);
    (void)fixture_follow(wire->fixture);
}

void wire_send(struct wire *wire, const void *bytes, size_t count, size_t piece)
{
    char *copy = malloc(count + 1);
    CHECK(copy != NULL);
    size_t at = 0;
    if (piece == 0)
        piece = count;
    while (at < count && wire->conn != NULL) {
        size_t part = count - at < piece ? count - at : piece;
        memcpy(copy, (const char *)bytes + at, part);
        protocol_turn_begin(wire->protocol);
        protocol_receive(wire->protocol, wire->conn, copy, part);
        (void)protocol_turn_end(wire->protocol);
        transport(wire);
        (void)fixture_match(wire->fixture);
        (void)fixture_follow(wire->fixture);
        at += part;
    }
    free(copy);
    for (unsigned i = 0; i < 4; i++)
        wire_turn(wire);
}

/* Appends the answer to the file that PERPD_RECEIVED names, if it does: test_checks_openapi
 * compares what this program has received with tests/system/produced.txt. */
static void record(const struct wire_answer *answer)
{
    const char *path = getenv("PERPD_RECEIVED");
    if (path == NULL || answer->body_bytes > RECORDED_MAX)
        return;
    FILE *file = fopen(path, "a");
    CHECK(file != NULL);
    (void)fprintf(file, "%d %.*s\n", answer->status, (int)answer->body_bytes, answer->body);
    CHECK(fclose(file) == 0);
}

bool wire_answer(struct wire *wire, struct wire_answer *answer, bool no_body)
{
    wire->text[wire->count] = '\0';
    const char *text = wire->text + wire->read;
    const char *end = strstr(text, "\r\n\r\n");
    if (end == NULL)
        return false;
    size_t head = (size_t)(end - text) + 4;
    CHECK(head < sizeof answer->head && memcmp(text, "HTTP/1.1 ", 9) == 0);
    memcpy(answer->head, text, head);
    answer->head[head] = '\0';
    answer->status = (int)strtol(text + 9, NULL, 10);
    const char *length = strstr(answer->head, "Content-Length: ");
    answer->body = text + head;
    answer->body_bytes = length == NULL ? 0 : strtoul(length + 16, NULL, 10);
    if (no_body)
        answer->body_bytes = 0;
    CHECK(wire->read + head + answer->body_bytes <= wire->count);
    wire->read += head + answer->body_bytes;
    record(answer);
    return true;
}

bool wire_has(const struct wire_answer *answer, const char *text)
{
    return memmem(answer->body, answer->body_bytes, text, strlen(text)) != NULL;
}

bool wire_is_limited(const struct wire_answer *answer)
{
    return answer->status == 429 && wire_has(answer, "\"code\":\"rate_limited\"");
}

struct wire_answer wire_order(struct wire *wire, const struct signer_ed25519 *signer, bool good)
{
    char text[4096];
    uint8_t body[48], frame[512];
    struct wire_answer answer;
    fixture_order(body);
    size_t bytes = fixture_frame(wire->fixture, frame, 0, signer, body, sizeof body);
    frame[bytes - 1] ^= !good;
    bytes = fixture_post(text, sizeof text, "/api/v1/trading/order/place/limit",
                         "application/octet-stream", frame, bytes);
    wire_send(wire, text, bytes, 0);
    wire_turn(wire);
    CHECK(wire_answer(wire, &answer, false));
    return answer;
}
