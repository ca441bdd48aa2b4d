#include "net/entrance.h"

#include "net/json/json_problem.h"

/* RFC 8446, 6: a fatal alert in a record of its own. */
static const uint8_t internal_error[] = { 21, 3, 1, 0, 2, 2, 80 };

bool entrance_admit(struct context *context, struct conn *conn)
{
    const struct net_config *config = context->config;
    INVARIANT(!conn->admitted);
    conn->admitted = address_claims_take(config->connections_of, context_claim_slot(context, conn),
                                         conn->address, config->connections);
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
    conn->phase = CONN_HEAD;
    if (output_fits(&context->outputs, &conn->output, count))
        output_append(&context->outputs, &conn->output, text, count, context->now_ns);
    context_mark_dirty(context, conn);
}
