#include <stdio.h>

#include "base/base64.h"
#include "check.h"
#include "net/fixture.h"

#define ORDER_PATH "/api/v1/trading/order/place/limit"
#define OCTETS     "application/octet-stream"
#define JSON       "application/json"

static struct fixture fixture;
static struct gate *gate;

static size_t order_post(char *text, size_t capacity)
{
    uint8_t body[48], frame[512];
    fixture_order(body);
    size_t count = fixture_frame(&fixture, frame, 0, &fixture.session, body, 48);
    return fixture_post(text, capacity, ORDER_PATH, OCTETS, frame, count);
}

static void order_becomes_command_and_answer(void)
{
    char text[4096];
    struct wire wire;
    struct wire_answer answer;
    wire_open(&wire, &fixture, gate, false);
    size_t count = order_post(text, sizeof text);
    wire_send(&wire, text, count, 0);
    CHECK(fixture.command_count == 1);
    CHECK(wire_answer(&wire, &answer, false));
    CHECK(answer.status == 200);
    CHECK(wire_has(&answer, "{\"status\":\"request_completed\",\"processed_at_ns\":"
                            "1755582431240112233,\"sequence\":1}"));
    const struct command *command = (const void *)fixture.last_command;
    CHECK(command->code == 0 && command->kind == COMMAND_SIGNED);
    CHECK(command->payload_bytes == 72 && command->key_bytes == 32 && command->slot_count == 2);
    CHECK(memcmp(command_key(command), fixture.session.key, 32) == 0);
    CHECK(command->duplicate_account == 0);
    CHECK(command->request_hash == mix_id(fixture.config.hash_key, 7, command_request_id(command)));
    wire_free(&wire);
}

int main(void)
{
    fixture_init(&fixture, true, FIXTURE_SLOTS);
    gate = fixture_gate(&fixture, 64);
    order_becomes_command_and_answer();
    fixture_gate_free(gate);
    fixture_free(&fixture);
    return 0;
}
