/* The whole gate as a state machine: connections that open, send good and damaged requests in
 * any cuts, pipeline, fall silent, stop reading, half-close and hang up, beside a matcher and a
 * follower that answer late or refuse, while time passes. Each byte of the input is an event,
 * with the bytes that follow as its arguments. Whatever came, everything is answered or dropped
 * at the end: the gate holds no request, no output, no buffer and no connection. */
#include "check.h"
#include "net/fixture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    WIRES = 4,
    TEXT_BYTES = 8192,
    EVENTS_MAX = 400,
    TURNS_AT_END = 60,
};

#define PLACE "/api/v1/trading/order/place/limit"
#define HOST  " HTTP/1.1\r\nHost: x\r\n"

static const uint64_t two_seconds_ns = UINT64_C(2000000000);

struct gate {
    struct fixture fixture;
    struct protocol *protocol;
    struct wire wires[WIRES];
    char text[TEXT_BYTES]; /* the request that is made */
    size_t count;
};

struct input {
    const uint8_t *at, *end;
};

static uint8_t take(struct input *input)
{
    return input->at < input->end ? *input->at++ : 0;
}

/* What the answers hold is looked at as text alone: it begins as one. */
static void drain(struct wire *wire)
{
    CHECK(wire->count < 9 || memcmp(wire->text, "HTTP/1.1 ", 9) == 0 || wire->read > 0);
    wire->read += wire->count;
    wire->count = 0;
}

static void turn(struct gate *gate, bool alone)
{
    for (unsigned i = 0; i < WIRES; i++) {
        struct wire *wire = &gate->wires[i];
        if (wire->text == NULL)
            continue;
        if (alone)
            wire_turn_net(wire);
        else
            wire_turn(wire);
        drain(wire);
    }
}

static void hang_up(struct wire *wire)
{
    if (wire->conn != NULL)
        protocol_close(wire->protocol, wire->conn);
    *wire = (struct wire){ 0 };
}

/* As wire_open, with a buffer that stays. */
static void open_wire(struct gate *gate, struct wire *wire, bool admin)
{
    static char text[WIRES][FIXTURE_WIRE_BYTES];

    *wire = (struct wire){ .fixture = &gate->fixture,
                           .protocol = gate->protocol,
                           .text = text[wire - gate->wires],
                           .capacity = FIXTURE_WIRE_BYTES };
    protocol_turn_begin(gate->protocol);
    wire->conn = protocol_open(gate->protocol, admin);
    CHECK(wire->conn != NULL);
}

/* Hands over bytes in pieces, with turns of net alone between them. */
static void feed(struct wire *wire, const char *bytes, size_t count, size_t piece)
{
    for (size_t at = 0; at < count && wire->conn != NULL; at += piece) {
        size_t part = count - at < piece ? count - at : piece;
        wire_feed(wire, bytes + at, part);
        wire_turn_net(wire);
        drain(wire);
    }
}

static void make_text(struct gate *gate, const char *text)
{
    gate->count = strlen(text);
    memcpy(gate->text, text, gate->count);
}

static void make_order(struct gate *gate, uint8_t kind)
{
    struct fixture *fixture = &gate->fixture;
    uint8_t body[80] = { 0 }, frame[512];
    char json[2048];
    size_t count;

    fixture_order(body);
    if (kind == 2) { /* an account's first request */
        memcpy(body, fixture->stranger.key, 32);
        memset(body + 32, 0, 48);
        count = fixture_master_frame(fixture, frame, 11, fixture->master_secret, body, 80);
        gate->count = fixture_post(gate->text, TEXT_BYTES, "/api/v1/account/create",
                                   "application/octet-stream", frame, count);
        return;
    }
    count = fixture_frame(fixture, frame, 0, kind == 3 ? &fixture->stranger : &fixture->session,
                          body, 48);
    if (kind == 1)
        count = fixture_envelope(json, frame, count);
    gate->count = fixture_post(gate->text, TEXT_BYTES, PLACE,
                               kind == 1 ? "application/json" : "application/octet-stream",
                               kind == 1 ? (const void *)json : frame, count);
}

static void make_write(struct gate *gate, const char *method, const char *path, const char *json)
{
    gate->count = (size_t)snprintf(gate->text, TEXT_BYTES,
                                   "%s %s" HOST "X-API-KEY: %s\r\nContent-Type: application/json"
                                   "\r\nContent-Length: %zu\r\n\r\n%s",
                                   method, path, gate->fixture.trading_api_key, strlen(json), json);
}

static void make_read(struct gate *gate, const char *path)
{
    gate->count = (size_t)snprintf(gate->text, TEXT_BYTES, "GET %s" HOST "X-API-KEY: %s\r\n\r\n",
                                   path, gate->fixture.api_key);
}

#define INDEXES "\"subaccount_index\":0,\"portfolio_index\":0"

static void make(struct gate *gate, uint8_t which)
{
    static const char *const plain[] = {
        "GET /api/v1/markets/BTC-PERP/book?depth=1" HOST "\r\n",
        "GET /api/v1/time" HOST "\r\n",
        "HEAD /api/v1/time" HOST "\r\n",
        "OPTIONS " PLACE HOST "Origin: https://a.example\r\n\r\n",
        "POST " PLACE HOST "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
        "3\r\n{\"a\r\n6\r\n\":[]} \r\n00\r\n\r\n",
        "POST " PLACE HOST "Content-Type: application/json\r\nContent-Length: 40\r\n"
        "Expect: 100-continue\r\n\r\n",
        "POST " PLACE HOST "Content-Type: application/json\r\nContent-Length: 99999999\r\n\r\n",
        "GET /api/v1/exchange" HOST "Connection: close\r\n\r\n",
        "GET /api/v1/time HTTP/1.0\r\nHost: x\r\n\r\n",
        "GET /api/v1/openapi.json" HOST "\r\n",
        "GET /audit" HOST FIXTURE_TOKEN "\r\n",
        "GET /metrics" HOST "\r\n",
        "POST /api/v1/eip712/preview" HOST "Content-Type: application/json\r\n"
        "Content-Length: 92\r\n\r\n{\"payload\":\"AQEPAAAAAAABmMDeAABwAIAAAAAAAAChBwAAAAAAAAA=\"}"
        "                                 ",
    };
    if (which % 8 < 4)
        make_order(gate, which % 8);
    else if (which % 8 == 4)
        make_write(gate, "PUT", "/api/v1/leverage",
                   "{" INDEXES ",\"market\":\"BTC-PERP\",\"leverage\":3}");
    else if (which % 8 == 5)
        make_read(gate, "/api/v1/orders?limit=2");
    else
        make_text(gate, plain[which / 8 % CC_COUNT(plain)]);
}

static void send_event(struct gate *gate, struct wire *wire, struct input *input)
{
    make(gate, take(input));
    uint8_t edits = take(input) % 4;
    for (uint8_t i = 0; i < edits; i++) {
        size_t at = (size_t)take(input) * 16 + take(input) % 16;
        gate->text[at % gate->count] = (char)take(input);
    }
    uint8_t piece = take(input);
    size_t count = gate->count;
    if (edits == 0 && piece % 8 == 7) /* the rest never comes, or as another event */
        count -= take(input) % count;
    feed(wire, gate->text, count, piece < 16 ? TEXT_BYTES : piece);
}

static void event(struct gate *gate, struct input *input)
{
    uint8_t byte = take(input);
    struct wire *wire = &gate->wires[byte / 16 % WIRES];
    struct fixture *fixture = &gate->fixture;

    if (wire->text == NULL && byte % 16 < 8)
        open_wire(gate, wire, byte >= 192);
    switch (byte % 16) {
    case 0:
    case 1:
    case 2:
    case 3:
        send_event(gate, wire, input);
        break;
    case 4:
    case 5: {
        size_t count = take(input);
        if (count > (size_t)(input->end - input->at))
            count = (size_t)(input->end - input->at);
        feed(wire, (const char *)input->at, count, byte % 2 == 0 ? 255 : 7);
        input->at += count;
        break;
    }
    case 6:
        wire->stuck = !wire->stuck;
        break;
    case 7:
        if (wire->conn != NULL) {
            protocol_turn_begin(gate->protocol);
            protocol_end_of_input(gate->protocol, wire->conn);
            (void)protocol_turn_end(gate->protocol);
        }
        break;
    case 8:
        hang_up(wire);
        break;
    case 9:
    case 10:
        turn(gate, false);
        break;
    case 11:
        turn(gate, true);
        break;
    case 12:
        clock_advance(&fixture->clock, (uint64_t)take(input) * take(input) * 2000000);
        break;
    case 13:
        fixture->hold_durable = !fixture->hold_durable;
        break;
    case 14:
        fixture->next_problem = byte < 128   ? PROBLEM_none
                                : byte < 192 ? PROBLEM_not_ready
                                             : PROBLEM_order_not_found;
        break;
    default:
        fixture->next_answer.status = take(input) % 56;
        fixture->ready = byte < 192;
        break;
    }
}

/* Nobody holds anything, in the gate and in the pools that it shares. */
static void check_empty(const struct gate *gate)
{
    const struct protocol *protocol = gate->protocol;
    CHECK(protocol->context.pendings.used == 0 && protocol->context.outputs.used == 0 &&
          protocol->context.conns.open_count == 0);
    CHECK(protocol->sender.commands_out == 0 && protocol->pipeline.reads.queries_out == 0);
    CHECK(gate->fixture.pool.free == UINT64_MAX);
}

/* Everybody half-closes and reads again: within the longest time-out all of it is over. What was
 * asked by those who had hung up before is over too. */
static void finish(struct gate *gate)
{
    struct fixture *fixture = &gate->fixture;

    fixture->hold_durable = false;
    fixture->ready = true;
    fixture->next_problem = PROBLEM_none;
    fixture->next_answer.status = 0;
    fixture->durable = fixture->applied = fixture->sequence;
    for (unsigned i = 0; i < TURNS_AT_END; i++) {
        bool open = false;
        for (unsigned j = 0; j < WIRES; j++) {
            struct wire *wire = &gate->wires[j];
            wire->stuck = false;
            if (i == 0 && wire->conn != NULL)
                protocol_end_of_input(gate->protocol, wire->conn);
            open |= wire->conn != NULL;
        }
        if (i > 0 && !open)
            break;
        turn(gate, false);
        clock_advance(&fixture->clock, two_seconds_ns);
    }
    for (unsigned i = 0; i < WIRES; i++) {
        CHECK(gate->wires[i].conn == NULL);
        hang_up(&gate->wires[i]);
    }
    for (unsigned i = 0; i < 4; i++) {
        protocol_turn_begin(gate->protocol);
        (void)protocol_turn_end(gate->protocol);
        (void)fixture_match(fixture);
        (void)fixture_follow(fixture);
    }
    check_empty(gate);
    clock_advance(&fixture->clock, two_seconds_ns); /* the addresses' buckets are full again */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct gate gate;
    struct input input = { data, data + size };

    if (gate.protocol == NULL) {
        fixture_init(&gate.fixture, true, FIXTURE_SLOTS);
        gate.protocol = fixture_protocol(&gate.fixture, 8);
    }
    for (unsigned i = 0; i < EVENTS_MAX && input.at < input.end; i++)
        event(&gate, &input);
    finish(&gate);
    return 0;
}
