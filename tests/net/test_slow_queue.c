/* Who waits in the queue of slow signatures, and who comes first (wire.md W8): places for 128, one
 * verification a turn, addresses in turn; streams of others are read beside it. */
#include "check.h"
#include "net/fixture.h"
#include "net/stream_wire.h"

#define ORDER_PATH "/api/v1/trading/order/place/limit"
#define OCTETS     "application/octet-stream"

static struct fixture fixture;
static struct protocol *protocol;

static void begin(void)
{
    fixture_init(&fixture, true, 1024);
    fixture.config.rate_limits = false;
    protocol = fixture_protocol(&fixture, 512);
}

static void end(void)
{
    CHECK(protocol->context.pendings.used == 0 && protocol->context.conns.open_count == 0);
    fixture_protocol_free(protocol);
    fixture_free(&fixture);
}

/* More strangers than there is room for, and most of those that wait for room are gone when it
 * comes: they take none, so whoever stands behind them is let in instead, and all have an answer in
 * the end. Room there is for 128, a turn takes 32 requests and verifies one, so behind the first
 * 13 turns less than 150 are in or done and 250 wait. */
static void none_is_left_waiting(void)
{
    enum { STRANGERS = 400, FIRST_GONE = 150, GONE = 200 };
    static struct wire wires[STRANGERS];
    char text[4096];
    uint8_t body[48], frame[512];
    begin();
    fixture_order(body);
    for (unsigned i = 0; i < STRANGERS; i++)
        wire_open_at(&wires[i], &fixture, protocol, 1);
    protocol_turn_begin(protocol);
    for (unsigned i = 0; i < STRANGERS; i++) {
        size_t bytes = fixture_frame(&fixture, frame, 0, &fixture.stranger, body, sizeof body);
        bytes = fixture_post(text, sizeof text, ORDER_PATH, OCTETS, frame, bytes);
        protocol_receive(protocol, wires[i].conn, text, bytes);
    }
    (void)protocol_turn_end(protocol);
    for (unsigned turn = 0; turn < STRANGERS / NET_TURN_REQUESTS; turn++)
        wire_turn(&wires[0]);
    CHECK(conn_queue_count(&protocol->context.conns, CONN_SLOW) > STRANGERS - FIRST_GONE);
    for (unsigned i = 0; i < GONE; i++)
        wire_free(&wires[FIRST_GONE + i]);
    for (unsigned turn = 0; protocol_has_work(protocol) && turn < 2 * STRANGERS; turn++)
        wire_turn(&wires[0]);
    CHECK(conn_queue_count(&protocol->context.conns, CONN_SLOW) == 0);
    for (unsigned i = 0; i < STRANGERS; i++) {
        struct wire_answer answer;
        if (i >= FIRST_GONE && i < FIRST_GONE + GONE)
            continue;
        wire_turn(&wires[i]);
        CHECK(wire_answer(&wires[i], &answer, false) && answer.status == 200);
        CHECK(wire_has(&answer, "rejected_unauthorized"));
        wire_free(&wires[i]);
    }
    CHECK(protocol->context.metrics.counters.unknown_keys == STRANGERS - GONE);
    end();
}

/* Behind a crowd of one address that holds every place, strangers of other addresses are verified
 * in the next turns, one each: the last of the crowd yield, which are refused. */
static void crowd_yields(void)
{
    enum { CROWD = 200, OTHERS = 3 };
    static struct wire wires[CROWD + OTHERS];
    struct wire_answer answer;
    char text[4096];
    uint8_t body[48], frame[512];
    const uint64_t *limited;
    begin();
    limited = &protocol->context.metrics.counters.rate_limited;
    fixture_order(body);
    for (unsigned i = 0; i < CROWD + OTHERS; i++)
        wire_open_at(&wires[i], &fixture, protocol, i < CROWD ? 1 : 2 + i - CROWD);
    for (unsigned i = 0; i < CROWD + OTHERS; i++) {
        size_t bytes = fixture_frame(&fixture, frame, 0, &fixture.stranger, body, sizeof body);
        bytes = fixture_post(text, sizeof text, ORDER_PATH, OCTETS, frame, bytes);
        for (unsigned turn = 0; i == CROWD && turn <= CROWD / NET_TURN_REQUESTS; turn++)
            wire_turn(&wires[0]);
        protocol_receive(protocol, wires[i].conn, text, bytes);
    }
    CHECK(conn_queue_count(&protocol->context.conns, CONN_SLOW) > 0);
    for (unsigned turn = 0; turn < OTHERS + 1; turn++)
        wire_turn(&wires[0]);
    for (unsigned i = CROWD; i < CROWD + OTHERS; i++) {
        wire_turn(&wires[i]);
        CHECK(wire_answer(&wires[i], &answer, false) && answer.status == 200);
        wire_free(&wires[i]);
    }
    CHECK(*limited > 0 && *limited <= OTHERS);
    for (unsigned turn = 0; protocol_has_work(protocol) && turn < 2 * CROWD; turn++)
        wire_turn(&wires[0]);
    uint64_t refused = 0;
    for (unsigned i = 0; i < CROWD; i++) {
        wire_turn(&wires[i]);
        CHECK(wire_answer(&wires[i], &answer, false));
        CHECK(wire_is_limited(&answer) || wire_has(&answer, "rejected_unauthorized"));
        refused += wire_is_limited(&answer);
        wire_free(&wires[i]);
    }
    CHECK(refused == *limited);
    end();
}

/* A crowd that holds every place keeps no message of a stream of another address waiting. */
static void streams_are_read(void)
{
    enum { CROWD = 200 };
    static struct wire wires[CROWD];
    struct wire stream;
    char text[4096];
    uint8_t body[48], frame[512];
    begin();
    fixture_order(body);
    open_stream(&stream, &fixture, protocol);
    stream.conn->address = 2;
    for (unsigned i = 0; i < CROWD; i++) {
        size_t bytes = fixture_frame(&fixture, frame, 0, &fixture.stranger, body, sizeof body);
        bytes = fixture_post(text, sizeof text, ORDER_PATH, OCTETS, frame, bytes);
        wire_open_at(&wires[i], &fixture, protocol, 1);
        protocol_receive(protocol, wires[i].conn, text, bytes);
    }
    for (unsigned turn = 0; turn <= CROWD / NET_TURN_REQUESTS; turn++)
        wire_turn(&wires[0]);
    CHECK(conn_queue_count(&protocol->context.conns, CONN_SLOW) > 0);
    ask(&stream, "{\"op\":\"ping\",\"id\":1}");
    wire_turn(&stream);
    CHECK(conn_queue_count(&protocol->context.conns, CONN_SLOW) > 0);
    CHECK(has_come(&stream, "\"id\":1"));
    wire_free(&stream);
    for (unsigned turn = 0; protocol_has_work(protocol) && turn < 2 * CROWD; turn++)
        wire_turn(&wires[0]);
    for (unsigned i = 0; i < CROWD; i++)
        wire_free(&wires[i]);
    end();
}

/* What a session's key signs and two paths verify is one verdict a turn however much of it has
 * come, and an order that comes behind it is not. */
static void second_paths_wait(void)
{
    enum { CREATIONS = 40 };
    static struct wire wires[CREATIONS + 1];
    const struct net_counters *counters;
    char text[4096];
    uint8_t body[48] = { 0 }, frame[512];
    begin();
    counters = &protocol->context.metrics.counters;
    cc_store64(body, FIXTURE_ACCOUNT);
    memset(body + 16, 'p', 4); /* its name */
    for (unsigned i = 0; i <= CREATIONS; i++)
        wire_open_at(&wires[i], &fixture, protocol, 1 + i);
    protocol_turn_begin(protocol);
    for (unsigned i = 0; i < CREATIONS; i++) {
        size_t bytes = fixture_frame(&fixture, frame, REQUEST_create_portfolio, &fixture.session,
                                     body, sizeof body);
        bytes = fixture_post(text, sizeof text, "/api/v1/portfolio/create", OCTETS, frame, bytes);
        protocol_receive(protocol, wires[i].conn, text, bytes);
    }
    (void)protocol_turn_end(protocol);
    CHECK(counters->second_verdicts == 1 && counters->signatures_good == 1);
    size_t bytes = fixture_order_post(&fixture, text, sizeof text);
    protocol_turn_begin(protocol);
    protocol_receive(protocol, wires[CREATIONS].conn, text, bytes);
    (void)protocol_turn_end(protocol);
    CHECK(counters->second_verdicts == 2 && counters->signatures_good == 3);
    for (unsigned turn = 2; turn < CREATIONS; turn++)
        wire_turn(&wires[0]);
    CHECK(counters->second_verdicts == CREATIONS && counters->second_differences == 0);
    for (unsigned i = 0; i <= CREATIONS; i++) {
        struct wire_answer answer;
        wire_turn(&wires[i]);
        CHECK(wire_answer(&wires[i], &answer, false) && answer.status == 200);
        wire_free(&wires[i]);
    }
    end();
}

int main(void)
{
    second_paths_wait();
    none_is_left_waiting();
    crowd_yields();
    streams_are_read();
    return 0;
}
