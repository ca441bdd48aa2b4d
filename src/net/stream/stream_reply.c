#include "net/stream/stream_reply.h"

#include "net/json/json_candle.h"
#include "net/json/json_field.h"
#include "net/json/json_problem.h"
#include "net/request/charge.h"
#include "net/stream/stream.h"
#include "net/stream/stream_subs.h"

struct writer stream_reply_begin(struct stream *stream, const char *op, bool has_id, int64_t id)
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

static const char *name_of(unsigned channel)
{
    return channel == STREAM_STATUS    ? "status"
           : channel == STREAM_PRIVATE ? "private"
                                       : stream_subs_name(channel);
}

void stream_reply_channel(struct writer *writer, unsigned channel, const char *market)
{
    WRITER_TEXT(writer, ",\"channel\":\"");
    writer_text(writer, name_of(channel));
    WRITER_TEXT(writer, "\"");
    if (channel >= STREAM_CHANNELS)
        return;
    WRITER_TEXT(writer, ",\"market\":");
    json_field_padded(writer, market, SYMBOL_BYTES);
    if (stream_subs_is_candles(channel))
        JSON_FIELD_WORD(writer, "interval",
                        json_candle_interval((uint8_t)(channel - STREAM_CANDLES)));
}

void stream_reply_epoch(struct stream *stream, struct writer *writer)
{
    JSON_FIELD_UINT(writer, "epoch", stream->owner->pipeline->context->config->epoch);
    WRITER_TEXT(writer, "}");
}

void stream_reply_end_problem(struct stream *stream, struct writer *writer,
                              const struct problem_detail *problem)
{
    WRITER_TEXT(writer, ",\"problem\":");
    json_problem(writer, problem);
    WRITER_TEXT(writer, "}");
    stream->owner->pipeline->context->metrics.counters.problems++;
}

struct writer stream_reply_problem(struct stream *stream, const char *op, bool has_id, int64_t id,
                                   const struct problem_detail *problem)
{
    struct writer writer = stream_reply_begin(stream, op, has_id, id);
    stream_reply_end_problem(stream, &writer, problem);
    return writer;
}

void stream_reply_refuse(struct stream *stream, const char *op, bool has_id, int64_t id,
                         const struct problem_detail *problem)
{
    struct problem_detail charged = *problem;
    charge_mistake(stream->owner->pipeline->context, stream->conn, &charged);
    struct writer writer = stream_reply_problem(stream, op, has_id, id, &charged);
    stream_answer(stream, &writer);
}
