/* Pages as long as they may be, pipelined: a connection is never asked for more than the 8 MiB that
 * it may hold (roles.md, Flow control), a reader that takes its bytes gets every page, and
 * one that does not holds up nobody else. */
#include <stdio.h>

#include "base/row.h"
#include "base/row_history.h"
#include "check.h"
#include "net/fixture.h"
#include "net/json/json_reply.h"
#include "net/reads.h"

enum { PIPELINED = 60, TEXT_BYTES = 96 << 20 };

static struct fixture fixture;
static struct protocol *protocol;

static void open_reader(struct wire *wire)
{
    wire_open(wire, &fixture, protocol, false);
    free(wire->text);
    wire->text = malloc(TEXT_BYTES);
    CHECK(wire->text != NULL);
    wire->capacity = TEXT_BYTES;
}

static size_t pipeline(char *text, size_t capacity, unsigned count)
{
    size_t bytes = 0;
    for (unsigned i = 0; i < count; i++)
        bytes += (size_t)snprintf(text + bytes, capacity - bytes,
                                  "GET /api/v1/orders?limit=1000 HTTP/1.1\r\nHost: x\r\n"
                                  "X-API-KEY: %s\r\n\r\n",
                                  fixture.api_key);
    return bytes;
}

static void check_answers(struct wire *wire, unsigned count)
{
    struct wire_answer answer;
    for (unsigned i = 0; i < count; i++) {
        CHECK(wire_answer(wire, &answer, false) && answer.status == 200);
        CHECK(answer.body_bytes > 500000 && answer.body[answer.body_bytes - 1] == ']');
    }
    CHECK(!wire_answer(wire, &answer, false));
}

static void pages_come_one_after_the_other(void)
{
    static char text[PIPELINED * 256];
    struct wire reader, deaf, other;
    struct wire_answer answer;
    size_t count = pipeline(text, sizeof text, PIPELINED);

    open_reader(&deaf);
    deaf.stuck = true;
    wire_send(&deaf, text, count, 0);
    for (unsigned i = 0; i < 100; i++)
        wire_turn(&deaf);
    CHECK(deaf.conn != NULL && deaf.conn->output.bytes <= 8 << 20);
    uint32_t asked = fixture.query_count;
    CHECK(asked >= 2 && asked < PIPELINED);
    CHECK(fixture.pool.free == UINT64_MAX); /* what waits holds no buffer */

    open_reader(&reader); /* another one is served meanwhile */
    wire_send(&reader, text, count, 0);
    for (unsigned i = 0; i < 200; i++)
        wire_turn(&reader);
    CHECK(reader.conn != NULL && fixture.query_count == asked + PIPELINED);
    check_answers(&reader, PIPELINED);
    wire_free(&reader);

    deaf.stuck = false; /* and the deaf one when it listens again */
    for (unsigned i = 0; i < 200; i++)
        wire_turn(&deaf);
    CHECK(deaf.conn != NULL && fixture.query_count == 2 * PIPELINED);
    check_answers(&deaf, PIPELINED);
    CHECK(deaf.conn->expected_bytes == 0 && !deaf.conn->reads_held);
    wire_free(&deaf);

    /* One that goes away while reads are held leaves nothing behind. */
    open_reader(&other);
    other.stuck = true;
    wire_send(&other, text, count, 0);
    CHECK(other.conn->reads_held);
    wire_free(&other);
    for (unsigned i = 0; i < 4; i++) {
        protocol_turn_begin(protocol);
        (void)protocol_turn_end(protocol);
        (void)fixture_follow(&fixture);
    }
    CHECK(protocol->context.pendings.used == 0);
    wire_open(&other, &fixture, protocol, false);
    wire_send(&other, text, pipeline(text, sizeof text, 1), 0);
    CHECK(wire_answer(&other, &answer, false) && answer.status == 200);
    wire_free(&other);
}

/* All requests are taken and nothing is on its way: what lets the next read go is the output. */
static void sent_bytes_make_room(void)
{
    enum { FEW = 12 };
    static char text[FEW * 256];
    struct wire deaf;
    uint32_t before = fixture.query_count;
    size_t count = pipeline(text, sizeof text, FEW);
    open_reader(&deaf);
    deaf.stuck = true;
    wire_send(&deaf, text, count, 0);
    for (unsigned i = 0; i < 20; i++)
        wire_turn(&deaf);
    CHECK(deaf.conn->reads_held && deaf.conn->expected_bytes == 0 && !deaf.conn->blocked);
    CHECK(fixture.query_count < before + FEW);
    deaf.stuck = false;
    for (unsigned i = 0; i < 50; i++)
        wire_turn(&deaf);
    CHECK(fixture.query_count == before + FEW);
    check_answers(&deaf, FEW);
    wire_free(&deaf);
}

/* Many pages that come at once are written over as many turns: who else has work on the thread
 * waits for one of them, not for all. */
static void a_turn_writes_one_long_page(void)
{
    enum { READERS = 12 };
    char text[256];
    struct wire readers[READERS];
    size_t count = pipeline(text, sizeof text, 1);
    for (unsigned i = 0; i < READERS; i++) {
        char copy[256];
        open_reader(&readers[i]);
        memcpy(copy, text, count);
        protocol_receive(protocol, readers[i].conn, copy, count);
    }
    protocol_turn_begin(protocol);
    (void)protocol_turn_end(protocol);
    CHECK(fixture_follow(&fixture) == READERS);
    for (unsigned turn = 1; turn <= READERS; turn++) {
        uint64_t before = protocol->context.metrics.counters.responses;
        CHECK(protocol_has_work(protocol));
        protocol_turn_begin(protocol);
        (void)protocol_turn_end(protocol);
        CHECK(protocol->context.metrics.counters.responses == before + 1);
    }
    for (unsigned i = 0; i < READERS; i++) {
        wire_turn(&readers[i]);
        check_answers(&readers[i], 1);
        wire_free(&readers[i]);
    }
}

/* The longest JSON of a row of each list, against what the bound of a connection counts on. */
static size_t longest(enum query_kind kind, const void *row, size_t row_bytes)
{
    static char text[8192];
    struct writer writer = writer_begin(text, sizeof text);
    struct reply reply = { .kind = (uint16_t)kind,
                           .row_count = 1,
                           .row_bytes = (uint32_t)row_bytes };
    json_reply(&writer, &reply, row);
    CHECK(!writer.full);
    return writer_count(&writer);
}

static void rows_are_shorter_than_counted_on(void)
{
    static char name[32] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ-PERP";
    struct row_order order;
    struct row_fill fill;
    struct row_position position;
    struct row_balance balance;
    struct row_subaccount subaccount;
    struct row_session session;
    memset(&order, 0xFF, sizeof order);
    memcpy(order.market, name, sizeof name);
    order.filled_notional = INT64_MAX;
    order.filled = 3;
    order.price_decimals = order.size_decimals = 3;
    order.status = 5;
    order.order_type = 5;
    order.side = order.stp = 1;
    order.expiry = UINT64_MAX - 1;
    CHECK(longest(QUERY_orders, &order, sizeof order) < 1024);
    memset(&fill, 0xFF, sizeof fill);
    memcpy(fill.market, name, sizeof name);
    fill.price_decimals = fill.size_decimals = 3;
    fill.side = fill.liquidity = 1;
    CHECK(longest(QUERY_fills, &fill, sizeof fill) < 1024);
    /* Four times the row, were every number as long as its type. */
    memset(&position, 0xFF, sizeof position);
    memcpy(position.market, name, sizeof name);
    position.size = INT64_MIN;
    position.cost = INT64_MIN;
    position.unrealized_pnl = position.initial_margin = position.maintenance_margin =
        -((int128)1 << 120);
    position.price_decimals = position.size_decimals = 3;
    CHECK(longest(QUERY_positions, &position, sizeof position) < 4 * sizeof position);
    memset(&balance, 0xFF, sizeof balance);
    memset(balance.name, 'n', sizeof balance.name);
    balance.cash_balance = balance.withdrawable = INT64_MIN;
    balance.equity = balance.initial_margin = balance.maintenance_margin = -((int128)1 << 120);
    balance.status = 1;
    CHECK(longest(QUERY_balances, &balance, sizeof balance) < 4 * sizeof balance);
    memset(&subaccount, 0xFF, sizeof subaccount);
    subaccount.cash_balance = -((int128)1 << 120);
    subaccount.status = 0;
    CHECK(longest(QUERY_subaccounts, &subaccount, sizeof subaccount) < 4 * sizeof subaccount);
    memset(&session, 0xFF, sizeof session);
    session.scope = 1;
    session.pin = INT32_MAX;
    CHECK(longest(QUERY_sessions, &session, sizeof session) < 4 * sizeof session);
}

int main(void)
{
    fixture_init(&fixture, true, FIXTURE_SLOTS);
    protocol = fixture_protocol(&fixture, 64);
    fixture.order_rows = 1000;
    pages_come_one_after_the_other();
    sent_bytes_make_room();
    a_turn_writes_one_long_page();
    rows_are_shorter_than_counted_on();
    CHECK(protocol->context.pendings.used == 0 && protocol->context.conns.open_count == 0);
    CHECK(fixture.pool.free == UINT64_MAX);
    fixture_protocol_free(protocol);
    fixture_free(&fixture);
    return 0;
}
