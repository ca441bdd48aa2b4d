#include "net/entrance.h"

#include "base/fair_share.h"
#include "base/log.h"
#include "net/json/json_problem.h"

enum { LOOKS_MAX = 4096 }; /* connections looked at for one that yields */

#define CROWD_NS  UINT64_C(100000000)
#define MINUTE_NS (60 * UINT64_C(1000000000))

/* RFC 8446, 6: a fatal alert in a record of its own. */
static const uint8_t internal_error[] = { 21, 3, 1, 0, 2, 2, 80 };

/* The address with the most connections, as of the last tenth of a second or of half as many. */
static uint64_t crowd_of(struct context *context)
{
    if (context->now_ns < context->crowd_ns)
        return context->crowd;
    address_tally_begin(&context->tally);
    for (uint32_t i = 0; i < context->conns.capacity; i++) {
        const struct conn *conn = conn_at(&context->conns, i);
        if (conn->open && conn->admitted && !conn->broken)
            address_tally_add(&context->tally, conn->address, 1);
    }
    context->crowd_ns = context->now_ns + CROWD_NS;
    context->crowd = context->tally.address;
    context->crowd_count = context->tally.most;
    return context->crowd;
}

/* The first connections of an address, by what they yield to. NULL: there is none. */
struct yielding {
    struct conn *proved; /* a key, and idle */
    struct conn *stream;
    struct conn *proved_stream;
};

static void keep_first(struct conn **first, struct conn *conn)
{
    if (*first == NULL)
        *first = conn;
}

/* Of one time-out the connection of the address that has been idle longest and proved no key, else
 * NULL and in *first the first of each other kind. */
static struct conn *idlest_of(const struct conn_table *conns, enum conn_time time, uint64_t address,
                              struct yielding *first)
{
    uint32_t at = conns->times[time].head;
    for (uint32_t i = 0; i < LOOKS_MAX && at != CONN_NONE; i++) {
        struct conn *conn = conn_at(conns, at);
        at = conn->time_next;
        if (conn->address != address || !conn->admitted || conn->broken ||
            conn->pending_count > 0 || conn->blocked)
            continue;
        if (conn->stream != NULL)
            keep_first(conn->has_proved ? &first->proved_stream : &first->stream, conn);
        else if (conn->has_proved)
            keep_first(&first->proved, conn);
        else
            return conn;
    }
    return NULL;
}

/* The connection of the address that holds most which goes for one of another address that has
 * `count` with it. NULL: there is none. */
static struct conn *victim_for(struct context *context, uint64_t address, uint32_t count)
{
    static const enum conn_time times[] = { CONN_TIME_IDLE, CONN_TIME_HEAD, CONN_TIME_BODY,
                                            CONN_TIME_HANDSHAKE };
    struct yielding first = { 0 };
    uint64_t crowd = crowd_of(context);
    for (unsigned i = 0; i < CC_COUNT(times); i++) {
        struct conn *conn = idlest_of(&context->conns, times[i], crowd, &first);
        if (conn != NULL)
            return conn;
    }
    if (first.proved != NULL || 2 * (uint64_t)count > context->crowd_count)
        return first.proved;
    if (first.stream != NULL)
        return first.stream;
    return context_has_proved(context, address) ? first.proved_stream : NULL;
}

/* Says once a minute that the table is nearly full. */
static void log_crowd(struct context *context)
{
    if (context->now_ns < context->crowd_told_ns)
        return;
    context->crowd_told_ns = context->now_ns + MINUTE_NS;
    log_line(LOG_WARN, "connections",
             "open=%u of %u: idle connections of the address that holds most are closed",
             context->conns.open_count, context->conns.capacity);
}

/* The rows that the public listener leaves to the other one. */
static uint32_t reserved(const struct conn_table *conns)
{
    uint32_t half = conns->capacity / 10 / 2;
    return half < ENTRANCE_RESERVED ? half : ENTRANCE_RESERVED;
}

bool entrance_make_room(const struct context *context)
{
    const struct conn_table *conns = &context->conns;
    return conns->open_count + reserved(conns) / 2 < conns->capacity;
}

/* Whether the address has room for one of `count` in a table of which nine tenths are taken. */
static bool has_room(struct context *context, uint64_t address, uint32_t count)
{
    const struct conn_table *conns = &context->conns;
    uint32_t rows = conns->capacity - reserved(conns);
    if (conns->open_count <= conns->capacity - conns->capacity / 10)
        return true;
    log_crowd(context);
    struct conn *victim = victim_for(context, address, count);
    if (victim == NULL)
        return conns->open_count <= rows && context_has_proved(context, address) &&
               fair_share_has_room(count - 1, rows - conns->open_count + 1);
    victim->broken = true;
    if (2 * --context->crowd_count <= context->tally.most)
        context->crowd_ns = 0; /* another may hold more by now */
    context->metrics.counters.connections_yielded++;
    context_mark_dirty(context, victim);
    return true;
}

bool entrance_admit(struct context *context, struct conn *conn)
{
    const struct net_config *config = context->config;
    struct address_claims *claims = config->connections_of;
    uint32_t slot = context_claim_slot(context, conn);
    INVARIANT(!conn->admitted);
    conn->admitted = address_claims_add(claims, slot, conn->address, config->connections);
    if (conn->admitted &&
        !has_room(context, conn->address, address_claims_count(claims, conn->address))) {
        address_claims_drop(claims, slot);
        conn->admitted = false;
    }
    context->metrics.counters.connections_refused += !conn->admitted;
    return conn->admitted;
}

void entrance_leave(struct context *context, struct conn *conn)
{
    if (conn->admitted)
        address_claims_drop(context->config->connections_of, context_claim_slot(context, conn));
    conn->admitted = false;
}

size_t entrance_refusal(const struct context *context, char text[ENTRANCE_REFUSAL_BYTES])
{
    char body[ENTRANCE_REFUSAL_BYTES / 2];
    struct writer json = writer_begin(body, sizeof body);
    struct writer writer = writer_begin(text, ENTRANCE_REFUSAL_BYTES);
    struct problem_detail problem;
    if (context->config->tls != NULL) {
        writer_bytes(&writer, internal_error, sizeof internal_error);
        return writer_count(&writer);
    }
    (void)problem_detail_set(&problem, PROBLEM_too_many_connections, NULL,
                             "this address has as many connections as it may");
    json_problem(&json, &problem);
    WRITER_TEXT(&writer, "HTTP/1.1 503 Service Unavailable\r\n"
                         "Content-Type: application/problem+json\r\n"
                         "Connection: close\r\nRetry-After: 1\r\nContent-Length: ");
    writer_uint(&writer, writer_count(&json));
    WRITER_TEXT(&writer, "\r\n\r\n");
    writer_bytes(&writer, body, writer_count(&json));
    INVARIANT(!json.full && !writer.full);
    return writer_count(&writer);
}

void entrance_refuse(struct context *context, struct conn *conn)
{
    char text[ENTRANCE_REFUSAL_BYTES];
    size_t count = entrance_refusal(context, text);
    conn->last = true;
    conn_phase_move(&conn->phase, CONN_HEAD);
    if (output_fits(&context->outputs, &conn->output, count))
        output_append(&context->outputs, &conn->output, text, count, context->now_ns);
    context_mark_dirty(context, conn);
}
