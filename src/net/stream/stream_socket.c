#include "net/stream/stream_socket.h"

#include <errno.h>
#include <stdlib.h>
#include <wslay/wslay.h>

#include "base/text.h"
#include "net/request/charge.h"
#include "net/stream/handshake.h"
#include "net/stream/stream.h"
#include "net/stream/stream_arm.h"
#include "net/stream/stream_kept.h"
#include "net/stream/stream_op.h"
#include "net/stream/stream_resume.h"
#include "net/stream/stream_subs.h"
#include "net/stream/stream_write.h"

enum {
    RECEIVE_MAX = 1024,    /* bytes read before others have their turn */
    CONTROL_MAX = 2 + 125, /* a control frame */
    CODE_BYTES = 2,        /* of a close frame */
    OPEN_WAIT_MS = 1000,
};

int stream_socket_init(struct streams *streams, struct job_table *jobs)
{
    streams->pipeline = jobs->pipeline;
    streams->jobs = jobs;
    streams->coded = calloc(STREAM_CODED, sizeof *streams->coded);
    streams->order_coded = calloc(STREAM_CODED, sizeof *streams->order_coded);
    streams->candle_coded = calloc(STREAM_CODED, sizeof *streams->candle_coded);
    streams->private_coded = calloc(STREAM_PRIVATE_CODED, sizeof *streams->private_coded);
    streams->text = malloc(STREAM_TEXT_MAX);
    streams->shared = malloc(STREAM_TEXT_MAX);
    streams->shared_binary = malloc(STREAM_TEXT_MAX);
    bool is_whole = streams->coded != NULL && streams->order_coded != NULL &&
                    streams->candle_coded != NULL && streams->private_coded != NULL &&
                    streams->text != NULL && streams->shared != NULL &&
                    streams->shared_binary != NULL;
    return is_whole ? 0 : -ENOMEM;
}

void stream_socket_free(struct streams *streams)
{
    while (streams->first != NULL)
        stream_socket_close(streams->first->conn);
    stream_arm_free(streams);
    free(streams->coded);
    free(streams->order_coded);
    free(streams->candle_coded);
    free(streams->private_coded);
    free(streams->text);
    streams->coded = NULL;
    streams->order_coded = NULL;
    streams->candle_coded = NULL;
    streams->private_coded = NULL;
    streams->text = NULL;
    free(streams->shared);
    free(streams->shared_binary);
    streams->shared = NULL;
    streams->shared_binary = NULL;
}

/* ---- frames of the client -------------------------------------------------------------------- */

/* Whether another message may be read, whatever it is: a signed request finds a slot, and the
 * connection does not wait for a token. */
static bool may_read(const struct stream *stream)
{
    const struct job_table *jobs = stream->owner->jobs;
    const struct conn *conn = stream->conn;
    return !stream_is_waiting(stream) && !conn->slow_job && conn->pause_ns == 0 &&
           conn->pending_count < CONN_PENDING_MAX && pending_available(&jobs->context->pendings) &&
           job_table_has_room(jobs) && job_table_has_slow_room(jobs, conn->address) &&
           stream_has_room(stream);
}

/* wslay gets one byte at a time: it then knows of no message after the one that must be answered
 * first. */
static ssize_t on_read(wslay_event_context_ptr frames, uint8_t *bytes, size_t count, int flags,
                       void *context)
{
    struct stream *stream = context;
    (void)flags;
    if (stream->left == 0 || count == 0 || stream->has_message || !may_read(stream)) {
        wslay_event_set_error(frames, WSLAY_ERR_WOULDBLOCK);
        return -1;
    }
    *bytes = *stream->bytes++;
    stream->left--;
    return 1;
}

/* Gets control frames only; `flush` has made sure of the room. */
static ssize_t on_write(wslay_event_context_ptr frames, const uint8_t *bytes, size_t count,
                        int flags, void *context)
{
    struct stream *stream = context;
    struct context *shared = stream->owner->pipeline->context;
    (void)frames;
    (void)flags;
    output_append(&shared->outputs, &stream->conn->output, bytes, count, shared->now_ns);
    return (ssize_t)count;
}

/* Of a close frame wslay checks the code alone (RFC 6455, 5.5.1), and answers it. */
static void check_close(struct stream *stream, const struct wslay_event_on_msg_recv_arg *message)
{
    const char *text = (const char *)message->msg;
    if (message->msg_length == 1)
        stream_end(stream, STREAM_CLOSE_PROTOCOL, "");
    else if (message->msg_length > CODE_BYTES &&
             !text_is_utf8(text + CODE_BYTES, message->msg_length - CODE_BYTES))
        stream_end(stream, STREAM_CLOSE_TEXT, "");
}

static void on_message(wslay_event_context_ptr frames,
                       const struct wslay_event_on_msg_recv_arg *message, void *context)
{
    struct stream *stream = context;
    (void)frames;
    stream->has_message = true;
    if (message->opcode == WSLAY_CONNECTION_CLOSE)
        check_close(stream, message);
    else if (message->opcode == WSLAY_BINARY_FRAME && stream->is_binary)
        stream_write_frame(stream, message->msg, message->msg_length);
    else if (message->opcode == WSLAY_BINARY_FRAME)
        stream_end(stream, STREAM_CLOSE_UNSUPPORTED, "");
    else if (message->opcode == WSLAY_TEXT_FRAME) /* wslay answers the others */
        stream_op_run(stream, (const char *)message->msg, message->msg_length);
}

/* Pings, pongs and messages in many pieces ask for nothing that is charged elsewhere. */
static void on_frame(wslay_event_context_ptr frames,
                     const struct wslay_event_on_frame_recv_start_arg *frame, void *context)
{
    struct stream *stream = context;
    (void)frames;
    if (frame->opcode != WSLAY_TEXT_FRAME && frame->opcode != WSLAY_BINARY_FRAME)
        charge_frame(stream->owner->pipeline->context, stream->conn);
}

/* Sends the control frames that wslay has; after a close frame the stream has ended. False: there
 * is no room. */
static bool flush(struct stream *stream)
{
    struct context *context = stream->owner->pipeline->context;
    struct conn *conn = stream->conn;
    size_t most = wslay_event_get_queued_msg_count(stream->frames) * CONTROL_MAX;
    if (most == 0 || stream->ended)
        return true;
    if (most > OUTPUT_CONNECTION_MAX - conn->output.bytes ||
        !output_fits(&context->outputs, &conn->output, most))
        return false;
    if (wslay_event_send(stream->frames) != 0)
        conn->broken = true;
    if (wslay_event_get_close_sent(stream->frames))
        stream_note_end(stream);
    context_mark_dirty(context, conn);
    return true;
}

/* Reads up to one message, as a connection of HTTP is read up to one request before others have
 * their turn. wslay returns after each byte of a head. False: it cannot go on. */
static bool read_frames(struct stream *stream)
{
    size_t before;
    do {
        before = stream->left;
        if (wslay_event_recv(stream->frames) != 0)
            return false;
    } while (stream->left < before && wslay_event_want_read(stream->frames));
    return true;
}

size_t stream_socket_receive(struct stream *stream, const char *bytes, size_t count)
{
    size_t given = count < RECEIVE_MAX ? count : RECEIVE_MAX;
    const struct job_table *jobs = stream->owner->jobs;
    if (stream_is_waiting(stream))
        return 0;
    if (!job_table_has_room(jobs) || !job_table_has_slow_room(jobs, stream->conn->address)) {
        conn_queue_push(&jobs->context->conns, job_table_has_room(jobs) ? CONN_SLOW : CONN_STALLED,
                        stream->conn);
        return 0;
    }
    if (!flush(stream) || !stream_has_room(stream)) {
        pipeline_starve(stream->owner->pipeline, stream->conn);
        return 0;
    }
    stream->bytes = (const uint8_t *)bytes;
    stream->left = given;
    stream->has_message = false;
    if (!read_frames(stream))
        stream_end(stream, STREAM_CLOSE_PROTOCOL, ""); /* wslay's has no code */
    size_t used = given - stream->left;
    stream->bytes = NULL;
    stream->left = 0;
    if (!flush(stream))
        pipeline_starve(stream->owner->pipeline, stream->conn);
    if (stream->ended || !wslay_event_want_read(stream->frames))
        used = count; /* nothing after a close frame counts */
    context_mark_dirty(stream->owner->pipeline->context, stream->conn);
    return used;
}

/* ---- opening and closing --------------------------------------------------------------------- */

/* False: the connection's address has as many streams as it may. */
static bool claim(const struct streams *streams, const struct conn *conn)
{
    const struct context *context = streams->pipeline->context;
    return address_claims_add(context->config->streams_of, context_claim_slot(context, conn),
                              conn->address, context->config->stream_connections) > 0;
}

static void drop_claim(const struct streams *streams, const struct conn *conn)
{
    const struct context *context = streams->pipeline->context;
    address_claims_drop(context->config->streams_of, context_claim_slot(context, conn));
}

static struct stream *make(struct streams *streams, struct conn *conn)
{
    static const struct wslay_event_callbacks callbacks = {
        .recv_callback = on_read,
        .send_callback = on_write,
        .on_msg_recv_callback = on_message,
        .on_frame_recv_start_callback = on_frame,
    };
    struct stream *stream = calloc(1, sizeof *stream);
    if (stream == NULL)
        return NULL;
    if (wslay_event_context_server_init(&stream->frames, &callbacks, stream) != 0) {
        free(stream);
        return NULL;
    }
    wslay_event_config_set_max_recv_msg_length(stream->frames, STREAM_MESSAGE_MAX);
    stream->owner = streams;
    stream->conn = conn;
    stream->next = streams->first;
    if (stream->next != NULL)
        stream->next->previous = stream;
    streams->first = stream;
    streams->count++;
    published_set(&streams->open, streams->count);
    return stream;
}

void stream_socket_open(struct streams *streams, struct conn *conn, const char *text)
{
    struct context *context = streams->pipeline->context;
    struct problem_detail problem;
    char answer[HANDSHAKE_BYTES_MAX];
    bool good = handshake_check(context->config, &conn->head, text, &problem);
    size_t count = good ? handshake_answer(&conn->head, text, answer) : 0;
    if (good && !claim(streams, conn))
        good = problem_detail_set_number(&problem, PROBLEM_rate_limited, OPEN_WAIT_MS,
                                         "this address has as many streams as it may");
    else if (good && (count == 0 || !output_fits(&context->outputs, &conn->output, count) ||
                      (conn->stream = make(streams, conn)) == NULL)) {
        drop_claim(streams, conn);
        good = problem_detail_set(&problem, PROBLEM_not_ready, NULL, "no memory for a stream");
    }
    if (!good) {
        pipeline_refuse(streams->pipeline, conn, &problem, NULL);
        return;
    }
    output_append(&context->outputs, &conn->output, answer, count, context->now_ns);
    conn->stream->beat_ns = UINT64_MAX;
    conn->stream->is_binary = conn->head.asks_binary;
    conn->last = false;
    context_mark_dirty(context, conn);
}

void stream_socket_close(struct conn *conn)
{
    struct stream *stream = conn->stream;
    if (stream == NULL)
        return;
    struct streams *streams = stream->owner;
    if (stream->previous != NULL)
        stream->previous->next = stream->next;
    else
        streams->first = stream->next;
    if (stream->next != NULL)
        stream->next->previous = stream->previous;
    streams->count--;
    published_set(&streams->open, streams->count);
    streams->status_count -= stream->has_status;
    streams->private_count -= stream->private_events.live;
    stream_resume_end(stream);
    stream_arm_close(stream);
    drop_claim(streams, conn);
    stream_subs_clear(stream);
    wslay_event_context_free(stream->frames);
    free(stream);
    conn->stream = NULL;
}
