/* What a connection does around its requests: any cut of the bytes, time-outs, 100 Continue, HEAD,
 * clients that go away (wire.md W10). */
#include <stdio.h>

#include "check.h"
#include "net/fixture.h"

#define ORDER_PATH "/api/v1/trading/order/place/limit"
#define OCTETS     "application/octet-stream"
#define BOOK       "GET /api/v1/markets/BTC-PERP/book?depth=1 HTTP/1.1\r\nHost: x\r\n\r\n"

static struct fixture fixture;
static struct protocol *protocol;

static void begin(void)
{
    fixture_init(&fixture, true, FIXTURE_SLOTS);
    protocol = fixture_protocol(&fixture, 64);
}

/* A read may show writes that came behind it: the digits of what it shows are masked. */
static void mask(struct wire *wire, const char *before)
{
    char *at = wire->text;
    wire->text[wire->count] = '\0';
    while ((at = strstr(at, before)) != NULL) {
        at += strlen(before);
        while (*at >= '0' && *at <= '9')
            *at++ = '#';
    }
}

/* However the bytes are cut, the answers are the same. */
static void cuts_change_nothing(void)
{
    static char text[65536];
    static char first[65536];
    size_t first_count = 0;
    for (size_t piece = 0; piece < 400; piece = piece < 40 ? piece + 1 : piece + 37) {
        struct wire wire;
        begin();
        size_t count = 0;
        for (unsigned i = 0; i < 3; i++) {
            count += fixture_order_post(&fixture, text + count, sizeof text - count);
            memcpy(text + count, BOOK, sizeof BOOK - 1);
            count += sizeof BOOK - 1;
            count += (size_t)sprintf(text + count, "POST " ORDER_PATH " HTTP/1.1\r\nHost: x\r\n"
                                                   "Content-Type: application/json\r\n"
                                                   "Transfer-Encoding: chunked\r\n\r\n"
                                                   "3\r\n{\"a\r\n6\r\n\":[]} \r\n00\r\n\r\n");
            count += (size_t)sprintf(text + count, "HEAD /api/v1/time HTTP/1.1\r\nHost: x\r\n\r\n");
        }
        wire_open(&wire, &fixture, protocol, false);
        wire_send(&wire, text, count, piece);
        for (unsigned i = 0; i < 8; i++)
            wire_turn(&wire);
        CHECK(wire.conn != NULL);
        mask(&wire, "X-Sequence: ");
        mask(&wire, "\"engine_seq\":");
        if (piece == 0) {
            memcpy(first, wire.text, wire.count);
            first_count = wire.count;
            CHECK(fixture.command_count == 3 && fixture.query_count == 3);
        }
        CHECK(wire.count == first_count && memcmp(wire.text, first, first_count) == 0);
        wire_free(&wire);
        fixture_end(&fixture, protocol);
    }
}

static uint64_t random_state = 88172645463325252u;

static uint32_t next_random(uint32_t bound)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state >> 32) % bound;
}

/* Damaged requests: whatever the damage, the answers and the end of the connection do not depend on
 * how the bytes were cut; nothing is left behind. */
static void damage_is_answered_the_same(void)
{
    static const char bytes[] = "\r\n: \t/aA?%\x7f\x01\xc3{}\"09,";
    static char text[4096], damaged[4096], first[65536];
    begin();
    size_t count = fixture_order_post(&fixture, text, sizeof text);
    memcpy(text + count, BOOK, sizeof BOOK - 1);
    count += sizeof BOOK - 1;
    count += (size_t)sprintf(text + count, "POST " ORDER_PATH " HTTP/1.1\r\nHost: x\r\n"
                                           "Content-Type: application/json\r\n"
                                           "Transfer-Encoding: chunked\r\n\r\n"
                                           "3\r\n{\"a\r\n6\r\n\":[]} \r\n00\r\n\r\n");
    count += (size_t)sprintf(text + count, "GET /api/v1/time HTTP/1.1\r\nHost: x\r\n\r\n");
    for (unsigned round = 0; round < 1500; round++) {
        size_t first_count = 0;
        bool first_open = false;
        memcpy(damaged, text, count);
        for (uint32_t edits = 1 + next_random(3); edits > 0; edits--)
            damaged[next_random((uint32_t)count)] = bytes[next_random(sizeof bytes - 1)];
        for (unsigned way = 0; way < 2; way++) {
            struct wire wire;
            fixture.sequence = fixture.durable = fixture.applied = 0;
            wire_open(&wire, &fixture, protocol, false);
            wire_send(&wire, damaged, count, way == 0 ? 0 : 1 + next_random(90));
            mask(&wire, "X-Sequence: ");
            mask(&wire, "\"engine_seq\":");
            if (way == 0) {
                memcpy(first, wire.text, wire.count);
                first_count = wire.count;
                first_open = wire.conn != NULL;
            }
            CHECK(wire.count == first_count && memcmp(wire.text, first, first_count) == 0);
            CHECK((wire.conn != NULL) == first_open);
            wire_free(&wire);
        }
    }
    fixture_end(&fixture, protocol);
}

#define SECONDS(n) ((uint64_t)(n)*UINT64_C(1000000000))

/* W10: head 10 s after its first byte, body 30 s after its head, idle 75 s. */
static void time_outs(void)
{
    static const struct {
        int line;
        const char *name, *text;
        uint64_t ns;
        bool answered;
    } rows[] = {
        { __LINE__, "head", "GET /api", SECONDS(10), true },
        { __LINE__, "body",
          "POST " ORDER_PATH " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
          "Content-Length: 5\r\n\r\n{",
          SECONDS(30), true },
        { __LINE__, "idle", "", SECONDS(75), false },
    };
    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        struct wire wire;
        struct wire_answer answer;
        begin();
        wire_open(&wire, &fixture, protocol, false);
        wire_send(&wire, rows[i].text, strlen(rows[i].text), 0);
        clock_advance(&fixture.clock, rows[i].ns - 1);
        CHECK_ROW(&rows[i],
                  protocol_deadline_ns(protocol) == clock_monotonic_ns(&fixture.clock) + 1);
        wire_turn(&wire);
        CHECK_ROW(&rows[i], wire.conn != NULL);
        clock_advance(&fixture.clock, 1);
        wire_turn(&wire);
        CHECK_ROW(&rows[i], wire.conn == NULL);
        CHECK_ROW(&rows[i], wire_answer(&wire, &answer, false) == rows[i].answered);
        if (rows[i].answered)
            CHECK_ROW(&rows[i], answer.status == 408 && wire_has(&answer, "request_timeout"));
        wire_free(&wire);
        fixture_end(&fixture, protocol);
    }
}

/* A drip of bytes does not put the head's time-out off. */
static void slow_head_is_cut_off(void)
{
    struct wire wire;
    begin();
    wire_open(&wire, &fixture, protocol, false);
    for (unsigned i = 0; i < 11 && wire.conn != NULL; i++) {
        wire_send(&wire, "A", 1, 0);
        clock_advance(&fixture.clock, SECONDS(1));
        wire_turn(&wire);
    }
    CHECK(wire.conn == NULL);
    wire_free(&wire);
    fixture_end(&fixture, protocol);
}

/* A peer that takes nothing for 75 s is closed, though requests of it wait. */
static void deaf_peer_is_closed(void)
{
    static const char request[] = "GET /api/v1/exchange HTTP/1.1\r\nHost: x\r\n\r\n";
    struct wire wire;
    begin();
    wire_open(&wire, &fixture, protocol, false);
    wire.stuck = true;
    for (unsigned i = 0; i < 400; i++)
        wire_send(&wire, request, sizeof request - 1, 0);
    CHECK(wire.conn->blocked);
    clock_advance(&fixture.clock, SECONDS(75) - 1);
    wire_turn(&wire);
    CHECK(wire.conn != NULL);
    clock_advance(&fixture.clock, 1);
    wire_turn(&wire);
    CHECK(wire.conn == NULL && protocol->context.metrics.counters.timeouts == 1);
    wire_free(&wire);
    fixture_end(&fixture, protocol);
}

static void continue_is_sent_in_its_place(void)
{
    static char text[4096];
    uint8_t body[48], frame[512];
    struct wire wire;
    begin();
    fixture_order(body);
    size_t count = fixture_frame(&fixture, frame, 0, &fixture.session, body, 48);
    int head = sprintf(text,
                       "POST " ORDER_PATH " HTTP/1.1\r\nHost: x\r\nContent-Type: " OCTETS
                       "\r\nExpect: 100-continue\r\nContent-Length: %zu\r\n\r\n",
                       count);
    wire_open(&wire, &fixture, protocol, false);
    wire_send(&wire, text, (size_t)head, 0);
    CHECK(wire.count == 25 && memcmp(wire.text, "HTTP/1.1 100 Continue\r\n\r\n", 25) == 0);
    wire_send(&wire, frame, count, 0);
    wire.read = 25;
    struct wire_answer answer;
    CHECK(wire_answer(&wire, &answer, false) && wire_has(&answer, "request_completed"));
    /* Nothing is asked for where the answer is known from the head. */
    static const char refused[] = "POST /nothing HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n"
                                  "Content-Length: 5\r\n\r\n";
    wire_send(&wire, refused, sizeof refused - 1, 0);
    CHECK(wire_answer(&wire, &answer, false) && answer.status == 404 && wire.conn == NULL);
    wire_free(&wire);
    fixture_end(&fixture, protocol);
}

static void head_has_no_body(void)
{
    static const char text[] =
        "HEAD /api/v1/time HTTP/1.1\r\nHost: x\r\n\r\n"
        "GET /api/v1/time HTTP/1.0\r\nHost: x\r\nConnection: keep-alive\r\n\r\n"
        "GET /api/v1/time HTTP/1.0\r\nHost: x\r\n\r\n"
        "GET /api/v1/time HTTP/1.0\r\nHost: x\r\n\r\n";
    struct wire wire;
    struct wire_answer answer;
    begin();
    wire_open(&wire, &fixture, protocol, false);
    wire_send(&wire, text, sizeof text - 1, 0);
    CHECK(wire_answer(&wire, &answer, true) && answer.status == 405);
    CHECK(strstr(answer.head, "\r\nAllow: GET, OPTIONS\r\n") != NULL);
    CHECK(wire_answer(&wire, &answer, false) && answer.status == 200);
    CHECK(strstr(answer.head, "\r\nConnection: keep-alive\r\n") != NULL);
    CHECK(wire_has(&answer, "{\"time_ms\":1755582431240,\"time_ns\":1755582431240112233}"));
    CHECK(wire_answer(&wire, &answer, false) && answer.status == 200);
    CHECK(strstr(answer.head, "\r\nConnection: close\r\n") != NULL);
    CHECK(!wire_answer(&wire, &answer, false) && wire.conn == NULL);
    wire_free(&wire);
    fixture_end(&fixture, protocol);
}

/* A client that goes away leaves nothing behind: its commands are executed, answers dropped. */
static void gone_clients_leave_nothing(void)
{
    static char text[8192];
    struct wire wire;
    begin();
    wire_open(&wire, &fixture, protocol, false);
    size_t count = fixture_order_post(&fixture, text, sizeof text);
    memcpy(text + count, BOOK, sizeof BOOK - 1);
    wire_feed(&wire, text, count + sizeof BOOK - 1);
    protocol_close(protocol, wire.conn);
    wire.conn = NULL;
    CHECK(fixture_match(&fixture) == 1);
    wire_turn(&wire);
    wire_free(&wire);
    wire_open(&wire, &fixture, protocol, false);
    wire_feed(&wire, BOOK, sizeof BOOK - 1);
    protocol_close(protocol, wire.conn); /* a query is on its way: its buffer comes back */
    wire.conn = NULL;
    CHECK(fixture_follow(&fixture) == 1);
    wire_turn(&wire);
    wire_free(&wire);
    fixture_end(&fixture, protocol);
}

int main(void)
{
    cuts_change_nothing();
    damage_is_answered_the_same();
    time_outs();
    slow_head_is_cut_off();
    deaf_peer_is_closed();
    continue_is_sent_in_its_place();
    head_has_no_body();
    gone_clients_leave_nothing();
    return 0;
}
