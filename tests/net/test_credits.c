/* The credits of the command ring: who waits for one, who is dropped, and those that are kept for
 * cancels (roles.md, Flow control; rules.md R11 step 13). */
#include <stdio.h>

#include "base/status.h"
#include "check.h"
#include "net/fixture.h"

#define OCTETS "application/octet-stream"

static struct fixture fixture;
static struct protocol *protocol;

static void begin(uint32_t slots, uint64_t pool_bytes)
{
    fixture_init(&fixture, true, slots);
    fixture.config.output_pool_bytes = pool_bytes;
    protocol = fixture_protocol(&fixture, 256);
}

/* 64 slots of answers are 64 credits, 8 of them kept for cancels: the 57th order waits, and is
 * dropped after 2 ms. */
static void no_credit_drops_after_its_time(void)
{
    enum { ORDERS = 70, CREDITS = 56 };
    static char text[65536];
    struct wire wire[2];
    struct wire_answer answer;
    begin(64, 1 << 20);
    fixture_widen_commands(&fixture, 1024);
    wire_open(&wire[0], &fixture, protocol, false);
    wire_open(&wire[1], &fixture, protocol, false);
    for (unsigned i = 0; i < ORDERS; i++) {
        wire_feed(&wire[i % 2], text, fixture_order_post(&fixture, text, sizeof text));
        CHECK(protocol->sender.commands_out == (i < CREDITS ? i + 1 : CREDITS));
    }
    CHECK(!command_send_has_work(&protocol->sender));
    clock_advance(&fixture.clock, 1999999);
    wire_turn_net(&wire[0]);
    CHECK(protocol->context.metrics.counters.commands_dropped == 0);
    clock_advance(&fixture.clock, 1);
    wire_turn_net(&wire[0]);
    CHECK(protocol->context.metrics.counters.commands_dropped == ORDERS - CREDITS);
    CHECK(fixture_match(&fixture) == CREDITS); /* those that had a credit are executed */
    wire_turn_net(&wire[0]);
    wire_turn_net(&wire[1]);
    unsigned completed = 0, dropped = 0;
    for (unsigned i = 0; i < 2; i++) {
        while (wire_answer(&wire[i], &answer, false)) {
            CHECK(answer.status == 200);
            completed += wire_has(&answer, "\"request_completed\"");
            /* W5: refused without a sequence. */
            dropped += wire_has(&answer, "{\"status\":\"request_dropped\",\"processed_at_ns\":"
                                         "1755582431242112233}");
        }
        wire_free(&wire[i]);
    }
    CHECK(completed == CREDITS && dropped == ORDERS - CREDITS);
    fixture_end(&fixture, protocol);
}

/* A signed cancel of all orders of FIXTURE_ACCOUNT. */
static size_t cancel_post(char *text, size_t capacity)
{
    uint8_t body[24] = { FIXTURE_ACCOUNT }, frame[256];
    cc_store32(body + 16, UINT32_MAX);
    size_t count = fixture_frame(&fixture, frame, REQUEST_cancel_all_orders, &fixture.session, body,
                                 sizeof body);
    return fixture_post(text, capacity, "/api/v1/trading/order/cancel-all", OCTETS, frame, count);
}

/* Orders have used up their credits: a cancel that nothing waits before is sent at once, one behind
 * an order that waits when that is dropped, and the 9th of them finds none either. */
static void cancels_have_credits_of_their_own(void)
{
    enum { ORDERS = 56, KEPT = 8 };
    static char text[65536];
    struct wire others, wire;
    struct wire_answer answer;
    begin(64, 1 << 20);
    fixture_widen_commands(&fixture, 1024);
    wire_open(&others, &fixture, protocol, false);
    wire_open(&wire, &fixture, protocol, false);
    for (unsigned i = 0; i < ORDERS; i++)
        wire_feed(&others, text, fixture_order_post(&fixture, text, sizeof text));
    wire_feed(&wire, text, cancel_post(text, sizeof text));
    CHECK(protocol->sender.commands_out == ORDERS + 1);
    wire_feed(&wire, text, fixture_order_post(&fixture, text, sizeof text)); /* it waits */
    for (unsigned i = 1; i <= KEPT; i++)
        wire_feed(&wire, text, cancel_post(text, sizeof text));
    CHECK(protocol->sender.commands_out == ORDERS + 1); /* they do not pass it */
    clock_advance(&fixture.clock, 2000000);
    wire_turn_net(&wire);
    CHECK(protocol->sender.commands_out == ORDERS + KEPT);
    CHECK(protocol->context.metrics.counters.commands_dropped == 2);
    CHECK(fixture_match(&fixture) == ORDERS + KEPT);
    wire_turn_net(&wire);
    for (unsigned i = 0; i < 2 + KEPT; i++) {
        bool is_dropped = i == 1 || i == 1 + KEPT;
        CHECK(wire_answer(&wire, &answer, false));
        CHECK(wire_has(&answer, is_dropped ? "\"request_dropped\"" : "\"request_completed\""));
    }
    wire_free(&others);
    wire_free(&wire);
    fixture_end(&fixture, protocol);
}

/* How many commands the ring has, and which of them is the first of the code; the count if none. */
static unsigned place_of(uint16_t code, unsigned *count)
{
    uint64_t ready = ring_ready(&fixture.commands);
    unsigned place = UINT32_MAX;
    *count = 0;
    for (uint64_t at = 0; at < ready; ++*count) {
        const struct command *command = ring_at(&fixture.commands, at);
        if (command->code == code && place == UINT32_MAX)
            place = *count;
        at += command->slot_count;
    }
    return place;
}

/* An address whose orders wait for credits, and behind them a request of another one: it has the
 * second that comes back, not the fifteenth. Those of the first are in their order, and one that
 * has waited for its time is dropped, also behind one that came later. */
static void addresses_have_credits_in_turn(void)
{
    enum { CREDITS = 56, MORE = 14 };
    static char text[65536];
    struct wire flood, other;
    struct wire_answer answer;
    unsigned count, dropped = 0;
    begin(64, 1 << 20);
    fixture_widen_commands(&fixture, 1024);
    wire_open(&flood, &fixture, protocol, false);
    wire_open(&other, &fixture, protocol, false);
    other.conn->address = flood.conn->address + 1;
    for (unsigned i = 0; i < CREDITS + MORE; i++)
        wire_feed(&flood, text, fixture_order_post(&fixture, text, sizeof text));
    clock_advance(&fixture.clock, 1000000);
    wire_feed(&other, text, cancel_post(text, sizeof text));
    CHECK(protocol->sender.commands_out == CREDITS);
    CHECK(fixture_match(&fixture) == CREDITS);
    wire_turn_net(&flood);
    CHECK(place_of(REQUEST_cancel_all_orders, &count) == 1 && count == MORE + 1);
    CHECK(fixture_match(&fixture) == MORE + 1);
    for (unsigned i = 0; i < CREDITS; i++)
        wire_feed(&flood, text, fixture_order_post(&fixture, text, sizeof text));
    wire_feed(&flood, text, fixture_order_post(&fixture, text, sizeof text));
    wire_feed(&flood, text, fixture_order_post(&fixture, text, sizeof text));
    clock_advance(&fixture.clock, 1000000);
    wire_feed(&other, text, fixture_order_post(&fixture, text, sizeof text));
    clock_advance(&fixture.clock, 1000000);
    wire_turn_net(&flood); /* both of the first, between which the other one waits */
    CHECK(protocol->context.metrics.counters.commands_dropped == 2);
    CHECK(fixture_match(&fixture) == CREDITS);
    wire_turn_net(&flood);
    CHECK(fixture_match(&fixture) == 1);
    wire_turn_net(&flood);
    wire_turn_net(&other);
    for (count = 0; wire_answer(&flood, &answer, false); count++)
        dropped += wire_has(&answer, "\"request_dropped\"");
    CHECK(count == CREDITS + MORE + CREDITS + 2 && dropped == 2);
    for (count = 0; wire_answer(&other, &answer, false); count++)
        CHECK(wire_has(&answer, "\"request_completed\""));
    CHECK(count == 2);
    wire_free(&flood);
    wire_free(&other);
    fixture_end(&fixture, protocol);
}

int main(void)
{
    no_credit_drops_after_its_time();
    cancels_have_credits_of_their_own();
    addresses_have_credits_in_turn();
    return 0;
}
