#include "sim_watch.h"

#include <stdlib.h>

#include "base/address_claims.h"
#include "base/base64.h"
#include "engine/view/read.h"
#include "net/stream/stream_message.h"
#include "sim_world.h"

enum {
    CONNECTIONS = 8,
    LEVELS = 1000,      /* of a side: the depth of the subscription */
    READ_ODDS = 3,      /* once in so many turns it reads, and the others it lags */
    HANG_UP_ODDS = 400, /* turns */
    OPEN_ODDS = 20,
    REST_TURNS = 64,
    BACKLOG = 1 << 23,
    RECEIVED_BYTES = 1 << 20,
    HEAD_16 = 126,
    HEAD_64 = 127,
    TEXT = 0x81,
    BINARY = 0x82,
    PORTFOLIOS = 64,  /* of an account, whose balances it follows */
    SECRET_TEXT = 45, /* bytes of Base64 of 32, and a zero */
};

static const char handshake[] =
    "GET /api/v1/stream HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
    "Sec-WebSocket-Protocol: perps.bin.v1\r\n\r\n";

/* Levels of a side, in no order. */
struct side {
    uint32_t count;
    struct row_level levels[LEVELS];
};

/* What it knows of an account's private events. */
struct account {
    uint64_t seq; /* of the frame before; 0: it has never subscribed */
    uint32_t portfolio_count;
    struct {
        uint32_t subaccount, portfolio;
        int64_t balance;
    } portfolios[PORTFOLIOS];
};

struct sim_watch {
    struct sim_link link;
    struct protocol *protocol;
    struct address_claims streams_of;
    struct conn *conn; /* NULL: hung up */
    uint64_t random;
    bool is_agreed; /* the handshake is answered */
    bool is_early;  /* it was refused, and comes back later */
    bool has_book, has_trades;
    uint64_t book_seq, trades_seq; /* of the frames before */
    uint64_t trade_seq;            /* of the newest trade that it has; 0: none */
    struct side sides[2];
    uint8_t member; /* whose private events it asks for on this connection */
    bool is_member; /* and gets */
    struct account accounts[TRAFFIC_ACCOUNTS];
    char *received;
    size_t received_count;
};

static uint64_t below(struct sim_watch *watch, uint64_t bound)
{
    watch->random = watch->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (watch->random >> 33) % bound;
}

struct sim_watch *sim_watch_make(uint64_t seed)
{
    struct sim_watch *watch = calloc(1, sizeof *watch);
    INVARIANT(watch != NULL);
    watch->random = seed;
    watch->received = malloc(RECEIVED_BYTES);
    watch->protocol = aligned_alloc(128, (sizeof *watch->protocol + 127) & ~(size_t)127);
    INVARIANT(watch->received != NULL && watch->protocol != NULL);
    memset(watch->protocol, 0, sizeof *watch->protocol);
    sim_link_make(&watch->link);
    int failed = address_claims_init(&watch->streams_of, CONNECTIONS, (struct mix_key){ 3, 5 });
    INVARIANT(failed == 0);
    return watch;
}

void sim_watch_free(struct sim_watch *watch)
{
    sim_link_free(&watch->link);
    address_claims_free(&watch->streams_of);
    free(watch->received);
    free(watch->protocol);
    free(watch);
}

struct sim_link *sim_watch_link(struct sim_watch *watch)
{
    return &watch->link;
}

void sim_watch_open(struct sim *sim, struct sim_watch *watch)
{
    struct net_config config = sim_port_config(sim, &watch->link);
    config.symbols = &sim->core.primary_sink.symbols;
    config.events = &sim->core.events;
    config.orders = &sim->core.orders;
    config.private_log = &sim->core.private_log;
    config.books = &sim->core.books;
    config.streams_of = &watch->streams_of;
    config.stream_connections = 1;
    config.stream_subscriptions = 4;
    config.stream_backlog = BACKLOG;
    config.output_pool_bytes = 2 * BACKLOG;
    memset(watch->protocol, 0, sizeof *watch->protocol);
    int failed = protocol_init(watch->protocol, &config, CONNECTIONS);
    INVARIANT(failed == 0);
}

static void forget(struct sim_watch *watch)
{
    watch->conn = NULL;
    watch->is_agreed = watch->is_early = watch->has_book = watch->has_trades = false;
    watch->is_member = false;
    watch->received_count = 0;
}

void sim_watch_close(struct sim_watch *watch)
{
    if (watch->protocol->jobs != NULL)
        protocol_free(watch->protocol);
    memset(watch->protocol, 0, sizeof *watch->protocol);
    forget(watch);
}

static void hang_up(struct sim_watch *watch)
{
    protocol_close(watch->protocol, watch->conn);
    forget(watch);
}

/* ---- what it asks ---------------------------------------------------------------------------- */

static void send_op(struct sim_watch *watch, const char *text)
{
    char frame[256] = { (char)TEXT };
    size_t count = strlen(text);
    INVARIANT(count <= 125);
    frame[1] = (char)(0x80 | count);
    memcpy(frame + 6, text, count);
    protocol_receive(watch->protocol, watch->conn, frame, 6 + count);
}

static void subscribe(struct sim_watch *watch)
{
    char text[160];
    send_op(watch,
            "{\"op\":\"subscribe\",\"channel\":\"book\",\"market\":\"BTC-PERP\",\"depth\":1000}");
    if (watch->trades_seq == 0)
        send_op(watch, "{\"op\":\"subscribe\",\"channel\":\"trades\",\"market\":\"BTC-PERP\"}");
    else {
        (void)snprintf(text, sizeof text,
                       "{\"op\":\"resume\",\"channel\":\"trades\",\"market\":\"BTC-PERP\","
                       "\"from_seq\":%lu}",
                       watch->trades_seq);
        send_op(watch, text);
    }
}

/* A live key of any account whose secret is known, as far as clients can know; NULL: there is none.
 * Net threads make others for keys that were asked for by HTTP. */
static const struct traffic_credential *some_key(struct sim *sim, struct sim_watch *watch)
{
    const struct traffic *traffic = &sim->traffic;
    uint32_t count = traffic->credential_count;
    uint32_t first = count == 0 ? 0 : (uint32_t)below(watch, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct traffic_credential *key = &traffic->credentials[(first + i) % count];
        if (key->is_key && key->made != 0 && key->revoked == 0 && key->is_known)
            return key;
    }
    return NULL;
}

static void log_in(struct sim *sim, struct sim_watch *watch)
{
    char text[160], secret[SECRET_TEXT] = { 0 };
    const struct traffic_credential *key = some_key(sim, watch);
    if (key == NULL)
        return;
    watch->member = key->account;
    (void)base64_encode(secret, key->secret, sizeof key->secret);
    (void)snprintf(text, sizeof text, "{\"op\":\"login\",\"api_key\":\"%s\"}", secret);
    send_op(watch, text);
}

/* The login is taken: private events of the account, after those that it has. */
static void follow_account(struct sim_watch *watch)
{
    const struct account *account = &watch->accounts[watch->member];
    char text[160];
    watch->is_member = true;
    if (account->seq == 0) {
        send_op(watch, "{\"op\":\"subscribe\",\"channel\":\"private\"}");
        return;
    }
    (void)snprintf(text, sizeof text,
                   "{\"op\":\"resume\",\"channel\":\"private\",\"from_seq\":%lu}", account->seq);
    send_op(watch, text);
}

static void connect(struct sim_watch *watch)
{
    char text[sizeof handshake]; /* which is changed as it is read */
    memcpy(text, handshake, sizeof text);
    watch->conn = protocol_open(watch->protocol, false);
    INVARIANT(watch->conn != NULL);
    protocol_receive(watch->protocol, watch->conn, text, sizeof text - 1);
}

/* ---- what comes ------------------------------------------------------------------------------ */

static void set_level(struct sim *sim, struct side *side, uint64_t price, uint64_t size)
{
    uint32_t at = 0;
    while (at < side->count && side->levels[at].price != price)
        at++;
    if (at == side->count) {
        if (size == 0 || at == LEVELS) {
            sim_fail(sim, "a subscriber is told of a level at %lu, which it does not have", price);
            return;
        }
        side->count++;
    }
    side->levels[at] = (struct row_level){ price, size };
    if (size == 0)
        side->levels[at] = side->levels[--side->count];
}

/* Deletions first: a level that comes may take the place of one that leaves the depth. */
static void take_book(struct sim *sim, struct sim_watch *watch, const uint8_t *data, size_t count)
{
    struct stream_message_level level;
    for (unsigned deletes = 2; deletes-- > 0;)
        for (size_t at = 0; at + sizeof level <= count && !sim->outcome->failed;
             at += sizeof level) {
            memcpy(&level, data + at, sizeof level);
            if ((level.size == 0) == deletes)
                set_level(sim, &watch->sides[level.side], level.price, level.size);
        }
}

static void take_trade(struct sim *sim, struct sim_watch *watch, const uint8_t *data)
{
    struct stream_message_trade trade;
    memcpy(&trade, data, sizeof trade);
    if (watch->trade_seq != 0 && trade.trade_seq != watch->trade_seq + 1)
        sim_fail(sim, "a subscriber gets trade %lu behind %lu", trade.trade_seq, watch->trade_seq);
    watch->trade_seq = trade.trade_seq;
    sim->outcome->checked_trades++;
}

/* What must hold of the seqs; the frame is of the subscription whose last seq this is. */
static void follow(struct sim *sim, const struct stream_message_frame *frame, bool *has,
                   uint64_t *seq)
{
    bool begins = frame->type == STREAM_MESSAGE_SNAPSHOT;
    uint64_t want = begins ? frame->head.seq : *seq;
    if ((!*has && !begins && *seq == 0) || frame->prev_seq != want || frame->head.seq < want)
        sim_fail(sim, "a subscriber gets %lu with prev_seq %lu behind %lu", frame->head.seq,
                 frame->prev_seq, *seq);
    *has = true;
    *seq = frame->head.seq;
}

/* A balance is the one before it and what has come between. */
static void take_balance(struct sim *sim, struct account *account, const uint8_t *data)
{
    struct stream_message_balance balance;
    uint32_t at = 0;
    memcpy(&balance, data, sizeof balance);
    while (at < account->portfolio_count &&
           (account->portfolios[at].subaccount != balance.subaccount_index ||
            account->portfolios[at].portfolio != balance.portfolio_index))
        at++;
    if (at == PORTFOLIOS)
        return;
    if (at == account->portfolio_count) {
        account->portfolio_count++;
        account->portfolios[at].subaccount = balance.subaccount_index;
        account->portfolios[at].portfolio = balance.portfolio_index;
    } else if (account->portfolios[at].balance + balance.amount != balance.balance_after) {
        sim_fail(sim, "a subscriber has %ld and gets %ld, and is told of %ld",
                 account->portfolios[at].balance, balance.amount, balance.balance_after);
    }
    account->portfolios[at].balance = balance.balance_after;
    sim->outcome->checked_balances++;
}

/* Each event of the account once, in its order; what it has missed is in the history, if there is
 * one. */
static void take_private(struct sim *sim, struct sim_watch *watch,
                         const struct stream_message_frame *frame, const uint8_t *data)
{
    struct account *account = &watch->accounts[watch->member];
    uint64_t seq = account->seq;
    bool has = true;
    follow(sim, frame, &has, &account->seq);
    if (frame->type == STREAM_MESSAGE_SNAPSHOT || frame->type == STREAM_MESSAGE_IS_GAP)
        account->portfolio_count = 0;
    if (frame->type == STREAM_MESSAGE_IS_GAP && sim->history_folder[0] != '\0' && !sim->has_gap)
        sim_fail(sim, "a subscriber misses private events %lu to %lu, which the history has",
                 seq + 1, frame->head.seq);
    if (frame->type != STREAM_MESSAGE_UPDATE)
        return;
    if (frame->head.seq != seq + 1)
        sim_fail(sim, "a subscriber gets private event %lu behind %lu", frame->head.seq, seq);
    if (cc_load16(data) == STREAM_MESSAGE_BALANCE)
        take_balance(sim, account, data);
    sim->outcome->checked_events++;
}

static void take_frame(struct sim *sim, struct sim_watch *watch, const uint8_t *bytes, size_t count)
{
    struct stream_message_frame frame;
    INVARIANT(count >= sizeof frame);
    memcpy(&frame, bytes, sizeof frame);
    bytes += sizeof frame;
    count -= sizeof frame;
    if (frame.engine_seq > journal_durable_seq(sim->core.journal))
        sim_fail(sim, "a subscriber is shown sequence %lu before it is durable", frame.engine_seq);
    sim->outcome->checked_frames++;
    if (frame.channel == STREAM_MESSAGE_OF_BOOK) {
        follow(sim, &frame, &watch->has_book, &watch->book_seq);
        if (frame.type == STREAM_MESSAGE_SNAPSHOT)
            watch->sides[0].count = watch->sides[1].count = 0;
        take_book(sim, watch, bytes, count);
        return;
    }
    if (frame.channel == STREAM_MESSAGE_OF_PRIVATE) {
        take_private(sim, watch, &frame, bytes);
        return;
    }
    follow(sim, &frame, &watch->has_trades, &watch->trades_seq);
    if (frame.type == STREAM_MESSAGE_UPDATE)
        take_trade(sim, watch, bytes);
    else if (frame.type == STREAM_MESSAGE_IS_GAP)
        watch->trade_seq = 0;
    else if (frame.type == STREAM_MESSAGE_SNAPSHOT && count >= sizeof(struct stream_message_trade))
        watch->trade_seq = cc_load64(bytes + offsetof(struct stream_message_trade, trade_seq));
}

static bool has_text(const uint8_t *bytes, size_t count, const char *text)
{
    return memmem(bytes, count, text, strlen(text)) != NULL;
}

/* Whether rows from before the last start are kept nowhere, so that a snapshot which needs one is
 * refused (journal.md, History). */
static bool has_forgotten(const struct sim *sim)
{
    return sim->has_gap || sim->history_folder[0] == '\0';
}

/* A market that the follower does not have yet is asked for again; a revoked key is none that can
 * log in. */
static void take_message(struct sim *sim, struct sim_watch *watch, uint8_t kind,
                         const uint8_t *bytes, size_t count)
{
    if (kind == BINARY)
        take_frame(sim, watch, bytes, count);
    else if (kind != TEXT)
        return;
    else if (!has_text(bytes, count, "\"problem\"")) {
        if (has_text(bytes, count, "\"op\":\"login\""))
            follow_account(watch);
    } else if (has_text(bytes, count, "\"not_ready\"") && has_forgotten(sim))
        return; /* trades, of which it goes without: the book and the account are followed */
    else if (has_text(bytes, count, "\"not_found\""))
        watch->is_early = true;
    else if (has_text(bytes, count, "\"invalid_api_key\""))
        watch->is_member = false;
    else
        sim_fail(sim, "a subscriber is refused: %.*s", (int)(count < 160 ? count : 160),
                 (const char *)bytes);
}

/* The bytes of a frame's head; 0: it is not whole. Gives those behind it. */
static size_t read_head(const uint8_t *bytes, size_t left, size_t *count)
{
    if (left < 2)
        return 0;
    size_t head = bytes[1] == HEAD_16 ? 4 : bytes[1] == HEAD_64 ? 10 : 2;
    if (left < head)
        return 0;
    *count = head == 2 ? bytes[1] : 0;
    for (size_t i = 2; i < head; i++)
        *count = *count << 8 | bytes[i];
    return head;
}

static void read_received(struct sim *sim, struct sim_watch *watch)
{
    const uint8_t *bytes = (const uint8_t *)watch->received;
    size_t left = watch->received_count, count;
    if (!watch->is_agreed) {
        const uint8_t *end = memmem(bytes, left, "\r\n\r\n", 4);
        if (end == NULL)
            return;
        watch->is_agreed = true;
        left -= (size_t)(end + 4 - bytes);
        bytes = end + 4;
        subscribe(watch);
        log_in(sim, watch);
    }
    while (!sim->outcome->failed) {
        size_t head = read_head(bytes, left, &count);
        if (head == 0 || left < head + count)
            break;
        take_message(sim, watch, bytes[0], bytes + head, count);
        bytes += head + count;
        left -= head + count;
    }
    memmove(watch->received, bytes, left);
    watch->received_count = left;
}

/* ---- turns ----------------------------------------------------------------------------------- */

static void read_all(struct sim *sim, struct sim_watch *watch)
{
    struct protocol *protocol = watch->protocol;
    const uint8_t *bytes;
    size_t count;
    while (watch->conn != NULL && !watch->conn->broken && !sim->outcome->failed &&
           (count = output_next(&protocol->context.outputs, &watch->conn->output, &bytes)) > 0) {
        INVARIANT(watch->received_count + count <= RECEIVED_BYTES);
        memcpy(watch->received + watch->received_count, bytes, count);
        watch->received_count += count;
        output_sent(&protocol->context.outputs, &watch->conn->output, count);
        pipeline_resume(&protocol->pipeline, watch->conn);
        read_received(sim, watch);
    }
}

static void turn(struct sim *sim, struct sim_watch *watch, bool reads)
{
    struct protocol *protocol = watch->protocol;
    protocol_turn_begin(protocol);
    if (watch->conn == NULL && (reads || below(watch, OPEN_ODDS) == 0))
        connect(watch);
    (void)protocol_turn_end(protocol);
    while (conn_queue_count(&protocol->context.conns, CONN_DIRTY) > 0)
        (void)conn_queue_pop(&protocol->context.conns, CONN_DIRTY);
    protocol_mark_sent(protocol);
    if (reads || below(watch, READ_ODDS) == 0)
        read_all(sim, watch);
    if (watch->conn != NULL &&
        (watch->is_early || watch->conn->broken || protocol_is_finished(watch->conn)))
        hang_up(watch);
}

void sim_watch_step(struct sim *sim, struct sim_watch *watch)
{
    turn(sim, watch, false);
    if (watch->conn != NULL && below(watch, HANG_UP_ODDS) == 0) {
        hang_up(watch);
        sim->outcome->watch_breaks++;
    }
}

static bool is_same(const struct side *side, const struct row_level *levels, uint32_t count)
{
    uint32_t same = 0;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < side->count; k++)
            same +=
                side->levels[k].price == levels[i].price && side->levels[k].size == levels[i].size;
    return same == count && side->count == count;
}

static void check_account(struct sim *sim, const struct sim_watch *watch)
{
    uint64_t id = sim->traffic.accounts[watch->member].id;
    uint64_t seq = watch->accounts[watch->member].seq;
    if (!watch->is_member || watch->conn == NULL || sim->outcome->failed)
        return;
    if (seq != read_private_seq(sim->core.replica, id))
        sim_fail(sim, "a subscriber has private events up to %lu, the account up to %lu", seq,
                 read_private_seq(sim->core.replica, id));
    sim->outcome->checked_accounts++;
}

void sim_watch_check(struct sim *sim, struct sim_watch *watch)
{
    static struct row_level levels[2 * LEVELS];
    static const char market[SYMBOL_BYTES] = "BTC-PERP";
    struct row_book row;
    for (unsigned i = 0; i < REST_TURNS && !sim->outcome->failed; i++) {
        turn(sim, watch, true);
        if (core_follow(&sim->core) < 0)
            return; /* the disk has failed: the run goes on without this look */
    }
    if (sim->outcome->failed || !read_book(sim->core.replica, market, LEVELS, &row, levels))
        return;
    check_account(sim, watch);
    if (!watch->has_book || !is_same(&watch->sides[0], levels, row.bid_count) ||
        !is_same(&watch->sides[1], levels + row.bid_count, row.ask_count))
        sim_fail(sim,
                 "a subscriber's book at %lu has %u and %u levels, the follower's at %lu %u "
                 "and %u",
                 watch->book_seq, watch->sides[0].count, watch->sides[1].count, row.book_seq,
                 row.bid_count, row.ask_count);
    sim->outcome->checked_books++;
}
