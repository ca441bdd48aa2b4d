#include "net/stream/stream_op.h"

#include "base/json_scan.h"
#include "net/json/json_field.h"
#include "net/json/json_problem.h"
#include "net/stream/stream.h"
#include "net/stream/stream_feed.h"

enum { OP, ID, CHANNEL, MARKET, MEMBERS };

enum { SNAPSHOT_TRADES = 50 /* J9 */ };

/* A message, read. */
struct op {
    struct json_member members[MEMBERS];
    bool has_id;
    int64_t id;
    char market[SYMBOL_BYTES]; /* zero-padded; of a channel of a market */
};

static const char *const op_names[] = { "subscribe", "unsubscribe", "ping" };

enum op_kind { OP_SUBSCRIBE, OP_UNSUBSCRIBE, OP_PING, OP_KINDS };

static bool equals(const struct json_member *member, const char *text)
{
    return member->kind == JSON_STRING && json_scan_equal(&member->value, text, strlen(text));
}

/* ---- answers --------------------------------------------------------------------------------- */

/* {"op":"..","id":..: the answer's beginning. */
static struct writer begin_answer(struct stream *stream, const char *op, bool has_id, int64_t id)
{
    struct writer writer = stream_text(stream->owner);
    if (op == NULL)
        WRITER_TEXT(&writer, "{\"op\":null");
    else {
        WRITER_TEXT(&writer, "{\"op\":\"");
        writer_text(&writer, op);
        WRITER_TEXT(&writer, "\"");
    }
    if (has_id) {
        WRITER_TEXT(&writer, ",\"id\":");
        writer_int(&writer, id);
    }
    return writer;
}

static struct writer problem_answer(struct stream *stream, const char *op, bool has_id, int64_t id,
                                    const struct problem_detail *problem)
{
    struct writer writer = begin_answer(stream, op, has_id, id);
    WRITER_TEXT(&writer, ",\"problem\":");
    json_problem(&writer, problem);
    WRITER_TEXT(&writer, "}");
    stream->owner->pipeline->context->metrics.counters.problems++;
    return writer;
}

static void refuse(struct stream *stream, const char *name, const struct op *op,
                   const struct problem_detail *problem)
{
    struct writer writer = problem_answer(stream, name, op->has_id, op->id, problem);
    stream_answer(stream, &writer);
}

static void write_channel(struct writer *writer, const char *market)
{
    if (market == NULL) {
        WRITER_TEXT(writer, ",\"channel\":\"status\"");
        return;
    }
    WRITER_TEXT(writer, ",\"channel\":\"trades\",\"market\":");
    json_field_padded(writer, market, SYMBOL_BYTES);
}

static void write_subscribed(struct stream *stream, struct writer *writer, const char *market)
{
    write_channel(writer, market);
    JSON_FIELD_UINT(writer, "epoch", stream->owner->pipeline->context->config->epoch);
    WRITER_TEXT(writer, "}");
}

/* ---- subscriptions --------------------------------------------------------------------------- */

static bool may_subscribe(const struct stream *stream, struct problem_detail *problem)
{
    uint32_t most = stream->owner->pipeline->context->config->stream_subscriptions;
    if (stream->trades_count + stream->has_status < most)
        return true;
    return problem_detail_set(problem, PROBLEM_invalid_parameter, "channel",
                              "a connection has at most %u subscriptions", most);
}

/* Asks the follower for the newest trades; what happens from now on may follow them. */
static void ask(struct stream *stream, const struct op *op, struct stream_trades *trades)
{
    struct pipeline *pipeline = stream->owner->pipeline;
    struct context *context = pipeline->context;
    struct pending *pending =
        pending_add(&context->pendings, stream->conn, PENDING_READ, PENDING_HELD);
    pending->query = (struct query){
        .kind = QUERY_trades,
        .limit = SNAPSHOT_TRADES,
        .pin = -1,
        .received_ticks = stream->conn->received_ticks,
    };
    memcpy(pending->query.market, trades->market, sizeof pending->query.market);
    pending->payload = BODY_NONE;
    pending->caller.kind = 0;
    trades->live = false;
    stream->awaits = true;
    stream->has_id = op->has_id;
    stream->id = op->id;
    stream->from = event_log_count(context->config->events);
    pipeline_advance(pipeline, stream->conn);
}

static void subscribe_trades(struct stream *stream, const struct op *op, uint16_t asset_id)
{
    struct problem_detail problem;
    struct stream_trades *trades = stream_find_trades(stream, asset_id);
    if (trades == NULL) {
        if (!may_subscribe(stream, &problem)) {
            refuse(stream, op_names[OP_SUBSCRIBE], op, &problem);
            return;
        }
        INVARIANT(stream->trades_count < SYMBOLS_MAX);
        trades = &stream->trades[stream->trades_count++];
        *trades = (struct stream_trades){ .asset_id = asset_id };
        memcpy(trades->market, op->market, sizeof trades->market);
    }
    /* It is the last: the awaited snapshot is of the last. */
    struct stream_trades asked = *trades;
    *trades = stream->trades[stream->trades_count - 1];
    stream->trades[stream->trades_count - 1] = asked;
    ask(stream, op, &stream->trades[stream->trades_count - 1]);
}

static void subscribe_status(struct stream *stream, const struct op *op)
{
    struct problem_detail problem;
    if (!stream->has_status && !may_subscribe(stream, &problem)) {
        refuse(stream, op_names[OP_SUBSCRIBE], op, &problem);
        return;
    }
    stream->owner->status_count += !stream->has_status;
    stream->has_status = true;
    struct writer writer = begin_answer(stream, op_names[OP_SUBSCRIBE], op->has_id, op->id);
    write_subscribed(stream, &writer, NULL);
    stream_answer(stream, &writer);
    stream_feed_status(stream);
}

static void unsubscribe(struct stream *stream, const struct op *op, uint16_t asset_id)
{
    struct writer writer = begin_answer(stream, op_names[OP_UNSUBSCRIBE], op->has_id, op->id);
    if (asset_id == SYMBOL_NONE) {
        stream->owner->status_count -= stream->has_status;
        stream->has_status = false;
        write_channel(&writer, NULL);
    } else {
        struct stream_trades *trades = stream_find_trades(stream, asset_id);
        if (trades != NULL)
            *trades = stream->trades[--stream->trades_count];
        write_channel(&writer, op->market);
    }
    WRITER_TEXT(&writer, "}");
    stream_answer(stream, &writer);
}

/* Reads channel and market; SYMBOL_NONE for the status. */
static bool read_channel(const struct stream *stream, struct op *op, uint16_t *asset_id,
                         struct problem_detail *problem)
{
    const struct net_config *config = stream->owner->pipeline->context->config;
    const struct json_member *market = &op->members[MARKET];
    ptrdiff_t count = -1;
    *asset_id = SYMBOL_NONE;
    if (!config->source.ready(config->source.context))
        return problem_detail_set(problem, PROBLEM_not_ready, NULL, "the service is recovering");
    if (equals(&op->members[CHANNEL], "status"))
        return true;
    if (!equals(&op->members[CHANNEL], "trades"))
        return problem_detail_set(problem, PROBLEM_invalid_parameter, "channel",
                                  "channel is trades or status");
    if (market->kind == JSON_STRING)
        count = json_scan_unescape(&market->value, op->market, sizeof op->market);
    if (count > 0)
        *asset_id = symbols_find(config->symbols, op->market, (size_t)count);
    return *asset_id != SYMBOL_NONE || problem_detail_set(problem, PROBLEM_invalid_parameter,
                                                          "market", "market names no market");
}

/* ---- messages -------------------------------------------------------------------------------- */

static void run(struct stream *stream, enum op_kind kind, struct op *op)
{
    struct problem_detail problem;
    uint16_t asset_id = SYMBOL_NONE;
    if (kind == OP_PING) {
        struct writer writer = begin_answer(stream, op_names[kind], op->has_id, op->id);
        JSON_FIELD_UINT(&writer, "time_ns", stream->owner->pipeline->context->unix_ns);
        WRITER_TEXT(&writer, "}");
        stream_answer(stream, &writer);
    } else if (!read_channel(stream, op, &asset_id, &problem)) {
        refuse(stream, op_names[kind], op, &problem);
    } else if (kind == OP_UNSUBSCRIBE) {
        unsubscribe(stream, op, asset_id);
    } else if (asset_id == SYMBOL_NONE) {
        subscribe_status(stream, op);
    } else {
        subscribe_trades(stream, op, asset_id);
    }
}

void stream_op_run(struct stream *stream, const char *text, size_t count)
{
    struct op op = { .members = { JSON_MEMBER("op"), JSON_MEMBER("id"), JSON_MEMBER("channel"),
                                  JSON_MEMBER("market") } };
    struct problem_detail problem;
    enum json_error error = json_scan_members(text, count, op.members, MEMBERS, NULL);
    unsigned kind = 0;
    if (error != JSON_OK) {
        (void)problem_detail_set(&problem, PROBLEM_malformed_json, NULL, "%s",
                                 json_scan_error_text(error));
        refuse(stream, NULL, &op, &problem);
        return;
    }
    const struct json_member *id = &op.members[ID];
    op.has_id = id->kind == JSON_NUMBER && json_scan_int64(&id->value, &op.id);
    while (kind < OP_KINDS && !equals(&op.members[OP], op_names[kind]))
        kind++;
    const char *name = kind < OP_KINDS ? op_names[kind] : NULL;
    if (id->kind != JSON_NONE && !op.has_id) {
        (void)problem_detail_set(&problem, PROBLEM_invalid_parameter, "id", "id is not an integer");
        refuse(stream, name, &op, &problem);
    } else if (name == NULL) {
        (void)problem_detail_set(&problem, PROBLEM_invalid_parameter, "op",
                                 "op is subscribe, unsubscribe or ping");
        refuse(stream, name, &op, &problem);
    } else {
        run(stream, (enum op_kind)kind, &op);
    }
}

/* ---- snapshots ------------------------------------------------------------------------------- */

/* The two frames of a snapshot that has come; false without room. */
static bool show(struct stream *stream, const struct reply *reply, const uint8_t *rows)
{
    struct stream_trades *trades = &stream->trades[stream->trades_count - 1];
    struct context *context = stream->owner->pipeline->context;
    struct row_trades market;
    if (!output_fits(&context->outputs, &stream->conn->output, STREAM_TEXT_MAX))
        return false;
    struct writer writer = begin_answer(stream, op_names[OP_SUBSCRIBE], stream->has_id, stream->id);
    write_subscribed(stream, &writer, trades->market);
    stream_answer(stream, &writer);
    memcpy(&market, rows, sizeof market);
    trades->seq = market.book_seq;
    trades->live = true;
    stream_feed_trades(stream, trades, reply, rows);
    return true;
}

bool stream_op_shown(struct stream *stream)
{
    struct pipeline *pipeline = stream->owner->pipeline;
    struct context *context = pipeline->context;
    const struct pending *pending = pending_at(&context->pendings, stream->conn->pending_head);
    struct problem_detail problem = { 0 };
    if (pending->kind == PENDING_PROBLEM)
        problem = pending->problem;
    else if (pending->reply.problem != PROBLEM_none)
        (void)problem_detail_set(&problem, (enum problem)pending->reply.problem, "market",
                                 "the snapshot cannot be read at the moment");
    if (stream->ended) {
        /* Nobody reads it. */
    } else if (problem.code != PROBLEM_none) {
        struct writer writer =
            problem_answer(stream, op_names[OP_SUBSCRIBE], stream->has_id, stream->id, &problem);
        if (!stream_send(stream, &writer))
            return false;
        stream->trades_count--;
    } else if (!show(stream, &pending->reply,
                     reply_pool_at(context->config->reply_pool, pending->reply.buffer))) {
        return false;
    }
    pipeline_remove_first(pipeline, stream->conn);
    stream->awaits = false;
    stream->conn->blocked = true;
    conn_queue_push(&context->conns, CONN_READY, stream->conn);
    return true;
}
