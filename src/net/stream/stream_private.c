#include "net/stream/stream_private.h"

#include "net/json/json_field.h"
#include "net/request/api_caller.h"
#include "net/request/charge.h"
#include "net/stream/stream.h"
#include "net/stream/stream_awaited.h"
#include "net/stream/stream_binary.h"
#include "net/stream/stream_kept.h"
#include "net/stream/stream_subs.h"

enum {
    EVENTS_A_TURN = 64, /* of a stream */
    PAGE_EVENTS = 128,  /* of history */
    QUIET_PART = 4,     /* of limits.stream_backlog */
};

#define RETRY_NS (CONN_SECOND_NS / 4)

static const struct private_log *log_of(const struct stream *stream)
{
    return stream->owner->pipeline->context->config->private_log;
}

/* {"channel":"private","seq":..,"prev_seq":.. */
static struct writer begin_frame(struct stream *stream, uint64_t seq, uint64_t prev_seq)
{
    struct writer writer = stream_text(stream->owner);
    WRITER_TEXT(&writer, "{\"channel\":\"private\",\"seq\":");
    writer_uint(&writer, seq);
    JSON_FIELD_UINT(&writer, "prev_seq", prev_seq);
    return writer;
}

static void write_state(struct writer *writer, uint64_t engine_seq, uint64_t time_ns)
{
    JSON_FIELD_UINT(writer, "engine_seq", engine_seq);
    JSON_FIELD_UINT(writer, "time_ns", time_ns);
}

static bool send_gap_binary(struct stream *stream, uint64_t from_seq, uint64_t oldest_seq,
                            const struct stream_binary_of *of)
{
    struct writer writer = stream_binary_begin_private(stream, from_seq, of);
    stream_binary_gap(&writer, SYMBOL_NONE, of, from_seq, oldest_seq);
    return stream_binary_send(stream, &writer);
}

static bool send_gap_text(struct stream *stream, uint64_t from_seq, uint64_t oldest_seq,
                          const struct stream_binary_of *of)
{
    struct writer writer = begin_frame(stream, of->seq, from_seq);
    write_state(&writer, of->engine_seq, of->time_ns);
    WRITER_TEXT(&writer, ",\"type\":\"gap\",\"data\":{\"from_seq\":");
    writer_uint(&writer, from_seq);
    JSON_FIELD_UINT(&writer, "oldest_seq", oldest_seq);
    WRITER_TEXT(&writer, "}}");
    return stream_send(stream, &writer);
}

/* Updates go on from `seq`, whose event is of engine_seq or an earlier command. False without
 * room. */
static bool send_gap(struct stream *stream, uint64_t from_seq, uint64_t seq, uint64_t engine_seq,
                     uint64_t time_ns)
{
    const struct stream_binary_of of = {
        .seq = seq, .engine_seq = engine_seq, .time_ns = time_ns, .type = STREAM_MESSAGE_IS_GAP
    };
    uint64_t oldest_seq = private_log_oldest(log_of(stream), stream->login.account_id, seq) - 1;
    if (!(stream->is_binary ? send_gap_binary : send_gap_text)(stream, from_seq, oldest_seq, &of))
        return false;
    stream->private_events.at = seq;
    stream->private_events.seq = seq;
    return true;
}

/* A frame without data: a snapshot or a heartbeat. False without room. */
static bool send_bare(struct stream *stream, enum stream_message_type type, uint64_t seq,
                      uint64_t engine_seq, uint64_t time_ns)
{
    const struct stream_binary_of of = {
        .seq = seq, .engine_seq = engine_seq, .time_ns = time_ns, .type = type
    };
    if (stream->is_binary) {
        struct writer writer = stream_binary_begin_private(stream, seq, &of);
        return stream_binary_send(stream, &writer);
    }
    struct writer writer = begin_frame(stream, seq, seq);
    write_state(&writer, engine_seq, time_ns);
    JSON_FIELD_WORD(&writer, "type", type == STREAM_MESSAGE_SNAPSHOT ? "snapshot" : "heartbeat");
    WRITER_TEXT(&writer, ",\"data\":{}}");
    return stream_send(stream, &writer);
}

/* ---- beginning and end ----------------------------------------------------------------------- */

static void send_snapshot(struct stream *stream, uint64_t seq, const struct reply *reply)
{
    bool is_sent = send_bare(stream, STREAM_MESSAGE_SNAPSHOT, seq, reply->applied, reply->time_ns);
    INVARIANT(is_sent); /* stream_private_begin has made sure of the room */
    stream->private_events.at = seq;
    stream->private_events.seq = seq;
}

/* Goes on after resume_seq, unless the account has not reached it. */
static void go_on(struct stream *stream, uint64_t seq, const struct reply *reply)
{
    uint64_t from = stream->resume_seq;
    stream->private_events.at = from;
    stream->private_events.seq = from;
    if (from <= seq)
        return;
    bool is_sent = send_gap(stream, from, seq, reply->applied, reply->time_ns);
    INVARIANT(is_sent); /* stream_private_begin has made sure of the room */
}

bool stream_private_begin(struct stream *stream, const struct reply *reply, const uint8_t *rows)
{
    struct stream_private *private_events = &stream->private_events;
    struct streams *streams = stream->owner;
    struct row_account account;
    memcpy(&account, rows, sizeof account);
    if (!stream_has_room(stream))
        return false;
    stream_awaited_private(stream);
    if (stream->resumes)
        go_on(stream, account.private_seq, reply);
    else
        send_snapshot(stream, account.private_seq, reply);
    streams->private_count += !private_events->live;
    private_events->live = true;
    private_events->begun = account.private_seq;
    private_events->by = UINT64_MAX;
    private_events->ask_ns = 0;
    private_events->beat_ns = streams->pipeline->context->now_ns + STREAM_BEAT_NS;
    streams->behind = true; /* what has happened since is sent in the next turn */
    return true;
}

void stream_private_end(struct stream *stream)
{
    stream->owner->private_count -= stream->private_events.live;
    stream->private_events.live = false;
    stream->private_events.stale = stream->private_events.asks;
}

/* ---- events ---------------------------------------------------------------------------------- */

/* The event as text and as a message. */
static void encode(const struct stream *stream, struct stream_private_coded *coded,
                   const struct private_event *event)
{
    const struct symbols *symbols = stream->owner->pipeline->context->config->symbols;
    struct writer binary = writer_begin((char *)coded->binary, sizeof coded->binary);
    struct writer writer = writer_begin(coded->text, sizeof coded->text);
    write_state(&writer, event->sequence, event->time_ns);
    WRITER_TEXT(&writer, ",\"type\":\"update\",\"data\":");
    json_private_event(&writer, event);
    WRITER_TEXT(&writer, "}");
    stream_binary_event(&binary, symbols, event);
    INVARIANT(!writer.full && !binary.full);
    coded->account_id = event->account_id;
    coded->seq = event->seq;
    coded->engine_seq = event->sequence;
    coded->time_ns = event->time_ns;
    coded->binary_count = (uint32_t)writer_count(&binary);
    coded->count = (uint32_t)writer_count(&writer);
    coded->subaccounts[0] = event->subaccount_index;
    coded->subaccounts[1] = event->subaccount_index;
    if (event->kind == PRIVATE_TRANSFER) {
        coded->subaccounts[0] = event->transfer.from_subaccount;
        coded->subaccounts[1] = event->transfer.to_subaccount;
    }
}

/* The account's next event and its text, which is `event` unless that is NULL; NULL: the log does
 * not have it. */
static const struct stream_private_coded *code(const struct stream *stream,
                                               const struct private_event *event)
{
    uint64_t account_id = stream->login.account_id, seq = stream->private_events.at + 1;
    struct stream_private_coded *coded =
        &stream->owner->private_coded[(account_id + seq) % STREAM_PRIVATE_CODED];
    struct private_event of_log;
    if (coded->account_id == account_id && coded->seq == seq)
        return coded;
    if (event == NULL && !private_log_read(log_of(stream), account_id, seq, &of_log))
        return NULL;
    encode(stream, coded, event == NULL ? &of_log : event);
    return coded;
}

/* Whether the login may see it: a pinned one has what is of its subaccount. */
static bool is_shown(const struct stream_login *login, const struct stream_private_coded *coded)
{
    return login->pin == API_CALLER_NO_PIN || coded->subaccounts[0] == (uint32_t)login->pin ||
           coded->subaccounts[1] == (uint32_t)login->pin;
}

enum sent { SENT, NO_ROOM, LOST };

static bool send_text(struct stream *stream, const struct stream_private_coded *coded)
{
    struct writer writer = begin_frame(stream, coded->seq, stream->private_events.seq);
    writer_bytes(&writer, coded->text, coded->count);
    return stream_send(stream, &writer);
}

static bool send_binary(struct stream *stream, const struct stream_private_coded *coded)
{
    const struct stream_binary_of of = { .seq = coded->seq,
                                         .engine_seq = coded->engine_seq,
                                         .time_ns = coded->time_ns,
                                         .type = STREAM_MESSAGE_UPDATE };
    struct writer writer = stream_binary_begin_private(stream, stream->private_events.seq, &of);
    writer_bytes(&writer, coded->binary, coded->binary_count);
    return stream_binary_send(stream, &writer);
}

/* Sends the account's next event, as `code` finds it. */
static enum sent send_next(struct stream *stream, const struct private_event *event)
{
    struct stream_private *private_events = &stream->private_events;
    const struct stream_private_coded *coded = code(stream, event);
    if (coded == NULL)
        return LOST;
    if (is_shown(&stream->login, coded)) {
        if (!(stream->is_binary ? send_binary(stream, coded) : send_text(stream, coded)))
            return NO_ROOM;
        private_events->seq = coded->seq;
    }
    if (private_events->at < private_events->begun)
        charge_past(stream->owner->pipeline->context, stream->conn, &stream->login.key,
                    &stream->past_count);
    private_events->at++;
    return SENT;
}

static bool send_beat(struct stream *stream, const struct net_facts *facts)
{
    return send_bare(stream, STREAM_MESSAGE_HEARTBEAT, stream->private_events.seq, facts->applied,
                     facts->applied_time_ns);
}

/* ---- pages of history ------------------------------------------------------------------------ */

static uint64_t now_of(const struct stream *stream)
{
    return stream->owner->pipeline->context->now_ns;
}

/* Bytes that may be unsent before what is past is sent. */
static size_t quiet_bytes(const struct stream *stream)
{
    return stream->owner->pipeline->context->config->stream_backlog / QUIET_PART;
}

/* Asks history for the events after `at`; `newest` is the last one. */
static void ask(struct stream *stream, uint64_t newest)
{
    struct stream_private *private_events = &stream->private_events;
    uint32_t limit = (uint32_t)(quiet_bytes(stream) / STREAM_PRIVATE_MAX);
    struct query query = {
        .kind = QUERY_private_events,
        .account_id = stream->login.account_id,
        .limit = limit < PAGE_EVENTS ? limit : PAGE_EVENTS,
        .pin = -1,
        .before_sequence = private_events->at,
        .offset = private_events->by,
    };
    if (stream->conn->pending_count >= CONN_PENDING_MAX ||
        !pending_available(&stream->owner->pipeline->context->pendings)) {
        private_events->ask_ns = now_of(stream) + RETRY_NS;
        return;
    }
    private_events->asks = true;
    private_events->asked = newest;
    stream_awaited_query(stream, &query, NULL);
}

/* Sends the page's events that follow, as far as there is room. */
static void send_page(struct stream *stream, const struct reply *reply)
{
    const struct context *context = stream->owner->pipeline->context;
    const uint8_t *rows = reply_pool_at(context->config->reply_pool, reply->buffer);
    struct private_event event;
    for (uint32_t k = 0; k < reply->row_count && !stream->ended; k++) {
        memcpy(&event, rows + k * sizeof event, sizeof event);
        if (event.seq != stream->private_events.at + 1)
            continue;
        if (send_next(stream, &event) != SENT) {
            stream->private_events.ask_ns = now_of(stream) + RETRY_NS;
            pipeline_starve(stream->owner->pipeline, stream->conn);
            return;
        }
    }
    stream->private_events.by = UINT64_MAX;
}

void stream_private_page(struct stream *stream, const struct pending *pending)
{
    struct stream_private *private_events = &stream->private_events;
    const struct reply *reply = &pending->reply;
    bool is_stale = private_events->stale;
    private_events->asks = false;
    private_events->stale = false;
    if (is_stale || !private_events->live || stream->ended || stream_end_dead_login(stream))
        return;
    stream->owner->behind = true; /* it goes on in the next turn */
    bool is_told = pending->kind == PENDING_READ &&
                   (reply->problem == PROBLEM_none || reply->cause == REPLY_NOT_KEPT);
    if (is_told && reply->problem == PROBLEM_none && reply->row_count != 0) {
        send_page(stream, reply);
    } else if (!is_told || reply->problem == PROBLEM_none) {
        private_events->ask_ns = now_of(stream) + RETRY_NS;
        if (is_told && reply->applied < private_events->by)
            private_events->by = reply->applied;
    } else if (!send_gap(stream, private_events->seq, private_events->asked, reply->applied,
                         reply->time_ns)) {
        private_events->ask_ns = now_of(stream) + RETRY_NS;
        pipeline_starve(stream->owner->pipeline, stream->conn);
    }
}

/* ---- turns ----------------------------------------------------------------------------------- */

/* Seq of the newest event that has happened, as far as it is known. */
static uint64_t newest_of(const struct stream *stream)
{
    uint64_t newest = private_log_newest(log_of(stream), stream->login.account_id);
    return newest > stream->private_events.begun ? newest : stream->private_events.begun;
}

/* Whether the next event must wait: for history, for the time to ask it again, or, if it happened
 * before the subscription, for the client. */
static bool must_wait(const struct stream *stream)
{
    const struct stream_private *private_events = &stream->private_events;
    return private_events->asks || private_events->ask_ns > now_of(stream) ||
           (private_events->at < private_events->begun &&
            stream_unsent(stream) > quiet_bytes(stream));
}

/* Sends events up to `newest`, EVENTS_A_TURN of them, or asks history. Returns how many it sent. */
static uint32_t send_events(struct stream *stream, uint64_t newest)
{
    struct stream_private *private_events = &stream->private_events;
    uint32_t count = 0;
    for (; private_events->at < newest && !stream->ended && !must_wait(stream); count++) {
        if (count == EVENTS_A_TURN) {
            stream->owner->behind = true;
            return count;
        }
        enum sent sent = send_next(stream, NULL);
        if (sent == LOST && stream_unsent(stream) <= quiet_bytes(stream)) {
            ask(stream, newest);
            return count;
        }
        if (sent == NO_ROOM)
            pipeline_starve(stream->owner->pipeline, stream->conn);
        if (sent != SENT) {
            private_events->ask_ns = now_of(stream) + RETRY_NS;
            return count;
        }
    }
    return count;
}

uint32_t stream_private_run(struct stream *stream, const struct net_facts *facts)
{
    struct stream_private *private_events = &stream->private_events;
    uint64_t now_ns = now_of(stream), newest = newest_of(stream);
    if (private_events->ask_ns <= now_ns)
        private_events->ask_ns = 0;
    if ((private_events->at >= newest && private_events->beat_ns > now_ns) ||
        stream_end_dead_login(stream))
        return 0;
    uint32_t count = send_events(stream, newest);
    if (private_events->beat_ns <= now_ns && facts->is_stale) {
        private_events->beat_ns = now_ns + RETRY_NS; /* as those of the other channels */
    } else if (private_events->beat_ns <= now_ns && !stream->ended) {
        bool is_sent = send_beat(stream, facts);
        private_events->beat_ns = now_ns + (is_sent ? STREAM_BEAT_NS : RETRY_NS);
        if (!is_sent)
            pipeline_starve(stream->owner->pipeline, stream->conn);
    }
    return count;
}
