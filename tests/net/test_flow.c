/* Order within a connection, durability, credits and pools (roles.md, Flow control and Order
 * within a connection; rules.md R11 steps 11 to 13; credits of commands: test_credits.c). */
#include <stdio.h>

#include "base/base64.h"
#include "base/status.h"
#include "check.h"
#include "crypto/secret.h"
#include "net/fixture.h"

#define ORDER_PATH "/api/v1/trading/order/place/limit"
#define OCTETS     "application/octet-stream"
#define BOOK       "GET /api/v1/markets/BTC-PERP/book?depth=1 HTTP/1.1\r\nHost: x\r\n\r\n"

static struct fixture fixture;
static struct protocol *protocol;

static void begin(uint32_t slots, uint64_t pool_bytes)
{
    fixture_init(&fixture, true, slots);
    fixture.config.output_pool_bytes = pool_bytes;
    protocol = fixture_protocol(&fixture, 256);
}

static void command_carries_what_was_signed(void)
{
    char text[4096];
    struct wire wire;
    struct wire_answer answer;
    begin(1024, 1 << 20);
    wire_open(&wire, &fixture, protocol, false);
    wire_send(&wire, text, fixture_order_post(&fixture, text, sizeof text), 0);
    CHECK(wire_answer(&wire, &answer, false) && answer.status == 200);
    static const char want[] = "{\"status\":\"request_completed\",\"processed_at_ns\":"
                               "1755582431240112233,\"sequence\":1}";
    CHECK(answer.body_bytes == sizeof want - 1 && wire_has(&answer, want));
    CHECK(strstr(answer.head, "\r\nDate: Tue, 19 Aug 2025 05:47:11 GMT\r\n") != NULL);
    const struct command *command = (const void *)fixture.last_command;
    CHECK(command->code == 0 && command->kind == COMMAND_SIGNED && command->flags == 0);
    CHECK(command->payload_bytes == 72 && command->key_bytes == 32 && command->slot_count == 2);
    CHECK(memcmp(command_key(command), fixture.session.key, 32) == 0);
    CHECK(command->duplicate_account == 0 && command->extra_bytes == 0);
    CHECK(command->request_hash == mix_id(fixture.config.hash_key, 7, command_request_id(command)));
    wire_free(&wire);
    fixture_end(&fixture, protocol);
}

/* An answer leaves only when its command is durable; a read behind it is dispatched then. */
static void nothing_leaves_before_it_is_durable(void)
{
    char text[8192];
    struct wire wire;
    struct wire_answer answer;
    begin(1024, 1 << 20);
    fixture.hold_durable = true;
    wire_open(&wire, &fixture, protocol, false);
    size_t count = fixture_order_post(&fixture, text, sizeof text);
    memcpy(text + count, BOOK, sizeof BOOK - 1);
    count += sizeof BOOK - 1;
    wire_send(&wire, text, count, 0);
    CHECK(fixture.command_count == 1 && fixture.query_count == 0);
    CHECK(!wire_answer(&wire, &answer, false));
    fixture.durable = 1;
    wire_turn(&wire); /* the answer is released and the query sent, stamped with durable */
    CHECK(wire_answer(&wire, &answer, false) && wire_has(&answer, "\"sequence\":1"));
    CHECK(fixture.query_count == 0); /* applied is behind the stamp */
    fixture.applied = 1;
    wire_turn(&wire);
    CHECK(fixture.query_count == 1 && fixture.last_query.stamp == 1);
    wire_turn(&wire);
    CHECK(wire_answer(&wire, &answer, false) &&
          wire_has(&answer, "\"bids\":[[\"99999.9\",\"0.4\"]]"));
    CHECK(strstr(answer.head, "\r\nX-Sequence: 1\r\n") != NULL);
    wire_free(&wire);
    fixture_end(&fixture, protocol);
}

/* A write behind a read is not held back; its answer is. Refusals take their place in the order. */
static void answers_come_in_request_order(void)
{
    static const char missing[] = "GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n";
    char text[16384];
    struct wire wire;
    struct wire_answer answer;
    begin(1024, 1 << 20);
    wire_open(&wire, &fixture, protocol, false);
    size_t count = sizeof BOOK - 1;
    memcpy(text, BOOK, count);
    count += fixture_order_post(&fixture, text + count, sizeof text - count);
    memcpy(text + count, missing, sizeof missing - 1);
    count += sizeof missing - 1;
    wire_feed(&wire, text, count);
    wire_turn_net(&wire);                /* reads are taken at the end of a turn */
    CHECK(fixture_match(&fixture) == 1); /* the write is in the ring though the read is open */
    wire_turn_net(&wire);
    CHECK(!wire_answer(&wire, &answer, false));
    CHECK(fixture_follow(&fixture) == 1);
    wire_turn_net(&wire);
    CHECK(wire_answer(&wire, &answer, false) && wire_has(&answer, "\"bids\""));
    CHECK(wire_answer(&wire, &answer, false) && wire_has(&answer, "request_completed"));
    CHECK(wire_answer(&wire, &answer, false) && answer.status == 404);
    wire_free(&wire);
    fixture_end(&fixture, protocol);
}

/* Of 64 buffers an address gets 22: as many more of its reads as come wait, a second, then 503. A
 * newcomer's is sent at once, and so is one that waits when its turn comes; a client that goes away
 * while its read waits leaves nothing. */
static void reads_wait_for_buffers(void)
{
    enum { READS = 70, SHARE = 22, LEAVES = READS, NEWCOMER };
    struct wire wire[READS + 2]; /* a connection each: none stands behind another */
    struct wire_answer answer;
    begin(64, 4 << 20);
    const struct read_sender *reads = &protocol->pipeline.reads;
    for (unsigned i = 0; i < CC_COUNT(wire); i++)
        wire_open(&wire[i], &fixture, protocol, false);
    wire[NEWCOMER].conn->address = 9;
    for (unsigned i = 0; i <= READS; i++)
        wire_feed(&wire[i], BOOK, sizeof BOOK - 1);
    CHECK(reads->queries_out == SHARE && !read_send_has_work(reads));
    CHECK(protocol_deadline_ns(protocol) == clock_monotonic_ns(&fixture.clock) + 1000000000);
    wire_feed(&wire[NEWCOMER], BOOK, sizeof BOOK - 1);
    CHECK(reads->queries_out == SHARE + 1);
    protocol_close(protocol, wire[LEAVES].conn);
    wire[LEAVES].conn = NULL;
    wire_free(&wire[LEAVES]);
    CHECK(fixture_follow(&fixture) == SHARE + 1);
    wire_turn_net(&wire[NEWCOMER]);
    CHECK(wire_answer(&wire[NEWCOMER], &answer, false) && answer.status == 200);
    wire_free(&wire[NEWCOMER]);
    CHECK(reads->queries_out == SHARE); /* the next ones of the greedy */
    clock_advance(&fixture.clock, 999999999);
    wire_turn_net(&wire[0]);
    CHECK(reads->buffers.oldest != PENDING_NONE);
    clock_advance(&fixture.clock, 1);
    wire_turn_net(&wire[0]);
    CHECK(reads->buffers.oldest == PENDING_NONE);
    CHECK(fixture_follow(&fixture) == SHARE);
    unsigned shown = 0, refused = 0;
    for (unsigned i = 0; i < READS; i++) {
        wire_turn_net(&wire[i]);
        while (wire_answer(&wire[i], &answer, false)) {
            shown += answer.status == 200 && wire_has(&answer, "\"bids\"");
            refused += answer.status == 503 && wire_has(&answer, "too many reads are waiting");
        }
        wire_free(&wire[i]);
    }
    CHECK(shown == 2 * SHARE && refused == READS - 2 * SHARE);
    CHECK(reads->buffers.held == 0 && fixture.pool.free == UINT64_MAX);
    fixture_end(&fixture, protocol);
}

/* The follower has no buffer left: 503, and the buffers that were given are all back. */
static void no_reply_buffer(void)
{
    struct wire wire;
    struct wire_answer answer;
    begin(1024, 1 << 20);
    fixture.pool.free = 1; /* one buffer */
    wire_open(&wire, &fixture, protocol, false);
    wire_feed(&wire, BOOK BOOK, 2 * (sizeof BOOK - 1));
    CHECK(fixture_follow(&fixture) == 2);
    wire_turn_net(&wire);
    CHECK(wire_answer(&wire, &answer, false) && answer.status == 200);
    CHECK(wire_answer(&wire, &answer, false) && answer.status == 503);
    CHECK(wire_has(&answer, "\"code\":\"not_ready\"") && fixture.pool.free == 1);
    fixture.pool.free = UINT64_MAX;
    wire_free(&wire);
    fixture_end(&fixture, protocol);
}

/* Credits that come back in time are used in the order of arrival. */
static void waiting_commands_keep_their_order(void)
{
    enum { ORDERS = 100 };
    static char text[131072];
    struct wire wire;
    struct wire_answer answer;
    size_t count = 0;
    begin(64, 1 << 20);
    for (unsigned i = 0; i < ORDERS; i++)
        count += fixture_order_post(&fixture, text + count, sizeof text - count);
    wire_open(&wire, &fixture, protocol, false);
    wire_send(&wire, text, count, 0);
    for (unsigned i = 0; i < 40; i++)
        wire_turn(&wire);
    for (unsigned i = 1; i <= ORDERS; i++) {
        char want[32];
        (void)snprintf(want, sizeof want, "\"sequence\":%u}", i);
        CHECK(wire_answer(&wire, &answer, false) && wire_has(&answer, want));
    }
    wire_free(&wire);
    fixture_end(&fixture, protocol);
}

/* A Secp256k1 request holds back what follows on its connection, never another connection. */
static void slow_signature_holds_its_own_connection(void)
{
    static char text[16384];
    uint8_t body[56] = { FIXTURE_ACCOUNT }, frame[512];
    struct wire wire[3];
    begin(1024, 1 << 20);
    for (unsigned i = 0; i < 3; i++)
        wire_open(&wire[i], &fixture, protocol, false);
    cc_store32(body + 48, UINT32_MAX);
    memcpy(body + 8, fixture.stranger.key, 32);
    protocol_turn_begin(protocol);
    for (unsigned i = 0; i < 2; i++) { /* two slow ones, each with an order behind it */
        size_t count = fixture_master_frame(&fixture, frame, 13, fixture.master_secret, body, 56);
        count =
            fixture_post(text, sizeof text, "/api/v1/auth/sessions/create", OCTETS, frame, count);
        count += fixture_order_post(&fixture, text + count, sizeof text - count);
        protocol_receive(protocol, wire[i].conn, text, count);
    }
    protocol_receive(protocol, wire[2].conn, text, fixture_order_post(&fixture, text, sizeof text));
    (void)protocol_turn_end(protocol);
    CHECK(protocol->sender.commands_out ==
          2); /* one slow signature a turn, and the third connection's order */
    CHECK(fixture_match(&fixture) == 2);
    CHECK(((const struct command *)(const void *)fixture.last_command)->code == 13);
    wire_turn(&wire[0]);
    wire_turn(&wire[0]);
    wire_turn(&wire[0]);
    CHECK(fixture.command_count == 5);
    /* W4: the session key is a canonical point of full order. */
    for (unsigned i = 0; i < 3; i++) {
        wire_turn(&wire[i]);
        wire_free(&wire[i]);
    }
    fixture_end(&fixture, protocol);
}

/* A flood of unknown keys: one is verified a turn, none in a turn with other work while their part
 * of the time is used up, at most half of the slots are theirs, and each is answered in the end; an
 * order of a known key beside it waits for no more than its turn. */
static void strangers_delay_nobody(void)
{
    enum { STRANGERS = 200, EACH = 3 };
    static char text[65536];
    uint8_t body[48], frame[512];
    struct wire wires[STRANGERS], good;
    struct wire_answer answer;
    begin(1024, 8 << 20);
    fixture_order(body);
    wire_open(&good, &fixture, protocol, false);
    for (unsigned i = 0; i < STRANGERS; i++) {
        size_t count = 0;
        wire_open(&wires[i], &fixture, protocol, false);
        for (unsigned k = 0; k < EACH; k++) {
            size_t bytes = fixture_frame(&fixture, frame, 0, &fixture.stranger, body, 48);
            count +=
                fixture_post(text + count, sizeof text - count, ORDER_PATH, OCTETS, frame, bytes);
        }
        wire_feed(&wires[i], text, count);
    }
    wire_feed(&good, text, fixture_order_post(&fixture, text, sizeof text));
    CHECK(fixture_match(&fixture) == 1);
    wire_turn(&good);
    const uint64_t verified = protocol->context.metrics.counters.unknown_keys;
    protocol->verifier.slow_ns = UINT64_MAX;
    wire_feed(&good, text, fixture_order_post(&fixture, text, sizeof text));
    CHECK(fixture_match(&fixture) == 1);
    wire_turn(&good);
    CHECK(protocol->context.metrics.counters.unknown_keys == verified);
    wire_turn(&good);
    CHECK(protocol->context.metrics.counters.unknown_keys == verified + 1);
    unsigned refused = 0;
    for (unsigned turn = 0; turn < STRANGERS * EACH + 8; turn++) {
        wire_turn(&good);
    }
    for (unsigned i = 0; i < STRANGERS; i++) {
        wire_turn(&wires[i]);
        while (wire_answer(&wires[i], &answer, false))
            refused += wire_has(&answer, "\"rejected_unauthorized\"");
        wire_free(&wires[i]);
    }
    CHECK(refused == STRANGERS * EACH &&
          protocol->context.metrics.counters.unknown_keys == STRANGERS * EACH);
    CHECK(fixture.command_count == 2);
    CHECK(wire_answer(&good, &answer, false) && wire_has(&answer, "request_completed"));
    CHECK(wire_answer(&good, &answer, false) && wire_has(&answer, "request_completed"));
    wire_free(&good);
    fixture_end(&fixture, protocol);
}

/* Wrong signatures of a known key: the first costs what a right one costs, those behind it one
 * verification a turn for all such connections together; a right one makes the connection as good
 * as any. */
static void forgers_delay_nobody(void)
{
    enum { FORGERS = 40, EACH = 4 };
    static char text[16384];
    uint8_t body[48], frame[512];
    struct wire wires[FORGERS], good;
    struct wire_answer answer;
    unsigned refused = 0;
    begin(1024, 8 << 20);
    fixture_order(body);
    wire_open(&good, &fixture, protocol, false);
    for (unsigned i = 0; i < FORGERS; i++) {
        wire_open(&wires[i], &fixture, protocol, false);
        size_t bytes = fixture_frame(&fixture, frame, 0, &fixture.session, body, 48);
        frame[bytes - 1] ^= 1;
        wire_feed(&wires[i], text,
                  fixture_post(text, sizeof text, ORDER_PATH, OCTETS, frame, bytes));
    }
    CHECK(protocol->context.metrics.counters.signatures_bad == FORGERS);

    for (unsigned i = 0; i < FORGERS; i++) {
        size_t count = 0;
        for (unsigned k = 0; k < EACH; k++) { /* the last one is right */
            size_t bytes = fixture_frame(&fixture, frame, 0, &fixture.session, body, 48);
            frame[bytes - 1] ^= k < EACH - 1;
            count +=
                fixture_post(text + count, sizeof text - count, ORDER_PATH, OCTETS, frame, bytes);
        }
        uint64_t before = protocol->context.metrics.counters.signatures_bad;
        wire_feed(&wires[i], text, count);
        CHECK(protocol->context.metrics.counters.signatures_bad - before <= NET_TURN_SLOW);
    }
    uint64_t verified = protocol->context.metrics.counters.signatures_good;
    wire_feed(&good, text,
              fixture_order_post(&fixture, text,
                                 sizeof text)); /* beside all that waits: in this very turn */
    CHECK(protocol->context.metrics.counters.signatures_good >= verified + 1);
    for (unsigned turn = 0; turn < FORGERS * EACH; turn++)
        wire_turn(&good);
    CHECK(protocol->context.metrics.counters.signatures_bad == FORGERS * EACH);
    CHECK(protocol->context.metrics.counters.signatures_good == FORGERS + 1);
    for (unsigned i = 0; i < FORGERS; i++) {
        wire_turn(&wires[i]);
        while (wire_answer(&wires[i], &answer, false))
            refused += wire_has(&answer, "\"invalid_signature\"");
    }
    CHECK(refused == FORGERS * EACH);

    verified = protocol->context.metrics.counters.signatures_good; /* again as fast as any */
    protocol_turn_begin(protocol);
    for (unsigned i = 0; i < NET_TURN_REQUESTS / 2; i++)
        protocol_receive(protocol, wires[i].conn, text,
                         fixture_order_post(&fixture, text, sizeof text));
    (void)protocol_turn_end(protocol);
    CHECK(protocol->context.metrics.counters.signatures_good - verified == NET_TURN_REQUESTS / 2);
    for (unsigned i = 0; i < FORGERS; i++) {
        wire_turn(&wires[i]);
        wire_free(&wires[i]);
    }
    wire_turn(&good);
    wire_free(&good);
    fixture_end(&fixture, protocol);
}

/* Code 34: 32 random bytes, shown once; the command carries their keyed hash (W7). */
static void api_key_is_shown_once(void)
{
    static char text[4096];
    uint8_t body[48] = { FIXTURE_ACCOUNT }, frame[512], hash[32], secret[33];
    struct wire wire;
    struct wire_answer answer;
    size_t at;
    begin(1024, 1 << 20);
    cc_store32(body + 8, UINT32_MAX);
    fixture.next_answer.members = ANSWER_HAS_ID;
    fixture.next_answer.id[0] = 0xAB;
    wire_open(&wire, &fixture, protocol, false);
    for (unsigned round = 0; round < 2; round++) {
        bool duplicate = round == 1;
        if (duplicate) {
            fixture.next_answer.status = STATUS_duplicate_request_id;
            fixture.next_answer.members |= ANSWER_HAS_ORIGINAL;
            fixture.next_answer.original_processed_at_ns = 5;
        }
        size_t count = fixture_frame(&fixture, frame, 34, &fixture.session, body, 48);
        count = fixture_post(text, sizeof text, "/api/v1/api-keys", OCTETS, frame, count);
        wire_send(&wire, text, count, 0);
        CHECK(wire_answer(&wire, &answer, false));
        const struct command *command = (const void *)fixture.last_command;
        CHECK(command->code == 34 && command->extra_bytes == 32);
        const char *key = memmem(answer.body, answer.body_bytes, "\"api_key\":\"", 11);
        CHECK((key != NULL) == !duplicate);
        CHECK(wire_has(&answer, "\"api_key_id\":\"ab000000-0000-0000-0000-000000000000\""));
        if (duplicate) {
            CHECK(wire_has(&answer, "{\"success\":false,\"message\":\"duplicate_request_id\","));
            CHECK(wire_has(&answer, "\"original_status\":\"request_completed\","
                                    "\"original_processed_at_ns\":5,\"api_key_id\""));
            continue;
        }
        CHECK(wire_has(&answer, "{\"success\":true,\"message\":\"request_completed\","));
        CHECK(base64_decode(secret, sizeof secret, key + 11, 44, &at) == 32);
        secret_hash(hash, fixture.config.secret_key, secret);
        CHECK(memcmp(command_extra(command), hash, 32) == 0);
    }
    wire_free(&wire);
    fixture_end(&fixture, protocol);
}

/* R11: while the engine is not ready a signed request answers retry_required, a read 503. */
static void not_ready(void)
{
    static char text[4096];
    struct wire wire;
    struct wire_answer answer;
    begin(1024, 1 << 20);
    fixture.ready = false;
    wire_open(&wire, &fixture, protocol, false);
    wire_send(&wire, text, fixture_order_post(&fixture, text, sizeof text), 0);
    CHECK(wire_answer(&wire, &answer, false) && answer.status == 200);
    CHECK(wire_has(&answer, "{\"status\":\"retry_required\",\"processed_at_ns\":"));
    wire_send(&wire, BOOK, sizeof BOOK - 1, 0);
    CHECK(wire_answer(&wire, &answer, false) && answer.status == 503);
    CHECK(wire_has(&answer, "\"code\":\"not_ready\""));
    CHECK(fixture.command_count == 0 && fixture.query_count == 0);
    fixture.ready = true;
    fixture.next_problem = PROBLEM_not_ready;
    fixture.next_cause = REPLY_LAG;
    wire_send(&wire, BOOK, sizeof BOOK - 1, 0);
    CHECK(wire_answer(&wire, &answer, false) && answer.status == 503);
    CHECK(wire_has(&answer, "\"detail\":\"reads lag 1400 ms behind\",\"lag_ms\":1400}"));
    wire_free(&wire);
    fixture_end(&fixture, protocol);
}

/* A GET of the target, with the account's key or without one: RateLimit-Remaining, or UINT32_MAX
 * when it is refused. */
static uint32_t left_after(struct wire *wire, const char *target, bool has_key)
{
    char text[512];
    struct wire_answer answer;
    unsigned left = UINT32_MAX;
    int count = snprintf(text, sizeof text, "GET /api/v1/%s HTTP/1.1\r\nHost: x\r\n%s%s%s\r\n",
                         target, has_key ? "X-API-KEY: " : "", has_key ? fixture.api_key : "",
                         has_key ? "\r\n" : "");
    wire_send(wire, text, (size_t)count, 0);
    CHECK(wire_answer(wire, &answer, false));
    const char *header = strstr(answer.head, "RateLimit-Remaining: ");
    CHECK(header != NULL && sscanf(header, "RateLimit-Remaining: %u", &left) == 1);
    CHECK(answer.status == 200 || (answer.status == 429 && left == 0));
    return answer.status == 200 ? left : UINT32_MAX;
}

/* W8: a client pays for the rows that the follower looks at for it, one read for each full 10,000,
 * and for those that it is shown, one for each full 100 behind the first 100. */
static void rows_looked_at_are_paid(void)
{
    const struct client_rate_limit limits[CLIENT_RATE_KINDS] = {
        [CLIENT_RATE_PUBLIC] = { 1, 200 },
        [CLIENT_RATE_SIGNATURE] = { 1, 1 },
        [CLIENT_RATE_CREATION] = { 1, 1 },
        [CLIENT_RATE_READ] = { 1, 20 },
    };
    struct wire wire;
    struct client_rate *rates;
    begin(1024, 1 << 20);
    CHECK(client_rate_create(&rates, limits, fixture.config.hash_key) == 0);
    protocol->config.client_rates = rates;
    wire_open(&wire, &fixture, protocol, false);
    fixture.next_visited = 39999;
    CHECK(left_after(&wire, "orders", true) == 20 - 1 - 3);
    CHECK(left_after(&wire, "orders?offset=20000", true) == 16 - 1 - 2 - 1);
    CHECK(left_after(&wire, "orders?offset=30000", true) == 12 - 1 - 3);
    CHECK(left_after(&wire, "account", true) == 8 - 1); /* no page */
    fixture.next_visited = 0;
    fixture.order_rows = 100;
    CHECK(left_after(&wire, "orders?limit=100", true) == 7 - 1);
    fixture.order_rows = 301;
    CHECK(left_after(&wire, "orders?limit=1000", true) == 6 - 1 - 3);
    fixture.order_rows = 0;
    fixture.next_visited = 39999;
    clock_advance(&fixture.clock, 5 * UINT64_C(1000000000));
    CHECK(left_after(&wire, "markets/BTC-PERP/trades", false) == 200 - 1 - 3);
    fixture.next_visited = 400000;
    CHECK(left_after(&wire, "orders", true) == 0); /* it owes 34 */
    fixture.next_visited = 0;
    clock_advance(&fixture.clock, 34 * UINT64_C(1000000000));
    CHECK(left_after(&wire, "orders", true) == UINT32_MAX);
    clock_advance(&fixture.clock, UINT64_C(1000000000));
    CHECK(left_after(&wire, "orders", true) == 0);
    CHECK(left_after(&wire, "markets/BTC-PERP/trades", false) == 199);
    wire_free(&wire);
    protocol->config.client_rates = NULL;
    client_rate_destroy(rates);
    fixture_end(&fixture, protocol);
}

/* A connection that reads nothing is not read on; its output stays bounded. */
static void slow_reader_is_paused(void)
{
    static char text[262144];
    static const char request[] = "GET /api/v1/exchange HTTP/1.1\r\nHost: x\r\n\r\n";
    struct wire wire;
    size_t count = 0;
    begin(1024, 8 << 20);
    while (count + sizeof request < sizeof text) {
        memcpy(text + count, request, sizeof request - 1);
        count += sizeof request - 1;
    }
    wire_open(&wire, &fixture, protocol, false);
    wire.stuck = true;
    wire_send(&wire, text, count, 0);
    for (unsigned i = 0; i < 50; i++)
        wire_turn(&wire);
    CHECK(wire.conn != NULL && wire.conn->blocked);
    CHECK(wire.conn->output.bytes > CONN_OUTPUT_PAUSE &&
          wire.conn->output.bytes < 2 * CONN_OUTPUT_PAUSE);
    wire.stuck = false;
    unsigned answers = 0;
    struct wire_answer answer;
    for (unsigned i = 0; i < 400; i++) {
        wire_turn(&wire);
        while (wire_answer(&wire, &answer, false))
            answers++;
        wire.count = wire.read = 0;
    }
    CHECK(answers == count / (sizeof request - 1));
    wire_free(&wire);
    fixture_end(&fixture, protocol);
}

/* The pool is full: the connection with the oldest unsent byte is closed, the others go on. */
static void full_pool_closes_the_oldest(void)
{
    enum { WIRES = 6 };
    static const char request[] = "GET /api/v1/exchange HTTP/1.1\r\nHost: x\r\n\r\n";
    struct wire wires[WIRES];
    begin(1024, 4 * OUTPUT_CHUNK_BYTES);
    for (unsigned i = 0; i < WIRES; i++)
        wire_open(&wires[i], &fixture, protocol, false);
    for (unsigned i = 0; i < WIRES; i++) {
        wires[i].stuck = true;
        clock_advance(&fixture.clock, 1000);
        wire_send(&wires[i], request, sizeof request - 1, 0);
        for (unsigned k = 0; k < WIRES; k++)
            wire_turn(&wires[k]);
    }
    CHECK(protocol->context.metrics.counters.output_pool_closed == WIRES - 4);
    for (unsigned i = 0; i < WIRES; i++) {
        struct wire_answer answer;
        CHECK((wires[i].conn == NULL) == (i < WIRES - 4));
        if (wires[i].conn == NULL)
            continue;
        wires[i].stuck = false;
        wire_turn(&wires[i]);
        CHECK(wire_answer(&wires[i], &answer, false) && answer.status == 200);
    }
    for (unsigned i = 0; i < WIRES; i++)
        wire_free(&wires[i]);
    fixture_end(&fixture, protocol);
}

int main(void)
{
    command_carries_what_was_signed();
    nothing_leaves_before_it_is_durable();
    answers_come_in_request_order();
    reads_wait_for_buffers();
    no_reply_buffer();
    waiting_commands_keep_their_order();
    slow_signature_holds_its_own_connection();
    strangers_delay_nobody();
    forgers_delay_nobody();
    api_key_is_shown_once();
    not_ready();
    rows_looked_at_are_paid();
    slow_reader_is_paused();
    full_pool_closes_the_oldest();
    return 0;
}
