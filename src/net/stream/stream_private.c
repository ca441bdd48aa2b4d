#include "net/stream/stream_private.h"

#include "net/json/json_field.h"
#include "net/request/api_caller.h"
#include "net/stream/stream.h"
#include "net/stream/stream_op.h"

enum { EVENTS_A_TURN = 64 /* of a stream */ };

#define BEAT_NS  (5 * CONN_SECOND_NS) /* W9 */
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

/* Updates go on from `seq`, whose event is of engine_seq or an earlier command. False without
 * room. */
static bool send_gap(struct stream *stream, uint64_t from_seq, uint64_t seq, uint64_t engine_seq,
                     uint64_t time_ns)
{
    struct writer writer = begin_frame(stream, seq, from_seq);
    write_state(&writer, engine_seq, time_ns);
    WRITER_TEXT(&writer, ",\"type\":\"gap\",\"data\":{\"from_seq\":");
    writer_uint(&writer, from_seq);
    JSON_FIELD_UINT(&writer, "oldest_seq",
                    private_log_oldest(log_of(stream), stream->login.account_id, seq) - 1);
    WRITER_TEXT(&writer, "}}");
    if (!stream_send(stream, &writer))
        return false;
    stream->private_events.at = seq;
    stream->private_events.seq = seq;
    return true;
}

/* ---- beginning and end ----------------------------------------------------------------------- */

static void send_snapshot(struct stream *stream, uint64_t seq, const struct reply *reply)
{
    struct writer writer = begin_frame(stream, seq, seq);
    write_state(&writer, reply->applied, reply->time_ns);
    WRITER_TEXT(&writer, ",\"type\":\"snapshot\",\"data\":{}}");
    stream_answer(stream, &writer);
    stream->private_events.at = seq;
    stream->private_events.seq = seq;
}

/* Goes on after resume_seq, when the event after it is there or none has happened. */
static void go_on(struct stream *stream, uint64_t seq, const struct reply *reply)
{
    struct private_event event;
    uint64_t from = stream->resume_seq;
    stream->private_events.at = from;
    stream->private_events.seq = from;
    if (from == seq || (from < seq && private_log_read(log_of(stream), stream->login.account_id,
                                                       from + 1, &event)))
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
    stream_op_private_answer(stream);
    if (stream->resumes)
        go_on(stream, account.private_seq, reply);
    else
        send_snapshot(stream, account.private_seq, reply);
    streams->private_count += !private_events->live;
    private_events->live = true;
    private_events->beat_ns = streams->pipeline->context->now_ns + BEAT_NS;
    streams->behind = true; /* what has happened since is sent in the next turn */
    return true;
}

void stream_private_end(struct stream *stream)
{
    stream->owner->private_count -= stream->private_events.live;
    stream->private_events.live = false;
}

/* ---- events ---------------------------------------------------------------------------------- */

/* The event and its text; NULL: it is not there. */
static const struct stream_private_coded *code(const struct stream *stream, uint64_t seq)
{
    uint64_t account_id = stream->login.account_id;
    struct stream_private_coded *coded =
        &stream->owner->private_coded[(account_id + seq) % STREAM_PRIVATE_CODED];
    struct private_event event;
    if (coded->account_id == account_id && coded->seq == seq)
        return coded;
    if (!private_log_read(log_of(stream), account_id, seq, &event))
        return NULL;
    struct writer writer = writer_begin(coded->text, sizeof coded->text);
    write_state(&writer, event.sequence, event.time_ns);
    WRITER_TEXT(&writer, ",\"type\":\"update\",\"data\":");
    json_private_event(&writer, &event);
    WRITER_TEXT(&writer, "}");
    INVARIANT(!writer.full);
    coded->account_id = account_id;
    coded->seq = seq;
    coded->count = (uint32_t)writer_count(&writer);
    coded->subaccounts[0] = event.subaccount_index;
    coded->subaccounts[1] = event.subaccount_index;
    if (event.kind == PRIVATE_TRANSFER) {
        coded->subaccounts[0] = event.transfer.from_subaccount;
        coded->subaccounts[1] = event.transfer.to_subaccount;
    }
    return coded;
}

/* Whether the login may see it: a pinned one has what is of its subaccount. */
static bool is_shown(const struct stream_login *login, const struct stream_private_coded *coded)
{
    return login->pin == API_CALLER_NO_PIN || coded->subaccounts[0] == (uint32_t)login->pin ||
           coded->subaccounts[1] == (uint32_t)login->pin;
}

enum sent { SENT, NO_ROOM, NOT_YET };

/* Events have been overwritten: goes on behind the newest, unless that one is being written. */
static enum sent skip(struct stream *stream)
{
    struct private_event event;
    uint64_t newest = private_log_newest(log_of(stream), stream->login.account_id);
    if (!private_log_read(log_of(stream), stream->login.account_id, newest, &event))
        return NOT_YET;
    return send_gap(stream, stream->private_events.seq, newest, event.sequence, event.time_ns)
               ? SENT
               : NO_ROOM;
}

static enum sent send_next(struct stream *stream)
{
    struct stream_private *private_events = &stream->private_events;
    const struct stream_private_coded *coded = code(stream, private_events->at + 1);
    if (coded == NULL)
        return skip(stream);
    if (is_shown(&stream->login, coded)) {
        struct writer writer = begin_frame(stream, coded->seq, private_events->seq);
        writer_bytes(&writer, coded->text, coded->count);
        if (!stream_send(stream, &writer))
            return NO_ROOM;
        private_events->seq = coded->seq;
    }
    private_events->at++;
    return SENT;
}

static bool send_beat(struct stream *stream, const struct net_facts *facts)
{
    uint64_t seq = stream->private_events.seq;
    struct writer writer = begin_frame(stream, seq, seq);
    write_state(&writer, facts->applied, facts->applied_time_ns);
    WRITER_TEXT(&writer, ",\"type\":\"heartbeat\",\"data\":{}}");
    return stream_send(stream, &writer);
}

/* Ends the stream of a key that has been revoked or has expired. */
static bool is_over(struct stream *stream)
{
    const struct context *context = stream->owner->pipeline->context;
    struct keyring_row row;
    if (api_caller_is_live(context->config, context->unix_ns, &stream->login.key, &row))
        return false;
    stream_end(stream, STREAM_CLOSE_POLICY,
               stream->login.key.kind == KEYRING_DEVICE ? "invalid_device_key" : "invalid_api_key");
    return true;
}

uint32_t stream_private_run(struct stream *stream, const struct net_facts *facts)
{
    struct stream_private *private_events = &stream->private_events;
    struct pipeline *pipeline = stream->owner->pipeline;
    uint64_t now_ns = pipeline->context->now_ns;
    uint32_t count = 0;
    enum sent sent = SENT;
    uint64_t newest = private_log_newest(log_of(stream), stream->login.account_id);
    if ((private_events->at >= newest && private_events->beat_ns > now_ns) || is_over(stream))
        return 0;
    while (private_events->at < newest && count < EVENTS_A_TURN && !stream->ended) {
        sent = send_next(stream);
        if (sent != SENT)
            break;
        count++;
    }
    if (sent == NO_ROOM) {
        pipeline_starve(pipeline, stream->conn);
        private_events->beat_ns = now_ns + RETRY_NS;
    } else if (private_events->at < newest) {
        stream->owner->behind = true;
    } else if (private_events->beat_ns <= now_ns && !stream->ended) {
        bool is_sent = send_beat(stream, facts);
        private_events->beat_ns = now_ns + (is_sent ? BEAT_NS : RETRY_NS);
        if (!is_sent)
            pipeline_starve(pipeline, stream->conn);
    }
    return count;
}
