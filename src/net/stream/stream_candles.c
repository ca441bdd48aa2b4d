#include "net/stream/stream_candles.h"

#include "base/candle.h"
#include "net/json/json_candle.h"
#include "net/json/json_field.h"
#include "net/stream/stream.h"
#include "net/stream/stream_kept.h"
#include "net/stream/stream_subs.h"

static enum row_interval interval_of(const struct stream_sub *sub)
{
    return (enum row_interval)(sub->channel - STREAM_CANDLES);
}

void stream_candles_begin(struct stream *stream, struct stream_sub *sub, const struct reply *reply,
                          const uint8_t *rows)
{
    struct row_candles list;
    memcpy(&list, rows, sizeof list);
    sub->seq = list.seq;
    if (list.candle_count != 0)
        memcpy(&sub->candle, rows + sizeof list, sizeof sub->candle);
    struct writer writer = stream_frame(stream, sub, sub->seq);
    JSON_FIELD_UINT(&writer, "engine_seq", reply->applied);
    JSON_FIELD_UINT(&writer, "time_ns", reply->time_ns);
    WRITER_TEXT(&writer, ",\"type\":\"snapshot\",\"data\":");
    if (list.candle_count == 0)
        WRITER_TEXT(&writer, "{}");
    else
        json_candle(&writer, &sub->candle, list.interval, list.price_decimals, list.size_decimals);
    WRITER_TEXT(&writer, "}");
    stream_answer(stream, &writer);
    stream_subs_follow(stream, sub, stream->from);
}

/* The update that the trade makes, which the subscription's candle has. */
static const struct stream_candle_coded *code(struct streams *streams, const struct stream_sub *sub,
                                              const struct stream_coded *coded)
{
    uint64_t number = coded->number * ROW_INTERVALS + interval_of(sub);
    struct stream_candle_coded *kept = &streams->candle_coded[number % STREAM_CODED];
    if (kept->number == number)
        return kept;
    struct writer writer = writer_begin(kept->text, sizeof kept->text);
    JSON_FIELD_UINT(&writer, "engine_seq", coded->trade.sequence);
    JSON_FIELD_UINT(&writer, "time_ns", coded->trade.time_ns);
    WRITER_TEXT(&writer, ",\"type\":\"update\",\"data\":");
    json_candle(&writer, &sub->candle, (uint8_t)interval_of(sub), coded->price_decimals,
                coded->size_decimals);
    WRITER_TEXT(&writer, "}");
    INVARIANT(!writer.full);
    kept->number = number;
    kept->count = (uint32_t)writer_count(&writer);
    return kept;
}

static bool send_one(struct stream *stream, struct stream_sub *sub,
                     const struct stream_coded *coded)
{
    const struct row_candle before = sub->candle;
    if (!sub->live || coded->seq <= sub->seq)
        return true;
    candle_add(&sub->candle, interval_of(sub), &coded->trade);
    const struct stream_candle_coded *update = code(stream->owner, sub, coded);
    struct writer writer = stream_frame(stream, sub, coded->seq);
    writer_bytes(&writer, update->text, update->count);
    if (!stream_send(stream, &writer)) {
        sub->candle = before;
        return false;
    }
    sub->seq = coded->seq;
    return true;
}

bool stream_candles_send(struct stream *stream, const struct stream_coded *coded)
{
    for (unsigned channel = STREAM_CANDLES; channel < STREAM_CHANNELS; channel++) {
        struct stream_sub *sub = stream->subs[channel][coded->symbol_index];
        if (sub != NULL && !send_one(stream, sub, coded))
            return false;
    }
    return true;
}
