#include "net/response/response.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "base/base64.h"
#include "base/region.h"
#include "crypto/secret.h"
#include "net/json/ack.h"
#include "net/json/asyncapi.h"
#include "net/json/json_head.h"
#include "net/json/json_info.h"
#include "net/json/json_latency.h"
#include "net/json/json_pairing.h"
#include "net/json/json_problem.h"
#include "net/json/json_typed_data.h"
#include "net/json/openapi.h"
#include "net/request/leadership.h"
#include "net/request/payload_report.h"
#include "net/request/plain_body.h"
#include "net/request/preview_body.h"
#include "net/response/admin.h"
#include "net/response/cors.h"
#include "net/response/reply_problem.h"
#include "net/response/standing.h"

enum { HEAD_MAX = 2048, NO_SEQUENCE = 0, LEADER_RETRY_MS = 1000 };

enum media { MEDIA_JSON, MEDIA_OCTETS, MEDIA_PROBLEM, MEDIA_METRICS };

static const char *const media_names[] = {
    [MEDIA_JSON] = "application/json",
    [MEDIA_OCTETS] = "application/octet-stream",
    [MEDIA_PROBLEM] = "application/problem+json",
    [MEDIA_METRICS] = "text/plain; version=0.0.4; charset=utf-8",
};

/* Everything around a body. */
struct frame {
    uint32_t http_status;
    enum media media;
    bool has_sequence;
    uint64_t sequence;
    uint64_t retry_after_ms;          /* 0: none */
    const struct asset_choice *asset; /* a file of the console; NULL: none */
    uint16_t port;                    /* 307: where the page is on localhost */
    const char *leader;               /* of a not_leader; NULL: none */
};

int response_writer_init(struct response_writer *responses, struct context *context)
{
    *responses = (struct response_writer){ .context = context, .date_second = UINT64_MAX };
    void *memory = region_map(REGION_output, RESPONSE_SCRATCH_BYTES);
    if (memory == NULL)
        return -ENOMEM;
    responses->scratch = memory;
    return shared_text_init(&responses->texts);
}

void response_writer_free(struct response_writer *responses)
{
    if (responses->scratch != NULL)
        region_unmap(responses->scratch, RESPONSE_SCRATCH_BYTES);
    responses->scratch = NULL;
    shared_text_free(&responses->texts);
}

static const char *date_text(struct response_writer *responses)
{
    static const char days[] = "SunMonTueWedThuFriSat";
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    uint64_t second = responses->context->unix_ns / UINT64_C(1000000000);
    if (second == responses->date_second)
        return responses->date;
    struct tm tm;
    time_t time = (time_t)second;
    INVARIANT(gmtime_r(&time, &tm) != NULL);
    unsigned year = (unsigned)tm.tm_year + 1900;
    char *at = responses->date;
    memcpy(at, days + 3 * tm.tm_wday, 3);
    memcpy(at + 3, ", 00 ", 5);
    at[5] = (char)('0' + tm.tm_mday / 10);
    at[6] = (char)('0' + tm.tm_mday % 10);
    memcpy(at + 8, months + 3 * tm.tm_mon, 3);
    memcpy(at + 11, " 0000 00:00:00 GMT", 18);
    at[12] = (char)('0' + year / 1000 % 10);
    at[13] = (char)('0' + year / 100 % 10);
    at[14] = (char)('0' + year / 10 % 10);
    at[15] = (char)('0' + year % 10);
    at[17] = (char)('0' + tm.tm_hour / 10);
    at[18] = (char)('0' + tm.tm_hour % 10);
    at[20] = (char)('0' + tm.tm_min / 10);
    at[21] = (char)('0' + tm.tm_min % 10);
    at[23] = (char)('0' + tm.tm_sec / 10);
    at[24] = (char)('0' + tm.tm_sec % 10);
    at[RESPONSE_DATE_BYTES] = '\0';
    responses->date_second = second;
    return responses->date;
}

static struct ack_stages stages_of(const struct context *context, const struct pending *pending)
{
    const struct answer *answer = &pending->answer;
    return (struct ack_stages){
        .verified_ns = clock_ticks_to_ns(context->metrics.rate, answer->verified_ticks),
        .sequenced_ns = clock_ticks_to_ns(context->metrics.rate, answer->sequenced_ticks),
        .matched_ns = clock_ticks_to_ns(context->metrics.rate, answer->matched_ticks),
        .ack_ns = clock_ticks_to_ns(context->metrics.rate, clock_ticks() - pending->received_ticks),
    };
}

/* W7: the device key of a login as a cookie, for pages of this origin. */
static void write_cookie(struct writer *head, const struct context *context,
                         const struct pending *pending)
{
    const struct answer *answer = pending_answer(&context->pendings, pending);
    char text[BASE64_TEXT_BYTES(SECRET_BYTES) + 1];
    if (answer->code != REQUEST_login || !ack_shows_secret(answer))
        return;
    size_t count = base64_encode(text, pending_secret(&context->pendings, pending), SECRET_BYTES);
    WRITER_TEXT(head, "\r\nSet-Cookie: device_key=");
    writer_bytes(head, text, count);
    WRITER_TEXT(head, "; HttpOnly; Secure; SameSite=Strict");
    secret_wipe(text, sizeof text);
}

/* One part of Server-Timing: milliseconds with six decimals. */
static void write_duration(struct writer *head, const char *name, uint64_t duration_ns)
{
    char decimals[] = ".000000";
    uint64_t rest = duration_ns % 1000000;
    for (size_t i = sizeof decimals - 2; i > 0; i--, rest /= 10)
        decimals[i] = (char)('0' + rest % 10);
    writer_text(head, name);
    WRITER_TEXT(head, ";dur=");
    writer_uint(head, duration_ns / 1000000);
    writer_text(head, decimals);
}

/* Offsets from the time at which the request was received, as timing_ns of J4 has them. */
static void write_timing(struct writer *head, const struct context *context,
                         const struct pending *pending)
{
    WRITER_TEXT(head, "\r\nServer-Timing: ");
    if (pending->kind == PENDING_WRITE && pending->answer.matched_ticks != 0) {
        struct ack_stages stages = stages_of(context, pending);
        write_duration(head, "verified", stages.verified_ns);
        write_duration(head, ", sequenced", stages.sequenced_ns);
        write_duration(head, ", matched", stages.matched_ns);
        WRITER_TEXT(head, ", ");
    }
    write_duration(
        head, "total",
        clock_ticks_to_ns(context->metrics.rate, clock_ticks() - pending->received_ticks));
}

/* The page under the name whose passkeys it may use. */
static void write_location(struct writer *head, const struct net_config *config, uint16_t port)
{
    WRITER_TEXT(head, "\r\nLocation: ");
    writer_text(head, config->tls != NULL ? "https" : "http");
    WRITER_TEXT(head, "://localhost:");
    writer_uint(head, port);
    WRITER_TEXT(head, "/");
}

/* The bucket that the request was charged to, as it was then (W8). */
static void write_rate(struct writer *head, const struct client_rate_state *rate)
{
    WRITER_TEXT(head, "\r\nRateLimit-Limit: ");
    writer_uint(head, rate->limit);
    WRITER_TEXT(head, "\r\nRateLimit-Remaining: ");
    writer_uint(head, rate->remaining);
    WRITER_TEXT(head, "\r\nRateLimit-Reset: ");
    writer_uint(head, rate->reset_s);
}

static void write_head(struct response_writer *responses, struct writer *head,
                       const struct pending *pending, const struct frame *frame, size_t body_bytes)
{
    const struct net_source *source = &responses->context->config->source;
    WRITER_TEXT(head, "HTTP/1.1 ");
    writer_uint(head, frame->http_status);
    WRITER_TEXT(head, " ");
    writer_text(head, problem_http_title(frame->http_status));
    if (frame->http_status != 204 && frame->http_status != 304) { /* which have no body */
        WRITER_TEXT(head, "\r\nContent-Type: ");
        writer_text(head, frame->asset != NULL ? asset_table[frame->asset->number].media
                                               : media_names[frame->media]);
        WRITER_TEXT(head, "\r\nContent-Length: ");
        writer_uint(head, body_bytes);
    }
    if (frame->asset == NULL && frame->http_status != 307) /* console.md, A4: may hold secrets */
        WRITER_TEXT(head, "\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff");
    WRITER_TEXT(head, "\r\nDate: ");
    writer_bytes(head, date_text(responses), RESPONSE_DATE_BYTES);
    WRITER_TEXT(head, "\r\nX-Sequence: ");
    writer_uint(head, frame->has_sequence ? frame->sequence : source->durable(source->context));
    WRITER_TEXT(head, "\r\nX-Server-Time-Ns: ");
    writer_uint(head, responses->context->unix_ns);
    standing_write(head, source, frame->leader);
    if (pending->origin != ORIGIN_NONE)
        cors_write(head, &responses->context->config->origins, pending);
    if (pending->asks_timing)
        write_timing(head, responses->context, pending);
    if (pending->has_secret && pending->sets_cookie)
        write_cookie(head, responses->context, pending);
    if (frame->asset != NULL)
        asset_write_head(head, frame->asset, responses->context->config->tls != NULL);
    if (frame->http_status == 307)
        write_location(head, responses->context->config, frame->port);
    if (pending->rate.limit != 0)
        write_rate(head, &pending->rate);
    if (frame->retry_after_ms != 0) {
        WRITER_TEXT(head, "\r\nRetry-After: ");
        writer_uint(head, (frame->retry_after_ms + 999) / 1000);
    }
    if (pending->allow != NULL) {
        WRITER_TEXT(head, "\r\nAllow: ");
        writer_text(head, pending->allow);
    }
    if (pending->last)
        WRITER_TEXT(head, "\r\nConnection: close");
    else if (pending->minor == 0)
        WRITER_TEXT(head, "\r\nConnection: keep-alive");
    WRITER_TEXT(head, "\r\n\r\n");
}

static void write_problem(struct writer *writer, const struct problem_detail *problem,
                          struct frame *frame)
{
    frame->http_status = problem_http_status(problem->code);
    frame->media = MEDIA_PROBLEM;
    if (problem->code == PROBLEM_rate_limited)
        frame->retry_after_ms = problem->number;
    else if (problem->code == PROBLEM_not_leader)
        frame->leader = problem->member;
    else if (problem->member == leadership_awaited || problem->code == PROBLEM_outcome_unknown)
        frame->retry_after_ms = LEADER_RETRY_MS;
    json_problem(writer, problem);
}

/* The write is done and only its answer failed: the client must not send it again. */
static void say_done(struct problem_detail *problem)
{
    char detail[PROBLEM_DETAIL_TEXT_MAX];
    (void)snprintf(detail, sizeof detail, "the request is done, its answer cannot be shown: %.90s",
                   problem->detail);
    memcpy(problem->detail, detail, sizeof detail);
}

/* GET /limits with a key: the follower brings the slots, the buckets are here. */
static void write_limits(struct context *context, struct writer *writer,
                         const struct pending *pending)
{
    struct row_account account;
    memcpy(&account, reply_pool_at(context->config->reply_pool, pending->reply.buffer),
           sizeof account);
    const struct json_info_caller caller = { conn_at(&context->conns, pending->conn)->address,
                                             pending->caller.bytes, &account };
    json_info_limits(context->config, &caller, context->now_ns, writer);
}

static void write_reply(struct response_writer *responses, struct writer *writer,
                        const struct pending *pending, struct frame *frame)
{
    struct context *context = responses->context;
    const struct reply *reply = &pending->reply;
    frame->has_sequence = true;
    frame->sequence = reply->applied;
    if (reply->problem != PROBLEM_none) {
        struct problem_detail problem;
        reply_problem(&problem, reply);
        if (pending->wrote)
            say_done(&problem);
        write_problem(writer, &problem, frame);
        return;
    }
    INVARIANT(reply->buffer < REPLY_BUFFERS && reply->row_bytes <= REPLY_BUFFER_BYTES);
    if (reply->kind == QUERY_pairing_open) {
        const struct body *token = body_pool_at(&context->bodies, pending->payload);
        frame->http_status = 201;
        json_pairing_opened(writer, reply_pool_at(context->config->reply_pool, reply->buffer),
                            (const uint8_t *)token->text);
        return;
    }
    if (reply->kind == QUERY_limits)
        write_limits(context, writer, pending);
    else
        shared_text_reply(&responses->texts, writer, reply,
                          reply_pool_at(context->config->reply_pool, reply->buffer));
}

/* The typed data of a payload that the client shows before it signs. */
static void write_preview(struct context *context, struct writer *writer, const struct body *body,
                          struct frame *frame)
{
    uint8_t payload[REQUEST_PAYLOAD_MAX];
    struct eip712_hashes hashes;
    struct problem_detail problem;
    size_t count = 0;
    if (!preview_body_read(&context->eip712, body->text, body->count, payload, &count, &hashes,
                           &problem)) {
        context->metrics.counters.problems++;
        write_problem(writer, &problem, frame);
        return;
    }
    json_typed_data_preview(context, payload, count, &hashes, writer);
}

static void write_report(struct context *context, struct writer *writer,
                         const struct pending_local *local)
{
    const struct body *body = body_pool_at(&context->bodies, local->body);
    payload_report_write(context, body->text, body->count, local->octets, &local->finding, writer);
}

static void write_file(struct writer *writer, const struct pending_local *local,
                       struct frame *frame)
{
    struct asset_body body = asset_body(&local->asset);
    if (local->elsewhere) {
        frame->http_status = 307;
        frame->port = local->port;
        return;
    }
    if (local->asset.is_known)
        frame->http_status = 304;
    frame->asset = &local->asset;
    if (body.count > 0)
        writer_bytes(writer, body.bytes, body.count);
}

static void write_local(struct response_writer *responses, struct writer *writer,
                        const struct pending_local *local, struct frame *frame)
{
    struct context *context = responses->context;
    struct net_facts facts = { 0 };
    switch ((enum route_kind)local->kind) {
    case ROUTE_OPTIONS:
        frame->http_status = 204;
        return;
    case ROUTE_LIVEZ:
        admin_livez(writer);
        return;
    case ROUTE_READYZ:
        frame->http_status = admin_readyz(context, writer);
        return;
    case ROUTE_METRICS:
        frame->media = MEDIA_METRICS;
        admin_metrics(context, writer);
        return;
    case ROUTE_CLUSTER:
        admin_cluster(context, writer);
        break;
    case ROUTE_HANDOVER:
        admin_handover(writer, local->node);
        break;
    case ROUTE_MAINTENANCE:
        admin_maintenance(writer, local->at_ns);
        break;
    case ROUTE_TIME:
        json_info_time(context->unix_ns, writer);
        break;
    case ROUTE_STATUS:
        context->config->source.facts(context->config->source.context, &facts);
        json_info_status(&facts, context->config->heads, context->draining, writer);
        break;
    case ROUTE_EXCHANGE:
        shared_text_exchange(&responses->texts, writer, context->config);
        break;
    case ROUTE_LATENCY:
        json_latency(&context->metrics, context->config->since_ns, writer);
        break;
    case ROUTE_LIMITS:
        json_info_limits(context->config, &(struct json_info_caller){ .address = local->address },
                         context->now_ns, writer);
        break;
    case ROUTE_OPENAPI:
        writer_bytes(writer, openapi_text, openapi_bytes);
        break;
    case ROUTE_ASYNCAPI:
        writer_bytes(writer, asyncapi_text, asyncapi_bytes);
        break;
    case ROUTE_PREVIEW:
        write_preview(context, writer, body_pool_at(&context->bodies, local->body), frame);
        break;
    case ROUTE_DEBUG:
        write_report(context, writer, local);
        break;
    case ROUTE_PAGE:
    case ROUTE_FILE:
        write_file(writer, local, frame);
        break;
    default:
        INVARIANT(local->kind == ROUTE_EIP712);
        shared_text_types(&responses->texts, writer, context->config, local->code);
        break;
    }
}

/* The outcome of a plain JSON write, with its sequence if it has one. */
static void write_plain(struct context *context, struct writer *writer,
                        const struct pending *pending, struct frame *frame)
{
    struct problem_detail problem;
    frame->has_sequence = pending->answer.sequence != 0;
    frame->sequence = pending->answer.sequence;
    if (plain_body_succeeded(&pending->answer, pending->by_device, &problem)) {
        plain_body_write(writer, pending->answer.code, &pending->plain);
        return;
    }
    context->metrics.counters.problems++;
    write_problem(writer, &problem, frame);
}

/* W6: what a logout ended. One that was not executed is a problem, for its answer has no status. */
static void write_logout(struct context *context, struct writer *writer,
                         const struct pending *pending, struct frame *frame)
{
    enum status status = (enum status)pending->answer.status;
    struct problem_detail problem;
    if (status == STATUS_rejected_rate_limited) {
        (void)problem_detail_set_number(&problem, PROBLEM_rate_limited,
                                        pending->answer.retry_after_ms,
                                        "the account has used up its writes (limits.write_rate)");
    } else if (status == STATUS_request_dropped || status == STATUS_retry_required) {
        (void)problem_detail_set(&problem, PROBLEM_not_ready, NULL,
                                 "nothing was executed; send the same request again");
    } else {
        ack_write_logout(writer, &pending->answer);
        return;
    }
    context->metrics.counters.problems++;
    write_problem(writer, &problem, frame);
}

void response_write_op(const struct context *context, struct writer *writer,
                       const struct pending *pending)
{
    const uint8_t *secret = NULL;
    bool is_full = !pending->is_kept && pending->ack_form == ACK_FULL;
    struct ack_stages stages = { 0 };
    if (CC_UNLIKELY(is_full))
        stages = stages_of(context, pending);
    if (pending->has_secret)
        secret = pending_secret(&context->pendings, pending);
    ack_write(writer, pending_answer(&context->pendings, pending), secret,
              is_full ? &stages : NULL);
}

void response_write_binary(const struct context *context, struct writer *writer,
                           const struct pending *pending)
{
    const struct ack_stages stages = stages_of(context, pending);
    ack_write_binary(writer, &pending->answer, pending->request_id, &stages);
}

/* X-Ack: receipt. What could not be made now is null: GET says why. */
static void write_with_receipt(const struct context *context, struct writer *writer,
                               const struct pending *pending)
{
    bool has_one = pending->kind == PENDING_READ && pending->reply.problem == PROBLEM_none;
    const uint8_t *bytes = NULL;
    if (has_one)
        bytes = reply_pool_at(context->config->reply_pool, pending->reply.buffer);
    response_write_op(context, writer, pending);
    json_head_add_receipt(writer, bytes, has_one ? pending->reply.row_bytes : 0);
}

static void write_ack(struct context *context, struct writer *writer, const struct pending *pending,
                      struct frame *frame)
{
    enum answer_style style = request_find(pending->answer.code)->answer;
    if (style == ANSWER_HTTP) {
        write_plain(context, writer, pending, frame);
    } else if (pending->is_logout) {
        write_logout(context, writer, pending, frame);
    } else if (CC_UNLIKELY(pending->ack_form == ACK_RECEIPT)) {
        write_with_receipt(context, writer, pending);
    } else if (CC_LIKELY(pending->ack_form != ACK_BINARY) || style == ANSWER_SUCCESS) {
        response_write_op(context, writer, pending);
    } else {
        frame->media = MEDIA_OCTETS;
        response_write_binary(context, writer, pending);
    }
}

static void write_body(struct response_writer *responses, struct writer *writer,
                       struct pending *pending, struct frame *frame)
{
    struct context *context = responses->context;
    if (CC_UNLIKELY(pending->is_kept)) {
        write_with_receipt(context, writer, pending);
        return;
    }
    switch ((enum pending_kind)pending->kind) {
    case PENDING_WRITE:
        write_ack(context, writer, pending, frame);
        return;
    case PENDING_READ:
        write_reply(responses, writer, pending, frame);
        return;
    case PENDING_LOCAL:
        write_local(responses, writer, &pending->local, frame);
        return;
    case PENDING_PROBLEM:
        if (pending->wrote)
            say_done(&pending->problem);
        context->metrics.counters.problems++;
        write_problem(writer, &pending->problem, frame);
        return;
    }
}

bool response_write(struct response_writer *responses, struct conn *conn, struct pending *pending)
{
    struct context *context = responses->context;
    char head_text[HEAD_MAX];
    struct writer head = writer_begin(head_text, sizeof head_text);
    struct writer body = writer_begin(responses->scratch, RESPONSE_SCRATCH_BYTES);
    struct frame frame = { .http_status = 200, .media = MEDIA_JSON };
    write_body(responses, &body, pending, &frame);
    if (CC_UNLIKELY(body.full)) { /* no answer of a bounded engine is that long */
        struct problem_detail problem;
        (void)problem_detail_set(&problem, PROBLEM_internal_error, NULL, "the answer is too long");
        body = writer_begin(responses->scratch, RESPONSE_SCRATCH_BYTES);
        write_problem(&body, &problem, &frame);
    }
    write_head(responses, &head, pending, &frame, writer_count(&body));
    INVARIANT(!head.full);
    size_t body_bytes = pending->no_body ? 0 : writer_count(&body);
    size_t total = writer_count(&head) + body_bytes;
    if (total > OUTPUT_CONNECTION_MAX - conn->output.bytes) {
        conn->broken = true;
        context_mark_dirty(context, conn);
        return false;
    }
    if (!output_fits(&context->outputs, &conn->output, total))
        return false;
    output_append(&context->outputs, &conn->output, head_text, writer_count(&head),
                  context->now_ns);
    if (body_bytes > 0)
        output_append(&context->outputs, &conn->output, responses->scratch, body_bytes,
                      context->now_ns);
    if (pending->has_secret) {
        output_mark_secret(&context->outputs, &conn->output, total);
        secret_wipe(responses->scratch, writer_count(&body));
        secret_wipe(head_text, writer_count(&head));
    }
    context->metrics.counters.responses++;
    responses->written += total;
    if (responses->sent_count < RESPONSE_SENT_MAX)
        responses->sent_ticks[responses->sent_count++] = pending->received_ticks;
    return true;
}

bool response_write_continue(struct response_writer *responses, struct conn *conn)
{
    static const char text[] = "HTTP/1.1 100 Continue\r\n\r\n";
    struct context *context = responses->context;
    if (!output_fits(&context->outputs, &conn->output, sizeof text - 1))
        return false;
    output_append(&context->outputs, &conn->output, text, sizeof text - 1, context->now_ns);
    return true;
}

void response_mark_sent(struct response_writer *responses)
{
    uint64_t now = clock_ticks();
    for (uint32_t i = 0; i < responses->sent_count; i++)
        net_metrics_stamp(&responses->context->metrics, NET_STAGE_sent,
                          now - responses->sent_ticks[i]);
    responses->sent_count = 0;
}
