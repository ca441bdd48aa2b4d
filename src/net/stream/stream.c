#include "net/stream/stream.h"

#include "net/json/json_candle.h"
#include "net/json/json_field.h"
#include "net/request/api_caller.h"
#include "net/stream/stream_binary.h"
#include "net/stream/stream_subs.h"

enum {
    CONTROL_MAX = 2 + 125, /* a control frame */
    SHORT_MAX = 125,       /* of a frame whose head has two bytes */
    FIN_TEXT = 0x81,
    FIN_BINARY = 0x82,
    FIN_CLOSE = 0x88,
    CODE_BYTES = 2, /* of a close frame */
    LENGTH_16 = 126,
    LENGTH_64 = 127,
};

void stream_note_end(struct stream *stream)
{
    struct conn *conn = stream->conn;
    stream->ended = true;
    conn->last = true;
    conn_phase_move(&conn->phase, CONN_HEAD);
    conn->blocked = false;
    context_mark_dirty(stream->owner->pipeline->context, conn);
}

bool stream_has_room(const struct stream *stream)
{
    const struct context *context = stream->owner->pipeline->context;
    return output_fits(&context->outputs, &stream->conn->output, STREAM_ANSWER_MAX);
}

void stream_end(struct stream *stream, uint16_t code, const char *reason)
{
    struct context *context = stream->owner->pipeline->context;
    struct conn *conn = stream->conn;
    uint8_t frame[CONTROL_MAX] = { FIN_CLOSE };
    size_t count = strlen(reason) + CODE_BYTES;
    if (stream->ended)
        return;
    INVARIANT(count <= SHORT_MAX);
    frame[1] = (uint8_t)count;
    frame[2] = (uint8_t)(code >> 8);
    frame[3] = (uint8_t)code;
    memcpy(frame + 4, reason, count - CODE_BYTES);
    if (conn->output.bytes + count + 2 > OUTPUT_CONNECTION_MAX ||
        !output_fits(&context->outputs, &conn->output, count + 2)) {
        conn->broken = true;
        context_mark_dirty(context, conn);
        return;
    }
    output_append(&context->outputs, &conn->output, frame, count + 2, context->now_ns);
    stream_note_end(stream);
}

bool stream_end_dead_login(struct stream *stream)
{
    const struct context *context = stream->owner->pipeline->context;
    struct keyring_row row;
    if (api_caller_is_live(context->config, context->unix_ns, &stream->login.key, &row))
        return false;
    stream_end(stream, STREAM_CLOSE_POLICY,
               stream->login.key.kind == KEYRING_DEVICE ? "invalid_device_key" : "invalid_api_key");
    return true;
}

/* ---- frames to the client -------------------------------------------------------------------- */

struct writer stream_text(struct streams *streams)
{
    return writer_begin(streams->text + STREAM_FRAME_HEAD, STREAM_TEXT_MAX - STREAM_FRAME_HEAD);
}

struct writer stream_frame(struct stream *stream, const struct stream_sub *sub, uint64_t seq)
{
    struct writer writer = stream_text(stream->owner);
    WRITER_TEXT(&writer, "{\"channel\":\"");
    writer_text(&writer, stream_subs_name(sub->channel));
    WRITER_TEXT(&writer, "\",\"market\":");
    json_field_padded(&writer, sub->market, sizeof sub->market);
    if (stream_subs_is_candles(sub->channel))
        JSON_FIELD_WORD(&writer, "interval",
                        json_candle_interval((uint8_t)(sub->channel - STREAM_CANDLES)));
    JSON_FIELD_UINT(&writer, "seq", seq);
    JSON_FIELD_UINT(&writer, "prev_seq", sub->seq);
    return writer;
}

/* Writes the head of a frame of `count` bytes so that it ends before `text`; its first byte, which
 * is `kind`. */
static uint8_t *put_head(char *text, size_t count, uint8_t kind)
{
    unsigned length_bytes = count <= SHORT_MAX ? 0 : count <= UINT16_MAX ? 2 : 8;
    uint8_t *frame = (uint8_t *)text - 2 - length_bytes;
    frame[0] = kind;
    frame[1] = (uint8_t)(length_bytes == 0 ? count : length_bytes == 2 ? LENGTH_16 : LENGTH_64);
    for (unsigned i = 0; i < length_bytes; i++)
        frame[2 + i] = (uint8_t)(count >> 8 * (length_bytes - 1 - i));
    return frame;
}

static bool send(struct stream *stream, const struct writer *writer, uint8_t kind)
{
    struct context *context = stream->owner->pipeline->context;
    struct conn *conn = stream->conn;
    size_t count = writer_count(writer);
    INVARIANT(!writer->full);
    uint8_t *frame = put_head(writer->start, count, kind);
    size_t unsent = stream_unsent(stream);
    count += (size_t)(writer->start - (char *)frame);
    if (stream->ended || conn->broken || conn->last)
        return true;
    if (unsent != 0 && unsent + count > context->config->stream_backlog) {
        stream_end(stream, STREAM_CLOSE_SLOW, "slow_consumer");
        return true;
    }
    if (!output_fits(&context->outputs, &conn->output, count))
        return false;
    output_append(&context->outputs, &conn->output, frame, count, context->now_ns);
    context_mark_dirty(context, conn);
    return true;
}

bool stream_send(struct stream *stream, const struct writer *writer)
{
    return send(stream, writer, FIN_TEXT);
}

bool stream_binary_send(struct stream *stream, const struct writer *writer)
{
    return send(stream, writer, FIN_BINARY);
}

void stream_answer(struct stream *stream, const struct writer *writer)
{
    bool is_sent = stream_send(stream, writer);
    INVARIANT(is_sent);
}
