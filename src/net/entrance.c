#include "net/entrance.h"

#include "base/log.h"
#include "net/json/json_problem.h"

enum { LOOKS_MAX = 4096 }; /* connections looked at for one that yields */

#define CROWD_NS  UINT64_C(100000000)
#define MINUTE_NS (60 * UINT64_C(1000000000))

/* RFC 8446, 6: a fatal alert in a record of its own. */
static const uint8_t internal_error[] = { 21, 3, 1, 0, 2, 2, 80 };

bool entrance_admit(struct context *context, struct conn *conn)
{
    const struct net_config *config = context->config;
    INVARIANT(!conn->admitted);
    conn->admitted = address_claims_add(config->connections_of, context_claim_slot(context, conn),
                                        conn->address, config->connections);
    context->metrics.counters.connections_refused += !conn->admitted;
    return conn->admitted;
}

/* The address with the most connections, as of the last tenth of a second. */
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
    return context->crowd;
}

/* Of one time-out the connection of the address that has been idle longest, and in *proved the
 * first that has proved a key. A stream is not idle. NULL: there is none. */
static struct conn *idlest_of(const struct conn_table *conns, enum conn_time time, uint64_t address,
                              struct conn **proved)
{
    uint32_t at = conns->times[time].head;
    for (uint32_t i = 0; i < LOOKS_MAX && at != CONN_NONE; i++) {
        struct conn *conn = conn_at(conns, at);
        at = conn->time_next;
        if (conn->address != address || conn->admin || conn->broken || conn->stream != NULL ||
            conn->pending_count > 0 || conn->blocked)
            continue;
        if (!conn->has_proved)
            return conn;
        if (*proved == NULL)
            *proved = conn;
    }
    return NULL;
}

/* The connection idle longest of the address: without a request, then with a part of one. One that
 * has proved a key only if there is no other. NULL: there is none. */
static struct conn *idlest(const struct context *context, uint64_t address)
{
    static const enum conn_time times[] = { CONN_TIME_IDLE, CONN_TIME_HEAD, CONN_TIME_BODY,
                                            CONN_TIME_HANDSHAKE };
    struct conn *proved = NULL;
    for (unsigned i = 0; i < CC_COUNT(times); i++) {
        struct conn *conn = idlest_of(&context->conns, times[i], address, &proved);
        if (conn != NULL)
            return conn;
    }
    return proved;
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

bool entrance_make_room(struct context *context, uint64_t address)
{
    const struct conn_table *conns = &context->conns;
    uint32_t kept = conns->capacity / 10;
    if (conns->open_count + kept < conns->capacity)
        return true;
    log_crowd(context);
    struct conn *victim = idlest(context, crowd_of(context));
    if (victim != NULL) {
        victim->broken = true;
        context->metrics.counters.connections_yielded++;
        context_mark_dirty(context, victim);
    }
    bool is_room = conns->open_count + ENTRANCE_RESERVED < conns->capacity;
    return is_room && (victim != NULL || context_has_proved(context, address));
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
    conn->phase = CONN_HEAD;
    if (output_fits(&context->outputs, &conn->output, count))
        output_append(&context->outputs, &conn->output, text, count, context->now_ns);
    context_mark_dirty(context, conn);
}
