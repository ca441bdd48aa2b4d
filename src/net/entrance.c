#include "net/entrance.h"

#include "base/fair_share.h"
#include "base/log.h"
#include "net/json/json_problem.h"

enum { LOOKS_MAX = 256 }; /* connections looked at for one that yields */

#define NEWS_NS   UINT64_C(1000000000)
#define MINUTE_NS (60 * UINT64_C(1000000000))

/* RFC 8446, 6: a fatal alert in a record of its own. */
static const uint8_t internal_error[] = { 21, 3, 1, 0, 2, 2, 80 };

/* Whether something of it is being executed: of one that reads nothing, behind a held read. */
static bool has_write(const struct context *context, const struct conn *conn)
{
    for (uint32_t at = conn->pending_head; at != PENDING_NONE;) {
        const struct pending *pending = pending_at(&context->pendings, at);
        if (pending->kind == PENDING_WRITE && pending->state != PENDING_DONE)
            return true;
        at = pending->next;
    }
    return false;
}

/* Whether the connection has an answer that may still be on its way. Events come to a stream
 * whether it reads them or not: they are none if the oldest is not. What is in `wire` was an answer
 * before: its time is that of its sealing, which is of interest only for the last of them. */
static bool has_news(const struct context *context, const struct conn *conn)
{
    const struct output_pool *outputs = &context->outputs;
    uint64_t since_ns = conn_unsent_since_ns(outputs, conn);
    if (since_ns == UINT64_MAX)
        return false;
    if (conn->reads_held && has_write(context, conn))
        return true;
    if (conn->stream == NULL)
        since_ns = output_newest_ns(outputs, conn->output.bytes > 0 ? &conn->output : &conn->wire);
    return context->now_ns - since_ns < NEWS_NS;
}

/* The connection of an address that holds most which goes for one of another address that has
 * `count` with it. NULL: there is none. A look at one that does not go puts it right for the next
 * look, so that looks are as many as what connections do. */
static struct conn *victim_for(struct context *context, uint64_t address, uint32_t count)
{
    struct crowd *crowd = &context->conns.crowd;
    enum crowd_kind kind = CROWD_IDLE, end = CROWD_KINDS;
    const struct conn *passed = NULL;    /* the first put behind the others of its address */
    uint32_t passed_address = CONN_NONE; /* the first put behind the others */
    if (2 * (uint64_t)count > crowd->most)
        end = CROWD_STREAM;
    else if (!context_has_proved(context, address))
        end = CROWD_PROVED_STREAM;
    for (uint32_t i = 0; i < LOOKS_MAX && kind < end; i++) {
        struct conn *conn = crowd_first(crowd, kind);
        if (conn == NULL || conn->crowd_row == passed_address) {
            kind++;
            passed = NULL;
            passed_address = CONN_NONE;
        } else if (conn == passed) { /* and with it all others of its address */
            passed = NULL;
            passed_address = passed_address == CONN_NONE ? conn->crowd_row : passed_address;
            crowd_pass_address(crowd, conn);
        } else if (conn->broken || crowd_kind_of(conn) != kind) {
            if (conn->broken)
                crowd_leave(crowd, conn);
            else
                crowd_queue(crowd, conn, crowd_kind_of(conn));
            passed = NULL; /* addresses are in another order now */
            passed_address = CONN_NONE;
        } else if (has_news(context, conn)) {
            crowd_pass(crowd, conn);
            passed = passed == NULL ? conn : passed;
        } else {
            return conn;
        }
    }
    return NULL;
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
    crowd_leave(&context->conns.crowd, victim);
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
    uint32_t count = address_claims_add(claims, slot, conn->address, config->connections);
    conn->admitted = count > 0 && has_room(context, conn->address, count);
    if (conn->admitted)
        crowd_enter(&context->conns.crowd, conn);
    else if (count > 0)
        address_claims_drop(claims, slot);
    context->metrics.counters.connections_refused += !conn->admitted;
    return conn->admitted;
}

void entrance_leave(struct context *context, struct conn *conn)
{
    if (conn->admitted)
        address_claims_drop(context->config->connections_of, context_claim_slot(context, conn));
    crowd_leave(&context->conns.crowd, conn);
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
