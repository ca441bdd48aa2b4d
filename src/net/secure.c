#include "net/secure.h"

#include <errno.h>

#include "base/region.h"
#include "net/parser.h"
#include "net/request/charge.h"

enum {
    MAPPED_BYTES = CONN_INPUT_BYTES + TLS_RECORD_MAX,
    HELLO_HEAD_BYTES = 9, /* of a record: type, version, length; of the hello: type, length */
    RECORD_HEAD_BYTES = 5,
    RECORD_HANDSHAKE = 22,
    CLIENT_HELLO = 1,
};

static struct net_counters *counters_of(const struct secure *secure)
{
    return &secure->protocol->context.metrics.counters;
}

/* Ciphertext of the session that uses the wire. */
static bool append_ciphertext(void *context, const void *bytes, size_t count)
{
    struct secure *secure = context;
    struct context *shared = &secure->protocol->context;
    struct output *wire = &secure->conn->wire;
    if (count > OUTPUT_CONNECTION_MAX || !output_fits(&shared->outputs, wire, count))
        return false;
    output_append(&shared->outputs, wire, bytes, count, shared->now_ns);
    context_mark_dirty(shared, secure->conn);
    return true;
}

int secure_init(struct secure *secure, struct protocol *protocol, const struct tls_server *server)
{
    *secure = (struct secure){
        .protocol = protocol,
        .wire = { .send = append_ciphertext, .context = secure },
    };
    if (server == NULL)
        return 0;
    void *memory = region_map(REGION_connections, MAPPED_BYTES);
    if (memory == NULL)
        return -ENOMEM;
    secure->raw = memory;
    secure->plain = (char *)memory + CONN_INPUT_BYTES;
    secure->server = tls_session_prepare() ? tls_server_share(server) : NULL;
    return secure->server == NULL ? -ENOMEM : 0;
}

void secure_free(struct secure *secure)
{
    if (secure->raw == NULL)
        return;
    struct conn_table *conns = &secure->protocol->context.conns;
    for (uint32_t i = 0; i < conns->capacity && conns->memory != NULL; i++)
        if (conn_at(conns, i)->open)
            secure_close(secure, conn_at(conns, i));
    tls_server_free(secure->server);
    explicit_bzero(secure->raw, MAPPED_BYTES);
    region_unmap(secure->raw, MAPPED_BYTES);
    *secure = (struct secure){ 0 };
}

void secure_replace(struct secure *secure, struct tls_server *server)
{
    tls_server_free(secure->server);
    secure->server = server;
}

static void uncount(struct secure *secure, struct conn *conn)
{
    if (conn->tls_count != 0)
        secure->counters[conn->tls_count - 1]--;
    conn->tls_count = 0;
}

/* Counts the handshake for the address that the connection has now. */
static void count_address(struct secure *secure, struct conn *conn)
{
    uint64_t mixed = conn->address * UINT64_C(0x9E3779B97F4A7C15);
    uncount(secure, conn);
    conn->tls_count = (uint16_t)(1 + (mixed >> 52) % SECURE_COUNTERS);
    secure->counters[conn->tls_count - 1]++;
}

/* The oldest handshake of those whose address has the most yields. NULL: there is none. */
static struct conn *find_crowd(const struct secure *secure)
{
    const struct conn_table *conns = &secure->protocol->context.conns;
    struct conn *conn = conn_time_oldest(conns, CONN_TIME_HANDSHAKE);
    uint16_t most = 1;
    for (uint32_t i = 0; i < SECURE_COUNTERS; i++)
        most = secure->counters[i] > most ? secure->counters[i] : most;
    while (conn != NULL && (conn->tls_count == 0 || secure->counters[conn->tls_count - 1] < most))
        conn = conn->time_next == CONN_NONE ? NULL : conn_at(conns, conn->time_next);
    return conn != NULL ? conn : conn_time_oldest(conns, CONN_TIME_HANDSHAKE);
}

static void evict(struct secure *secure)
{
    struct context *context = &secure->protocol->context;
    struct conn *conn = find_crowd(secure);
    if (conn == NULL || conn->broken)
        return;
    conn->broken = true;
    uncount(secure, conn);
    counters_of(secure)->tls_handshakes_evicted++;
    conn_time_start(&context->conns, conn, CONN_TIME_LINGER, context->now_ns);
    context_mark_dirty(context, conn);
}

static void end_handshake(struct secure *secure, struct conn *conn)
{
    INVARIANT(conn->handshaking && secure->handshake_count > 0);
    conn->handshaking = false;
    uncount(secure, conn);
    counters_of(secure)->tls_handshakes_open = --secure->handshake_count;
}

void secure_accept(struct secure *secure, struct conn *conn)
{
    if (secure->server == NULL)
        return;
    if (secure->handshake_count >= SECURE_HANDSHAKES_MAX)
        evict(secure);
    conn->secure = true;
    conn->handshaking = true;
    count_address(secure, conn);
    counters_of(secure)->tls_handshakes_open = ++secure->handshake_count;
    if (conn->phase != CONN_PROXY)
        context_await(&secure->protocol->context, conn);
}

void secure_close(struct secure *secure, struct conn *conn)
{
    if (conn->handshaking) {
        counters_of(secure)->tls_handshakes_failed++;
        end_handshake(secure, conn);
    }
    if (conn->tls != NULL)
        tls_session_close(conn->tls);
    conn->tls = NULL;
}

/* The session is of no use any more; its alert, if there is one, is still sent. */
static void fail(struct secure *secure, struct conn *conn)
{
    struct net_counters *counters = counters_of(secure);
    if (conn->handshaking) {
        counters->tls_handshakes_failed++;
        end_handshake(secure, conn);
    } else {
        counters->tls_failures++;
    }
    conn->tls_ended = true;
    protocol_abandon(secure->protocol, conn);
}

static void show_bytes(struct secure *secure, struct conn *conn, const void *bytes, size_t count)
{
    secure->conn = conn;
    secure->wire.bytes = bytes;
    secure->wire.count = count;
    secure->wire.records = 0;
}

static bool reads_nothing(const struct conn *conn)
{
    return conn->broken || conn->lingering || (conn->last && conn->phase == CONN_HEAD);
}

/* A record takes 1 to 2 us of decryption, whatever it holds: an order pays for its own, one of a
 * byte or of nothing does not. `count` is what the last of those that were read held. */
static void count_records(struct secure *secure, struct conn *conn, size_t count)
{
    int small = conn->small_records + (int)secure->wire.records - (count >= SECURE_SMALL_BYTES);
    secure->wire.records = 0;
    for (; small >= SECURE_SMALL_A_TOKEN; small -= SECURE_SMALL_A_TOKEN)
        charge_records(&secure->protocol->context, conn);
    conn->small_records = (int8_t)small;
}

/* Decrypts the bytes that the wire shows. */
static void read_records(struct secure *secure, struct conn *conn)
{
    while (!reads_nothing(conn)) {
        size_t count;
        switch (tls_session_read(conn->tls, secure->plain, TLS_RECORD_MAX, &count)) {
        case TLS_DONE:
            protocol_receive(secure->protocol, conn, secure->plain, count);
            counters_of(secure)->received_bytes -= count; /* the ciphertext is counted */
            count_records(secure, conn, count);
            break;
        case TLS_MORE:
            count_records(secure, conn, 0);
            return;
        case TLS_ENDED:
            protocol_end_of_input(secure->protocol, conn);
            return;
        case TLS_FAILED:
            fail(secure, conn);
            return;
        }
    }
}

/* Queues a connection that has bytes of its handshake. */
static void queue_handshake(struct secure *secure, struct conn *conn)
{
    bool is_crowd = conn->tls_count != 0 && secure->counters[conn->tls_count - 1] > SECURE_CROWD;
    conn_queue_push(&secure->protocol->context.conns, is_crowd ? CONN_CROWD_SHAKING : CONN_SHAKING,
                    conn);
}

void secure_receive(struct secure *secure, struct conn *conn, char *bytes, size_t count)
{
    struct protocol *protocol = secure->protocol;
    if (!conn->secure || conn->phase == CONN_PROXY || conn->phase == CONN_HANDSHAKE) {
        bool is_proxied = conn->secure && conn->phase == CONN_PROXY;
        protocol_receive(protocol, conn, bytes, count);
        if (is_proxied && conn->phase == CONN_HANDSHAKE && conn->handshaking)
            count_address(secure, conn); /* of the client, not of its proxy */
        if (conn->phase == CONN_HANDSHAKE && conn_input_bytes(conn) > 0)
            queue_handshake(secure, conn);
        return;
    }
    counters_of(secure)->received_bytes += count;
    if (conn->tls == NULL || reads_nothing(conn))
        return;
    show_bytes(secure, conn, bytes, count);
    read_records(secure, conn);
}

void secure_end_of_input(struct secure *secure, struct conn *conn)
{
    conn->ended = true;
    if (conn->phase == CONN_HANDSHAKE && conn_input_bytes(conn) > 0)
        queue_handshake(secure, conn);
    else
        protocol_end_of_input(secure->protocol, conn);
}

/* OpenSSL takes memory for as long a hello as its head announces: up to 128 KiB. */
static bool is_hello(const uint8_t *head)
{
    size_t record = (size_t)head[3] << 8 | head[4];
    size_t hello = (size_t)head[6] << 16 | (size_t)head[7] << 8 | head[8];
    return record >= HELLO_HEAD_BYTES - RECORD_HEAD_BYTES && head[5] == CLIENT_HELLO &&
           hello <= SECURE_HELLO_MAX;
}

/* Refuses what no session was opened for, by an alert of TLS. */
static void refuse_hello(struct secure *secure, struct conn *conn)
{
    static const uint8_t decode_error[] = { 21, 3, 1, 0, 2, 2, 50 };
    struct context *context = &secure->protocol->context;
    fail(secure, conn);
    if (output_fits(&context->outputs, &conn->output, sizeof decode_error))
        output_append(&context->outputs, &conn->output, decode_error, sizeof decode_error,
                      context->now_ns);
}

/* HTTP instead of TLS: answered once, in HTTP. A byte of TLS is no letter. */
static void refuse_plain(struct secure *secure, struct conn *conn)
{
    struct problem_detail problem;
    counters_of(secure)->tls_plain_requests++;
    counters_of(secure)->tls_handshakes_failed++;
    end_handshake(secure, conn);
    conn_time_start(&secure->protocol->context.conns, conn, CONN_TIME_IDLE,
                    secure->protocol->context.now_ns);
    conn->allow = NULL;
    conn->origin = ORIGIN_NONE;
    (void)problem_detail_set(&problem, PROBLEM_malformed_request, NULL,
                             "this port speaks TLS: use https://");
    parser_refuse(secure->protocol, conn, &problem);
}

/* Opens the session of a connection. False: there is none, and nothing more to do. */
static bool open_session(struct secure *secure, struct conn *conn)
{
    const uint8_t *head = (const uint8_t *)conn_input(&secure->protocol->context.conns, conn);
    uint8_t letter = head[0] & 0xdfu;
    if (letter >= 'A' && letter <= 'Z') {
        conn_input_consume(&secure->protocol->context.conns, conn, conn_input_bytes(conn));
        refuse_plain(secure, conn);
        return false;
    }
    if (head[0] == RECORD_HANDSHAKE && conn_input_bytes(conn) < HELLO_HEAD_BYTES)
        return false;
    if (head[0] != RECORD_HANDSHAKE || !is_hello(head)) {
        refuse_hello(secure, conn);
        return false;
    }
    conn->tls = tls_session_open(secure->server, &secure->wire);
    conn->broken = conn->tls == NULL;
    return conn->tls != NULL;
}

/* Moves the input of a connection to `raw`; its length. */
static size_t move_input(struct secure *secure, struct conn *conn)
{
    struct conn_table *conns = &secure->protocol->context.conns;
    size_t count = conn_input_bytes(conn);
    memcpy(secure->raw, conn_input(conns, conn), count);
    conn_input_consume(conns, conn, count);
    return count;
}

/* Continues the handshake of a connection with all bytes that it has. */
static void shake(struct secure *secure, struct conn *conn)
{
    struct context *context = &secure->protocol->context;
    if (conn->tls == NULL && !open_session(secure, conn))
        return;
    size_t count = move_input(secure, conn);
    show_bytes(secure, conn, secure->raw, count);
    switch (tls_session_handshake(conn->tls)) {
    case TLS_MORE:
        return;
    case TLS_ENDED:
    case TLS_FAILED:
        fail(secure, conn);
        return;
    case TLS_DONE:
        break;
    }
    counters_of(secure)->tls_handshakes++;
    end_handshake(secure, conn);
    conn_time_start(&context->conns, conn, CONN_TIME_IDLE, context->now_ns);
    if (secure->wire.count == 0) {
        conn_phase_move(&conn->phase, CONN_HEAD);
        return;
    }
    /* The turn's signatures are verified already: what follows is of the next turn. */
    bool is_kept = conn_input_append(&context->conns, conn, secure->wire.bytes, secure->wire.count);
    INVARIANT(is_kept); /* the bytes were in this input */
    conn_queue_push(&context->conns, CONN_SHAKEN, conn);
}

/* All bytes before the end of the input were read. */
static void end_if_ended(struct secure *secure, struct conn *conn)
{
    if (conn->ended && !conn->broken && (conn->phase != CONN_HANDSHAKE || conn->handshaking))
        protocol_end_of_input(secure->protocol, conn);
}

void secure_begin(struct secure *secure)
{
    struct conn_table *conns = &secure->protocol->context.conns;
    uint32_t waiting = conn_queue_count(conns, CONN_SHAKEN);
    for (uint32_t i = 0; i < waiting; i++) {
        struct conn *conn = conn_queue_pop(conns, CONN_SHAKEN);
        if (!conn->open || conn->phase != CONN_HANDSHAKE || conn->handshaking)
            continue;
        size_t count = move_input(secure, conn);
        conn_phase_move(&conn->phase, CONN_HEAD);
        show_bytes(secure, conn, secure->raw, count);
        read_records(secure, conn);
        end_if_ended(secure, conn);
    }
}

/* Takes the connection whose handshake continues next, or NULL. */
static struct conn *next_handshake(struct secure *secure)
{
    struct conn_table *conns = &secure->protocol->context.conns;
    bool others = conn_queue_count(conns, CONN_SHAKING) > 0;
    bool crowd = conn_queue_count(conns, CONN_CROWD_SHAKING) > 0;
    if (!others && !crowd)
        return NULL;
    if (crowd && (!others || secure->since_crowd >= SECURE_CROWD_SHARE - 1)) {
        secure->since_crowd = 0;
        return conn_queue_pop(conns, CONN_CROWD_SHAKING);
    }
    secure->since_crowd++;
    return conn_queue_pop(conns, CONN_SHAKING);
}

uint32_t secure_run(struct secure *secure)
{
    struct protocol *protocol = secure->protocol;
    struct conn_table *conns = &protocol->context.conns;
    if (conn_shaking_count(conns) == 0)
        return 0;
    uint64_t begun_ns = clock_monotonic_ns(protocol->config.clock);
    if (protocol->work > 0 && begun_ns < secure->again_ns)
        return 1; /* the queue is work: the thread does not sleep */
    uint64_t now_ns = begun_ns;
    uint32_t done = 0;
    struct conn *conn;
    while (now_ns - begun_ns < SECURE_TURN_NS && (conn = next_handshake(secure)) != NULL) {
        if (!conn->open || conn->broken || !conn->handshaking || conn->phase != CONN_HANDSHAKE ||
            conn_input_bytes(conn) == 0)
            continue;
        shake(secure, conn);
        end_if_ended(secure, conn);
        context_mark_dirty(&protocol->context, conn);
        now_ns = clock_monotonic_ns(protocol->config.clock);
        done++;
    }
    counters_of(secure)->tls_handshake_ns += now_ns - begun_ns;
    secure->again_ns = now_ns + (SECURE_SHARE - 1) * (now_ns - begun_ns);
    return done;
}

void secure_seal(struct secure *secure, struct conn *conn)
{
    struct output_pool *pool = &secure->protocol->context.outputs;
    const uint8_t *bytes;
    if (conn->tls == NULL)
        return;
    show_bytes(secure, conn, NULL, 0);
    while (conn->output.bytes > 0 && conn->wire.bytes < SECURE_WIRE_BYTES) {
        size_t count = output_next(pool, &conn->output, &bytes);
        if (count > TLS_RECORD_MAX - TLS_RECORD_OVERHEAD) /* then a record fits into a chunk */
            count = TLS_RECORD_MAX - TLS_RECORD_OVERHEAD;
        if (!output_fits(pool, &conn->wire, count + TLS_RECORD_OVERHEAD)) {
            pipeline_starve(&secure->protocol->pipeline, conn);
            return;
        }
        if (!tls_session_write(conn->tls, bytes, count)) {
            fail(secure, conn);
            return;
        }
        output_sent(pool, &conn->output, count);
    }
    if (protocol_is_finished(conn) && !conn->tls_ended) {
        conn->tls_ended = true;
        tls_session_end(conn->tls);
    }
}
