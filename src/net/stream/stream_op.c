#include "net/stream/stream_op.h"

#include "base/json_scan.h"
#include "crypto/secret.h"
#include "net/json/json_candle.h"
#include "net/json/json_field.h"
#include "net/request/api_caller.h"
#include "net/request/charge.h"
#include "net/stream/stream.h"
#include "net/stream/stream_awaited.h"
#include "net/stream/stream_binary.h"
#include "net/stream/stream_feed.h"
#include "net/stream/stream_orders.h"
#include "net/stream/stream_private.h"
#include "net/stream/stream_reply.h"
#include "net/stream/stream_resume.h"
#include "net/stream/stream_subs.h"
#include "net/stream/stream_view.h"
#include "net/stream/stream_write.h"

enum {
    OP,
    ID,
    CHANNEL,
    MARKET,
    DEPTH,
    INTERVAL,
    FROM_SEQ,
    API_KEY,
    DEVICE_KEY,
    ACK,
    ARM_ID,
    SUBACCOUNT,
    ENABLED,
    GRACE_MS,
    MEMBERS
};

enum {
    SNAPSHOT_TRADES = 50, /* J9 */
    DEPTH_DEFAULT = 2,    /* in book_board_depths */
    KEY_TEXT_MAX = 64,    /* bytes of a secret in Base64 */
};

/* A message, read. */
struct op {
    struct json_member members[MEMBERS];
    bool has_id;
    int64_t id;
    unsigned channel;          /* enum stream_channel */
    uint64_t from_seq;         /* of a resume */
    unsigned depth_index;      /* of a book, in book_board_depths; 0: bbo */
    uint16_t asset_id;         /* as the next, of a channel of a market */
    char market[SYMBOL_BYTES]; /* zero-padded */
};

static const char *const op_names[] = { "subscribe", "unsubscribe",          "resume", "login",
                                        "signed",    "cancel_on_disconnect", "ping" };

enum op_kind {
    OP_SUBSCRIBE,
    OP_UNSUBSCRIBE,
    OP_RESUME,
    OP_LOGIN,
    OP_SIGNED,
    OP_ARM,
    OP_PING,
    OP_KINDS
};

static bool equals(const struct json_member *member, const char *text)
{
    return member->kind == JSON_STRING && json_scan_equal(&member->value, text, strlen(text));
}

/* ---- answers --------------------------------------------------------------------------------- */

static void refuse(struct stream *stream, const char *name, const struct op *op,
                   const struct problem_detail *problem)
{
    stream_reply_refuse(stream, name, op->has_id, op->id, problem);
}

/* ---- subscriptions --------------------------------------------------------------------------- */

static void send_query(struct stream *stream, const struct op *op, const struct query *query,
                       const struct keyring_key *caller)
{
    stream->has_id = op->has_id;
    stream->id = op->id;
    stream_awaited_query(stream, query, caller);
}

/* Asks the follower for the snapshot; what happens from now on may follow it. */
static void ask(struct stream *stream, const struct op *op, struct stream_sub *sub, bool is_resume)
{
    static const uint8_t queries[STREAM_CANDLES] = {
        [STREAM_TRADES] = QUERY_trades,     [STREAM_BBO] = QUERY_book,
        [STREAM_BOOK] = QUERY_book,         [STREAM_MARK] = QUERY_mark,
        [STREAM_MARKET_STATE] = QUERY_mark, [STREAM_FUNDING] = QUERY_rates,
        [STREAM_LIQUIDATIONS] = QUERY_mark, [STREAM_BOOK_L3] = QUERY_book_orders,
    };
    const struct net_config *config = stream->owner->pipeline->context->config;
    bool is_candles = stream_subs_is_candles(op->channel);
    struct query query = {
        .kind = is_resume    ? QUERY_mark
                : is_candles ? QUERY_candles
                             : queries[op->channel],
        .interval = is_candles ? (uint8_t)(op->channel - STREAM_CANDLES) : 0,
        .limit = sub->view != NULL                             ? book_board_depths[op->depth_index]
                 : is_candles || op->channel == STREAM_FUNDING ? 1
                 : op->channel == STREAM_BOOK_L3               ? STREAM_ORDERS_LIMIT
                                                               : SNAPSHOT_TRADES,
        .pin = -1,
    };
    memcpy(query.market, sub->market, sizeof query.market);
    stream->awaited = sub;
    stream->from = op->channel == STREAM_BOOK_L3 ? book_log_count(config->orders)
                                                 : event_log_count(config->events);
    stream->resumes = is_resume;
    stream->resume_seq = op->from_seq;
    send_query(stream, op, &query, NULL);
}

/* Asks the follower where the account is. What the stream had of it ends. */
static void subscribe_private(struct stream *stream, const struct op *op, enum op_kind kind)
{
    struct problem_detail problem;
    const struct stream_login *login = &stream->login;
    stream_private_end(stream);
    if (login->key.kind == 0)
        (void)problem_detail_set(&problem, PROBLEM_invalid_api_key, NULL,
                                 "private needs a login before it");
    else if (stream_subs_may(stream, false, &problem)) {
        const struct query query = { .kind = QUERY_account,
                                     .account_id = login->account_id,
                                     .pin = -1 };
        stream->private_events.awaited = true;
        stream->resumes = kind == OP_RESUME;
        stream->resume_seq = op->from_seq;
        send_query(stream, op, &query, &login->key);
        return;
    }
    refuse(stream, op_names[kind], op, &problem);
}

static struct stream_sub *find(const struct stream *stream, const struct op *op)
{
    const struct symbols *symbols = stream->owner->pipeline->context->config->symbols;
    uint32_t symbol_index = symbols_index(symbols, op->asset_id);
    INVARIANT(symbol_index < SYMBOLS_MAX); /* the client has named it */
    return stream->subs[op->channel][symbol_index];
}

static void subscribe_market(struct stream *stream, const struct op *op, enum op_kind kind)
{
    struct problem_detail problem;
    stream_subs_remove(stream, find(stream, op));
    if (!stream_subs_may(stream, false, &problem)) {
        refuse(stream, op_names[kind], op, &problem);
        return;
    }
    struct stream_sub *sub = stream_subs_add(stream, (enum stream_channel)op->channel, op->market,
                                             op->asset_id, op->depth_index);
    if (sub != NULL) {
        ask(stream, op, sub, kind == OP_RESUME);
        return;
    }
    (void)problem_detail_set(&problem, PROBLEM_not_ready, NULL, "no memory for a subscription");
    refuse(stream, op_names[kind], op, &problem);
}

static void subscribe_status(struct stream *stream, const struct op *op)
{
    struct problem_detail problem;
    if (!stream_subs_may(stream, true, &problem)) {
        refuse(stream, op_names[OP_SUBSCRIBE], op, &problem);
        return;
    }
    stream->owner->status_count += !stream->has_status;
    stream->has_status = true;
    struct writer writer = stream_reply_begin(stream, op_names[OP_SUBSCRIBE], op->has_id, op->id);
    stream_reply_channel(&writer, op->channel, NULL);
    stream_reply_epoch(stream, &writer);
    stream_answer(stream, &writer);
    stream_feed_status(stream);
}

/* Costs what a subscribe costs, but is done without a token too: it makes less work. */
static void unsubscribe(struct stream *stream, const struct op *op)
{
    struct problem_detail problem;
    (void)!charge_subscription(stream->owner->pipeline->context, stream->conn, &stream->login.key,
                               &problem);
    struct writer writer = stream_reply_begin(stream, op_names[OP_UNSUBSCRIBE], op->has_id, op->id);
    if (op->channel == STREAM_STATUS) {
        stream->owner->status_count -= stream->has_status;
        stream->has_status = false;
    } else if (op->channel == STREAM_PRIVATE) {
        stream_private_end(stream);
    } else {
        stream_subs_remove(stream, find(stream, op));
    }
    stream_reply_channel(&writer, op->channel, op->market);
    WRITER_TEXT(&writer, "}");
    stream_answer(stream, &writer);
}

static bool read_market(const struct stream *stream, struct op *op, struct problem_detail *problem)
{
    const struct symbols *symbols = stream->owner->pipeline->context->config->symbols;
    const struct json_member *market = &op->members[MARKET];
    ptrdiff_t count = -1;
    op->asset_id = SYMBOL_NONE;
    if (market->kind == JSON_STRING)
        count = json_scan_unescape(&market->value, op->market, sizeof op->market);
    if (count > 0)
        op->asset_id = symbols_find(symbols, op->market, (size_t)count);
    return op->asset_id != SYMBOL_NONE || problem_detail_set(problem, PROBLEM_invalid_parameter,
                                                             "market", "market names no market");
}

/* The depth of a book; one that is not named is 50. */
static bool read_depth(struct op *op, struct problem_detail *problem)
{
    const struct json_member *depth = &op->members[DEPTH];
    int64_t levels = -1;
    op->depth_index = 0;
    if (op->channel != STREAM_BOOK)
        return true;
    op->depth_index = DEPTH_DEFAULT;
    if (depth->kind == JSON_NONE)
        return true;
    if (depth->kind != JSON_NUMBER || !json_scan_int64(&depth->value, &levels))
        levels = -1;
    for (unsigned i = 0; i < BOOK_BOARD_DEPTHS; i++)
        if (levels == book_board_depths[i]) {
            op->depth_index = i;
            return true;
        }
    return problem_detail_set(problem, PROBLEM_invalid_parameter, "depth",
                              "depth is 1, 10, 50 or 1000");
}

/* The interval of candles, each of which is a channel. */
static bool read_interval(struct op *op, struct problem_detail *problem)
{
    for (unsigned i = 0; i < ROW_INTERVALS; i++)
        if (equals(&op->members[INTERVAL], json_candle_interval((uint8_t)i))) {
            op->channel = STREAM_CANDLES + i;
            return true;
        }
    return problem_detail_set(problem, PROBLEM_invalid_parameter, "interval",
                              "interval is 1m, 5m, 15m, 1h, 4h or 1d");
}

/* The seq that a resume goes on after, and that the channel can be resumed. */
static bool read_from_seq(struct op *op, struct problem_detail *problem)
{
    const struct json_member *from = &op->members[FROM_SEQ];
    int64_t seq = -1;
    if (op->channel != STREAM_TRADES && op->channel != STREAM_PRIVATE)
        return problem_detail_set(problem, PROBLEM_invalid_parameter, "channel",
                                  "trades and private can be resumed");
    if (from->kind != JSON_NUMBER || !json_scan_int64(&from->value, &seq) || seq < 0)
        return problem_detail_set(problem, PROBLEM_invalid_parameter, "from_seq",
                                  "from_seq is the seq of the last frame that came");
    op->from_seq = (uint64_t)seq;
    return true;
}

/* Reads channel and market. */
static bool read_channel(const struct stream *stream, struct op *op, struct problem_detail *problem)
{
    const struct net_config *config = stream->owner->pipeline->context->config;
    if (!config->source.ready(config->source.context))
        return problem_detail_set(problem, PROBLEM_not_ready, NULL, "the service is recovering");
    op->channel = 0;
    while (op->channel < STREAM_NAMES &&
           !equals(&op->members[CHANNEL], stream_subs_names[op->channel]))
        op->channel++;
    if (op->channel < STREAM_NAMES)
        return read_market(stream, op, problem) &&
               (op->channel != STREAM_CANDLES || read_interval(op, problem));
    op->channel = equals(&op->members[CHANNEL], "private") ? STREAM_PRIVATE : STREAM_STATUS;
    return op->channel == STREAM_PRIVATE || equals(&op->members[CHANNEL], "status") ||
           problem_detail_set(problem, PROBLEM_invalid_parameter, "channel",
                              "channel is trades, bbo, book, mark, market_state, funding, "
                              "liquidations, book_l3, candles, status or private");
}

/* ---- login ----------------------------------------------------------------------------------- */

/* Finds the live key of the secret in a login. */
static bool find_key(const struct stream *stream, const struct op *op, struct keyring_row *row,
                     struct problem_detail *problem)
{
    const struct context *context = stream->owner->pipeline->context;
    bool is_device = op->members[DEVICE_KEY].kind != JSON_NONE;
    const struct json_member *member = &op->members[is_device ? DEVICE_KEY : API_KEY];
    char text[KEY_TEXT_MAX];
    if (member->kind != JSON_STRING || (is_device && op->members[API_KEY].kind != JSON_NONE))
        return problem_detail_set(problem, PROBLEM_invalid_parameter, "api_key",
                                  "a login has api_key or device_key, a text");
    ptrdiff_t count = json_scan_unescape(&member->value, text, sizeof text);
    bool is_found = api_caller_of_secret(context->config, context->unix_ns,
                                         is_device ? KEYRING_DEVICE : KEYRING_API, text,
                                         count < 0 ? 0 : (size_t)count, row, problem);
    secret_wipe(text, sizeof text);
    return is_found;
}

static void login(struct stream *stream, const struct op *op)
{
    const struct net_config *config = stream->owner->pipeline->context->config;
    struct problem_detail problem;
    struct keyring_row row;
    bool is_good = config->source.ready(config->source.context);
    if (!is_good)
        (void)problem_detail_set(&problem, PROBLEM_not_ready, NULL, "the service is recovering");
    is_good = is_good && find_key(stream, op, &row, &problem);
    if (is_good && stream->login.key.kind != 0 && stream->login.account_id != row.account_id)
        is_good = problem_detail_set(&problem, PROBLEM_invalid_parameter, "api_key",
                                     "the connection has logged in to another account");
    if (!is_good) {
        refuse(stream, op_names[OP_LOGIN], op, &problem);
        return;
    }
    charge_frame(stream->owner->pipeline->context, stream->conn);
    stream->login = (struct stream_login){
        .key = row.key,
        .account_id = row.account_id,
        .pin = row.subaccount_pin,
        .may_write = row.key.kind == KEYRING_DEVICE || row.scope == API_CALLER_READ_WRITE,
    };
    struct writer writer = stream_reply_begin(stream, op_names[OP_LOGIN], op->has_id, op->id);
    JSON_FIELD_UINT(&writer, "account_id", row.account_id);
    JSON_FIELD_WORD(&writer, "scope", stream->login.may_write ? "READ_WRITE" : "READ");
    if (row.subaccount_pin >= 0)
        JSON_FIELD_UINT(&writer, "subaccount_index", (uint32_t)row.subaccount_pin);
    stream_reply_epoch(stream, &writer);
    stream_answer(stream, &writer);
}

/* ---- messages -------------------------------------------------------------------------------- */

static void run(struct stream *stream, enum op_kind kind, struct op *op, const char *text,
                size_t count)
{
    struct problem_detail problem;
    if (kind == OP_PING) {
        charge_frame(stream->owner->pipeline->context, stream->conn);
        struct writer writer = stream_reply_begin(stream, op_names[kind], op->has_id, op->id);
        JSON_FIELD_UINT(&writer, "time_ns", stream->owner->pipeline->context->unix_ns);
        WRITER_TEXT(&writer, "}");
        stream_answer(stream, &writer);
    } else if (kind == OP_SIGNED) {
        stream_write_signed(stream, op->has_id, op->id, &op->members[ACK], text, count);
    } else if (kind == OP_ARM) {
        const struct stream_write_arm arm = { &op->members[ARM_ID], &op->members[SUBACCOUNT],
                                              &op->members[ENABLED], &op->members[GRACE_MS] };
        stream_write_arm(stream, op->has_id, op->id, &arm);
    } else if (kind == OP_LOGIN) {
        login(stream, op);
    } else if (!read_channel(stream, op, &problem) ||
               (kind == OP_SUBSCRIBE &&
                (!stream_binary_may(stream, op->channel, &problem) || !read_depth(op, &problem))) ||
               (kind == OP_RESUME && !read_from_seq(op, &problem))) {
        refuse(stream, op_names[kind], op, &problem);
    } else if (kind == OP_UNSUBSCRIBE) {
        unsubscribe(stream, op);
    } else if (op->channel == STREAM_STATUS) {
        subscribe_status(stream, op);
    } else if (op->channel == STREAM_PRIVATE) {
        subscribe_private(stream, op, kind);
    } else {
        subscribe_market(stream, op, kind);
    }
}

void stream_op_run(struct stream *stream, const char *text, size_t count)
{
    struct op op = { .members = {
                         JSON_MEMBER("op"), JSON_MEMBER("id"), JSON_MEMBER("channel"),
                         JSON_MEMBER("market"), JSON_MEMBER("depth"), JSON_MEMBER("interval"),
                         JSON_MEMBER("from_seq"), JSON_MEMBER("api_key"), JSON_MEMBER("device_key"),
                         JSON_MEMBER("ack"), JSON_MEMBER("arm_id"), JSON_MEMBER("subaccount_index"),
                         JSON_MEMBER("enabled"), JSON_MEMBER("grace_ms") } };
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
                                 "op is login, subscribe, unsubscribe, resume, signed, "
                                 "cancel_on_disconnect or ping");
        refuse(stream, name, &op, &problem);
    } else {
        run(stream, (enum op_kind)kind, &op, text, count);
    }
}

/* ---- snapshots ------------------------------------------------------------------------------- */

/* The two frames of a snapshot that has come; false without room. */
static bool show(struct stream *stream, const struct reply *reply, const uint8_t *rows)
{
    struct stream_sub *sub = stream->awaited;
    struct context *context = stream->owner->pipeline->context;
    INVARIANT(sub != NULL);
    if (!output_fits(&context->outputs, &stream->conn->output, STREAM_TEXT_MAX))
        return false;
    struct writer writer = stream_awaited_begin(stream);
    if (sub->channel == STREAM_BOOK)
        JSON_FIELD_UINT(&writer, "depth", book_board_depths[sub->view->depth_index]);
    stream_reply_epoch(stream, &writer);
    stream_answer(stream, &writer);
    stream_feed_begin(stream, sub, reply, rows);
    return true;
}

/* Whether history has answered: with rows, or that it does not have them. */
static bool is_told(const struct pending *pending)
{
    const struct reply *reply = &pending->reply;
    return pending->kind != PENDING_PROBLEM &&
           (reply->problem == PROBLEM_none || reply->cause == REPLY_NOT_KEPT);
}

/* The awaited op: its snapshot has come, or was refused. */
static bool show_awaited(struct stream *stream, const struct pending *pending)
{
    struct pipeline *pipeline = stream->owner->pipeline;
    struct context *context = pipeline->context;
    const struct reply *reply = &pending->reply;
    struct problem_detail problem = { 0 };
    if (pending->kind == PENDING_PROBLEM)
        problem = pending->problem;
    else if (reply->problem != PROBLEM_none)
        (void)problem_detail_set(&problem, (enum problem)reply->problem,
                                 stream->private_events.awaited ? NULL : "market",
                                 "the snapshot cannot be read at the moment");
    if (stream->ended) {
        /* Nobody reads it. */
    } else if (stream->asks_history && is_told(pending)) {
        if (!stream_resume_older(stream, reply))
            return false;
    } else if (stream->is_answered && problem.code != PROBLEM_none) {
        stream_resume_later(stream);
    } else if (problem.code != PROBLEM_none) {
        struct writer writer = stream_reply_problem(stream, stream_awaited_name(stream),
                                                    stream->has_id, stream->id, &problem);
        if (!stream_send(stream, &writer))
            return false;
        stream_subs_remove(stream, stream->awaited);
        stream->pages = false;
    } else {
        const uint8_t *rows = reply_pool_at(context->config->reply_pool, reply->buffer);
        if (stream->private_events.awaited) {
            if (!stream_private_begin(stream, reply, rows))
                return false;
        } else if (stream->resumes)
            stream_resume_begin(stream, reply, rows);
        else if (!show(stream, reply, rows))
            return false;
    }
    pipeline_remove_first(pipeline, stream->conn);
    if (stream->ended || (!stream->scans && !stream->pages))
        stream_awaited_finish(stream);
    return true;
}

/* Outcomes are known, of the oldest requests of the connection: answers signed ones, and takes the
 * snapshot that the stream awaits. False: the output pool has no room for the next. */
static bool show_outcomes(struct stream *stream)
{
    struct pipeline *pipeline = stream->owner->pipeline;
    struct conn *conn = stream->conn;
    while (conn->pending_head != PENDING_NONE) {
        struct pending *pending = pending_at(&pipeline->context->pendings, conn->pending_head);
        if (pending->state != PENDING_DONE)
            return true;
        if (!pending->is_op && !pending->is_page) {
            if (!show_awaited(stream, pending))
                return false;
            continue;
        }
        if (pending->is_page)
            stream_private_page(stream, pending);
        else if (!stream->ended && !stream_write_answer(stream, pending))
            return false;
        pipeline_remove_first(pipeline, conn);
        conn->blocked = true;
        conn_queue_push(&pipeline->context->conns, CONN_READY, conn);
    }
    return true;
}

uint32_t stream_op_show(struct streams *streams)
{
    struct conn_table *conns = &streams->pipeline->context->conns;
    if (streams->count == 0)
        return 0;
    uint32_t count = conn_queue_count(conns, CONN_SHOWN);
    for (uint32_t i = 0; i < count; i++) {
        struct conn *conn = conn_queue_pop(conns, CONN_SHOWN);
        if (conn->open && !conn->broken && conn->stream != NULL &&
            conn->pending_head != PENDING_NONE && !show_outcomes(conn->stream))
            pipeline_starve(streams->pipeline, conn); /* which asks pipeline_advance again */
    }
    return count;
}
