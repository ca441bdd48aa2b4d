/* Streams while the output pool is full: heartbeats, the status and answers to ops come when there
 * is room, and who has unsent bytes for longest yields it (wire.md W8, W9). Streams that go on
 * after an event: what the log has, to the letter, or a gap (J9, resume). */
#include <stdio.h>

#include "check.h"
#include "net/fixture.h"
#include "net/request/charge.h"
#include "net/stream/stream_resume.h"
#include "net/stream_wire.h"

enum { POOL_BYTES = 1 << 20, CONNECTIONS = 8 };

#define SECOND_NS UINT64_C(1000000000)

/* A client that does not read, whose answers fill the pool. */
static void fill(struct wire *hog, struct fixture *fixture, struct protocol *protocol)
{
    static const uint8_t bytes[OUTPUT_CHUNK_BYTES];
    struct output_pool *pool = &protocol->context.outputs;
    wire_open(hog, fixture, protocol, false);
    hog->stuck = true;
    while (output_fits(pool, &hog->conn->output, sizeof bytes))
        output_append(pool, &hog->conn->output, bytes, sizeof bytes, protocol->context.now_ns);
}

static void check_late_frames(struct fixture *fixture, struct protocol *protocol)
{
    struct wire stream, hog;
    open_stream(&stream, fixture, protocol);
    ask(&stream, "{\"op\":\"subscribe\",\"channel\":\"status\"}");
    ask(&stream, "{\"op\":\"subscribe\",\"channel\":\"trades\",\"market\":\"BTC-PERP\"}");
    CHECK(has_come(&stream, "\"channel\":\"status\",\"seq\""));
    CHECK(has_come(&stream, "\"type\":\"snapshot\",\"data\":{\"trades\":[]}}"));
    fill(&hog, fixture, protocol);
    clock_advance(&fixture->clock, 5 * SECOND_NS);
    wire_turn(&stream);
    CHECK(stream.conn != NULL && !has_come(&stream, "heartbeat") && !has_come(&stream, "update"));
    wire_turn(&hog);
    CHECK(hog.conn == NULL);
    clock_advance(&fixture->clock, SECOND_NS / 4);
    wire_turn(&stream);
    CHECK(stream.conn != NULL && has_come(&stream, "\"type\":\"update\",\"data\":{\"state\""));
    CHECK(has_come(&stream, "\"type\":\"heartbeat\",\"data\":{}}"));
    CHECK(!has_come(&stream, "heartbeat") && !has_come(&stream, "update")); /* once */
    wire_free(&hog);
    wire_free(&stream);
}

static void check_late_answers(struct fixture *fixture, struct protocol *protocol)
{
    struct wire stream, hog;
    open_stream(&stream, fixture, protocol);
    fill(&hog, fixture, protocol);
    ask(&stream, "{\"op\":\"ping\",\"id\":5}");
    CHECK(stream.conn != NULL && !has_come(&stream, "ping"));
    wire_turn(&hog);
    CHECK(hog.conn == NULL);
    wire_turn(&stream);
    CHECK(stream.conn != NULL && has_come(&stream, "{\"op\":\"ping\",\"id\":5,\"time_ns\":"));
    wire_free(&hog);
    wire_free(&stream);
}

/* The limit counts what other threads hold too, and a stream that closes makes room. */
static void check_connections(struct fixture *fixture, struct protocol *protocol)
{
    struct wire first, other;
    struct wire_answer answer;
    enum { OTHER_SLOT = NET_CONNECTIONS_MAX - 1 };
    open_stream(&first, fixture, protocol);
    CHECK(address_claims_add(&fixture->streams_of, OTHER_SLOT, first.conn->address, 2) == 2);
    wire_open(&other, fixture, protocol, false);
    wire_send(&other, handshake, sizeof handshake - 1, 0);
    CHECK(wire_answer(&other, &answer, false) && answer.status == 429 &&
          wire_has(&answer, "rate_limited"));
    address_claims_drop(&fixture->streams_of, OTHER_SLOT);
    wire_send(&other, handshake, sizeof handshake - 1, 0);
    CHECK(wire_answer(&other, &answer, true) && answer.status == 101);
    wire_free(&other);
    wire_free(&first);
}

/* A trade of the market with that seq, whose trade_seq is the same. */
static void add_trade(struct fixture *fixture, uint16_t asset_id, uint64_t seq)
{
    const struct event_log_event event = {
        .seq = seq,
        .sequence = seq,
        .asset_id = asset_id,
        .kind = EVENT_LOG_TRADE,
        .trade = { .price = 1, .size = 1, .trade_seq = seq, .sequence = seq },
    };
    event_log_add(&fixture->events, &event);
}

/* Asks for trades of BTC-PERP, whose seq is 9001 (fixture.c), after from_seq. */
static void resume(struct wire *wire, const char *from_seq)
{
    char text[128];
    (void)snprintf(text, sizeof text,
                   "{\"op\":\"resume\",\"channel\":\"trades\",\"market\":\"BTC-PERP\","
                   "\"from_seq\":%s}",
                   from_seq);
    ask(wire, text);
    for (unsigned i = 0; i < 2 * EVENT_LOG_SLOTS / STREAM_RESUME_A_TURN; i++)
        wire_turn(wire);
}

static bool answers(struct wire *wire, const char *from_seq)
{
    char text[128];
    (void)snprintf(text, sizeof text,
                   "{\"op\":\"resume\",\"channel\":\"trades\",\"market\":\"BTC-PERP\","
                   "\"from_seq\":%s,\"epoch\":1}",
                   from_seq);
    return has_come(wire, text);
}

/* The next frame of BTC-PERP is the trade with that seq. */
static bool has_trade(struct wire *wire, unsigned seq, unsigned prev_seq)
{
    char text[128];
    (void)snprintf(text, sizeof text, "\"market\":\"BTC-PERP\",\"seq\":%u,\"prev_seq\":%u,", seq,
                   prev_seq);
    return has_come(wire, "{\"channel\":\"trades\",") && has_come(wire, text) &&
           has_come(wire, "\"type\":\"update\",\"data\":{") && has_come(wire, "}}");
}

static bool has_gap(struct wire *wire, const char *from_seq, unsigned oldest_seq)
{
    char text[256];
    (void)snprintf(text, sizeof text, "\"seq\":9001,\"prev_seq\":%s,\"engine_seq\":0,", from_seq);
    if (!has_come(wire, text))
        return false;
    (void)snprintf(text, sizeof text,
                   "\"type\":\"gap\",\"data\":{\"from_seq\":%s,\"oldest_seq\":%u}}", from_seq,
                   oldest_seq);
    return has_come(wire, text);
}

static void check_resumes(struct fixture *fixture, struct protocol *protocol)
{
    enum { BTC = 1, ETH = 2 };
    struct wire stream;
    open_stream(&stream, fixture, protocol);
    fixture->trades_lost = true;
    add_trade(fixture, BTC, 8000);
    add_trade(fixture, ETH, 8001);
    add_trade(fixture, BTC, 8002);
    add_trade(fixture, BTC, 9000);
    resume(&stream, "8000");
    CHECK(answers(&stream, "8000") && has_trade(&stream, 8002, 8000) &&
          has_trade(&stream, 9000, 8002) && !has_come(&stream, "{"));
    resume(&stream, "8001"); /* the seq of a frame that was no trade */
    CHECK(answers(&stream, "8001") && has_trade(&stream, 8002, 8001) &&
          has_trade(&stream, 9000, 8002) && !has_come(&stream, "{"));
    resume(&stream, "9001");
    CHECK(answers(&stream, "9001") && !has_come(&stream, "{"));
    resume(&stream, "7999"); /* 8000 may not be the first after it */
    CHECK(answers(&stream, "7999") && has_gap(&stream, "7999", 8000) && !has_come(&stream, "{"));
    resume(&stream, "9002"); /* it has not been yet */
    CHECK(answers(&stream, "9002") && has_gap(&stream, "9002", 8000));
    add_trade(fixture, BTC, 9003);
    wire_turn(&stream);
    CHECK(has_trade(&stream, 9003, 9001) && !has_come(&stream, "{"));
    for (unsigned i = 0; i < EVENT_LOG_SLOTS - 2; i++)
        add_trade(fixture, ETH, 8003 + i);
    resume(&stream, "8002"); /* the log has 9000 yet, and not what was before it */
    CHECK(answers(&stream, "8002") && has_gap(&stream, "8002", 9000));
    resume(&stream, "9000");
    CHECK(answers(&stream, "9000") && has_trade(&stream, 9003, 9000) && !has_come(&stream, "{"));
    add_trade(fixture, ETH, 80000);
    resume(&stream, "9000"); /* 9003 alone is there, and what was before it is lost */
    CHECK(answers(&stream, "9000") && has_gap(&stream, "9000", 9001));
    wire_free(&stream);
}

/* What the log lacks comes from history: the trades after from_seq, or a gap. */
static void check_older(struct fixture *fixture, struct protocol *protocol)
{
    struct wire stream;
    open_stream(&stream, fixture, protocol);
    fixture->trades_lost = false;
    fixture->trades_more = true;
    fixture->trade_rows = 3;
    resume(&stream, "8996");
    CHECK(answers(&stream, "8996") && has_trade(&stream, 8998, 8996) &&
          has_trade(&stream, 9000, 8998) && !has_come(&stream, "{"));
    CHECK(fixture->last_query.kind == QUERY_trades_after && fixture->last_query.limit == 512 &&
          fixture->last_query.before_sequence == 8996);
    resume(&stream, "8997");
    CHECK(answers(&stream, "8997") && has_trade(&stream, 8998, 8997) &&
          has_trade(&stream, 9000, 8998) && !has_come(&stream, "{"));
    resume(&stream, "8995"); /* history has lost the trade before 8996 */
    CHECK(answers(&stream, "8995") && has_gap(&stream, "8995", 9001) && !has_come(&stream, "{"));
    fixture->trades_more = false;
    resume(&stream, "0");
    CHECK(answers(&stream, "0") && has_trade(&stream, 8996, 0) && has_trade(&stream, 8998, 8996) &&
          has_trade(&stream, 9000, 8998) && !has_come(&stream, "{"));
    fixture->trade_rows = 0; /* nothing has been traded */
    resume(&stream, "1");
    CHECK(answers(&stream, "1") && !has_come(&stream, "{"));
    resume(&stream, "9002"); /* it has not been yet: history is not asked */
    CHECK(answers(&stream, "9002") && has_gap(&stream, "9002", 9001));
    wire_free(&stream);
}

/* The account's seq is 500 for the follower (fixture.c), whatever the log has. */
static void check_private(struct fixture *fixture, struct protocol *protocol)
{
    static const char update[] = "\"engine_seq\":1501,\"time_ns\":0,\"type\":\"update\",\"data\":"
                                 "{\"event\":\"mmp\",\"account_id\":7,\"subaccount_index\":0,";
    const unsigned newest = 502 + PRIVATE_LOG_LANE;
    struct wire whole, pinned;
    char rest[160];
    for (unsigned seq = 480; seq <= 500; seq++)
        add_private(fixture, seq, 0);
    open_private(&whole, fixture, protocol, fixture->api_key);
    ask(&whole, "{\"op\":\"subscribe\",\"channel\":\"private\"}");
    CHECK(has_come(&whole, "{\"op\":\"subscribe\",\"channel\":\"private\",\"epoch\":1}"));
    CHECK(has_private(&whole, 500, 500, "\"engine_seq\":0,"));
    CHECK(has_come(&whole, "\"type\":\"snapshot\",\"data\":{}}"));
    open_private(&pinned, fixture, protocol, fixture->pinned_api_key); /* to subaccount 1 */
    CHECK(resumes_private(&pinned, "500"));
    add_private(fixture, 501, 0);
    add_private(fixture, 502, 1);
    wire_turn(&whole);
    wire_turn(&pinned);
    CHECK(has_private(&whole, 501, 500, update) && has_private(&whole, 502, 501, "") &&
          !has_come(&whole, "\"channel\""));
    CHECK(has_private(&pinned, 502, 500, "") && !has_come(&pinned, "\"channel\""));
    clock_advance(&fixture->clock, 5 * SECOND_NS);
    wire_turn(&whole);
    CHECK(has_private(&whole, 502, 502, "") &&
          has_come(&whole, "\"type\":\"heartbeat\",\"data\":{}}"));
    CHECK(resumes_private(&whole, "498") && has_private(&whole, 499, 498, "") &&
          has_private(&whole, 500, 499, "") && has_private(&whole, 501, 500, ""));
    CHECK(resumes_private(&whole, "479") && has_private(&whole, 480, 479, ""));
    CHECK(resumes_private(&whole, "478")); /* 479 is not there, and not in history */
    wire_turn(&whole);
    CHECK(has_private(&whole, 502, 478, "") &&
          has_come(&whole, "\"type\":\"gap\",\"data\":{\"from_seq\":478,\"oldest_seq\":479}}"));
    CHECK(!has_come(&whole, "{") && fixture->last_query.kind == QUERY_private_events);
    CHECK(resumes_private(&whole, "503")); /* the follower has not got so far */
    CHECK(has_private(&whole, 500, 503, "") &&
          has_come(&whole, "\"gap\",\"data\":{\"from_seq\":503,\"oldest_seq\":479}}"));
    CHECK(has_private(&whole, 501, 500, "") && has_private(&whole, 502, 501, ""));
    for (unsigned seq = 503; seq <= newest; seq++) /* 503 is overwritten before it is sent */
        add_private(fixture, seq, 1);
    add_private(fixture, newest + 1, 1);
    for (unsigned i = 0; i < 3; i++)
        wire_turn(&whole);
    (void)snprintf(rest, sizeof rest, "\"data\":{\"from_seq\":502,\"oldest_seq\":%u}}",
                   newest + 1 - PRIVATE_LOG_LANE);
    CHECK(has_private(&whole, newest + 1, 502, "\"engine_seq\":0,") && has_come(&whole, rest) &&
          !has_come(&whole, "{"));
    add_private(fixture, newest + 2, 0);
    wire_turn(&whole);
    CHECK(has_private(&whole, newest + 2, newest + 1, ""));
    wire_free(&pinned);
    wire_free(&whole);
}

/* J9: a login has the events of its account. The texts that a thread keeps for its streams are by
 * account and seq: here two accounts whose ids are 128 apart have an event of one seq, both ways
 * round, and each stream has its own.
 * After 128 events each text stands in the place of an older. */
static void check_two_accounts(struct fixture *fixture, struct protocol *protocol)
{
    static const unsigned ids[] = { FIXTURE_ACCOUNT, FIXTURE_OTHER };
    struct wire wires[2];
    char rest[160];
    for (unsigned i = 0; i < 2; i++) {
        add_private_of(fixture, ids[i], 500, 0);
        open_private_of(&wires[i], fixture, protocol, ids[i],
                        i == 0 ? fixture->api_key : fixture->other_api_key);
        ask(&wires[i], "{\"op\":\"subscribe\",\"channel\":\"private\"}");
        CHECK(has_private(&wires[i], 500, 500, "\"engine_seq\":0,"));
    }
    for (unsigned seq = 501; seq <= 501 + 2 * 128; seq++) {
        for (unsigned turn = 0; turn < 2; turn++) {
            unsigned i = (seq / 128 + turn) % 2; /* who was second is first 128 later */
            add_private_of(fixture, ids[i], seq, i);
            wire_turn(&wires[i]);
            (void)snprintf(
                rest, sizeof rest,
                "\"engine_seq\":%u,\"time_ns\":0,\"type\":\"update\",\"data\":{\"event\":"
                "\"mmp\",\"account_id\":%u,\"subaccount_index\":%u,",
                seq + 1000, ids[i], i);
            CHECK(has_private(&wires[i], seq, seq - 1, rest));
            CHECK(!has_come(&wires[i], "\"channel\""));
        }
    }
    wire_free(&wires[1]);
    wire_free(&wires[0]);
}

static void add_change(struct fixture *fixture, uint16_t asset_id, uint64_t seq,
                       enum book_log_action action, uint64_t size)
{
    const struct book_log_change change = {
        .seq = seq,
        .sequence = 5,
        .handle = 8000,
        .price = 7,
        .size = size,
        .asset_id = asset_id,
        .side = 1,
        .action = (uint8_t)action,
    };
    book_log_add(&fixture->orders, &change);
}

/* J9: single orders. Changes are wanted from before the snapshot is asked for until the last
 * subscription ends; those that it has are passed over; a stream that the log has overrun ends. */
static void check_orders(struct fixture *fixture, struct protocol *protocol)
{
    enum { BTC = 1, ETH = 2 };
    struct wire stream;
    open_stream(&stream, fixture, protocol);
    CHECK(!book_log_is_wanted(&fixture->orders));
    ask(&stream, "{\"op\":\"subscribe\",\"channel\":\"book_l3\",\"market\":\"BTC-PERP\"}");
    CHECK(book_log_is_wanted(&fixture->orders));
    add_change(fixture, BTC, 9001, BOOK_LOG_REDUCE, 30); /* which the snapshot has */
    add_change(fixture, BTC, 9003, BOOK_LOG_EXECUTE, 20);
    add_change(fixture, ETH, 9004, BOOK_LOG_ADD, 1);
    add_change(fixture, BTC, 9005, BOOK_LOG_DELETE, 20);
    for (unsigned i = 0; i < 3; i++)
        wire_turn(&stream);
    CHECK(has_come(&stream, "\"seq\":9001,\"prev_seq\":9001,") &&
          has_come(&stream,
                   "\"data\":{\"orders\":[{\"handle\":8000,\"side\":\"SHORT\",\"price\":\"7\","
                   "\"size\":\"30\"}]}}"));
    CHECK(memmem(stream.text, stream.count, "reduce", strlen("reduce")) == NULL);
    CHECK(has_come(&stream, "{\"channel\":\"book_l3\",\"market\":\"BTC-PERP\",\"seq\":9003,"
                            "\"prev_seq\":9001,\"engine_seq\":5,\"time_ns\":0,\"type\":\"update\","
                            "\"data\":{\"action\":\"execute\",\"handle\":8000,\"side\":\"SHORT\","
                            "\"price\":\"7\",\"size\":\"20\"}}"));
    CHECK(has_come(&stream, "\"seq\":9005,\"prev_seq\":9003,") &&
          has_come(&stream, "\"delete\",\"handle\":8000,\"side\":\"SHORT\",\"price\":\"7\","
                            "\"size\":\"0\"}}") &&
          !has_come(&stream, "{"));
    ask(&stream, "{\"op\":\"unsubscribe\",\"channel\":\"book_l3\",\"market\":\"BTC-PERP\"}");
    CHECK(has_come(&stream, "unsubscribe") && !book_log_is_wanted(&fixture->orders));
    ask(&stream, "{\"op\":\"subscribe\",\"channel\":\"book_l3\",\"market\":\"BTC-PERP\"}");
    for (unsigned i = 0; i < 3; i++)
        wire_turn(&stream);
    CHECK(has_come(&stream, "snapshot"));
    for (unsigned i = 0; i <= BOOK_LOG_SLOTS; i++)
        add_change(fixture, ETH, 10000 + i, BOOK_LOG_ADD, 1);
    wire_turn(&stream);
    CHECK(has_come(&stream, "slow_consumer"));
    wire_free(&stream);
    CHECK(!book_log_is_wanted(&fixture->orders));
}

/* A trade of BTC-PERP with that seq, price and time. */
static void add_candle_trade(struct fixture *fixture, uint64_t seq, uint64_t price,
                             uint64_t time_ns)
{
    const struct event_log_event event = {
        .seq = seq,
        .sequence = 7,
        .time_ns = time_ns,
        .asset_id = 1,
        .kind = EVENT_LOG_TRADE,
        .trade = { .price = price, .size = 2, .sequence = 7, .time_ns = time_ns },
    };
    event_log_add(&fixture->events, &event);
}

/* The next frame is the candle with these members and seqs. */
static bool has_candle(struct wire *wire, const char *interval, unsigned seq, unsigned prev_seq,
                       const char *rest)
{
    char text[256];
    (void)snprintf(text, sizeof text,
                   "{\"channel\":\"candles\",\"market\":\"BTC-PERP\",\"interval\":\"%s\","
                   "\"seq\":%u,\"prev_seq\":%u,",
                   interval, seq, prev_seq);
    if (!has_come(wire, text))
        return false;
    (void)snprintf(text, sizeof text, "\"type\":\"%s\",\"data\":{\"interval\":\"%s\",%s}}",
                   seq == prev_seq ? "snapshot" : "update", interval, rest);
    return has_come(wire, text);
}

/* J9: candles. A trade makes one update of each interval, and another minute a new candle; one that
 * the snapshot has makes none; one that found no room comes later, once. */
static void check_candles(struct fixture *fixture, struct protocol *protocol)
{
    static const char *const op = "{\"op\":\"%s\",\"channel\":\"candles\","
                                  "\"market\":\"BTC-PERP\",\"interval\":\"%s\"}";
    static const char *const first = "\"start_time\":60000,\"open\":\"5\",\"high\":\"9\","
                                     "\"low\":\"4\",\"close\":\"6\",\"volume\":\"3\","
                                     "\"notional\":\"2\",\"trade_count\":2";
    const uint64_t minute_ns = 60 * SECOND_NS;
    struct wire stream, hog;
    char text[128];
    open_stream(&stream, fixture, protocol);
    (void)snprintf(text, sizeof text, op, "subscribe", "1m");
    ask(&stream, text);
    CHECK(fixture->last_query.kind == QUERY_candles && fixture->last_query.limit == 1 &&
          fixture->last_query.interval == ROW_INTERVAL_1M);
    add_candle_trade(fixture, 9001, 77, minute_ns); /* which the snapshot has */
    add_candle_trade(fixture, 9004, 3, 2 * minute_ns - 1);
    for (unsigned i = 0; i < 3; i++)
        wire_turn(&stream);
    CHECK(has_candle(&stream, "1m", 9001, 9001, first));
    CHECK(has_candle(&stream, "1m", 9004, 9001,
                     "\"start_time\":60000,\"open\":\"5\",\"high\":\"9\",\"low\":\"3\","
                     "\"close\":\"3\",\"volume\":\"5\",\"notional\":\"2.000006\","
                     "\"trade_count\":3"));
    (void)snprintf(text, sizeof text, op, "subscribe", "5m");
    ask(&stream, text);
    for (unsigned i = 0; i < 3; i++)
        wire_turn(&stream);
    CHECK(has_come(&stream, "\"interval\":\"5m\",\"epoch\":1}") && has_come(&stream, "snapshot"));
    fill(&hog, fixture, protocol);
    add_candle_trade(fixture, 9009, 8, 2 * minute_ns);
    wire_turn(&stream);
    CHECK(stream.conn != NULL && !has_come(&stream, "9009"));
    wire_turn(&hog);
    CHECK(hog.conn == NULL);
    for (unsigned i = 0; i < 3; i++)
        wire_turn(&stream);
    CHECK(has_candle(&stream, "1m", 9009, 9004,
                     "\"start_time\":120000,\"open\":\"8\",\"high\":\"8\",\"low\":\"8\","
                     "\"close\":\"8\",\"volume\":\"2\",\"notional\":\"0.000016\","
                     "\"trade_count\":1"));
    CHECK(has_candle(&stream, "5m", 9009, 9001,
                     "\"start_time\":0,\"open\":\"8\",\"high\":\"8\",\"low\":\"8\","
                     "\"close\":\"8\",\"volume\":\"2\",\"notional\":\"0.000016\","
                     "\"trade_count\":1") &&
          !has_come(&stream, "{"));
    (void)snprintf(text, sizeof text, op, "unsubscribe", "5m");
    ask(&stream, text);
    CHECK(has_come(&stream, "\"interval\":\"5m\"}"));
    add_candle_trade(fixture, 9010, 8, 2 * minute_ns);
    wire_turn(&stream);
    CHECK(has_candle(&stream, "1m", 9010, 9009,
                     "\"start_time\":120000,\"open\":\"8\",\"high\":\"8\",\"low\":\"8\","
                     "\"close\":\"8\",\"volume\":\"4\",\"notional\":\"0.000032\","
                     "\"trade_count\":2") &&
          !has_come(&stream, "{"));
    wire_free(&hog);
    wire_free(&stream);
}

/* W8: each subscribe, resume and unsubscribe costs a read, of the address and behind a login of its
 * key. Of the address five: the handshake takes one. An unsubscribe is done without a token. */
static void check_rates(struct fixture *fixture, struct protocol *protocol)
{
    static const char trades[] = "\"channel\":\"trades\",\"market\":\"BTC-PERP\"}";
    static const char refused[] = "{\"op\":\"subscribe\",\"problem\":{";
    const struct client_rate_limit limits[CLIENT_RATE_KINDS] = {
        [CLIENT_RATE_PUBLIC] = { 1, 5 },
        [CLIENT_RATE_SIGNATURE] = { 1, 1 },
        [CLIENT_RATE_CREATION] = { 1, 1 },
        [CLIENT_RATE_READ] = { 1, 2 },
    };
    struct wire stream;
    struct client_rate *rates;
    char text[160];
    CHECK(client_rate_create(&rates, limits, fixture->config.hash_key) == 0);
    protocol->config.client_rates = rates;
    open_stream(&stream, fixture, protocol);
    for (unsigned i = 0; i < 2; i++) {
        ask(&stream, "{\"op\":\"subscribe\",\"channel\":\"status\"}");
        CHECK(has_come(&stream, "{\"op\":\"subscribe\",\"channel\":\"status\""));
    }
    resume(&stream, "9000");
    CHECK(has_come(&stream, "{\"op\":\"resume\""));
    (void)snprintf(text, sizeof text, "{\"op\":\"unsubscribe\",%s", trades);
    ask(&stream, text);
    CHECK(has_come(&stream, "{\"op\":\"unsubscribe\""));
    for (unsigned i = 0; i < 2; i++) {
        (void)snprintf(text, sizeof text, "{\"op\":\"%s\",%s", i == 0 ? "subscribe" : "unsubscribe",
                       trades);
        ask(&stream, text);
        CHECK(has_come(&stream, i == 0 ? refused : "{\"op\":\"unsubscribe\",\"channel\""));
    }
    (void)snprintf(text, sizeof text, "{\"op\":\"login\",\"api_key\":\"%s\"}", fixture->api_key);
    ask(&stream, text);
    CHECK(has_come(&stream, "{\"op\":\"login\",\"account_id\""));
    for (unsigned i = 0; i < 3; i++) {
        ask(&stream, "{\"op\":\"subscribe\",\"channel\":\"status\"}");
        CHECK(has_come(&stream, i < 2 ? "{\"op\":\"subscribe\",\"channel\"" : refused));
    }
    CHECK(has_come(&stream, "\"code\":\"rate_limited\"") &&
          has_come(&stream, "\"retry_after_ms\":1000"));
    clock_advance(&fixture->clock, SECOND_NS);
    ask(&stream, "{\"op\":\"subscribe\",\"channel\":\"status\"}");
    CHECK(has_come(&stream, "{\"op\":\"subscribe\",\"channel\":\"status\""));
    wire_free(&stream);
    protocol->config.client_rates = NULL;
    client_rate_destroy(rates);
}

static void send_frame(struct wire *wire, uint8_t first, const char *text)
{
    uint8_t frame[128] = { first, (uint8_t)(0x80 | strlen(text)) };
    memcpy(frame + 6, text, strlen(text));
    wire_send(wire, frame, 6 + strlen(text), 0);
}

/* W8: what is never refused, op ping, ping, pong, a piece of a message, a login, and of a key
 * without a token the ops that cost it one, costs the address a public read: of five the handshake
 * takes one, a login the next; ten without a token, and the stream waits for one before it is read
 * on. */
static void check_free(struct fixture *fixture, struct protocol *protocol)
{
    static const char unsubscribe[] = "{\"op\":\"unsubscribe\",\"channel\":\"status\"}";
    static const char subscribe[] = "{\"op\":\"subscribe\",\"channel\":\"status\"}";
    char login[122];
    (void)snprintf(login, sizeof login, "{\"op\":\"login\",\"api_key\":\"%s\"}", fixture->api_key);
    const struct {
        uint8_t begins, first, ends;
        const char *text, *answer; /* what each gets; NULL: no text */
        unsigned paid;             /* of the same op, by others than the address */
    } kinds[] = { { 0, 0x81, 0x81, "{\"op\":\"ping\"}", "{\"op\":\"ping\",\"time_ns\"", 0 },
                  { 0, 0x89, 0x81, "", NULL, 0 },
                  { 0, 0x8A, 0x81, "", NULL, 0 },
                  { 0x01, 0x00, 0x80, "", NULL, 0 },
                  { 0, 0x81, 0x81, login, "{\"op\":\"login\",\"account_id\"", 0 },
                  { 0, 0x81, 0x81, unsubscribe, "{\"op\":\"unsubscribe\",\"channel\"", 2 },
                  { 0, 0x81, 0x81, subscribe, "{\"op\":\"subscribe\",\"", 2 } };
    const struct client_rate_limit limits[CLIENT_RATE_KINDS] = {
        [CLIENT_RATE_PUBLIC] = { 1, 5 },
        [CLIENT_RATE_SIGNATURE] = { 1, 1 },
        [CLIENT_RATE_CREATION] = { 1, 1 },
        [CLIENT_RATE_READ] = { 1, 2 },
    };
    for (unsigned kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
        struct wire stream;
        struct client_rate *rates;
        bool is_logged_in = kinds[kind].paid != 0;
        unsigned count = 4 + CHARGE_PATIENCE + kinds[kind].paid - is_logged_in;
        CHECK(client_rate_create(&rates, limits, fixture->config.hash_key) == 0);
        protocol->config.client_rates = rates;
        open_stream(&stream, fixture, protocol);
        if (is_logged_in) {
            send_frame(&stream, 0x81, login);
            CHECK(has_come(&stream, "{\"op\":\"login\",\"account_id\""));
        }
        if (kinds[kind].begins != 0)
            send_frame(&stream, kinds[kind].begins, "");
        for (unsigned i = 0; i < count; i++)
            send_frame(&stream, kinds[kind].first, kinds[kind].text);
        for (unsigned i = 0; kinds[kind].answer != NULL && i < count; i++)
            CHECK(has_come(&stream, kinds[kind].answer));
        send_frame(&stream, kinds[kind].ends, "{\"op\":\"ping\"}");
        wire_turn(&stream);
        CHECK(!has_come(&stream, "{\"op\":\"ping\""));
        clock_advance(&fixture->clock, 2 * SECOND_NS);
        wire_turn(&stream);
        CHECK(has_come(&stream, "{\"op\":\"ping\",\"time_ns\""));
        wire_free(&stream);
        protocol->config.client_rates = NULL;
        client_rate_destroy(rates);
    }
}

int main(void)
{
    static struct fixture fixture;
    fixture_init(&fixture, true, FIXTURE_SLOTS);
    fixture.config.output_pool_bytes = POOL_BYTES;
    struct protocol *protocol = fixture_protocol(&fixture, CONNECTIONS);
    check_late_frames(&fixture, protocol);
    check_late_answers(&fixture, protocol);
    check_connections(&fixture, protocol);
    check_resumes(&fixture, protocol);
    check_older(&fixture, protocol);
    check_orders(&fixture, protocol);
    check_candles(&fixture, protocol);
    check_private(&fixture, protocol);
    check_rates(&fixture, protocol);
    check_free(&fixture, protocol);
    fixture_end(&fixture, protocol);
    fixture_init(&fixture, true, FIXTURE_SLOTS); /* a private log without events */
    protocol = fixture_protocol(&fixture, CONNECTIONS);
    check_two_accounts(&fixture, protocol);
    fixture_end(&fixture, protocol);
    return 0;
}
