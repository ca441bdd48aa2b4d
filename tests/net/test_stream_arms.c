/* The arms of streams that have closed (wire.md W9): each ends when its grace has passed, in that
 * order, and nothing is kept of what was never sent. */
#include <stdio.h>

#include "check.h"
#include "net/fixture.h"
#include "net/stream/stream_arm.h"
#include "net/stream_wire.h"

enum { STREAMS = 4, ARMS = STREAMS * STREAM_ARMS_MAX, CONNECTIONS = 8, STEP_MS = 100 };

#define MS_NS UINT64_C(1000000)

static void pass(struct fixture *fixture, struct wire *wire, uint64_t ms)
{
    clock_advance(&fixture->clock, ms * MS_NS);
    wire_turn_net(wire);
}

static void open_logged_in(struct wire *wire, struct fixture *fixture, struct protocol *protocol)
{
    char login[160];
    (void)snprintf(login, sizeof login, "{\"op\":\"login\",\"api_key\":\"%s\"}",
                   fixture->trading_api_key);
    open_stream(wire, fixture, protocol);
    ask(wire, login);
    CHECK(has_come(wire, "{\"op\":\"login\",\"account_id\""));
}

/* The last byte of its id is `number`. Nothing is answered yet. */
static void arm(struct wire *wire, unsigned number, unsigned grace_ms)
{
    uint8_t frame[FRAME_BYTES];
    char text[200];
    (void)snprintf(text, sizeof text,
                   "{\"op\":\"cancel_on_disconnect\",\"arm_id\":\"01020304-0506-7008-8000-"
                   "0000000000%02x\",\"subaccount_index\":0,\"enabled\":true,\"grace_ms\":%u}",
                   number, grace_ms);
    wire_feed(wire, frame, text_frame(frame, text));
}

/* What the last command ended; its code must be 2011. */
static unsigned ended(const struct fixture *fixture)
{
    const struct command *command = (const void *)fixture->last_command;
    CHECK(command->code == REQUEST_cancel_on_disconnect);
    return command_body(command)[15];
}

/* All end at once with graces of 1 to 64 steps, in no order; one ends each step. */
static void check_order(struct fixture *fixture, struct protocol *protocol)
{
    struct wire streams[STREAMS], watcher;
    unsigned by_step[ARMS + 1];
    open_stream(&watcher, fixture, protocol);
    for (unsigned k = 0; k < STREAMS; k++) {
        open_logged_in(&streams[k], fixture, protocol);
        for (unsigned i = 0; i < STREAM_ARMS_MAX; i++) {
            unsigned number = k * STREAM_ARMS_MAX + i, step = number * 37 % ARMS + 1;
            by_step[step] = number;
            arm(&streams[k], number, step * STEP_MS);
            CHECK(fixture_match(fixture) == 1);
            wire_turn_net(&streams[k]);
            CHECK(has_come(&streams[k], "\"enabled\":true"));
        }
    }
    for (unsigned k = 0; k < STREAMS; k++)
        wire_free(&streams[k]);
    CHECK(protocol->streams.due_count == ARMS);
    for (unsigned step = 1; step <= ARMS; step++) {
        pass(fixture, &watcher, STEP_MS - 1);
        CHECK(fixture_match(fixture) == 0);
        pass(fixture, &watcher, 1);
        CHECK(fixture_match(fixture) == 1 && ended(fixture) == by_step[step]);
        wire_turn_net(&watcher);
    }
    CHECK(protocol->streams.arm_count == 0);
    CHECK(stream_arm_deadline_ns(&protocol->streams) == UINT64_MAX);
    wire_free(&watcher);
}

/* The stream closes before the answer: what was set ends after the grace, what was refused is no
 * arm. */
static void check_unanswered(struct fixture *fixture, struct protocol *protocol)
{
    struct wire stream, watcher;
    open_stream(&watcher, fixture, protocol);
    for (unsigned refused = 0; refused < 2; refused++) {
        open_logged_in(&stream, fixture, protocol);
        arm(&stream, 1, 2 * STEP_MS);
        arm(&stream, 2, STEP_MS);
        wire_free(&stream);
        CHECK(protocol->streams.arm_count == 2 && protocol->streams.due_count == 0);
        fixture->next_answer.status =
            refused != 0 ? STATUS_order_rejected_invalid : STATUS_request_completed;
        CHECK(fixture_match(fixture) == 2);
        fixture->next_answer.status = STATUS_request_completed;
        wire_turn_net(&watcher);
        CHECK(protocol->streams.due_count == (refused != 0 ? 0 : 2));
        for (unsigned step = 1; step <= 2; step++) {
            pass(fixture, &watcher, STEP_MS);
            CHECK(fixture_match(fixture) == (refused != 0 ? 0 : 1));
            CHECK(refused != 0 || ended(fixture) == 3 - step);
            wire_turn_net(&watcher);
        }
        CHECK(protocol->streams.arm_count == 0);
    }
    wire_free(&watcher);
}

/* Without a credit the 2012 is dropped: the client hears of it, and no arm is left, whether its
 * stream has closed or not. */
static void check_dropped(struct fixture *fixture, struct protocol *protocol)
{
    struct wire stream, watcher;
    open_stream(&watcher, fixture, protocol);
    for (unsigned closed = 0; closed < 2; closed++) {
        const uint32_t credits = protocol->sender.answer_credits;
        open_logged_in(&stream, fixture, protocol);
        protocol->sender.answer_credits = 0;
        arm(&stream, 1, STEP_MS);
        CHECK(protocol->streams.arm_count == 1 && fixture_match(fixture) == 0);
        if (closed != 0)
            wire_free(&stream);
        pass(fixture, &watcher, 2 * STEP_MS);
        pass(fixture, &watcher, STEP_MS);
        CHECK(protocol->streams.arm_count == 0 && fixture_match(fixture) == 0);
        protocol->sender.answer_credits = credits;
        if (closed != 0)
            continue;
        wire_turn_net(&stream);
        CHECK(has_come(&stream, "{\"op\":\"cancel_on_disconnect\",\"problem\":"));
        wire_free(&stream);
    }
    wire_free(&watcher);
}

/* The key is revoked: within a second the stream is closed and the graces begin, also if its client
 * neither reads nor closes. */
static void check_revoked(struct fixture *fixture, struct protocol *protocol)
{
    struct wire stream, watcher;
    const struct keyring_key key = fixture_key(fixture, fixture->trading_api_key);
    open_stream(&watcher, fixture, protocol);
    open_logged_in(&stream, fixture, protocol);
    arm(&stream, 7, STEP_MS);
    CHECK(fixture_match(fixture) == 1);
    wire_turn_net(&stream);
    pass(fixture, &watcher, 3000);
    CHECK(protocol->streams.arm_count == 1 && protocol->streams.due_count == 0);
    CHECK(keyring_end(fixture->keyring, &key, fixture->durable));
    for (unsigned ms = 0; ms < 1000 && protocol->streams.due_count == 0; ms += STEP_MS)
        pass(fixture, &watcher, STEP_MS);
    CHECK(protocol->streams.due_count == 1 && fixture_match(fixture) == 0);
    pass(fixture, &watcher, STEP_MS);
    CHECK(fixture_match(fixture) == 1 && ended(fixture) == 7);
    wire_turn_net(&watcher);
    CHECK(protocol->streams.arm_count == 0);
    wire_free(&stream);
    wire_free(&watcher);
}

/* A good order that waits among the slow signatures when its stream goes is not executed behind the
 * 2011 of the stream's arm, where it would rest for good: that of a connection whose last
 * signature was wrong, behind four strangers. */
static void check_orphan(struct fixture *fixture, struct protocol *protocol)
{
    enum { STRANGERS = 4 };
    struct wire stream, watcher, strangers[STRANGERS];
    char text[4096];
    uint8_t body[48], frame[512];
    open_stream(&watcher, fixture, protocol);
    open_logged_in(&stream, fixture, protocol);
    arm(&stream, 1, 0);
    CHECK(fixture_match(fixture) == 1);
    wire_turn_net(&stream);
    stream.conn->last_signature_bad = true;
    fixture_order(body);
    for (unsigned i = 0; i < STRANGERS; i++)
        wire_open_at(&strangers[i], fixture, protocol, 2 + i);
    protocol_turn_begin(protocol);
    for (unsigned i = 0; i < STRANGERS; i++) {
        size_t bytes = fixture_frame(fixture, frame, 0, &fixture->stranger, body, sizeof body);
        bytes = fixture_post(text, sizeof text, "/api/v1/trading/order/place/limit",
                             "application/octet-stream", frame, bytes);
        protocol_receive(protocol, strangers[i].conn, text, bytes);
    }
    size_t bytes = fixture_frame(fixture, frame, 0, &fixture->session, body, sizeof body);
    bytes = fixture_envelope(text, frame, bytes);
    CHECK(job_accept_op(protocol->jobs, stream.conn, text, bytes, false, 1));
    (void)protocol_turn_end(protocol);
    uint64_t dropped = protocol->context.metrics.counters.commands_dropped;
    wire_free(&stream);
    for (unsigned turn = 0; turn < 2 * STRANGERS; turn++)
        wire_turn_net(&watcher);
    CHECK(protocol->context.metrics.counters.commands_dropped == dropped + 1);
    CHECK(fixture_match(fixture) == 1 && ended(fixture) == 1);
    wire_turn_net(&watcher);
    CHECK(protocol->streams.arm_count == 0);
    for (unsigned i = 0; i < STRANGERS; i++)
        wire_free(&strangers[i]);
    wire_free(&watcher);
}

int main(void)
{
    static struct fixture fixture;
    fixture_init(&fixture, true, FIXTURE_SLOTS);
    fixture.config.stream_connections = CONNECTIONS;
    struct protocol *protocol = fixture_protocol(&fixture, CONNECTIONS);
    fixture.next_answer.status = STATUS_request_completed;
    check_order(&fixture, protocol);
    check_unanswered(&fixture, protocol);
    check_dropped(&fixture, protocol);
    check_orphan(&fixture, protocol);
    check_revoked(&fixture, protocol);
    fixture_end(&fixture, protocol);
    return 0;
}
