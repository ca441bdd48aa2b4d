/* The three forms of an acknowledgement over a connection: who gets which, what the command asks of
 * the matcher, and that problems and success styles stay JSON (wire.md W5, W6; json.md J4). */
#include <stdio.h>

#include "base/status.h"
#include "check.h"
#include "net/fixture.h"

#define OCTETS      "application/octet-stream"
#define JSON        "application/json"
#define PLACE_PATH  "/api/v1/trading/order/place/limit"
#define CREATE_PATH "/api/v1/account/create"
#define CREDIT_PATH "/api/v1/operator"

static struct fixture fixture;
static struct protocol *protocol;

/* A signed request with more header lines; the answer's head and body stay in `wire`. */
static void send(struct wire *wire, const char *path, const char *headers, bool envelope,
                 const uint8_t *frame, size_t frame_bytes, struct wire_answer *answer)
{
    static char text[FIXTURE_BODY_MAX], json[FIXTURE_BODY_MAX];
    const void *body = frame;
    size_t body_bytes = frame_bytes;
    if (envelope) {
        body_bytes = fixture_envelope(json, frame, frame_bytes);
        body = json;
    }
    int count = snprintf(text, sizeof text,
                         "POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\n%s"
                         "Content-Length: %zu\r\n\r\n",
                         path, envelope ? JSON : OCTETS, headers, body_bytes);
    memcpy(text + count, body, body_bytes);
    wire_open(wire, &fixture, protocol, false);
    wire_send(wire, text, (size_t)count + body_bytes, 0);
    CHECK(wire_answer(wire, answer, false));
}

static size_t order_frame(uint8_t *frame, const struct signer_ed25519 *signer)
{
    uint8_t body[48];
    fixture_order(body);
    return fixture_frame(&fixture, frame, 0, signer, body, sizeof body);
}

enum form { BRIEF, FULL, BINARY };

static const struct {
    int line;
    const char *name, *headers;
    bool envelope;
    enum form form;
} rows[] = {
    { __LINE__, "frame", "", false, BRIEF },
    { __LINE__, "envelope", "", true, BRIEF },
    { __LINE__, "full, envelope", "X-Ack: full\r\n", true, FULL },
    { __LINE__, "full, frame", "x-ack: Full\r\n", false, FULL },
    { __LINE__, "binary, frame", "X-Ack: binary\r\n", false, BINARY },
    { __LINE__, "Accept, envelope", "Accept: " OCTETS "\r\n", true, BINARY },
    { __LINE__, "Accept, frame", "Accept: " OCTETS "\r\n", false, BINARY },
    { __LINE__, "Accept and binary, envelope", "Accept: " OCTETS "\r\nX-Ack: binary\r\n", true,
      BINARY },
    { __LINE__, "Accept decides over full", "Accept: " OCTETS "\r\nX-Ack: full\r\n", true, BINARY },
    { __LINE__, "JSON fits too", "Accept: " OCTETS ", */*\r\n", true, BRIEF },
};

static void who_gets_which(void)
{
    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        uint8_t frame[256];
        struct wire wire;
        struct wire_answer answer;
        size_t count = order_frame(frame, &fixture.session);
        fixture.next_answer = (struct answer){
            .members = ANSWER_HAS_ORDER | ANSWER_HAS_AHEAD | ANSWER_HAS_MARKET,
            .remaining = 50000,
            .quantity_ahead = 120000,
            .book_handle = 9000,
            .price_decimals = 1,
            .best_bid = 999999,
            .best_ask = 1000000,
            .book_seq = 9001,
            .sequenced_ticks = 5200,
            .matched_ticks = 5500,
        };
        send(&wire, PLACE_PATH, rows[i].headers, rows[i].envelope, frame, count, &answer);
        CHECK_ROW(&rows[i], answer.status == 200);
        const struct command *command = (const void *)fixture.last_command;
        bool wants = (command->flags & COMMAND_WANTS_EVIDENCE) != 0;
        CHECK_ROW(&rows[i], wants == (rows[i].form != BRIEF));
        const char *media = strstr(answer.head, "\r\nContent-Type: ") + 16;
        if (rows[i].form == BINARY) {
            CHECK_ROW(&rows[i], strncmp(media, OCTETS "\r\n", strlen(OCTETS) + 2) == 0);
            CHECK_ROW(&rows[i], answer.body_bytes == 64);
            const uint8_t *bytes = (const uint8_t *)answer.body;
            CHECK_ROW(&rows[i], cc_load16(bytes) == STATUS_request_completed);
            CHECK_ROW(&rows[i], bytes[2] == 0 && bytes[3] == 1 && cc_load32(bytes + 4) == 0);
            CHECK_ROW(&rows[i], cc_load64(bytes + 16) == fixture.sequence);
            CHECK_ROW(&rows[i], memcmp(bytes + 24, frame + 8, 16) == 0); /* the request's id */
            CHECK_ROW(&rows[i], cc_load64(bytes + 40) == 50000);
            CHECK_ROW(&rows[i], cc_load64(bytes + 48) == 120000);
            CHECK_ROW(&rows[i], cc_load32(bytes + 60) == 5500);
            wire_free(&wire);
            continue;
        }
        CHECK_ROW(&rows[i], strncmp(media, JSON "\r\n", strlen(JSON) + 2) == 0);
        bool full = wire_has(
            &answer, ",\"order_status\":\"OPEN\",\"remaining_size\":\"0.5\","
                     "\"filled_size\":\"0\",\"average_price\":null,"
                     "\"quantity_ahead\":\"1.2\",\"book_handle\":9000,\"best_bid\":\"99999.9\","
                     "\"best_ask\":\"100000\",\"book_seq\":9001,"
                     "\"timing_ns\":{\"verified\":");
        CHECK_ROW(&rows[i], full == (rows[i].form == FULL));
        bool times = wire_has(&answer, ",\"sequenced\":5200,\"matched\":5500,\"ack\":");
        CHECK_ROW(&rows[i], times == (rows[i].form == FULL));
        wire_free(&wire);
    }
    fixture.next_answer = (struct answer){ 0 };
}

/* Problems and success-style answers are JSON whatever is accepted; codes above 8 of RequestAck
 * style have the binary form too. */
static void what_stays_json(void)
{
    uint8_t frame[512], body[80] = { 0 };
    struct wire wire;
    struct wire_answer answer;

    size_t count = order_frame(frame, &fixture.session);
    frame[40] ^= 1; /* the signature is of other bytes */
    send(&wire, PLACE_PATH, "Accept: " OCTETS "\r\n", true, frame, count, &answer);
    CHECK(answer.status == 401 && wire_has(&answer, "\"code\":\"invalid_signature\""));
    CHECK(strstr(answer.head, "\r\nContent-Type: application/problem+json\r\n") != NULL);
    wire_free(&wire);

    memcpy(body, fixture.stranger.key, 32);
    count = fixture_master_frame(&fixture, frame, 11, fixture.master_secret, body, sizeof body);
    fixture.next_answer.status = STATUS_creation_rejected;
    send(&wire, CREATE_PATH, "X-Ack: binary\r\n", false, frame, count, &answer);
    CHECK(answer.status == 200);
    CHECK(wire_has(&answer, "{\"success\":false,\"message\":\"creation_rejected\","));
    const struct command *command = (const void *)fixture.last_command;
    CHECK(command->code == 11 && (command->flags & COMMAND_WANTS_EVIDENCE) == 0);
    wire_free(&wire);
    fixture.next_answer = (struct answer){ 0 };

    count = fixture_frame(&fixture, frame, 1003, &fixture.operator, body, 56);
    send(&wire, CREDIT_PATH, "X-Ack: binary\r\n", false, frame, count, &answer);
    CHECK(answer.status == 200 && answer.body_bytes == 64);
    CHECK((uint8_t)answer.body[2] == 255 && (command->flags & COMMAND_WANTS_EVIDENCE) == 0);
    wire_free(&wire);
    count = fixture_frame(&fixture, frame, 1003, &fixture.operator, body, 56);
    send(&wire, CREDIT_PATH, "X-Ack: full\r\n", false, frame, count, &answer);
    CHECK(answer.status == 200 && !wire_has(&answer, "timing_ns"));
    wire_free(&wire);
}

#define NO_EVIDENCE                                                                          \
    ",\"order_status\":null,\"remaining_size\":null,\"filled_size\":null,"                   \
    "\"average_price\":null,\"quantity_ahead\":null,\"book_handle\":null,\"best_bid\":null," \
    "\"best_ask\":null,"                                                                     \
    "\"book_seq\":null,\"timing_ns\":{\"verified\":"

/* What the network thread answers itself has the same three forms; stages not reached are 0. */
static void check_own(const char *status, enum status number, const struct signer_ed25519 *signer)
{
    uint8_t frame[256];
    struct wire wire;
    struct wire_answer answer;
    char want[128];

    size_t count = order_frame(frame, signer);
    send(&wire, PLACE_PATH, "", true, frame, count, &answer);
    (void)snprintf(want, sizeof want, "{\"status\":\"%s\",\"processed_at_ns\":", status);
    CHECK(answer.status == 200 && strncmp(answer.body, want, strlen(want)) == 0);
    CHECK(!wire_has(&answer, "timing_ns") && !wire_has(&answer, "sequence"));
    wire_free(&wire);

    count = order_frame(frame, signer);
    send(&wire, PLACE_PATH, "X-Ack: full\r\n", true, frame, count, &answer);
    CHECK(answer.status == 200 && strncmp(answer.body, want, strlen(want)) == 0);
    CHECK(wire_has(&answer, NO_EVIDENCE));
    CHECK(wire_has(&answer, ",\"sequenced\":0,\"matched\":0,\"ack\":"));
    CHECK(!wire_has(&answer, "\"timing_ns\":{\"verified\":0,")); /* its signature was */
    wire_free(&wire);

    count = order_frame(frame, signer);
    send(&wire, PLACE_PATH, "X-Ack: binary\r\n", false, frame, count, &answer);
    CHECK(answer.status == 200 && answer.body_bytes == 64);
    const uint8_t *bytes = (const uint8_t *)answer.body;
    CHECK(cc_load16(bytes) == number && bytes[2] == 255 && cc_load64(bytes + 16) == 0);
    CHECK(cc_load64(bytes + 8) == clock_now_ns(&fixture.clock));
    CHECK(memcmp(bytes + 24, frame + 8, 16) == 0);
    CHECK(cc_load32(bytes + 56) != 0 && cc_load32(bytes + 60) == 0);
    wire_free(&wire);
}

static void answers_of_the_network_thread(void)
{
    check_own("rejected_unauthorized", STATUS_rejected_unauthorized, &fixture.stranger);
    fixture.ready = false;
    check_own("retry_required", STATUS_retry_required, &fixture.session);
    fixture.ready = true;
    protocol->config.credit_wait_ms = 0;
    uint32_t credits = protocol->sender.answer_credits;
    protocol->sender.answer_credits = 0; /* no answer slot is free */
    check_own("request_dropped", STATUS_request_dropped, &fixture.session);
    protocol->sender.answer_credits = credits;
    protocol->config.credit_wait_ms = 2;
}

int main(void)
{
    fixture_init(&fixture, true, FIXTURE_SLOTS);
    protocol = fixture_protocol(&fixture, 64);
    who_gets_which();
    what_stays_json();
    answers_of_the_network_thread();
    CHECK(protocol->context.pendings.used == 0 && protocol->context.conns.open_count == 0);
    fixture_protocol_free(protocol);
    fixture_free(&fixture);
    return 0;
}
