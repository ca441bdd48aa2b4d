#include "net/parser.h"

#include "net/command/plain_write.h"
#include "net/entrance.h"
#include "net/reads.h"
#include "net/request/charge.h"
#include "net/request/rate_limit.h"
#include "net/socket/proxy_header.h"

enum { BODY_MAX = REQUEST_PASSKEY_ENVELOPE_MAX }; /* the longest body of any request */

void parser_refuse(struct protocol *protocol, struct conn *conn,
                   const struct problem_detail *problem)
{
    conn->last = true;
    conn_phase_move(&conn->phase, CONN_HEAD);
    protocol->context.metrics.counters.requests++;
    pipeline_refuse(&protocol->pipeline, conn, problem, conn->allow);
}

/* Refuses a malformed head. */
static void refuse_head(struct protocol *protocol, struct conn *conn, const char *text)
{
    const struct http_head *head = &conn->head;
    struct problem_detail problem;
    conn->allow = NULL;
    conn->origin = ORIGIN_NONE;
    if (head->fault == HTTP_FAULT_TOO_LARGE || head->fault == HTTP_FAULT_TOO_MANY) {
        /* R11: path and method are judged first, if they are known. */
        if (head->path.count == 0 || route_find(&protocol->routes, head, text, conn->admin,
                                                &conn->route, &problem, &conn->allow))
            (void)problem_detail_set(&problem, PROBLEM_headers_too_large, NULL, "%s",
                                     http_fault_text(head->fault));
    } else {
        (void)problem_detail_set(&problem, PROBLEM_malformed_request, NULL,
                                 "%s, at byte %u of the head", http_fault_text(head->fault),
                                 head->fault_at);
    }
    parser_refuse(protocol, conn, &problem);
}

/* Checks the headers of a signed request: its form and the form of its answer (W5). */
static bool check_signed_head(const struct conn *conn, struct problem_detail *problem)
{
    const struct http_head *head = &conn->head;
    if (head->media != HTTP_MEDIA_JSON && head->media != HTTP_MEDIA_OCTETS)
        return problem_detail_set(problem, PROBLEM_unsupported_media_type, NULL,
                                  head->media == HTTP_MEDIA_NONE
                                      ? "Content-Type is missing; application/json or "
                                        "application/octet-stream is taken"
                                      : "Content-Type must be application/json or "
                                        "application/octet-stream");
    if (head->ack == HTTP_ACK_OTHER)
        return problem_detail_set(problem, PROBLEM_invalid_parameter, "X-Ack",
                                  "X-Ack is none of full, binary and receipt");
    if (head->ack == HTTP_ACK_RECEIPT &&
        (head->accepts_octets || (conn->route.kind == ROUTE_SIGNED && conn->route.path->is_logout)))
        return problem_detail_set(problem, PROBLEM_invalid_parameter, "X-Ack",
                                  "an answer of 64 bytes and that of a logout have no receipt: GET "
                                  "/api/v1/requests/{request_id}/receipt");
    if (head->ack == HTTP_ACK_BINARY && head->media == HTTP_MEDIA_JSON && !head->accepts_octets)
        return problem_detail_set(problem, PROBLEM_invalid_parameter, "X-Ack",
                                  "X-Ack: binary is for binary requests; with a JSON envelope send "
                                  "Accept: application/octet-stream");
    return true;
}

/* Checks the headers of a request whose body is plain JSON. */
static bool check_plain_head(const struct http_head *head, struct problem_detail *problem)
{
    if (head->media == HTTP_MEDIA_JSON)
        return true;
    return problem_detail_set(problem, PROBLEM_unsupported_media_type, NULL,
                              head->media == HTTP_MEDIA_NONE
                                  ? "Content-Type is missing; application/json is taken"
                                  : "Content-Type must be application/json");
}

/* Whether the request becomes a command. */
static bool is_write(const struct conn *conn)
{
    return conn->route.kind == ROUTE_SIGNED || conn->route.kind == ROUTE_PLAIN;
}

/* Whether the request is a query that brings JSON: of a device pairing. */
static bool is_posted_query(const struct conn *conn)
{
    return conn->route.kind == ROUTE_QUERY &&
           (conn->head.method == HTTP_POST || conn->head.method == HTTP_PUT);
}

static bool has_body(const struct http_head *head)
{
    return head->chunked || head->content_length > 0;
}

/* A page of another name that resolves to this address must not reach it (W10). Of a target in
 * absolute form both names are checked: readers differ about which of them counts. */
static bool check_host(const struct host_list *hosts, const struct http_head *head,
                       const char *text, struct problem_detail *problem)
{
    if (host_list_has(hosts, text + head->host.at, head->host.count) &&
        (head->authority.count == 0 ||
         host_list_has(hosts, text + head->authority.at, head->authority.count)))
        return true;
    return problem_detail_set(problem, PROBLEM_host_not_allowed, NULL,
                              "this Host is not one of net.hosts");
}

static void refuse_size(struct protocol *protocol, struct conn *conn)
{
    struct problem_detail problem;
    uint32_t limit = conn->body_limit;
    if (conn->route.kind == ROUTE_NONE)
        problem = conn->early; /* R11: path and method come first */
    else
        (void)problem_detail_set_number(&problem, PROBLEM_payload_too_large, limit,
                                        limit == REQUEST_FRAME_MAX
                                            ? "a binary frame has at most %u bytes"
                                            : "a body has at most %u bytes",
                                        limit);
    parser_refuse(protocol, conn, &problem);
}

/* Accepts a complete head. False: it was refused, and the connection closes. */
static bool accept_head(struct protocol *protocol, struct conn *conn, const char *text,
                        size_t count)
{
    struct http_head *head = &conn->head;
    conn->early.code = PROBLEM_none;
    conn->allow = NULL;
    conn->origin = ORIGIN_NONE;
    if (head->origin.count > 0 && !conn->admin)
        conn->origin =
            origin_list_find(&protocol->config.origins, text + head->origin.at, head->origin.count);
    conn->chunked = (struct http_chunked){ 0 };
    conn->body_bytes = 0;
    conn->complete_bytes = 0;
    conn->body_limit = BODY_MAX;
    conn_phase_move(&conn->phase, CONN_BODY);
    if (!head->keep_alive)
        conn->last = true;
    if ((head->method == HTTP_GET || head->method == HTTP_HEAD) && has_body(head)) {
        struct problem_detail problem;
        (void)problem_detail_set(&problem, PROBLEM_malformed_request, NULL,
                                 "a GET or HEAD request has no body");
        parser_refuse(protocol, conn, &problem);
        return false;
    }
    if (!check_host(&protocol->config.hosts, head, text, &conn->early) ||
        !route_find(&protocol->routes, head, text, conn->admin, &conn->route, &conn->early,
                    &conn->allow)) {
        conn->route.kind = ROUTE_NONE;
    } else if (conn->route.kind != ROUTE_OPTIONS) {
        conn->allow = NULL;
        if ((conn->route.kind == ROUTE_SIGNED || conn->route.kind == ROUTE_DEBUG) &&
            head->media == HTTP_MEDIA_OCTETS)
            conn->body_limit = REQUEST_FRAME_MAX;
        else if (conn->route.kind == ROUTE_PLAIN || conn->route.kind == ROUTE_PREVIEW ||
                 is_posted_query(conn))
            conn->body_limit = REQUEST_ENVELOPE_MAX;
    }
    if (!head->chunked && head->content_length > conn->body_limit) {
        refuse_size(protocol, conn);
        return false;
    }
    if (conn->route.kind == ROUTE_SIGNED || conn->route.kind == ROUTE_DEBUG)
        (void)check_signed_head(conn, &conn->early);
    else if (conn->route.kind == ROUTE_PLAIN || conn->route.kind == ROUTE_PREVIEW ||
             (is_posted_query(conn) && has_body(head)))
        (void)check_plain_head(head, &conn->early);
    if (head->expects_continue && has_body(head) && count == head->bytes) {
        if (conn->early.code != PROBLEM_none) { /* the client need not send the body */
            parser_refuse(protocol, conn, &conn->early);
            return false;
        }
        conn->continue_due = true;
        pipeline_advance(&protocol->pipeline, conn);
    }
    return true;
}

/* Whether the connection's next request may be accepted now. */
static bool may_accept(const struct protocol *protocol, const struct conn *conn)
{
    return protocol->budget > 0 && !conn->slow_job && !conn->broken && !conn->waits_sequence &&
           conn->pause_ns == 0 && conn->pending_count < CONN_PENDING_MAX &&
           conn->output.bytes <= CONN_OUTPUT_PAUSE &&
           pending_available(&protocol->context.pendings);
}

/* Whether the complete request may be accepted now: its class is being taken, and it is the
 * connection's turn. Else the connection waits in the queue of that class. */
static bool is_its_turn(struct protocol *protocol, struct conn *conn)
{
    bool is_command = is_write(conn) && conn->early.code == PROBLEM_none;
    enum protocol_class class = is_command ? PROTOCOL_COMMANDS : PROTOCOL_READS;
    if (class == protocol->taking && conn->turns > 0)
        return true;
    conn_queue_push(&protocol->context.conns, is_command ? CONN_READY : CONN_READS, conn);
    return false;
}

enum progress {
    PROGRESS_DONE, /* one request */
    PROGRESS_MORE, /* needs more bytes */
    PROGRESS_BLOCKED,
    PROGRESS_CLOSED, /* the connection reads nothing more */
};

/* Accepts a complete request. False: it must wait; nothing has changed. */
static bool accept_request(struct protocol *protocol, struct conn *conn, const char *text,
                           size_t body_bytes)
{
    conn->continue_due = false;
    conn->turns--;
    if (conn->early.code != PROBLEM_none) {
        pipeline_refuse(&protocol->pipeline, conn, &conn->early, conn->allow);
    } else if (conn->route.kind == ROUTE_SIGNED) {
        if (!job_accept(protocol->jobs, conn, text, text + conn->head.bytes, body_bytes)) {
            conn->turns++;
            return false;
        }
    } else if (conn->route.kind == ROUTE_PLAIN) {
        plain_write_accept(protocol->jobs, conn, text, text + conn->head.bytes, body_bytes);
    } else if (conn->route.kind == ROUTE_STREAM &&
               !charge_read(&protocol->context, conn, NULL, 0, &conn->early)) {
        pipeline_refuse(&protocol->pipeline, conn, &conn->early, NULL);
    } else if (conn->route.kind == ROUTE_STREAM) {
        stream_socket_open(&protocol->streams, conn, text);
    } else if (conn->route.kind == ROUTE_PREVIEW || conn->route.kind == ROUTE_DEBUG) {
        /* Its search for mistakes is as long as a turn may be: it is the last of this one. */
        if (conn->route.kind == ROUTE_DEBUG)
            protocol->budget = 1;
        reads_accept_body(&protocol->pipeline, conn, text + conn->head.bytes, body_bytes);
    } else {
        reads_accept(&protocol->pipeline, conn, text, text + conn->head.bytes, body_bytes);
    }
    protocol->budget--;
    protocol->work++;
    protocol->context.metrics.counters.requests++;
    return true;
}

/* Reads the head at `text`. */
static enum progress read_head(struct protocol *protocol, struct conn *conn, const char *text,
                               size_t count)
{
    struct http_head *head = &conn->head;
    int bytes;
    if (conn->scanned == 0) {
        bytes = http_parse(head, text, count);
    } else {
        bytes = http_scan(text, conn->scanned, count, &head->fault, &head->fault_at);
        /* A head that is too long is parsed too: path and method are judged before 431. */
        if (bytes > 0 || (bytes < 0 && head->fault == HTTP_FAULT_TOO_LARGE))
            bytes = http_parse(head, text, bytes > 0 ? (size_t)bytes : count);
        else if (bytes < 0)
            head->path.count = 0;
    }
    if (bytes == 0) {
        conn->scanned = (uint32_t)count;
        return PROGRESS_MORE;
    }
    conn->scanned = 0;
    if (bytes < 0) {
        refuse_head(protocol, conn, text);
        return PROGRESS_CLOSED;
    }
    return accept_head(protocol, conn, text, count) ? PROGRESS_DONE : PROGRESS_CLOSED;
}

static enum progress refuse_chunk(struct protocol *protocol, struct conn *conn)
{
    struct problem_detail problem;
    (void)problem_detail_set(&problem, PROBLEM_malformed_request, NULL, "%s",
                             http_fault_text(HTTP_FAULT_CHUNK));
    parser_refuse(protocol, conn, &problem);
    return PROGRESS_CLOSED;
}

/* Removes the chunk framing of a body in place. *count shrinks if more bytes must come;
 * complete_bytes is set after the last chunk. */
static enum progress read_chunks(struct protocol *protocol, struct conn *conn, char *text,
                                 size_t *count)
{
    size_t at = conn->head.bytes + conn->body_bytes;
    size_t taken, written;
    enum http_chunk_result result =
        http_chunked_read(&conn->chunked, text + at, *count - at, &taken, text + at,
                          conn->body_limit - conn->body_bytes, &written);
    conn->body_bytes += (uint32_t)written;
    switch (result) {
    case HTTP_CHUNK_BAD:
        return refuse_chunk(protocol, conn);
    case HTTP_CHUNK_LARGE:
        refuse_size(protocol, conn);
        return PROGRESS_CLOSED;
    case HTTP_CHUNK_MORE:
        *count = at + written;
        return PROGRESS_MORE;
    case HTTP_CHUNK_DONE:
        break;
    }
    conn->complete_bytes = (uint32_t)(at + taken);
    return PROGRESS_DONE;
}

/* Reads the body after the head at `text`. *count shrinks by removed chunk framing. *used gets the
 * bytes of the whole request if it was accepted. */
static enum progress read_body(struct protocol *protocol, struct conn *conn, char *text,
                               size_t *count, size_t *used)
{
    if (is_write(conn) && conn->early.code == PROBLEM_none && !job_table_has_room(protocol->jobs)) {
        conn_queue_push(&protocol->context.conns, CONN_STALLED, conn);
        return PROGRESS_BLOCKED;
    }
    if (conn->route.kind == ROUTE_STREAM && conn->pending_count > 0)
        return PROGRESS_BLOCKED; /* answers before it are HTTP */
    if (conn->complete_bytes == 0 && conn->head.chunked) {
        enum progress progress = read_chunks(protocol, conn, text, count);
        if (progress != PROGRESS_DONE)
            return progress;
    } else if (conn->complete_bytes == 0) {
        if (*count < conn->head.bytes + conn->head.content_length)
            return PROGRESS_MORE;
        conn->body_bytes = (uint32_t)conn->head.content_length;
        conn->complete_bytes = conn->head.bytes + conn->body_bytes;
    }
    if (!is_its_turn(protocol, conn) || !accept_request(protocol, conn, text, conn->body_bytes))
        return PROGRESS_BLOCKED;
    *used = conn->complete_bytes;
    conn->complete_bytes = 0;
    conn_phase_move(&conn->phase, conn->stream != NULL ? CONN_STREAM : CONN_HEAD);
    conn->scanned = 0;
    return PROGRESS_DONE;
}

/* Reads the header that a proxy sends before the first request. A connection without one is closed:
 * what it is about nobody could say. */
static enum progress read_proxy_header(struct protocol *protocol, struct conn *conn,
                                       const char *text, size_t count, size_t *used)
{
    static const struct peer nobody;
    struct peer client = nobody;
    int bytes = proxy_header_read(text, count, &client);
    if (bytes < 0) {
        protocol->context.metrics.counters.proxy_headers_refused++;
        conn->broken = true;
        context_mark_dirty(&protocol->context, conn);
        return PROGRESS_CLOSED;
    }
    if (bytes == 0)
        return PROGRESS_MORE;
    if (memcmp(&client, &nobody, sizeof client) != 0)
        conn->address = rate_limit_address(&client);
    if (!entrance_admit(&protocol->context, conn)) {
        entrance_refuse(&protocol->context, conn);
        return PROGRESS_CLOSED;
    }
    context_await(&protocol->context, conn);
    *used = (size_t)bytes;
    return PROGRESS_DONE;
}

/* The time-out of an incomplete head runs from its first byte. */
static void await_head(struct protocol *protocol, struct conn *conn)
{
    if (conn->time != CONN_TIME_HEAD)
        conn_time_start(&protocol->context.conns, conn, CONN_TIME_HEAD, protocol->context.now_ns);
}

size_t parser_run(struct protocol *protocol, struct conn *conn, char *text, size_t *count)
{
    size_t used = 0;
    conn->blocked = false;
    while (used < *count) {
        enum progress progress;
        size_t left = *count - used;
        size_t request_bytes = 0;
        if (conn->phase == CONN_HEAD && conn->last) /* the last answer says close */
            return *count;
        if (conn->phase == CONN_HANDSHAKE) /* not HTTP yet: the transport takes it from the input */
            break;
        if (!may_accept(protocol, conn)) {
            conn->blocked = true;
            break;
        }
        if (conn->phase == CONN_STREAM) {
            if (conn->turns <= 0) {
                conn_queue_push(&protocol->context.conns, CONN_READY, conn);
                conn->blocked = true;
                break;
            }
            size_t read = stream_socket_receive(conn->stream, text + used, left);
            conn->blocked = read == 0;
            if (read == 0)
                break;
            protocol->budget--;
            conn->turns--;
            used += read;
            /* A peer that accepts none of its bytes is deaf, however much it says. */
            if (conn_unsent_since_ns(&protocol->context.outputs, conn) == UINT64_MAX)
                conn_time_start(&protocol->context.conns, conn, CONN_TIME_IDLE,
                                protocol->context.now_ns);
            continue;
        }
        if (conn->phase == CONN_PROXY) {
            progress = read_proxy_header(protocol, conn, text + used, left, &request_bytes);
            if (progress == PROGRESS_CLOSED)
                return *count;
            if (progress == PROGRESS_MORE) {
                await_head(protocol, conn);
                break;
            }
            used += request_bytes;
            continue;
        }
        if (conn->phase == CONN_HEAD) {
            progress = read_head(protocol, conn, text + used, left);
            if (progress == PROGRESS_CLOSED)
                return *count;
            if (progress == PROGRESS_MORE) {
                await_head(protocol, conn);
                break;
            }
            conn_time_start(&protocol->context.conns, conn, CONN_TIME_BODY,
                            protocol->context.now_ns);
        }
        progress = read_body(protocol, conn, text + used, &left, &request_bytes);
        *count = used + left;
        if (progress == PROGRESS_CLOSED)
            return *count;
        if (progress == PROGRESS_BLOCKED)
            conn->blocked = true;
        if (progress != PROGRESS_DONE)
            break;
        used += request_bytes;
        conn_time_start(&protocol->context.conns, conn, CONN_TIME_IDLE, protocol->context.now_ns);
    }
    return used;
}
