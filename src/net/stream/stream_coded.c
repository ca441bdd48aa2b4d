#include "net/stream/stream_coded.h"

#include "net/json/json_field.h"
#include "net/request/charge.h"
#include "net/stream/stream.h"
#include "net/stream/stream_binary.h"
#include "net/stream/stream_candles.h"
#include "net/stream/stream_kept.h"

enum { ENTRIES_A_TURN = 64 /* of a stream */ };

void stream_coded_begin(const struct streams *streams, struct stream_coded *coded,
                        const struct stream_coded_of *of, struct writer *writer)
{
    JSON_FIELD_UINT(writer, "engine_seq", of->sequence);
    JSON_FIELD_UINT(writer, "time_ns", of->time_ns);
    WRITER_TEXT(writer, ",\"type\":\"update\",\"data\":");
    coded->seq = of->seq;
    coded->engine_seq = of->sequence;
    coded->time_ns = of->time_ns;
    coded->symbol_index = symbols_index(streams->pipeline->context->config->symbols, of->asset_id);
}

/* The entry of that number and its text; NULL: it has been overwritten. */
static const struct stream_coded *code(const struct streams *streams, struct stream_coded *kept,
                                       stream_coded_write *write, uint64_t number)
{
    struct stream_coded *coded = &kept[number % STREAM_CODED];
    if (coded->number == number + 1)
        return coded;
    struct writer writer = writer_begin(coded->text, sizeof coded->text);
    if (!write(streams, number, coded, &writer))
        return NULL;
    WRITER_TEXT(&writer, "}");
    INVARIANT(!writer.full);
    /* A standby's follower may be ahead of its matcher, which adds the symbols: nobody can have
     * subscribed to that market, and a snapshot of it has what this entry tells. */
    if (CC_UNLIKELY(coded->symbol_index == SYMBOLS_MAX))
        coded->channel = STREAM_CHANNELS;
    coded->number = number + 1;
    coded->count = (uint32_t)writer_count(&writer);
    return coded;
}

static bool send_text(struct stream *stream, const struct stream_sub *sub,
                      const struct stream_coded *coded)
{
    struct writer writer = stream_frame(stream, sub, coded->seq);
    writer_bytes(&writer, coded->text, coded->count);
    return stream_send(stream, &writer);
}

/* Of the channels whose entries these are, binary messages have trades alone. */
static bool send_binary(struct stream *stream, const struct stream_sub *sub,
                        const struct stream_coded *coded)
{
    const struct stream_binary_of of = { .seq = coded->seq,
                                         .engine_seq = coded->engine_seq,
                                         .time_ns = coded->time_ns,
                                         .type = STREAM_MESSAGE_UPDATE };
    INVARIANT(coded->channel == STREAM_TRADES);
    struct writer writer = stream_binary_begin(stream, sub, &of);
    writer_bytes(&writer, coded->binary, sizeof coded->binary);
    return stream_binary_send(stream, &writer);
}

/* Sends an entry to the subscription, unless its snapshot had it. False without room. */
static bool send(struct stream *stream, const struct stream_coded *coded)
{
    if (coded->channel == STREAM_CHANNELS)
        return true;
    if (coded->channel == STREAM_TRADES && stream->candles_live != 0 &&
        !stream_candles_send(stream, coded))
        return false;
    struct stream_sub *sub = stream->subs[coded->channel][coded->symbol_index];
    if (sub == NULL || !sub->live || coded->seq <= sub->seq)
        return true;
    if (!(stream->is_binary ? send_binary(stream, sub, coded) : send_text(stream, sub, coded)))
        return false;
    sub->seq = coded->seq;
    if (coded->channel == STREAM_TRADES && coded->number <= stream->past)
        charge_past(stream->owner->pipeline->context, stream->conn, &stream->login.key,
                    &stream->past_count);
    return true;
}

uint32_t stream_coded_run(struct stream *stream, struct stream_coded *kept,
                          stream_coded_write *write, uint64_t *at, uint64_t end)
{
    uint32_t passed = 0;
    while (*at < end && passed < ENTRIES_A_TURN && !stream->ended) {
        const struct stream_coded *coded = code(stream->owner, kept, write, *at);
        if (coded == NULL) {
            stream_end(stream, STREAM_CLOSE_SLOW, "slow_consumer");
            break;
        }
        if (!send(stream, coded)) {
            pipeline_starve(stream->owner->pipeline, stream->conn);
            return passed;
        }
        ++*at;
        passed++;
    }
    if (*at < end && !stream->ended)
        stream->owner->behind = true;
    return passed;
}
