/* `private` and `trades` go on with what memory has lost: pages of history (wire.md W9). */
#include "net/stream_wire.h"

enum { POOL_BYTES = 1 << 20, CONNECTIONS = 8 };

#define SECOND_NS UINT64_C(1000000000)

/* The updates of private events from `first` to `last`, each once and in their order. */
static void check_updates(struct wire *wire, unsigned first, unsigned last)
{
    for (unsigned seq = first; seq <= last; seq++) {
        CHECK(has_private(wire, seq, seq - 1, "") &&
              has_come(wire, "\"type\":\"update\",\"data\":{\"event\":\"mmp\","));
        const char *end = memmem(wire->text + wire->read, wire->count - wire->read, "}}", 2);
        CHECK(end != NULL);
        wire->read = (size_t)(end - wire->text) + 2;
    }
    CHECK(!has_come(wire, "{"));
}

/* Gives the thread the turns that pages take. */
static void turn_over(struct wire *wire)
{
    for (unsigned i = 0; i < 12; i++)
        wire_turn(wire);
}

static void resume_private(struct wire *wire, const char *from_seq)
{
    CHECK(resumes_private(wire, from_seq));
    turn_over(wire);
}

/* W9: what memory has lost comes from history, page by page, then from memory; a page waits while
 * the client has much unread; what history waits for is asked again; nothing comes after the end of
 * the subscription. The account's seq is 500 for the follower. */
static void check_private_pages(struct fixture *fixture, struct protocol *protocol)
{
    struct net_config *config = &protocol->config;
    uint32_t backlog = config->stream_backlog, asked;
    struct wire stream;
    open_private(&stream, fixture, protocol, fixture->api_key);
    fixture->private_from = 101;
    fixture->private_to = 500;
    resume_private(&stream, "100"); /* the log is empty: a start from a snapshot */
    check_updates(&stream, 101, 500);
    CHECK(fixture->last_query.limit == 128 && fixture->last_query.account_id == FIXTURE_ACCOUNT);
    for (unsigned seq = 480; seq <= 500; seq++)
        add_private(fixture, seq, 0);
    asked = fixture->query_count;
    resume_private(&stream, "479"); /* history is not asked; the follower for the account's seq */
    check_updates(&stream, 480, 500);
    CHECK(fixture->query_count == asked + 1);
    resume_private(&stream, "478");
    check_updates(&stream, 479, 500);
    resume_private(&stream, "99"); /* history has dropped 100 */
    CHECK(has_private(&stream, 500, 99, "") &&
          has_come(&stream, "\"gap\",\"data\":{\"from_seq\":99,\"oldest_seq\":479}}"));
    add_private(fixture, 501, 0);
    wire_turn(&stream);
    check_updates(&stream, 501, 501);
    /* Not there yet: asked again after 250 ms, with the sequence by which it has happened. */
    fixture->private_to = 0;
    fixture->privates_coming = true;
    asked = fixture->query_count;
    resume_private(&stream, "300"); /* of which no text is kept either */
    CHECK(!has_come(&stream, "{") && fixture->last_query.offset == UINT64_MAX);
    CHECK(fixture->query_count == asked + 2);
    clock_advance(&fixture->clock, SECOND_NS / 4);
    turn_over(&stream);
    CHECK(!has_come(&stream, "{") && fixture->last_query.offset == fixture->applied);
    CHECK(fixture->query_count == asked + 3);
    fixture->private_to = 305;
    clock_advance(&fixture->clock, SECOND_NS / 4);
    turn_over(&stream);
    check_updates(&stream, 301, 305);
    fixture->private_to = 479;
    clock_advance(&fixture->clock, SECOND_NS / 4);
    turn_over(&stream);
    check_updates(&stream, 306, 501);
    /* The client does not read: no page is asked for beyond a quarter of the backlog. */
    fixture->private_to = 500;
    config->stream_backlog = 65536;
    stream.stuck = true;
    ask(&stream, "{\"op\":\"resume\",\"channel\":\"private\",\"from_seq\":100}");
    for (unsigned i = 0; i < 400; i++)
        wire_turn(&stream);
    CHECK(stream.conn != NULL && !stream.conn->last && stream.conn->output.bytes < 65536 / 2);
    stream.stuck = false;
    for (unsigned i = 0; i < 400; i++)
        wire_turn(&stream);
    CHECK(has_come(&stream, "\"from_seq\":100,\"epoch\":1}"));
    check_updates(&stream, 101, 501);
    config->stream_backlog = backlog;
    /* An answer of history is of no use to a later subscription. */
    fixture->private_from = 400;
    ask(&stream, "{\"op\":\"resume\",\"channel\":\"private\",\"from_seq\":100}");
    ask(&stream, "{\"op\":\"unsubscribe\",\"channel\":\"private\"}");
    resume_private(&stream, "500");
    check_updates(&stream, 501, 501);
    fixture->private_from = 0;
    fixture->private_to = 0;
    fixture->privates_coming = false;
    wire_free(&stream);
}

/* The trades of history from `first` to 9000, two seqs apart, each once and in their order. */
static void check_trades(struct wire *wire, unsigned before, unsigned first)
{
    char text[96];
    for (unsigned seq = first; seq <= 9000; before = seq, seq += 2) {
        (void)snprintf(text, sizeof text, "\"BTC-PERP\",\"seq\":%u,\"prev_seq\":%u,", seq, before);
        CHECK(has_come(wire, text) && has_come(wire, "\"type\":\"update\",\"data\":{") &&
              has_come(wire, "}}"));
    }
}

/* The next trade of the market, and nothing else, follows the frame with that seq. */
static void check_next(struct wire *wire, struct fixture *fixture, unsigned seq, unsigned before)
{
    char text[96];
    const struct event_log_event event = {
        .seq = seq,
        .sequence = seq,
        .asset_id = 1,
        .kind = EVENT_LOG_TRADE,
        .trade = { .price = 1, .size = 1, .trade_seq = seq, .sequence = seq },
    };
    CHECK(!has_come(wire, "{"));
    event_log_add(&fixture->events, &event);
    wire_turn(wire);
    (void)snprintf(text, sizeof text, "\"BTC-PERP\",\"seq\":%u,\"prev_seq\":%u,", seq, before);
    CHECK(has_come(wire, text) && !has_come(wire, "\"channel\""));
    wire->read = wire->count = 0; /* room for more */
}

#define RESUME(from) \
    "{\"op\":\"resume\",\"channel\":\"trades\",\"market\":\"BTC-PERP\",\"from_seq\":" #from "}"

/* W9: trades that memory has lost come from history, page by page, then from memory; a page waits
 * while the client has much unread, and is asked for again when it cannot be read; what history
 * loses in between is a gap from the last trade. The market's seq is 9001 for the follower. */
static void check_trade_pages(struct fixture *fixture, struct protocol *protocol)
{
    struct net_config *config = &protocol->config;
    uint32_t backlog = config->stream_backlog, asked;
    struct wire stream;
    open_stream(&stream, fixture, protocol);
    fixture->trade_rows = 1300; /* 6402 to 9000 */
    fixture->trades_more = true;
    asked = fixture->query_count;
    ask(&stream, RESUME(6402));
    ask(&stream, "{\"op\":\"ping\"}"); /* waits until they are sent */
    turn_over(&stream);
    CHECK(has_come(&stream, "\"from_seq\":6402,\"epoch\":1}"));
    check_trades(&stream, 6402, 6404);
    CHECK(has_come(&stream, "{\"op\":\"ping\"") && !has_come(&stream, "{"));
    CHECK(fixture->query_count == asked + 4); /* the mark, 512 + 512 + 275 trades */
    check_next(&stream, fixture, 9003, 9000);
    /* The second page cannot be read at first: it is asked for again after 250 ms. */
    fixture->trades_stop = 7426;
    fixture->trades_cause = REPLY_POOL_EMPTY;
    ask(&stream, RESUME(6402));
    turn_over(&stream);
    CHECK(has_come(&stream, "\"seq\":7426,\"prev_seq\":7424,"));
    CHECK(!has_come(&stream, "\"channel\""));
    asked = fixture->query_count;
    turn_over(&stream);
    CHECK(fixture->query_count == asked);
    fixture->trades_stop = 0;
    clock_advance(&fixture->clock, SECOND_NS / 4);
    turn_over(&stream);
    check_trades(&stream, 7426, 7428);
    check_next(&stream, fixture, 9005, 9000);
    /* History has lost what follows the first page: the search begins again, and finds a gap. */
    fixture->trades_stop = 7426;
    fixture->trades_cause = REPLY_NOT_KEPT;
    ask(&stream, RESUME(6402));
    turn_over(&stream);
    fixture->trades_stop = 0;
    CHECK(has_come(&stream, "\"seq\":7426,\"prev_seq\":7424,"));
    CHECK(has_come(&stream, "\"seq\":9001,\"prev_seq\":7426,") &&
          has_come(&stream, "\"gap\",\"data\":{\"from_seq\":7426,\"oldest_seq\":9001}}"));
    check_next(&stream, fixture, 9007, 9001);
    /* The client does not read: no page is asked for beyond a quarter of the backlog. */
    fixture->trade_rows = 1300;
    config->stream_backlog = 65536;
    stream.stuck = true;
    ask(&stream, RESUME(6402));
    for (unsigned i = 0; i < 200; i++)
        wire_turn(&stream);
    CHECK(stream.conn != NULL && !stream.conn->last && stream.conn->output.bytes < 65536 / 2);
    stream.stuck = false;
    for (unsigned i = 0; i < 400; i++)
        wire_turn(&stream);
    CHECK(has_come(&stream, "\"from_seq\":6402,\"epoch\":1}"));
    check_trades(&stream, 6402, 6404);
    check_next(&stream, fixture, 9009, 9000);
    config->stream_backlog = backlog;
    /* A stream that ends in between leaves nothing. */
    ask(&stream, RESUME(6402));
    wire_free(&stream);
    fixture->trade_rows = 0;
    fixture->trades_more = false;
}

/* The tokens that the key of the stream's login has left. */
static uint32_t left_of(const struct wire *wire, const struct client_rate *rates, uint64_t now_ns)
{
    uint64_t client = client_rate_of_key(wire->conn->stream->login.key.bytes);
    return client_rate_state(rates, CLIENT_RATE_READ, client, now_ns).remaining;
}

/* W9: what happened before a resume costs the key a read for each full 100 events, also those that
 * memory has; and such trades wait while the client has much unread. */
static void check_past(struct fixture *fixture, struct protocol *protocol)
{
    struct net_config *config = &protocol->config;
    const struct client_rate_limit limits[CLIENT_RATE_KINDS] = {
        [CLIENT_RATE_PUBLIC] = { 1, 5 },
        [CLIENT_RATE_SIGNATURE] = { 1, 1 },
        [CLIENT_RATE_CREATION] = { 1, 1 },
        [CLIENT_RATE_READ] = { 1, 20 },
    };
    uint32_t backlog = config->stream_backlog;
    struct client_rate *rates;
    struct wire stream;
    char text[96];
    open_private(&stream, fixture, protocol, fixture->api_key);
    CHECK(client_rate_create(&rates, limits, config->hash_key) == 0);
    config->client_rates = rates;
    fixture->private_from = 101;
    fixture->private_to = 500;
    resume_private(&stream, "100");
    check_updates(&stream, 101, 501); /* 501 has happened since */
    CHECK(left_of(&stream, rates, protocol->context.now_ns) == 20 - 1 - 4);
    for (unsigned seq = 2000; seq < 3000; seq++) {
        const struct event_log_event event = {
            .seq = seq,
            .sequence = seq,
            .asset_id = 1,
            .kind = EVENT_LOG_TRADE,
            .trade = { .price = 1, .size = 1, .trade_seq = seq, .sequence = seq },
        };
        event_log_add(&fixture->events, &event);
    }
    config->stream_backlog = 65536;
    stream.stuck = true;
    ask(&stream, RESUME(2000));
    for (unsigned i = 0; i < 200; i++)
        wire_turn(&stream);
    CHECK(stream.conn != NULL && !stream.conn->last && stream.conn->output.bytes < 65536 / 2);
    stream.stuck = false;
    for (unsigned i = 0; i < 400; i++)
        wire_turn(&stream);
    CHECK(has_come(&stream, "\"from_seq\":2000,\"epoch\":1}"));
    for (unsigned seq = 2001; seq < 3000; seq++) {
        (void)snprintf(text, sizeof text, "\"BTC-PERP\",\"seq\":%u,\"prev_seq\":%u,", seq, seq - 1);
        CHECK(has_come(&stream, text) && has_come(&stream, "\"type\":\"update\""));
    }
    CHECK(left_of(&stream, rates, protocol->context.now_ns) == 15 - 1 - 9);
    config->stream_backlog = backlog;
    wire_free(&stream);
    config->client_rates = NULL;
    client_rate_destroy(rates);
}

int main(void)
{
    static struct fixture fixture;
    fixture_init(&fixture, true, FIXTURE_SLOTS); /* a private log without events */
    fixture.config.output_pool_bytes = POOL_BYTES;
    struct protocol *protocol = fixture_protocol(&fixture, CONNECTIONS);
    check_private_pages(&fixture, protocol);
    check_trade_pages(&fixture, protocol);
    check_past(&fixture, protocol);
    fixture_end(&fixture, protocol);
    return 0;
}
